package socket

import (
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefuse: every request that waits at the socket is answered with the reason.
func TestRefuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var waiting []net.Conn
	for range 3 {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, "POST /v1/view HTTP/1.1\r\nHost: nightporter\r\nContent-Length: 0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, c)
	}
	Refuse(l, "it does not start: line 5", slog.New(slog.DiscardHandler))
	for _, c := range waiting {
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 500 ") || !strings.Contains(string(answer), "it does not start: line 5") {
			t.Errorf("%v, %q", err, answer)
		}
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		t.Error("it still listens")
	}
}

package systemd

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// listening is a service manager's end of sd_notify.
type listening struct{ conn *net.UnixConn }

func notifySocket(t *testing.T) listening {
	t.Helper()
	path := filepath.Join(t.TempDir(), "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return listening{conn}
}

// next returns the next message, "" when none came in that time.
func (l listening) next(t *testing.T, within time.Duration) string {
	t.Helper()
	if err := l.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := l.conn.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

// eventTimeout is the longest wait for an event that normally comes at once.
const eventTimeout = 20 * time.Second

func TestManager(t *testing.T) {
	m := New(slog.New(slog.DiscardHandler), Status{})
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	m.Notify("READY=1") // no manager: does nothing
	if m.watchdog() != 0 {
		t.Error("a watchdog without a manager")
	}
	t.Setenv("WATCHDOG_USEC", "60000000")
	t.Setenv("WATCHDOG_PID", "")
	if got := m.watchdog(); got != time.Minute {
		t.Errorf("watchdog: %v", got)
	}
	t.Setenv("WATCHDOG_USEC", "soon")
	if got := m.watchdog(); got != 0 {
		t.Errorf("watchdog: %v", got)
	}
	l := notifySocket(t)
	m.Notify("READY=1\nSTATUS=2 projects")
	if got := l.next(t, eventTimeout); got != "READY=1\nSTATUS=2 projects" {
		t.Errorf("told %q", got)
	}
}

// TestManagerDeaf checks that a manager that never reads does not block the
// daemon.
func TestManagerDeaf(t *testing.T) {
	notifySocket(t)
	m := New(slog.New(slog.DiscardHandler), Status{})
	at := os.Getenv("NOTIFY_SOCKET")
	full := false
	for range 5000 { // until the queue is full, whose size is a setting of the kernel
		if err := send(at, "STATUS=x"); errors.Is(err, os.ErrDeadlineExceeded) {
			full = true
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !full {
		t.Fatal("the queue was never full")
	}
	began := time.Now()
	m.Notify("STOPPING=1")
	if took := time.Since(began); took > 5*notifyTime {
		t.Errorf("it took %v", took)
	}
}

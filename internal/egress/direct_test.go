package egress

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestDirectRefusedLate holds that a refusal of plain HTTP waits for the request: a
// client takes an earlier answer for a stray one.
func TestDirectRefusedLate(t *testing.T) {
	p := New(Options{})
	t.Cleanup(func() { _ = p.Close() })
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		directResponder{portHTTP}.refused(newConn(p, theirs), refusef(CodeUnknown, "not named"))
	}()
	// A pipe has no buffer: the request is taken before the answer, or the write fails.
	_ = ours.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(ours, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(ours), nil)
	if err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", answer, err)
	}
	_ = ours.Close()
	<-done
}

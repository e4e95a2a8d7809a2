package socket

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// patient are limits under which nothing ends by itself in the time of a test.
var patient = limits{conns: 4, header: time.Hour, read: time.Hour, write: time.Hour}

// TestHeldConnections: whoever holds all connections open, without a token, keeps
// nobody out, however long the deadlines are.
func TestHeldConnections(t *testing.T) {
	h := &handler{}
	t.Run("session", func(t *testing.T) {
		holdAll(t, open(t, newSession(h, token, "s", discardLog, nil), patient), api.PathGuidance, api.Empty{})
	})
	t.Run("operator", func(t *testing.T) {
		holdAll(t, open(t, NewOperator(h, token, discardLog), patient), api.PathView, api.View{Name: "status"})
	})
}

func holdAll(t *testing.T, path, ask string, body any) {
	t.Helper()
	for _, begin := range []string{"", "POST /v1/em", strings.Replace(requestHead, token, "wrong", 1)} {
		for range 10 * patient.conns {
			c, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = c.Write([]byte(begin)) // it may have lost its place
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := api.Call(ctx, path, token, ask, body, &api.Reply{}); err != nil {
			t.Errorf("behind callers that sent %q: %v", begin, err)
		}
	}
}

// TestProvenConnection: a caller that has shown the token keeps its connection,
// whoever comes after it.
func TestProvenConnection(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	h := &handler{emit: func(context.Context, string, api.Emit) (api.Reply, error) {
		close(began)
		<-finish
		return api.Reply{OK: true}, nil
	}}
	path := open(t, newSession(h, token, "s", discardLog, nil), patient)
	answered := make(chan error, 1)
	var reply api.Reply
	go func() { answered <- api.Try(t.Context(), path, token, api.PathEmit, api.Emit{Type: "x"}, &reply) }()
	<-began
	for range 10 * patient.conns {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if err := api.Call(t.Context(), path, token, api.PathGuidance, api.Empty{}, &api.Reply{}); err != nil {
		t.Error(err) // this one was accepted after all of the above
	}
	close(finish)
	if err := <-answered; err != nil || !reply.OK {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestTooManyCalls: of a flood of calls a burst is answered. The rest is refused
// before it is decoded, and the handler learns of it once.
func TestTooManyCalls(t *testing.T) {
	h := &handler{}
	var told []int
	m := newMeter(func(refused int) { told = append(told, refused) })
	path := open(t, newSession(h, token, "s", discardLog, m), defaults)
	began := time.Now()
	const calls = 2 * toldAfter
	refused := 0
	for range calls {
		err := api.Try(t.Context(), path, token, api.PathGuidance, api.Empty{}, &api.Reply{})
		switch {
		case errors.Is(err, api.ErrLater) && strings.Contains(err.Error(), "calls too often"):
			refused++
		case err != nil:
			t.Fatal(err)
		}
	}
	most := int(sessionCalls.burst + sessionCalls.perSecond*time.Since(began).Seconds() + 1)
	if n := len(h.seen); n < int(sessionCalls.burst) || n > most || n+refused != calls {
		t.Errorf("%d of %d calls were answered and %d refused; at most %d were to be answered", n, calls, refused, most)
	}
	if refused >= toldAfter && (len(told) != 1 || told[0] != toldAfter) || m.count() != refused {
		t.Errorf("told %v, counted %d of %d", told, m.count(), refused)
	}
	// hat repeats the call, and a session that has come to its senses is heard.
	var reply api.Reply
	if err := api.Call(t.Context(), path, token, api.PathGuidance, api.Empty{}, &reply); err != nil || !reply.OK {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestThrottled: the handler of a session whose connections are dropped is told
// once, while it goes on.
func TestThrottled(t *testing.T) {
	h := &handler{}
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s := ServeSession(l, h, token, "r1-1", discardLog)
	for range 2 * toldAfter {
		s.meter.refuse()
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(h.seen) > 1 {
		t.Errorf("told %v", h.seen)
	}
}

func TestBucket(t *testing.T) {
	b := newBucket(rate{perSecond: 10, burst: 5})
	now := time.Now()
	steps := []struct {
		after time.Duration
		cost  float64
		wait  time.Duration
	}{
		{0, 4, 0},
		{0, 2, 100 * time.Millisecond},
		{100 * time.Millisecond, 2, 0},
		{0, 1, 100 * time.Millisecond},
		{time.Hour, 5, 0}, // no more than the burst is saved up
		{0, 1, 100 * time.Millisecond},
		{-time.Hour, 1, 100 * time.Millisecond}, // the clock was put back
		{time.Second, 1000, 0},                  // costs a whole burst
		{0, 1, 100 * time.Millisecond},
	}
	for n, s := range steps {
		now = now.Add(s.after)
		if got := b.take(s.cost, now); got != s.wait {
			t.Errorf("step %d: wait %v, want %v", n, got, s.wait)
		}
	}
	if wait := newBucket(rate{}).take(1e9, now); wait != 0 {
		t.Errorf("without a rate: wait %v", wait)
	}
}

// TestAcceptRate: connections beyond the rate wait in the kernel.
func TestAcceptRate(t *testing.T) {
	lim := patient
	lim.accepts = rate{perSecond: 100, burst: 10}
	path := open(t, newSession(&handler{}, token, "s", discardLog, nil), lim)
	began := time.Now()
	for range 30 {
		if err := api.Call(t.Context(), path, token, api.PathGuidance, api.Empty{}, &api.Reply{}); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 150*time.Millisecond {
		t.Errorf("30 connections were taken in %v", took)
	}
}

// TestNoFilesLeft: a server goes on after it could take no connection because the
// process had no file left.
func TestNoFilesLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(discardLog).serve(&exhausted{Listener: l, left: 3}, newSession(&handler{}, token, "s", discardLog, nil), defaults, func() {})
	t.Cleanup(func() { _ = s.Close(cancelledContext()) })
	if err := api.Call(t.Context(), path, token, api.PathGuidance, api.Empty{}, &api.Reply{}); err != nil {
		t.Error(err)
	}
}

// exhausted is a listener whose first Accepts fail as they do without files.
type exhausted struct {
	net.Listener
	mu   sync.Mutex
	left int
}

func (e *exhausted) Accept() (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left > 0 {
		e.left--
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return e.Listener.Accept()
}

func TestConnsOf(t *testing.T) {
	for files, want := range map[uint64]int{0: 4, 256: 4, 1024: 16, 1 << 20: maxConns, 1 << 63: maxConns} {
		if got := connsOf(files); got != want {
			t.Errorf("%d files: %d connections, want %d", files, got, want)
		}
	}
}

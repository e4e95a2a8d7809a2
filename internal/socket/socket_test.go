package socket

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

var discardLog = slog.New(slog.DiscardHandler)

const token = "4f1d"

// handler calls its functions; a request without one is refused.
type handler struct {
	emit func(ctx context.Context, session string, e api.Emit) (api.Reply, error)
	task func(ctx context.Context, session string, q api.TaskQuery) (api.Reply, error)

	mu   sync.Mutex
	seen []any
}

func (h *handler) saw(v any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, v)
}

func (h *handler) Emit(ctx context.Context, session string, e api.Emit) (api.Reply, error) {
	h.saw([]any{session, e})
	if h.emit == nil {
		return api.Reply{Text: "no"}, nil
	}
	return h.emit(ctx, session, e)
}

func (h *handler) Task(ctx context.Context, session string, q api.TaskQuery) (api.Reply, error) {
	h.saw([]any{session, q})
	if h.task == nil {
		return api.Reply{Text: "no"}, nil
	}
	return h.task(ctx, session, q)
}

func (h *handler) Guidance(_ context.Context, session string) (api.Reply, error) {
	h.saw([]any{session})
	return api.Reply{OK: true}, nil
}

func (h *handler) Note(_ context.Context, session, kind string, n api.Note) (api.Reply, error) {
	h.saw([]any{session, kind, n})
	return api.Reply{OK: true}, nil
}

func (h *handler) Session(_ context.Context, session string) (api.Reply, error) {
	h.saw([]any{session})
	return api.Reply{OK: true}, nil
}

func (h *handler) Write(_ context.Context, session string, w api.Write) (api.Reply, error) {
	h.saw([]any{session, w})
	return api.Reply{OK: true}, nil
}

func (h *handler) Throttled(_ context.Context, session string, refused int) {
	h.saw([]any{session, refused})
}

func (h *handler) Command(_ context.Context, c api.Command) (api.Reply, error) {
	h.saw(c)
	return api.Reply{OK: true, Text: "done"}, nil
}

func (h *handler) View(_ context.Context, v api.View) (api.Reply, error) {
	h.saw(v)
	return api.Reply{OK: true, Data: []byte(`{"run":"r14"}`)}, nil
}

// open serves h at a new path until the test ends.
func open(t *testing.T, h http.Handler, lim limits) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(discardLog).serve(l, h, lim, func() {})
	t.Cleanup(func() { _ = s.Close(cancelledContext()) })
	return path
}

// cancelledContext returns a context for a Close that does not wait.
func cancelledContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// exchangeRaw sends text unchanged and returns all data until the server closes
// the connection.
func exchangeRaw(t *testing.T, path, text string) string {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = c.Write([]byte(text)) }() // the server need not read a refused request to its end
	var all []byte
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		all = append(all, buf[:n]...)
		if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
			t.Errorf("not hung up after %q", all)
		}
		if err != nil {
			return string(all)
		}
	}
}

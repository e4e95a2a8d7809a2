package acceptance

import (
	"context"
	"net"
	"sync"
)

// wire is a network with one address, whose connections are pipes in this
// process. A goroutine that waits on a pipe is durably blocked for
// testing/synctest, one on a socket is not; so a night takes no longer than its
// work.
type wire struct {
	name  string
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
}

func newWire(name string) *wire {
	return &wire{name: name, conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial connects the bot, whatever address it asks for.
func (w *wire) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case w.conns <- far:
		return near, nil
	case <-w.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept returns the next connection on the fake platform's side.
func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

// Close stops listening.
func (w *wire) Close() error {
	w.close.Do(func() { close(w.done) })
	return nil
}

// Addr returns the fake platform's address.
func (w *wire) Addr() net.Addr { return w }

func (w *wire) Network() string { return "pipe" }
func (w *wire) String() string  { return w.name }

// listen returns the wire as the fake platform's listener.
func (w *wire) listen(string, string) (net.Listener, error) { return w, nil }

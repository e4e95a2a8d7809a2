package acceptance

import (
	"context"
	"net"
	"sync"
)

// wire is a network of one address whose connections are pipes in this
// process. A goroutine that waits on a pipe is durably blocked, as one on a
// socket is not: so a whole night passes in the time that its work takes.
type wire struct {
	name  string
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
}

func newWire(name string) *wire {
	return &wire{name: name, conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial is the bot's side, whatever address it asks for.
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

// Accept is the far side's.
func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

// Close ends the listening.
func (w *wire) Close() error {
	w.close.Do(func() { close(w.done) })
	return nil
}

// Addr is what the far side calls itself.
func (w *wire) Addr() net.Addr { return w }

func (w *wire) Network() string { return "pipe" }
func (w *wire) String() string  { return w.name }

// listen is the wire as a far end asks for its listener.
func (w *wire) listen(string, string) (net.Listener, error) { return w, nil }

package socket

import (
	"net"
	"sync"
)

// limitListener accepts at most cap(slots) connections at a time; others wait
// in the kernel's backlog. Without it a session could exhaust the daemon's file
// descriptors.
type limitListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newLimit(l net.Listener, n int) *limitListener {
	return &limitListener{Listener: l, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept waits for a free slot and a connection.
func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	select {
	case <-l.closed: // the server has been closed
		_ = c.Close()
		<-l.slots
		return nil, net.ErrClosed
	default:
	}
	return &limitConn{Conn: c, slots: l.slots}, nil
}

// Close ends Accept, even while it waits for a slot.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitConn returns its slot on the first Close.
type limitConn struct {
	net.Conn
	slots chan struct{}
	once  sync.Once
}

// Close closes the connection.
func (c *limitConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.slots })
	return err
}

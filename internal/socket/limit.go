package socket

import (
	"net"
	"sync"
)

// limit is a listener with at most cap(slots) connections at a time; others
// wait in the kernel's backlog. Without it a session could use up the
// daemon's file descriptors.
type limit struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newLimit(l net.Listener, n int) *limit {
	return &limit{Listener: l, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept waits for a free slot and a connection.
func (l *limit) Accept() (net.Conn, error) {
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
	case <-l.closed: // the server that would serve it has gone
		_ = c.Close()
		<-l.slots
		return nil, net.ErrClosed
	default:
	}
	return &limitConn{Conn: c, slots: l.slots}, nil
}

// Close ends Accept, also one that waits for a slot.
func (l *limit) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitConn gives its slot back, once.
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

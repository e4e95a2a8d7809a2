package socket

import (
	"context"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// limits are the limits of one server.
type limits struct {
	conns   int           // concurrent connections
	accepts rate          // connections that are taken; the zero rate has no limit
	header  time.Duration // until the headers have arrived
	read    time.Duration // until the whole request has arrived
	write   time.Duration // from there until the answer has been written
}

// maxConns bounds the connections of one socket. hat has one at a time; an agent
// that calls it in parallel has a few.
const maxConns = 32

// defaults suit two programs on one machine, where a slower request will never
// complete. The write limit is longer, because an answer may wait for a busy
// disk.
//
// The operator's socket has no rate: a session that can reach it at boundary
// level 2 would use it up, and the operator would wait behind that session.
var defaults = limits{conns: maxConns, header: 5 * time.Second, read: 10 * time.Second, write: time.Minute}

// sessionLimits are defaults with a rate: a session whose connections wait takes
// no time of the daemon, and only its own calls wait with them.
func sessionLimits() limits {
	lim := defaults
	lim.conns, lim.accepts = connsOf(fileLimit()), rate{perSecond: 100, burst: 200}
	return lim
}

// connsOf returns how many connections a session may have where the daemon may
// have so many files open: a 64th, so that twenty sessions leave it two thirds.
func connsOf(files uint64) int { return int(min(max(files/64, 4), maxConns)) }

// fileLimit returns how many files this process may have open.
func fileLimit() uint64 {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return 0 // the fewest connections
	}
	return uint64(lim.Cur)
}

// limitListener has at most max connections at a time, so that a session cannot
// exhaust the daemon's files. Another one takes the place of the oldest that has
// not shown the token: whoever holds connections open, or sends slowly, keeps
// nobody out. Where all have, it waits.
type limitListener struct {
	net.Listener
	max     int
	accepts *bucket
	dropped func() // called for each connection that lost its place

	mu     sync.Mutex
	open   []*limitConn  // oldest first
	freed  chan struct{} // buffers one signal: a connection has ended
	closed chan struct{}
	once   sync.Once
}

func newLimit(l net.Listener, lim limits, dropped func()) *limitListener {
	return &limitListener{Listener: l, max: lim.conns, accepts: newBucket(lim.accepts), dropped: dropped, freed: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept waits for a connection, its turn and a place.
func (l *limitListener) Accept() (net.Conn, error) {
	if !l.pause() {
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &limitConn{Conn: conn, in: l}
	for !l.admit(c) {
		select {
		case <-l.freed:
		case <-l.closed:
		}
		select {
		case <-l.closed: // the server has been closed
			_ = conn.Close()
			return nil, net.ErrClosed
		default:
		}
	}
	return c, nil
}

// pause waits until the rate allows another connection. It returns false after
// Close.
func (l *limitListener) pause() bool {
	for {
		wait := l.accepts.take(1, time.Now())
		timer := time.NewTimer(wait)
		select {
		case <-l.closed:
			timer.Stop()
			return false
		case <-timer.C:
		}
		if wait == 0 {
			return true
		}
	}
}

// admit gives c a place, and reports whether there was one.
func (l *limitListener) admit(c *limitConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.max {
		n := slices.IndexFunc(l.open, func(o *limitConn) bool { return !o.proven })
		if n < 0 {
			return false
		}
		_ = l.open[n].Conn.Close()
		l.open = slices.Delete(l.open, n, n+1)
		l.dropped()
	}
	l.open = append(l.open, c)
	return true
}

// Close ends Accept, even while it waits.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitConn gives its place back on the first Close.
type limitConn struct {
	net.Conn
	in     *limitListener
	proven bool // its caller has shown the token; guarded by in.mu
}

// Close closes the connection.
func (c *limitConn) Close() error {
	err := c.Conn.Close()
	c.in.mu.Lock()
	c.in.open = slices.DeleteFunc(c.in.open, func(o *limitConn) bool { return o == c })
	c.in.mu.Unlock()
	select {
	case c.in.freed <- struct{}{}:
	default:
	}
	return err
}

// connKey is the key of a request's *limitConn in its context.
type connKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// prove records that the caller of a request has shown the token, so that no
// other connection takes its place.
func prove(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*limitConn); ok {
		c.in.mu.Lock()
		defer c.in.mu.Unlock()
		c.proven = true
	}
}

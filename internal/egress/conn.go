package egress

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a client's connection. It counts bytes, ends the connection when
// nothing has moved for idleTimeout, and keeps the header of the one HTTP
// request that is served on it.
type conn struct {
	net.Conn
	proxy  *Proxy
	target *Target // the host of a tunnel in which HTTP is spoken; nil for a client of the proxy

	in, out atomic.Int64 // bytes to the client, from the client
	active  atomic.Int64 // when a byte moved last, in nanoseconds
	timer   *time.Timer

	mu     sync.Mutex
	prefix []byte // read before Conn
	head   []byte // the request's header as it came
	ended  bool   // head is complete
	keep   bool   // the header is kept
	closed bool
	peer   net.Conn // closed with this one
}

func newConn(p *Proxy, c net.Conn) *conn {
	k := &conn{Conn: c, proxy: p}
	k.touch()
	k.mu.Lock() // the timer may fire before it is assigned
	defer k.mu.Unlock()
	k.timer = time.AfterFunc(p.idle, k.expire)
	return k
}

func (c *conn) touch() { c.active.Store(time.Now().UnixNano()) }

// expire closes a connection that was idle for too long, or looks again when it
// may have been.
func (c *conn) expire() {
	if left := c.proxy.idle - time.Since(time.Unix(0, c.active.Load())); left > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed {
			c.timer.Reset(left)
		}
		return
	}
	_ = c.Close()
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.read(b)
	if n > 0 {
		c.touch()
		c.out.Add(int64(n))
		c.captureHeader(b[:n])
	}
	return n, err
}

func (c *conn) read(b []byte) (int, error) {
	c.mu.Lock()
	if len(c.prefix) > 0 {
		n := copy(b, c.prefix)
		c.prefix = c.prefix[n:]
		c.mu.Unlock()
		c.out.Add(-int64(n)) // they were counted when they first came
		return n, nil
	}
	c.mu.Unlock()
	return c.Conn.Read(b)
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.touch()
	c.in.Add(int64(n))
	return n, err
}

// unread puts bytes back in front of what is read next.
func (c *conn) unread(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prefix = append(bytes.Clone(b), c.prefix...)
}

// keepHeader has the next header kept.
func (c *conn) keepHeader() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep, c.head, c.ended = true, nil, false
}

// captureHeader keeps what is read until the end of the header.
func (c *conn) captureHeader(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.keep || c.ended {
		return
	}
	from := max(0, len(c.head)-3)
	c.head = append(c.head, b...)
	if end := headerEnd(c.head[from:]); end >= 0 {
		c.head, c.ended = c.head[:from+end], true
	} else if len(c.head) > 2*maxHeader {
		c.head, c.ended = nil, true // the server refuses it by its own limit
	}
}

// headerEnd returns the length of a header with its empty line, or -1.
func headerEnd(b []byte) int {
	short, long := bytes.Index(b, []byte("\n\n")), bytes.Index(b, []byte("\n\r\n"))
	switch {
	case short >= 0 && (long < 0 || short < long):
		return short + 2
	case long >= 0:
		return long + 3
	}
	return -1
}

// header returns the header of the request that is being served.
func (c *conn) header() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		return nil
	}
	return c.head
}

// tie has peer closed with c. It closes peer if c is closed already.
func (c *conn) tie(peer net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer = peer
	if c.closed {
		_ = peer.Close()
	}
}

// Close closes the connection and its peer. It may be called more than once.
func (c *conn) Close() error {
	c.mu.Lock()
	closed, peer := c.closed, c.peer
	c.closed = true
	c.mu.Unlock()
	if closed {
		return nil
	}
	c.timer.Stop()
	if peer != nil {
		_ = peer.Close()
	}
	c.proxy.release(c)
	return c.Conn.Close()
}

// CloseWrite tells the client that no more bytes come.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}

// closeWith writes last words and closes. It reads what the client still
// sends for a moment: a socket that is closed with unread bytes is reset, and
// the words are lost.
func closeWith(c net.Conn, words []byte) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(lingerTimeout))
	if _, err := c.Write(words); err != nil {
		return
	}
	if h, ok := c.(interface{ CloseWrite() error }); !ok || h.CloseWrite() != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c, 1<<20)
}

var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// copyBytes copies until src ends. It has a buffer of its own also where the
// kernel could copy (splice): that takes two pipes for a connection, and four
// files, for as long as it is silent.
func copyBytes(dst io.Writer, src io.Reader) error {
	b := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(b)
	_, err := io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, b[:])
	return err
}

// join copies in both directions until both have ended. The end of one is
// passed on and leaves the other open.
func join(c *conn, up net.Conn) {
	defer c.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		oneWay(up, c, c)
	}()
	oneWay(c, up, c)
	<-done
}

// oneWay copies one direction; an error ends both.
func oneWay(dst net.Conn, src io.Reader, c *conn) {
	if copyBytes(dst, src) != nil || closeWrite(dst) != nil {
		_ = c.Close()
	}
}

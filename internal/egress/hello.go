package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

const (
	maxHello     = 64 << 10 // of a ClientHello with its record headers
	helloTimeout = 30 * time.Second
)

// accessDenied is the TLS alert of that name (RFC 8446 6.2), as the first
// record of a server.
var accessDenied = []byte{21, 3, 3, 0, 2, 2, 49}

// handshakeRecord is the first byte of TLS.
const handshakeRecord = 22

var errHelloRead = errors.New("hello read")

// readHello reads a ClientHello and returns the name in it, and all bytes that
// were read. crypto/tls parses it, so that what is let pass is what a server
// understands; the handshake ends before anything is written.
func readHello(c net.Conn) (sni string, read []byte, err error) {
	rec := &recordingConn{Conn: c}
	err = tls.Server(rec, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		sni = hello.ServerName
		return nil, errHelloRead
	}}).HandshakeContext(context.Background())
	if errors.Is(err, errHelloRead) {
		return sni, rec.read, nil
	}
	return "", rec.read, err
}

// recordingConn keeps what is read and writes nothing.
type recordingConn struct {
	net.Conn
	read []byte
}

func (t *recordingConn) Read(b []byte) (int, error) {
	left := maxHello - len(t.read)
	if left <= 0 {
		return 0, errors.New("a ClientHello over 64 kB")
	}
	n, err := t.Conn.Read(b[:min(len(b), left)])
	t.read = append(t.read, b[:n]...)
	return n, err
}

func (t *recordingConn) Write(b []byte) (int, error) { return len(b), nil }

// checkHello reads the client's first bytes and puts them back. They must be a
// ClientHello for the host; with any set, also anything that is not TLS.
func (p *Proxy) checkHello(c *conn, t Target, anything bool) error {
	if anything {
		first := []byte{0}
		if _, err := io.ReadFull(c, first); err != nil {
			return nil // nothing was sent, which copying finds out too
		}
		c.unread(first)
		if first[0] != handshakeRecord {
			return nil
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(p.helloTimeout))
	sni, read, err := readHello(c)
	_ = c.SetReadDeadline(time.Time{})
	c.unread(read)
	if err != nil {
		return refusef(CodeTLS, "%s: only TLS is spoken there, and this is not: %v", t, err)
	}
	return p.checkSNI(sni, t)
}

func (p *Proxy) checkSNI(sni string, t Target) error {
	switch {
	case p.hasCanaryName(sni):
		p.sawCanary(t)
		return refusef(CodeCanary, "%s: the TLS name carries a secret", t)
	case isLiteral(t.Host) && sni == "": // RFC 6066 3 permits no address as a name
		return nil
	case sni == "":
		return refusef(CodeTLS, "%s: the TLS handshake names no host (SNI)", t)
	case !strings.EqualFold(sni, t.Host):
		return refusef(CodeTLS, "%s: the TLS handshake is for %q", t, printable(sni, maxName))
	}
	return nil
}

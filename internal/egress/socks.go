package egress

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// Values of SOCKS5, RFC 1928 and RFC 1929.
const (
	socksVersion  = 5
	socksNoAuth   = 0
	socksPassword = 2
	socksNoMethod = 0xff
	socksConnect  = 1
	socksIPv4     = 1
	socksName     = 3
	socksIPv6     = 4

	socksOK              = 0
	socksNotAllowed      = 2
	socksUnreachable     = 4
	socksNoSuchCommand   = 7
	socksNoSuchAddress   = 8
	socksPasswordVersion = 1
)

// ServeSOCKS serves a SOCKS5 proxy with the one command CONNECT. Of a library
// little would be left: it would neither dial nor copy, and hand the connection
// on after its reply, for the check of the first bytes or to the HTTP server.
func (p *Proxy) ServeSOCKS(l net.Listener) error {
	return p.serve(l, nil, p.socks)
}

func (p *Proxy) socks(c *conn) {
	_ = c.SetDeadline(time.Now().Add(headerTimeout))
	t, err := p.socksRequest(c)
	if err != nil {
		p.startUse(c, t).end(err)
		refuseSOCKS(c, err)
		return
	}
	_ = c.SetDeadline(time.Time{})
	p.tunnel(p.ctx, c, t, socksResponder{})
}

// socksRequest reads greeting, password and request.
func (p *Proxy) socksRequest(c io.ReadWriter) (Target, error) {
	var t Target
	head := make([]byte, 2)
	if _, err := io.ReadFull(c, head); err != nil {
		return t, err
	}
	if head[0] != socksVersion {
		return t, refusef(CodeRequest, "SOCKS version %d; expected 5", head[0])
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(c, methods); err != nil {
		return t, err
	}
	if err := p.socksAuth(c, methods); err != nil {
		return t, err
	}
	request := make([]byte, 4)
	if _, err := io.ReadFull(c, request); err != nil {
		return t, err
	}
	if request[0] != socksVersion {
		return t, refusef(CodeRequest, "a malformed SOCKS request")
	}
	host, err := socksHost(c, request[3])
	if err != nil {
		return t, err
	}
	port := make([]byte, 2)
	if _, err := io.ReadFull(c, port); err != nil {
		return t, err
	}
	if request[1] != socksConnect {
		return t, &socksError{socksNoSuchCommand, "of the commands of SOCKS only CONNECT is spoken here"}
	}
	t, err = parseTarget(net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1]))), 0)
	if err != nil {
		t.Host = printable(host, maxName)
		return t, refusef(CodeName, "%q: %v", t.Host, err)
	}
	t.Host = p.names.nameOf(t.Host)
	if p.hasCanaryName(t.Host) {
		p.sawCanary(t)
		return t, refusef(CodeCanary, "%s: the name carries a secret", t)
	}
	return t, nil
}

// socksError is a request that has a reply of its own in the protocol.
type socksError struct {
	reply  byte
	reason string
}

func (e *socksError) Error() string { return e.reason }
func (e *socksError) Unwrap() error { return &refusal{CodeRequest, e.reason} }

func (p *Proxy) socksAuth(c io.ReadWriter, methods []byte) error {
	method := byte(socksNoAuth)
	if p.opt.Token != "" {
		method = socksPassword
	}
	if !bytes.Contains(methods, []byte{method}) {
		_, _ = c.Write([]byte{socksVersion, socksNoMethod})
		return refusef(CodeToken, "the proxy's password is missing")
	}
	if _, err := c.Write([]byte{socksVersion, method}); err != nil || method == socksNoAuth {
		return err
	}
	version := []byte{0}
	if _, err := io.ReadFull(c, version); err != nil {
		return err
	}
	if _, err := readString(c); err != nil { // the user name
		return err
	}
	password, err := readString(c)
	if err != nil {
		return err
	}
	if version[0] != socksPasswordVersion || subtle.ConstantTimeCompare(password, []byte(p.opt.Token)) != 1 {
		_, _ = c.Write([]byte{socksPasswordVersion, 1})
		return refusef(CodeToken, "the proxy's password is wrong")
	}
	_, err = c.Write([]byte{socksPasswordVersion, 0})
	return err
}

// readString reads a byte of length and as many bytes.
func readString(r io.Reader) ([]byte, error) {
	n := []byte{0}
	if _, err := io.ReadFull(r, n); err != nil {
		return nil, err
	}
	b := make([]byte, n[0])
	_, err := io.ReadFull(r, b)
	return b, err
}

// socksHost reads the address of a request.
func socksHost(r io.Reader, kind byte) (string, error) {
	switch kind {
	case socksName:
		name, err := readString(r)
		return string(name), err
	case socksIPv4:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", err
		}
		return netip.AddrFrom4(b).String(), nil
	case socksIPv6:
		_, err := io.CopyN(io.Discard, r, 18)
		if err == nil {
			err = &socksError{socksNoSuchAddress, "IPv6 addresses are not reached"}
		}
		return "", err
	}
	return "", &socksError{socksNoSuchAddress, "a malformed SOCKS address"}
}

type socksResponder struct{}

func (socksResponder) accepted(c *conn) error {
	_, err := c.Write(socksReply(socksOK))
	return err
}

func (socksResponder) refused(c *conn, f *refusal) {
	if f.code == CodeUnreachable {
		closeWith(c, socksReply(socksUnreachable))
	} else {
		closeWith(c, socksReply(socksNotAllowed))
	}
}

// refuseSOCKS answers a request that could not be read.
func refuseSOCKS(c *conn, err error) {
	var own *socksError
	var f *refusal
	switch {
	case errors.As(err, &own):
		closeWith(c, socksReply(own.reply))
	case errors.As(err, &f) && f.code != CodeToken: // that is told by the greeting
		socksResponder{}.refused(c, f)
	default:
		closeWith(c, nil)
	}
}

func socksReply(code byte) []byte {
	return []byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0}
}

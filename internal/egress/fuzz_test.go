package egress

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// FuzzParseHost holds that what is read is written as it would be read again,
// and that no form of an address becomes a name.
func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"api.example.org", "*.example.org:8443=10.0.0.5", "10.0.0.5:22", "bücher.example.org", "0x7f.1", "a..b", "*.co.uk", "127.1", "xn--.example.org"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHost(s)
		if err != nil {
			return
		}
		if again, err := ParseHost(h.String()); err != nil || again != h {
			t.Fatalf("%q is read as %+v, and that as %+v: %v", s, h, again, err)
		}
		mustBeName(t, h.Name)
		if h.Wildcard && (h.covers(h.Name) || !h.covers("x."+h.Name) || h.covers("x"+h.Name)) {
			t.Fatalf("%s covers the wrong names", h)
		}
	})
}

// FuzzParseTarget does the same for what clients send.
func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"api.example.org:443", "API.example.org.:80", "[::1]:80", "0x7f.1:80", "2130706433:1", "a\x00b:1", "a@b:443", "1.2.3.4.:80", ":80", "a:0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := parseTarget(s, 0)
		if err != nil {
			return
		}
		if target.Port < 1 || target.Port > 65535 {
			t.Fatalf("%q has port %d", s, target.Port)
		}
		mustBeName(t, target.Host)
		if again, err := parseTarget(target.String(), 0); err != nil || again != target {
			t.Fatalf("%q is read as %v, and that as %v: %v", s, target, again, err)
		}
	})
}

// mustBeName holds a host name that was let through to what resolvers and
// servers take for one.
func mustBeName(t *testing.T, host string) {
	t.Helper()
	if host == "" || len(host) > 253 || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || strings.Contains(host, "..") || host[0] == '.' || host[len(host)-1] == '.' {
		t.Fatalf("%q is a host name", host)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := netip.ParseAddr(host); err != nil && (strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == "") {
		t.Fatalf("%q is a host name, and an address for inet_aton", host)
	}
}

// FuzzHello holds that what is let through is a handshake for the host, that all
// bytes are passed on as they came, and that reading them is bounded.
func FuzzHello(f *testing.F) {
	good := hello(f, "api.example.com")
	f.Add(good, false)
	f.Add(records(good, 7), false)
	f.Add(hello(f, "other.example.com"), true)
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), true)
	p := New(Options{})
	f.Cleanup(func() { p.Close() })
	target := Target{Host: "api.example.com", Port: 443}
	f.Fuzz(func(t *testing.T, send []byte, anything bool) {
		c := newConn(p, &script{r: bytes.NewReader(send)})
		defer c.Close()
		err := p.checkHello(c, target, anything)
		all, readErr := io.ReadAll(c)
		if readErr != nil || !bytes.Equal(all, send) {
			t.Fatalf("%d bytes of %d are passed on: %v", len(all), len(send), readErr)
		}
		if err != nil {
			return
		}
		if anything && (len(send) == 0 || send[0] != handshakeRecord) {
			return
		}
		if !bytes.Contains(bytes.ToLower(joinRecords(send)), []byte("api.example.com")) {
			t.Fatalf("let through without the name: %q", send)
		}
	})
}

// joinRecords returns what is in the TLS records of a client.
func joinRecords(b []byte) (out []byte) {
	for len(b) >= 5 {
		n := int(b[3])<<8 | int(b[4])
		b = b[5:]
		n = min(n, len(b))
		out, b = append(out, b[:n]...), b[n:]
	}
	return out
}

// script is a connection that reads what was written before.
type script struct {
	net.Conn
	r io.Reader
}

func (s *script) Read(b []byte) (int, error)        { return s.r.Read(b) }
func (s *script) Write(b []byte) (int, error)       { return len(b), nil }
func (s *script) Close() error                      { return nil }
func (s *script) SetReadDeadline(t time.Time) error { return nil }

// FuzzDNS holds that a query is answered by a message or not at all, and that
// nothing is resolved for it.
func FuzzDNS(f *testing.F) {
	f.Add([]byte{})
	f.Add(query(f, "api.example.com.", 1))
	f.Add(query(f, "736b2d616e742d61706930332d5a7a5a7a.evil.org.", 16))
	p := New(Options{})
	f.Cleanup(func() { p.Close() })
	f.Fuzz(func(t *testing.T, q []byte) {
		reply := p.answerDNS(q)
		if reply == nil {
			return
		}
		if m := unpack(t, reply); !m.Response || len(m.Answers) > 1 || m.ID != uint16(q[0])<<8|uint16(q[1]) {
			t.Fatalf("%+v", m)
		}
	})
}

// FuzzHeader holds that the header which is looked at is the one that net/http
// has read: what both framings of a body, and Host, are looked for in.
func FuzzHeader(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\nrest"), 7)
	f.Add([]byte("GET / HTTP/1.1\nHost: x\n\nrest"), 1)
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\n\r\n\nrest"), 3)
	p := New(Options{})
	f.Cleanup(func() { p.Close() })
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		c := newConn(p, &script{r: bytes.NewReader(b)})
		defer c.Close()
		c.keepHeader()
		r := bufio.NewReaderSize(&slowReader{c, max(1, size%100)}, 16)
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		head := c.header()
		read := len(b) - r.Buffered() - c.Conn.(*script).r.(*bytes.Reader).Len()
		if head == nil || len(head) != read {
			t.Fatalf("the header has %d bytes, net/http has read %d: %q", len(head), read, b)
		}
		if again, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head))); err != nil || again.RequestURI != request.RequestURI || again.Host != request.Host {
			t.Fatalf("the header is %q: %v", head, err)
		}
	})
}

// slowReader reads a few bytes at a time.
type slowReader struct {
	r io.Reader
	n int
}

func (s *slowReader) Read(b []byte) (int, error) { return s.r.Read(b[:min(len(b), s.n)]) }

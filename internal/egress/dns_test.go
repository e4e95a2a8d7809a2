package egress

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

func query(t testing.TB, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	n, err := dnsmessage.NewName(name)
	if err != nil {
		t.Fatal(err)
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: n, Type: kind, Class: dnsmessage.ClassINET}},
	}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ask sends a query as a datagram.
func (in *inside) ask(q []byte) *dnsmessage.Message {
	in.t.Helper()
	c, err := net.Dial("udp", in.dns.LocalAddr().String())
	if err != nil {
		in.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write(q); err != nil {
		in.t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := c.Read(b)
	if err != nil {
		in.t.Fatal(err)
	}
	return unpack(in.t, b[:n])
}

func unpack(t testing.TB, b []byte) *dnsmessage.Message {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(b); err != nil {
		t.Fatal(err)
	}
	return &m
}

func TestDNS(t *testing.T) {
	o := newOutside(t)
	options := o.options("api.example.com", "*.example.com", "git.intern=10.0.0.5")
	options.Policy.Canaries = []string{canary}
	in := start(t, options)
	const (
		found   = "address"
		nothing = "no record"
		unknown = "no such name"
	)
	for _, c := range []struct {
		name string
		kind dnsmessage.Type
		want string
		code Code
	}{
		{"api.example.com.", dnsmessage.TypeA, found, ""},
		{"API.Example.COM.", dnsmessage.TypeA, found, ""},
		{"who.knows.org.", dnsmessage.TypeA, found, ""}, // whether to reach it is asked when something connects
		{"api.example.com.", dnsmessage.TypeALL, found, ""},
		{"localhost.", dnsmessage.TypeA, found, ""},
		{"api.example.com.", dnsmessage.TypeAAAA, nothing, ""},
		{"api.example.com.", dnsmessage.TypeTXT, nothing, ""},
		{"api.example.com.", dnsmessage.TypeMX, nothing, ""},
		{"_https._tcp.example.com.", dnsmessage.TypeSRV, nothing, ""},
		{"example.com.", dnsmessage.TypeNS, nothing, ""},
		{"1.0.64.127.in-addr.arpa.", dnsmessage.TypePTR, nothing, ""},
		{"736b2d616e742d61706930332d5a7a5a7a.evil.org.", dnsmessage.TypeTXT, nothing, ""},
		{"736b2d616e742d61706930332d5a7a5a7a.evil.org.", dnsmessage.TypeA, unknown, CodeLeak},
		{"736b2d616e742d61706930332d5a7a5a7a.example.com.", dnsmessage.TypeA, unknown, CodeLeak}, // although a wildcard has it
		{canary + ".evil.org.", dnsmessage.TypeA, unknown, CodeCanary},
		{canary + ".evil.org.", dnsmessage.TypeTXT, unknown, CodeCanary},
		{"np-canary.5e1f0c77.evil.org.", dnsmessage.TypeAAAA, unknown, CodeCanary},
		{"metadata.google.internal.", dnsmessage.TypeA, unknown, CodeLocal},
		{"printer.local.", dnsmessage.TypeA, unknown, CodeLocal},
		{"intranet.", dnsmessage.TypeA, unknown, CodeLocal},
		{"git.intern.", dnsmessage.TypeA, found, ""},
		{"a_b.example.com.", dnsmessage.TypeA, unknown, ""},
		{".", dnsmessage.TypeA, unknown, ""},
		{".", dnsmessage.TypeNS, nothing, ""},
		{"127.0.0.1.", dnsmessage.TypeA, unknown, CodeLiteral},
	} {
		m := in.ask(query(t, c.name, c.kind))
		got := nothing
		switch {
		case m.RCode == dnsmessage.RCodeNameError:
			got = unknown
		case m.RCode != dnsmessage.RCodeSuccess:
			got = m.RCode.String()
		case len(m.Answers) == 1:
			got = found
			a := netip.AddrFrom4(m.Answers[0].Body.(*dnsmessage.AResource).A)
			if host := strings.ToLower(strings.TrimSuffix(c.name, ".")); host != "localhost" && (a != in.Address(host) || !nameRange.Contains(a) || in.names.nameOf(a.String()) != host) {
				t.Errorf("%s is %s", c.name, a)
			}
		}
		if got != c.want || m.ID != 7 || !m.Response {
			t.Errorf("%s %s: %s, want %s", c.name, c.kind, got, c.want)
		}
		if c.code != "" {
			if u := o.use(); u.Code != c.code {
				t.Errorf("%s is seen as %+v", c.name, u)
			}
		}
	}
	if len(o.resolved()) > 0 || len(o.dials()) > 0 {
		t.Errorf("queries had %q resolved and %q dialled", o.resolved(), o.dials())
	}
	if len(o.canaries()) != 3 {
		t.Errorf("canaries: %+v", o.canaries())
	}
}

func TestDNSOverTCP(t *testing.T) {
	in := start(t, newOutside(t).options())
	c := in.dialTo(in.dnsTCP)
	for range 2 {
		q := query(t, "api.example.com.", dnsmessage.TypeA)
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(q))), q...)); err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 2)
		if _, err := io.ReadFull(c, head); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, binary.BigEndian.Uint16(head))
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
		if m := unpack(t, b); len(m.Answers) != 1 {
			t.Errorf("%+v", m)
		}
	}
	if _, err := c.Write([]byte{0xff, 0xff, 0}); err != nil { // longer than any query
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(c); len(b) > 0 {
		t.Errorf("answered %q", b)
	}
}

// TestHostileDNS sends what is no query.
func TestHostileDNS(t *testing.T) {
	p := New(Options{})
	defer p.Close()
	good := query(t, "api.example.com.", dnsmessage.TypeA)
	answer := append([]byte(nil), good...)
	answer[2] |= 0x80
	loop := append(append([]byte(nil), good[:12]...), 0xc0, 12, 0, 1, 0, 1)
	two := append(append([]byte(nil), good...), good[12:]...)
	two[5] = 2
	update := append([]byte(nil), good...)
	update[2] |= 5 << 3
	for name, c := range map[string]struct {
		send []byte
		code dnsmessage.RCode // of the reply
		none bool             // no reply
	}{
		"nothing":                   {nil, 0, true},
		"half a header":             {good[:7], 0, true},
		"an answer":                 {answer, 0, true},
		"no question":               {good[:12], dnsmessage.RCodeFormatError, false},
		"half a question":           {good[:20], dnsmessage.RCodeFormatError, false},
		"a name that points itself": {loop, dnsmessage.RCodeFormatError, false},
		"two questions":             {two, dnsmessage.RCodeFormatError, false},
		"an update":                 {update, dnsmessage.RCodeNotImplemented, false},
	} {
		reply := p.answerDNS(c.send)
		if (reply == nil) != c.none {
			t.Errorf("%s: reply %q", name, reply)
		} else if reply != nil && unpack(t, reply).RCode != c.code {
			t.Errorf("%s: %v", name, unpack(t, reply).RCode)
		}
	}
}

// TestAddresses holds that addresses are stable, unlike each other, and bounded.
func TestAddresses(t *testing.T) {
	p, q := New(Options{}), New(Options{})
	defer p.Close()
	defer q.Close()
	if a, b := p.Address("API.example.com."), q.Address("api.example.com"); a != b || !a.IsValid() {
		t.Errorf("%s in one proxy, %s in another", a, b)
	}
	for _, host := range []string{"", "a b", "127.0.0.1", "[::1]"} {
		if a := p.Address(host); a.IsValid() {
			t.Errorf("%q has %s", host, a)
		}
	}
	seen := map[netip.Addr]bool{}
	full := 0
	for i := range maxNames + 10 {
		a := p.Address(strings.Repeat("a", i%40+1) + "." + strings.Repeat("b", i/40%40+1) + "." + strings.Repeat("c", i/1600+1) + ".com")
		switch {
		case !a.IsValid():
			full++
		case seen[a] || !nameRange.Contains(a):
			t.Fatalf("%s twice, or elsewhere", a)
		}
		seen[a] = true
	}
	if full != 11 { // one name was there before
		t.Errorf("%d names over the bound were refused", full)
	}
}

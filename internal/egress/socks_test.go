package egress

import (
	"io"
	"net/netip"
	"strings"
	"testing"
)

// request is a SOCKS request after the greeting without a password.
func request(command, kind byte, rest string) string {
	return "\x05\x01\x00" + string([]byte{5, command, 0, kind}) + rest
}

func named(host string, port string) string {
	return request(1, 3, string([]byte{byte(len(host))})+host+port)
}

// TestHostileSOCKS sends requests that must not be carried out, each with the
// bytes that it is answered with.
func TestHostileSOCKS(t *testing.T) {
	const https = "\x01\xbb"
	refused := func(reply byte) string { return "\x05\x00" + string(socksReply(reply)) }
	tests := []struct {
		name, send, want string
		code             Code
	}{
		{"unknown host", named("other.example.com", https), refused(socksNotAllowed), CodeUnknown},
		{"NUL", named("api.example.com\x00.evil.org", https), refused(socksNotAllowed), CodeName},
		{"NUL at the end", named("api.example.com\x00", https), refused(socksNotAllowed), CodeName},
		{"line break", named("api.example.com\r\nX: y", https), refused(socksNotAllowed), CodeName},
		{"space", named("api.example.com ", https), refused(socksNotAllowed), CodeName},
		{"no name", named("", https), refused(socksNotAllowed), CodeName},
		{"port in the name", named("api.example.com:443", https), refused(socksNotAllowed), CodeName},
		{"long label", named(strings.Repeat("a", 64)+".com", https), refused(socksNotAllowed), CodeName},
		{"port 0", named("api.example.com", "\x00\x00"), refused(socksNotAllowed), CodeName},
		{"not ASCII", named("bücher.example.com", https), refused(socksNotAllowed), CodeName},
		{"IPv6 as a name", named("::1", https), refused(socksNotAllowed), CodeName},
		{"IPv4 as a name", named("10.0.0.5", https), refused(socksNotAllowed), CodeLiteral},
		{"decimal address as a name", named("2130706433", https), refused(socksNotAllowed), CodeName},
		{"data", named("6aa30f8b08e16409b46e0173d6de2f56.evil.org", https), refused(socksNotAllowed), CodeLeak},
		{"canary", named(canary+".evil.org", https), refused(socksNotAllowed), CodeCanary},
		{"IPv4", request(1, 1, "\x0a\x00\x00\x05"+https), refused(socksNotAllowed), CodeLiteral},
		{"public IPv4", request(1, 1, "\x5d\xb8\xd8\x22"+https), refused(socksNotAllowed), CodeLiteral},
		{"IPv6", request(1, 4, strings.Repeat("\x00", 15)+"\x01"+https), refused(socksNoSuchAddress), CodeRequest},
		{"unknown address type", request(1, 9, "abc"), refused(socksNoSuchAddress), CodeRequest},
		{"BIND", request(2, 1, "\x0a\x00\x00\x05"+https), refused(socksNoSuchCommand), CodeRequest},
		{"UDP", request(3, 1, "\x00\x00\x00\x00\x00\x00"), refused(socksNoSuchCommand), CodeRequest},
		{"command 0", request(0, 1, "\x00\x00\x00\x00\x00\x00"), refused(socksNoSuchCommand), CodeRequest},
		{"version 4 in the request", "\x05\x01\x00\x04\x01\x00\x01", refused(socksNotAllowed), CodeRequest},
		{"SOCKS4", "\x04\x01\x01\xbb\x0a\x00\x00\x05me\x00", string(socksReply(socksNotAllowed)), CodeRequest},
		{"HTTP", "CONNECT api.example.com:443 HTTP/1.1\r\n\r\n", string(socksReply(socksNotAllowed)), CodeRequest},
		{"no method", "\x05\x00", "\x05\xff", CodeToken},
		{"GSSAPI alone", "\x05\x01\x01", "\x05\xff", CodeToken},
		{"nothing", "", "", CodeUnreachable},
		{"half a greeting", "\x05\xff\x00\x00", "", CodeUnreachable},
		{"half a name", request(1, 3, "\xffabc"), "\x05\x00", CodeUnreachable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := newOutside(t)
			options := o.options("api.example.com")
			options.Policy.Canaries = []string{canary}
			in := start(t, options)
			c := in.dialTo(in.socks)
			_, _ = io.WriteString(c, test.send)
			_ = c.CloseWrite()
			answer, _ := io.ReadAll(c)
			if string(answer) != test.want {
				t.Errorf("answered %q, want %q", answer, test.want)
			}
			if u := o.use(); u.Code != test.code || u.Allow {
				t.Errorf("seen as %+v, want %s", u, test.code)
			}
			if len(o.resolved()) > 0 || len(o.dials()) > 0 {
				t.Errorf("resolved %q, dialled %q", o.resolved(), o.dials())
			}
		})
	}
}

// TestSOCKSByAddress has a client that looked the name up first.
func TestSOCKSByAddress(t *testing.T) {
	o := newOutside(t)
	got := o.recorder("93.184.216.34:443")
	in := start(t, o.options("api.example.com"))
	a := in.Address("api.example.com").As4()
	c := in.dialTo(in.socks)
	send := string(hello(t, "api.example.com"))
	_, _ = io.WriteString(c, request(1, 1, string(a[:])+"\x01\xbb")+send)
	_ = c.CloseWrite()
	_, _ = io.ReadAll(c)
	if r := <-got; r != send {
		t.Errorf("%d bytes came", len(r))
	}
	if u := o.use(); u.Host != "api.example.com" || !u.Allow {
		t.Errorf("seen as %+v", u)
	}
	if _, ok := in.names.name(netip.MustParseAddr("127.64.0.1")); ok {
		t.Skip("the name has the address 127.64.0.1")
	}
	c = in.dialTo(in.socks)
	_, _ = io.WriteString(c, request(1, 1, "\x7f\x40\x00\x01\x01\xbb"))
	_, _ = io.ReadAll(c)
	if u := o.use(); u.Code != CodeLiteral {
		t.Errorf("an address without a name is seen as %+v", u)
	}
}

func TestSOCKSPassword(t *testing.T) {
	const password = "sesame"
	for _, c := range []struct {
		name, send, want string
		code             Code
	}{
		{"right", "\x05\x02\x00\x02\x01\x02me\x06sesame", "\x05\x02\x01\x00", CodeUnreachable}, // no request follows
		{"wrong", "\x05\x01\x02\x01\x02me\x06sesamo", "\x05\x02\x01\x01", CodeToken},
		{"empty", "\x05\x01\x02\x01\x00\x00", "\x05\x02\x01\x01", CodeToken},
		{"not offered", "\x05\x01\x00", "\x05\xff", CodeToken},
		{"other version", "\x05\x01\x02\x02\x02me\x06sesame", "\x05\x02\x01\x01", CodeToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOutside(t)
			options := o.options("api.example.com")
			options.Token = password
			in := start(t, options)
			conn := in.dialTo(in.socks)
			_, _ = io.WriteString(conn, c.send)
			_ = conn.CloseWrite()
			if answer, _ := io.ReadAll(conn); string(answer) != c.want {
				t.Errorf("answered %q, want %q", answer, c.want)
			}
			if u := o.use(); u.Code != c.code {
				t.Errorf("seen as %+v", u)
			}
		})
	}
}

package egress

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const canary = "np-canary-5e1f0c77"

// TestHostileRequests sends requests to the HTTP proxy that it must not carry
// out. Each case says how it is answered; whatever it is, nothing is resolved
// or dialled for it.
func TestHostileRequests(t *testing.T) {
	get := func(address string, headers ...string) string {
		return "GET " + address + " HTTP/1.1\r\nHost: api.example.com\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	}
	post := func(headers ...string) string {
		return strings.Replace(get("http://api.example.com/", headers...), "GET", "POST", 1)
	}
	connect := func(host string, headers ...string) string {
		return "CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	}
	tests := []struct {
		name, send string
		status     int
		code       Code // "" is what net/http refuses by itself
	}{
		{"unknown host", connect("other.example.com:443"), 403, CodeUnknown},
		{"unknown port", connect("api.example.com:22"), 403, CodeUnknown},
		{"name below", connect("x.api.example.com:443"), 403, CodeUnknown},
		{"name that ends so", connect("xapi.example.com:443"), 403, CodeUnknown},
		{"name that begins so", connect("api.example.com.evil.org:443"), 403, CodeUnknown},
		{"no port", connect("api.example.com"), 400, CodeName},
		{"port 0", connect("api.example.com:0"), 400, CodeName},
		{"port 65536", connect("api.example.com:65536"), 400, ""},
		{"port with a sign", connect("api.example.com:+443"), 400, ""},
		{"port in words", connect("api.example.com:https"), 400, ""},
		{"two ports", connect("api.example.com:443:443"), 400, ""},
		{"user", connect("me@api.example.com:443"), 400, ""},
		{"user that looks like the host", connect("api.example.com:443@evil.org:443"), 400, ""},
		{"path", connect("/"), 400, ""},
		{"two dots at the end", connect("api.example.com..:443"), 400, CodeName},
		{"empty label", connect("api..example.com:443"), 400, CodeName},
		{"underscore", connect("a_b.example.com:443"), 400, CodeName},
		{"percent", connect("api%2eexample.com:443"), 400, ""},
		{"long label", connect(strings.Repeat("a", 64) + ".example.com:443"), 400, CodeName},
		{"long name", connect(strings.Repeat("a.", 200) + "example.com:443"), 400, CodeName},
		{"not ASCII", connect("bücher.example.com:443"), 400, ""},
		{"loopback", connect("127.0.0.1:443"), 403, CodeLiteral},
		{"public address", connect(exampleAddr + ":443"), 403, CodeLiteral},
		{"metadata", get("http://169.254.169.254/latest/meta-data/"), 400, CodeRequest}, // Host differs
		{"metadata and Host", "GET http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n", 403, CodeLiteral},
		{"IPv6", connect("[::1]:443"), 400, CodeName},
		{"IPv4 in IPv6", connect("[::ffff:127.0.0.1]:443"), 400, CodeName},
		{"NAT64", connect("[64:ff9b::7f00:1]:443"), 400, CodeName},
		{"IPv6 with a zone", connect("[fe80::1%25lo]:443"), 400, CodeName},
		{"short address", connect("127.1:443"), 400, CodeName},
		{"hexadecimal address", connect("0x7f.1:443"), 400, CodeName},
		{"octal address", connect("0177.0.0.1:443"), 400, CodeName},
		{"decimal address", connect("2130706433:443"), 400, CodeName},
		{"localhost", connect("localhost:443"), 403, CodeLocal},
		{"below localhost", connect("x.localhost:443"), 403, CodeLocal},
		{"one label", connect("intranet:443"), 403, CodeLocal},
		{"metadata by name", "GET http://metadata.google.internal/ HTTP/1.1\r\nHost: metadata.google.internal\r\n\r\n", 403, CodeLocal},
		{"mDNS", connect("printer.local:443"), 403, CodeLocal},
		{"onion", connect("expyuzz4wqqyqhjn.onion:443"), 403, CodeLocal},
		{"data in a name", connect("6aa30f8b08e16409b46e0173d6de2f56.evil.org:443"), 403, CodeLeak},
		{"data below a wildcard", connect("6aa30f8b08e16409b46e0173d6de2f56.wild.example.org:443"), 403, CodeLeak},
		{"CONNECT with a body", connect("api.example.com:443", "Content-Length: 4") + "body", 400, CodeRequest},
		{"CONNECT with chunks", connect("api.example.com:443", "Transfer-Encoding: chunked") + "0\r\n\r\n", 400, CodeRequest},
		{"port 443 in the clear", get("http://api.example.com:443/"), 400, CodeRequest},
		{"port 443 in the clear with its Host", "GET http://api.example.com:443/ HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n", 403, CodeTLS},
		{"Host of another", "GET http://api.example.com/ HTTP/1.1\r\nHost: other.example.com\r\n\r\n", 400, CodeRequest},
		{"two Hosts", get("http://api.example.com/", "Host: other.example.com"), 400, ""},
		{"Host with a port", "GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com:8080\r\n\r\n", 400, CodeRequest},
		{"user in the address", get("http://me:pw@api.example.com/"), 400, CodeRequest},
		{"user that looks like the host in the address", get("http://api.example.com@evil.org/"), 400, CodeRequest},
		{"backslash", get(`http://evil.org\@api.example.com/`), 400, ""},
		{"https in the clear", get("https://api.example.com/"), 400, CodeRequest},
		{"another scheme", get("ftp://api.example.com/"), 400, CodeRequest},
		{"file", get("file:///etc/passwd"), 400, CodeRequest},
		{"no host", get("http:///x"), 400, CodeRequest},
		{"not absolute", get("/"), 400, CodeRequest},
		{"asterisk", strings.Replace(get("*"), "GET", "OPTIONS", 1), 400, CodeRequest},
		{"both framings", post("Content-Length: 4", "Transfer-Encoding: chunked") + "0\r\n\r\n", 400, CodeRequest},
		{"both framings the other way", post("Transfer-Encoding: chunked", "Content-Length: 4") + "0\r\n\r\n", 400, CodeRequest},
		{"two lengths", post("Content-Length: 4", "Content-Length: 5") + "body", 400, ""},
		{"length with a sign", post("Content-Length: +4") + "body", 400, ""},
		{"length list", post("Content-Length: 4, 5") + "body", 400, ""},
		{"unknown encoding", post("Transfer-Encoding: xchunked") + "0\r\n\r\n", 501, ""},
		{"two encodings", post("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + "0\r\n\r\n", 501, ""},
		{"hidden encoding", post("Transfer-Encoding : chunked", "Content-Length: 4") + "0\r\n\r\n", 400, ""},
		{"encoding on its own line", post("Content-Length: 4", "X: y\r\n Transfer-Encoding: chunked") + "body", 0, ""}, // a continued X
		{"NUL in a header", get("http://api.example.com/", "X: a\x00b"), 400, ""},
		{"NUL in the address", get("http://api.example.com/\x00"), 400, ""},
		{"line break in a header", get("http://api.example.com/", "X: a\rb: c"), 400, ""},
		{"huge header", get("http://api.example.com/", "X: "+strings.Repeat("x", 200<<10)), 431, ""},
		{"many headers", get("http://api.example.com/", strings.Repeat("X: y\r\n", 40_000)+"Z: z"), 431, ""},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, CodeRequest},
		{"HTTP/0.9", "GET http://api.example.com/\r\n\r\n", 400, ""},
		{"HTTP/3.0", "GET http://api.example.com/ HTTP/3.0\r\nHost: api.example.com\r\n\r\n", 505, ""},
		{"TLS", string(hello(t, "api.example.com")), 400, ""},
		{"SOCKS5", "\x05\x01\x00\r\n\r\n", 400, ""},
		{"canary in the path", get("http://api.example.com/" + canary), 403, CodeCanary},
		{"canary in the query", get("http://api.example.com/?a=" + strings.ToUpper(canary)), 403, CodeCanary},
		{"canary in percent signs", get("http://api.example.com/?a=%6e%70-canary%2D5e1f0c77"), 403, CodeCanary},
		{"canary in a header", get("http://api.example.com/", "Authorization: Bearer "+canary), 403, CodeCanary},
		{"canary as a password", get("http://api.example.com/", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("x:"+canary))), 403, CodeCanary},
		{"canary in hexadecimal", get("http://api.example.com/" + fmt.Sprintf("%x", canary)), 403, CodeCanary},
		{"canary in a name", connect(canary + ".evil.org:443"), 403, CodeCanary},
		{"canary in labels", connect("np.canary.5e1f.0c77.evil.org:443"), 403, CodeCanary},
		{"canary to CONNECT", connect("api.example.com:443", "X: "+canary), 403, CodeCanary},
	}
	names := map[string]bool{}
	for _, test := range tests {
		if names[test.name] {
			t.Errorf("two cases are called %q", test.name)
		}
		names[test.name] = true
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := newOutside(t)
			options := o.options("api.example.com", "*.wild.example.org")
			options.Policy.Canaries = []string{canary}
			in := start(t, options)
			_, r := in.say(test.send)
			answer, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(answer.Body)
			if test.status == 0 { // harmless: it is let out
				if answer.StatusCode != 200 {
					t.Errorf("answered %s %q", answer.Status, body)
				}
				return
			}
			if answer.StatusCode != test.status {
				t.Errorf("answered %s %q, want %d", answer.Status, body, test.status)
			}
			if len(o.resolved()) > 0 || len(o.dials()) > 0 {
				t.Errorf("resolved %q, dialled %q", o.resolved(), o.dials())
			}
			if more, _ := io.ReadAll(r); len(more) > 0 {
				t.Errorf("the connection went on with %q", more)
			}
			if test.code == "" {
				return
			}
			if u := o.use(); u.Code != test.code || u.Allow || u.Reason == "" || u.Out == 0 {
				t.Errorf("seen as %+v, want %s", u, test.code)
			}
			if test.code == CodeCanary && len(o.canaries()) != 1 {
				t.Errorf("canaries: %+v", o.canaries())
			}
			if !strings.HasPrefix(string(body), "nightporter: ") {
				t.Errorf("the body is %q", body)
			}
		})
	}
	if len(tests) < 30 {
		t.Errorf("only %d cases", len(tests))
	}
}

// firstBytes are what a client sends through a tunnel to api.example.com:443.
func firstBytes(t *testing.T) []struct {
	name string
	send []byte
	code Code
} {
	good, other := hello(t, "api.example.com"), hello(t, "other.example.com")
	return []struct {
		name string
		send []byte
		code Code
	}{
		{"hello", good, ""},
		{"hello in capitals", hello(t, "API.Example.com"), ""},
		{"hello in records of one byte", records(good, 1), ""},
		{"hello in records of 100 bytes", records(good, 100), ""},
		{"another host", other, CodeTLS},
		{"another host in records of one byte", records(other, 1), CodeTLS},
		{"another host in records that end in the name", records(other, 130), CodeTLS},
		{"name below", hello(t, "x.api.example.com"), CodeTLS},
		{"parent", hello(t, "example.com"), CodeTLS},
		{"no name", hello(t, ""), CodeTLS},
		{"name with a canary", hello(t, canary+".example.com"), CodeCanary},
		{"name with NUL", withName(good, "api.example\x00com"), CodeTLS},
		{"name with a dot at the end", withName(hello(t, "xapi.example.com"), "api.example.com."), CodeTLS},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n"), CodeTLS},
		{"HTTP/2", []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), CodeTLS},
		{"SSH", []byte("SSH-2.0-OpenSSH_9.7\r\n"), CodeTLS},
		{"SSLv2", append([]byte{0x80, 0x2e, 1, 3, 1}, make([]byte, 44)...), CodeTLS},
		{"alert", []byte{21, 3, 1, 0, 2, 2, 40}, CodeTLS},
		{"application data", []byte{23, 3, 3, 0, 4, 1, 2, 3, 4}, CodeTLS},
		{"server hello", []byte{22, 3, 3, 0, 6, 2, 0, 0, 2, 3, 3}, CodeTLS},
		{"record too long", []byte{22, 3, 1, 0xff, 0xff, 1, 0, 0, 0}, CodeTLS},
		{"hello too long", append([]byte{22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff}, make([]byte, 70<<10)...), CodeTLS},
		{"hello too long in records of one byte", records(append([]byte{22, 3, 1, 0, 0, 1, 0, 0x80, 0}, make([]byte, 0x8000)...), 1), CodeTLS},
		{"empty records", slices.Repeat([]byte{22, 3, 1, 0, 0}, 1000), CodeTLS},
		{"half a hello", good[:len(good)/2], CodeTLS},
		{"nothing", nil, CodeTLS},
		{"zeros", make([]byte, 1000), CodeTLS},
	}
}

// records puts the handshake message of one record into several.
func records(hello []byte, size int) (out []byte) {
	for body := range slices.Chunk(hello[5:], size) {
		out = append(append(out, 22, 3, 1, byte(len(body)>>8), byte(len(body))), body...)
	}
	return out
}

// withName replaces the name of a hello by one as long.
func withName(hello []byte, name string) []byte {
	at := strings.Index(string(hello), "api.example.com")
	if at < 0 || len(name) < len("api.example.com") {
		panic("no place for the name")
	}
	out := slices.Clone(hello)
	copy(out[at+len("api.example.com")-len(name):], name)
	if at > 0 && len(name) > len("api.example.com") {
		copy(out[at-1:], name)
	}
	return out
}

// ways open a tunnel to a host, each as a client does. The connection that they
// return is at the tunnel's first byte.
var ways = []struct {
	name string
	open func(t testing.TB, in *inside, host string, port int) net.Conn
}{
	{"CONNECT", func(t testing.TB, in *inside, host string, port int) net.Conn {
		c, r := in.say(fmt.Sprintf("CONNECT %s:%d HTTP/1.1\r\nHost: %s\r\n\r\n", host, port, host))
		answer, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != 200 {
			t.Fatal(answer.Status)
		}
		return &readConn{c, r}
	}},
	{"SOCKS", func(t testing.TB, in *inside, host string, port int) net.Conn {
		c := in.dialTo(in.socks)
		if reply := socksDial(t, c, host, port); reply != socksOK {
			t.Fatalf("SOCKS reply %d", reply)
		}
		return c
	}},
	{"direct", func(t testing.TB, in *inside, host string, port int) net.Conn {
		return directTo(in, host, port)
	}},
}

// readConn has bytes that were read with the answer to CONNECT.
type readConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *readConn) Read(b []byte) (int, error) { return c.r.Read(b) }
func (c *readConn) CloseWrite() error          { return closeWrite(c.Conn) }

// socksDial asks for a tunnel without a password.
func socksDial(t testing.TB, c net.Conn, host string, port int) byte {
	t.Helper()
	msg := append([]byte{5, 1, 0, 5, 1, 0, 3, byte(len(host))}, host...)
	msg = append(msg, byte(port>>8), byte(port))
	if _, err := c.Write(msg); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, 12)
	if _, err := io.ReadFull(c, reply); err != nil {
		t.Fatal(err)
	}
	return reply[3]
}

// directTo connects as a program does that knows no proxy. The port in the
// network namespace of a session is the host's; here it is another one, and the
// listener says what it would have been.
func directTo(in *inside, host string, port int) net.Conn {
	in.t.Helper()
	l := listen(in.t, "127.0.0.1:0")
	done := make(chan error, 1)
	go func() {
		done <- in.ServeDirect(&pretend{l, &net.TCPAddr{IP: in.Address(host).AsSlice(), Port: port}})
	}()
	in.t.Cleanup(func() {
		l.Close()
		<-done
	})
	return in.dialTo(l)
}

// pretend is a listener whose connections have another local address.
type pretend struct {
	net.Listener
	local net.Addr
}

type pretendConn struct {
	*net.TCPConn
	local net.Addr
}

func (p *pretend) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &pretendConn{c.(*net.TCPConn), p.local}, nil
}

func (c *pretendConn) LocalAddr() net.Addr { return c.local }

// TestFirstBytes sends each of firstBytes by each way, at once and byte by byte.
// What is let out reaches the host as it was sent; of what is refused no byte
// does.
func TestFirstBytes(t *testing.T) {
	for _, way := range ways {
		for _, first := range firstBytes(t) {
			t.Run(way.name+"/"+first.name, func(t *testing.T) {
				t.Parallel()
				o := newOutside(t)
				got := o.recorder("93.184.216.34:443")
				options := o.options("api.example.com")
				options.Policy.Canaries = []string{canary}
				in := start(t, options)
				c := way.open(t, in, "api.example.com", 443)
				if len(first.send) < 300 {
					for _, b := range first.send {
						if _, err := c.Write([]byte{b}); err != nil {
							break // refused by now
						}
					}
				} else {
					_, _ = c.Write(first.send)
				}
				_ = closeWrite(c)
				answer, _ := io.ReadAll(c)
				if u := o.use(); u.Code != first.code {
					t.Errorf("seen as %+v, want %q", u, first.code)
				}
				want, reached := string(accessDenied), ""
				if first.code == "" {
					want, reached = "bye", string(first.send)
				}
				if r := <-got; r != reached {
					t.Errorf("%d bytes reached the host, want %d", len(r), len(reached))
				}
				if string(answer) != want && len(first.send) < 60<<10 { // after so much a reset may come first
					t.Errorf("the client got %q, want %q", answer, want)
				}
			})
		}
	}
}

// recorder has a server behind an address that sends what it read, until the
// client's end, and answers "bye".
func (o *outside) recorder(address string) <-chan string {
	o.t.Helper()
	l := listen(o.t, "127.0.0.1:0")
	o.serve(address, l)
	got := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b, _ := io.ReadAll(c)
		_, _ = io.WriteString(c, "bye")
		got <- string(b)
	}()
	o.t.Cleanup(func() { l.Close() })
	return got
}

// TestAnythingOnANamedPort holds that a port that the policy names carries any
// protocol, also one in which the server speaks first, and TLS only for the
// host.
func TestAnythingOnANamedPort(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			o := newOutside(t)
			l := listen(t, "127.0.0.1:0")
			defer l.Close()
			o.serve("10.0.0.5:22", l)
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						_, _ = io.WriteString(c, "SSH-2.0-server\n")
						_, _ = io.Copy(c, c)
						c.Close()
					}()
				}
			}()
			in := start(t, o.options("git.intern:22=10.0.0.5"))
			c := way.open(t, in, "git.intern", 22)
			banner := make([]byte, 15)
			if _, err := io.ReadFull(c, banner); err != nil || string(banner) != "SSH-2.0-server\n" {
				t.Fatalf("%q %v", banner, err)
			}
			_, _ = io.WriteString(c, "SSH-2.0-client\n")
			_ = closeWrite(c)
			if got, err := io.ReadAll(c); string(got) != "SSH-2.0-client\n" || err != nil {
				t.Errorf("%q %v", got, err)
			}
			if u := o.use(); u.Code != "" || u.Target.String() != "git.intern:22" || u.In < 30 || u.Out < 15 {
				t.Errorf("seen as %+v", u)
			}
			c = way.open(t, in, "git.intern", 22)
			_, _ = c.Write(hello(t, "api.example.com"))
			_, _ = io.ReadAll(c)
			if u := o.use(); u.Code != CodeTLS {
				t.Errorf("TLS for another host is seen as %+v", u)
			}
		})
	}
}

// TestNoWaitForTheAnswer has clients that send their first bytes with the
// request for the tunnel.
func TestNoWaitForTheAnswer(t *testing.T) {
	first := string(hello(t, "api.example.com"))
	for name, c := range map[string]struct {
		to         func(*inside) net.Listener
		send, want string
	}{
		"CONNECT": {func(in *inside) net.Listener { return in.http },
			"CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n" + first, "HTTP/1.1 200 Connection established\r\n\r\nbye"},
		"SOCKS": {func(in *inside) net.Listener { return in.socks },
			named("api.example.com", "\x01\xbb") + first, "\x05\x00" + string(socksReply(socksOK)) + "bye"},
	} {
		o := newOutside(t)
		got := o.recorder(exampleAddr + ":443")
		in := start(t, o.options("api.example.com"))
		conn := in.dialTo(c.to(in))
		_, _ = io.WriteString(conn, c.send)
		_ = conn.CloseWrite()
		if answer, _ := io.ReadAll(conn); string(answer) != c.want {
			t.Errorf("%s: answered %q", name, answer)
		}
		if r := <-got; r != first {
			t.Errorf("%s: %d bytes came, want %d", name, len(r), len(first))
		}
		if u := o.use(); u.Out != int64(len(c.send)) || u.In != int64(len(c.want)) {
			t.Errorf("%s: %d bytes out and %d in are counted, want %d and %d", name, u.Out, u.In, len(c.send), len(c.want))
		}
	}
}

func TestHelloTakesTooLong(t *testing.T) {
	o := newOutside(t)
	got := o.recorder("93.184.216.34:443")
	in := start(t, o.options("api.example.com"), func(p *Proxy) { p.helloTimeout = 50 * time.Millisecond })
	c := ways[0].open(t, in, "api.example.com", 443)
	_, _ = c.Write(hello(t, "api.example.com")[:50])
	if answer, _ := io.ReadAll(c); string(answer) != string(accessDenied) {
		t.Errorf("got %q", answer)
	}
	if r := <-got; r != "" {
		t.Errorf("%q reached the host", r)
	}
}

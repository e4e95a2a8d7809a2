package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// outside is the internet of a test: names with addresses, and servers on
// loopback behind addresses.
type outside struct {
	t testing.TB

	mu      sync.Mutex
	names   map[string][]string // name → addresses
	servers map[string]string   // ADDRESS:PORT → loopback address
	asked   []string            // names that were resolved
	dialled []string            // ADDRESS:PORT
	seen    chan Use
	canary  []Target

	tls *httptest.Server
}

// exampleAddr is the address of *.example.com, for which the certificate of
// httptest is made.
const exampleAddr = "93.184.216.34"

// newOutside has the web servers of *.example.com on ports 443 and 80. They
// answer with what they were asked.
func newOutside(t testing.TB) *outside {
	o := &outside{t: t, names: map[string][]string{}, servers: map[string]string{}, seen: make(chan Use, 100_000)}
	for _, name := range []string{"example.com", "api.example.com", "www.example.com", "other.example.com"} {
		o.names[name] = []string{exampleAddr}
	}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if to := r.URL.Query().Get("redirect"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		w.Header()["X-Got"] = []string{strings.ReplaceAll(fmt.Sprint(r.Header), "\n", " ")}
		fmt.Fprintf(w, "%s %s://%s%s %d", r.Method, scheme, r.Host, r.URL.RequestURI(), len(body))
	})
	o.tls = httptest.NewUnstartedServer(echo)
	o.tls.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are cut
	o.tls.StartTLS()
	plain := httptest.NewServer(echo)
	t.Cleanup(o.tls.Close)
	t.Cleanup(plain.Close)
	o.serve(exampleAddr+":443", o.tls.Listener)
	o.serve(exampleAddr+":80", plain.Listener)
	return o
}

func (o *outside) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, host)
	var out []netip.Addr
	for _, a := range o.names[host] {
		out = append(out, netip.MustParseAddr(a))
	}
	if out == nil {
		return nil, errors.New("no such host")
	}
	return out, nil
}

func (o *outside) dial(ctx context.Context, network, address string) (net.Conn, error) {
	o.mu.Lock()
	o.dialled = append(o.dialled, address)
	to, ok := o.servers[address]
	o.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("dial %s: connection refused", address)
	}
	return new(net.Dialer).DialContext(ctx, network, to)
}

// serve puts a server on loopback behind an address.
func (o *outside) serve(address string, l net.Listener) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.servers[address] = l.Addr().String()
}

// resolved returns the names that were asked for.
func (o *outside) resolved() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.asked...)
}

// canaries returns what the proxy told of canaries.
func (o *outside) canaries() []Target {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]Target(nil), o.canary...)
}

// dials returns what was dialled.
func (o *outside) dials() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.dialled...)
}

// options has a policy of hosts in their written form.
func (o *outside) options(hosts ...string) Options {
	return Options{
		Policy: Policy{Hosts: parseHosts(o.t, hosts...)}, Resolve: o.resolve, Dial: o.dial,
		Roots: o.tls.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		Seen:  func(u Use) { o.seen <- u },
		Canary: func(t Target) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.canary = append(o.canary, t)
		},
	}
}

func parseHosts(t testing.TB, hosts ...string) (out []Host) {
	t.Helper()
	for _, s := range hosts {
		h, err := ParseHost(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, h)
	}
	return out
}

// use returns the next use that was seen.
func (o *outside) use() Use {
	o.t.Helper()
	select {
	case u := <-o.seen:
		return u
	case <-time.After(3 * time.Minute):
		o.t.Fatal("no use was seen")
		return Use{}
	}
}

// inside is a proxy with its listeners.
type inside struct {
	*Proxy
	t                   testing.TB
	http, socks, direct net.Listener
	dns                 net.PacketConn
	dnsTCP              net.Listener
}

func start(t testing.TB, o Options, change ...func(*Proxy)) *inside {
	t.Helper()
	in := &inside{Proxy: New(o), t: t, http: listen(t, "127.0.0.1:0"), socks: listen(t, "127.0.0.1:0"), direct: listen(t, "0.0.0.0:0"), dnsTCP: listen(t, "127.0.0.1:0")}
	for _, f := range change {
		f(in.Proxy)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	in.dns = udp
	var wg sync.WaitGroup
	for name, serve := range map[string]func() error{
		"proxy":  func() error { return in.ServeProxy(in.http) },
		"socks":  func() error { return in.ServeSOCKS(in.socks) },
		"direct": func() error { return in.ServeDirect(in.direct) },
		"dns":    func() error { return in.ServeDNS(udp, in.dnsTCP) },
	} {
		wg.Go(func() {
			if err := serve(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
	return in
}

func listen(t testing.TB, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dialTo connects to a listener inside.
func (in *inside) dialTo(l net.Listener) *net.TCPConn {
	in.t.Helper()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return c.(*net.TCPConn)
}

// say sends a text to the HTTP proxy and returns the connection and a reader of
// the answer.
func (in *inside) say(text string) (*net.TCPConn, *bufio.Reader) {
	in.t.Helper()
	c := in.dialTo(in.http)
	if _, err := io.WriteString(c, text); err != nil {
		in.t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

// client is an HTTP client of the proxy that trusts the servers outside.
func (in *inside) client(o *outside) *http.Client {
	tr := o.tls.Client().Transport.(*http.Transport).Clone()
	tr.DialContext = nil
	tr.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: in.http.Addr().String()})
	in.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// get returns status and body of a request.
func get(t testing.TB, c *http.Client, address string) (int, string) {
	t.Helper()
	r, err := c.Get(address)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// hello returns the ClientHello of crypto/tls for a name.
func hello(t testing.TB, name string) []byte {
	t.Helper()
	a, b := net.Pipe()
	defer b.Close()
	go func() { _ = tls.Client(a, &tls.Config{ServerName: name, InsecureSkipVerify: name == ""}).Handshake() }()
	defer a.Close()
	buf := make([]byte, 64<<10)
	n, err := b.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:n]
}

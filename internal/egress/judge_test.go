package egress

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestPublicAddresses has addresses of all ranges in both forms.
func TestPublicAddresses(t *testing.T) {
	for addr, want := range map[string]bool{
		"93.184.216.34": true, "1.1.1.1": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.0.1": true, "172.32.0.1": true,
		"192.167.0.1": true, "198.17.0.1": true, "223.255.255.255": true, "2606:4700::1111": true, "2a00:1450::1": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.5": false, "100.64.0.1": false, "127.0.0.1": false, "127.64.0.1": false,
		"169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false, "192.0.0.8": false, "192.0.2.1": false,
		"192.168.1.1": false, "198.18.0.1": false, "198.19.0.1": false, "203.0.113.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:93.184.216.34": false, "::7f00:1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::5db8:d822": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false,
		"3fff::1": false, "fc00::1": false, "fd00::5": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "ff02::1": false, "100::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(addr)); got != want {
			t.Errorf("isPublic(%s) = %v", addr, got)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// TestPrivateAddresses holds that a name is not a way to the machine's own
// networks, unless the policy pins the address.
func TestPrivateAddresses(t *testing.T) {
	for _, c := range []struct {
		name, host string
		answer     []string
		dialled    string
	}{
		{"private", "api.example.com", []string{"10.0.0.5"}, ""},
		{"IPv4 in IPv6", "api.example.com", []string{"::ffff:127.0.0.1"}, ""},
		{"public in IPv6", "api.example.com", []string{"::ffff:93.184.216.34"}, "93.184.216.34:443"},
		{"public behind private", "api.example.com", []string{"10.0.0.5", "::1", exampleAddr}, "93.184.216.34:443"},
		{"pinned", "git.intern=10.0.0.5", []string{exampleAddr}, "10.0.0.5:443"},
		{"literal", "10.0.0.5", nil, "10.0.0.5:443"},
		{"own", "api.example.com", []string{"93.184.216.99", "::ffff:93.184.216.99"}, ""},
		{"own and pinned", "api.example.com=93.184.216.99", nil, "93.184.216.99:443"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOutside(t)
			h := parseHosts(t, c.host)[0]
			o.names[h.Name] = c.answer
			in := start(t, o.options(c.host), func(p *Proxy) {
				p.own = func() []netip.Addr { return append(ownAddresses(), netip.MustParseAddr("93.184.216.99")) }
			})
			_, r := in.say("CONNECT " + h.Name + ":443 HTTP/1.1\r\nHost: x\r\n\r\n")
			if c.dialled == "" {
				answer, err := http.ReadResponse(r, nil)
				if err != nil || answer.StatusCode != 403 {
					t.Fatalf("%+v %v", answer, err)
				}
				if body, _ := io.ReadAll(answer.Body); !strings.Contains(string(body), "to allow it, write "+h.Name+"=") {
					t.Errorf("told %q", body)
				}
				if u := o.use(); u.Code != CodeAddress {
					t.Errorf("seen as %+v", u)
				}
			} else if _, err := r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(o.dials(), " "); got != c.dialled {
				t.Errorf("dialled %q, want %q", got, c.dialled)
			}
		})
	}
}

func TestOwnAddresses(t *testing.T) {
	if own := ownAddresses(); !slices.Contains(own, netip.MustParseAddr("127.0.0.1")) {
		t.Errorf("this machine has the addresses %v", own)
	}
}

// TestRebinding has a resolver whose answers change: a connection asks once, and
// dials the address that it judged.
func TestRebinding(t *testing.T) {
	o := newOutside(t)
	options := o.options("api.example.com")
	var asked atomic.Int32
	options.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		if asked.Add(1)%2 == 1 {
			return []netip.Addr{netip.MustParseAddr(exampleAddr)}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	in := start(t, options)
	for i := range 4 {
		c := in.client(o)
		code, body := get(t, c, "https://api.example.com/")
		if want := i%2 == 0; (code == 200) != want {
			t.Errorf("connection %d: %d %q", i, code, body)
		}
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("resolved %d times for 4 connections", n)
	}
	for _, d := range o.dials() {
		if d != exampleAddr+":443" {
			t.Errorf("dialled %s", d)
		}
	}
}

// TestUnreachable tells failures of the network from refusals.
func TestUnreachable(t *testing.T) {
	o := newOutside(t)
	o.names["away.example.com"] = []string{"93.184.216.99"}
	in := start(t, o.options("away.example.com", "nowhere.example.com"))
	c := in.client(o)
	for _, address := range []string{"http://away.example.com/", "http://nowhere.example.com/"} {
		if code, body := get(t, c, address); code != 502 || !strings.HasPrefix(body, "nightporter: ") {
			t.Errorf("%s: %d %q", address, code, body)
		}
		if u := o.use(); u.Code != CodeUnreachable || u.Allow {
			t.Errorf("seen as %+v", u)
		}
	}
	if _, body := get(t, c, "https://away.example.com/"); !strings.Contains(body, "cannot be reached") {
		t.Errorf("CONNECT: %q", body)
	}
	if reply := socksDial(t, in.dialTo(in.socks), "away.example.com", 443); reply != socksUnreachable {
		t.Errorf("SOCKS: %d", reply)
	}
}

// TestResolveHere has the machine's resolver ask a server, which is that of
// another proxy.
func TestResolveHere(t *testing.T) {
	in := start(t, Options{})
	resolver := net.DefaultResolver
	defer func() { net.DefaultResolver = resolver }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		to := in.dns.LocalAddr().String()
		if strings.HasPrefix(network, "tcp") {
			to = in.dnsTCP.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}}
	if addrs, err := resolveHere(t.Context(), "api.example.com"); err != nil || len(addrs) != 1 || addrs[0] != in.Address("api.example.com") {
		t.Errorf("%v %v", addrs, err)
	}
	if _, err := resolveHere(t.Context(), "host.internal"); err == nil || err.Error() != "no such host" {
		t.Errorf("%v", err) // without the server's address
	}
}

// asker answers questions when the test says so.
type asker struct {
	mu      sync.Mutex
	asked   []Target
	arrived chan Target
	answer  chan Verdict
}

func newAsker() *asker { return &asker{arrived: make(chan Target, 1000), answer: make(chan Verdict)} }

func (a *asker) ask(ctx context.Context, t Target) Verdict {
	a.mu.Lock()
	a.asked = append(a.asked, t)
	a.mu.Unlock()
	a.arrived <- t
	select {
	case v := <-a.answer:
		return v
	case <-ctx.Done():
		return Verdict{Reason: "the end"}
	}
}

func (a *asker) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.asked)
}

func TestAskOnce(t *testing.T) {
	o, a := newOutside(t), newAsker()
	options := o.options()
	options.Ask = a.ask
	in := start(t, options)
	const clients = 20
	codes := make(chan int, clients)
	for range clients {
		go func() {
			code, _ := get(t, in.client(o), "http://api.example.com/")
			codes <- code
		}()
	}
	if q := <-a.arrived; q.Host != "api.example.com" || q.Port != 80 || q.Program != "Go-http-client/1.1" {
		t.Errorf("asked about %+v", q)
	}
	a.answer <- Verdict{Allow: true}
	for range clients {
		if code := <-codes; code != 200 {
			t.Errorf("answered %d", code)
		}
	}
	if code, body := get(t, in.client(o), "http://api.example.com/later"); code != 200 {
		t.Errorf("later: %d %s", code, body)
	}
	if n := a.count(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	go func() { <-a.arrived; a.answer <- Verdict{Reason: "no uploads at night"} }()
	for range 2 { // the other port is another question, and its answer is kept too
		if _, body := get(t, in.client(o), "https://api.example.com/"); !strings.Contains(body, "no uploads at night") {
			t.Errorf("refused with %q", body)
		}
	}
	if n := a.count(); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// TestAskOutlivesConnections holds that an answer which comes after its
// connections have given up serves the next one.
func TestAskOutlivesConnections(t *testing.T) {
	o, a := newOutside(t), newAsker()
	options := o.options()
	options.Ask, options.Wait = a.ask, 20*time.Millisecond
	in := start(t, options)
	for range 3 {
		if code, body := get(t, in.client(o), "http://api.example.com/"); code != 503 || !strings.Contains(body, "try again later") {
			t.Errorf("%d %q", code, body)
		}
		if u := o.use(); u.Code != CodeWaiting {
			t.Errorf("seen as %+v", u)
		}
	}
	a.answer <- Verdict{Allow: true}
	if code, _ := get(t, in.client(o), "http://api.example.com/"); code != 200 && code != 503 {
		t.Errorf("answered %d", code)
	}
	for code := 0; code != 200; { // the answer may not be in force at once
		code, _ = get(t, in.client(o), "http://api.example.com/")
	}
	if n := a.count(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// TestAllowWhileWaiting has the policy change under a connection that waits.
func TestAllowWhileWaiting(t *testing.T) {
	for name, change := range map[string]func(*Proxy){
		"Allow":     func(p *Proxy) { p.Allow(Host{Name: "api.example.com"}) },
		"SetPolicy": func(p *Proxy) { p.SetPolicy(Policy{Hosts: []Host{{Name: "example.com", Wildcard: true}}}) },
	} {
		t.Run(name, func(t *testing.T) {
			o, a := newOutside(t), newAsker()
			options := o.options()
			options.Ask = a.ask
			in := start(t, options)
			code := make(chan int)
			go func() {
				c, _ := get(t, in.client(o), "http://api.example.com/")
				code <- c
			}()
			<-a.arrived
			change(in.Proxy)
			if c := <-code; c != 200 {
				t.Errorf("answered %d", c)
			}
		})
	}
}

// TestSetPolicy takes hosts out and forgets answers.
func TestSetPolicy(t *testing.T) {
	o := newOutside(t)
	options := o.options("api.example.com")
	var asked atomic.Int32
	options.Ask = func(context.Context, Target) Verdict { return Verdict{Allow: asked.Add(1) == 1} }
	in := start(t, options)
	reach := func(address string, want int) {
		t.Helper()
		if code, body := get(t, in.client(o), address); code != want {
			t.Errorf("%s: %d %q, want %d", address, code, body, want)
		}
	}
	reach("http://api.example.com/", 200)
	reach("http://www.example.com/", 200) // by an answer
	in.Allow(Host{Name: "other.example.com"}, Host{Name: "other.example.com"})
	reach("http://other.example.com/", 200)
	in.SetPolicy(Policy{})
	reach("http://api.example.com/", 403)
	reach("http://www.example.com/", 403) // asked anew
	reach("http://other.example.com/", 403)
	if n := asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
}

// TestQuestionsAreBounded invents names.
func TestQuestionsAreBounded(t *testing.T) {
	o, a := newOutside(t), newAsker()
	options := o.options()
	options.Ask, options.Wait = a.ask, time.Millisecond
	in := start(t, options)
	busy := 0
	for i := range maxQuestions + 10 {
		_, err := in.judge(t.Context(), Target{Host: fmt.Sprintf("h%d.example.com", i), Port: 443})
		if asRefusal(err).code == CodeBusy {
			busy++
		}
	}
	if a.count() != maxQuestions || busy != 10 {
		t.Errorf("%d questions, %d refused", a.count(), busy)
	}
}

func TestRouteOf(t *testing.T) {
	p := Policy{
		Hosts:    parseHosts(t, "api.example.org", "*.example.org", "db.example.org:5432", "*.npmjs.org", "pinned.example.com=10.0.0.5", "both.example.net", "10.1.1.1:22"),
		ReadOnly: parseHosts(t, "registry.npmjs.org", "*.pypi.org", "both.example.net", "mirror.example.com:4873"),
	}
	s, err := ParseService("127.0.0.1:5432")
	if err != nil {
		t.Fatal(err)
	}
	p.Services = []Service{s}
	for target, want := range map[string]string{
		"api.example.org:443":     "443 tls",
		"api.example.org:80":      "80 http",
		"api.example.org:22":      "",
		"x.y.example.org:443":     "443 tls",
		"example.org:443":         "",
		"db.example.org:5432":     "5432 any",
		"db.example.org:443":      "443 tls", // by the wildcard
		"registry.npmjs.org:443":  "443 tls read",
		"registry.npmjs.org:80":   "443 http read",
		"www.npmjs.org:80":        "80 http",
		"test.pypi.org:80":        "443 http read",
		"both.example.net:443":    "443 tls",
		"mirror.example.com:4873": "4873 http read",
		"mirror.example.com:80":   "",
		"pinned.example.com:443":  "443 tls 10.0.0.5",
		"10.1.1.1:22":             "22 any",
		"10.1.1.1:443":            "",
		"127.0.0.1:5432":          "5432 any 127.0.0.1",
		"127.0.0.1:5433":          "",
	} {
		at, err := parseTarget(target, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, ok := p.routeOf(at)
		got := ""
		if ok {
			got = fmt.Sprintf("%d %s", r.port, [...]string{"tls", "http", "any"}[r.speech])
			if r.readOnly {
				got += " read"
			}
			if r.pin.IsValid() {
				got += " " + r.pin.String()
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

package agent

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop/ledger"
)

// probeHelper tries one way out of a session and prints what came of it.
func probeHelper(args []string) int {
	out, err := probe(args[0], args[1])
	if err != nil {
		fmt.Printf("%s %s: FAILED %v\n", args[0], args[1], err)
		return 1
	}
	fmt.Printf("%s %s: %s\n", args[0], args[1], out)
	return 0
}

func probe(way, target string) (string, error) {
	get := func(c *http.Client) (string, error) {
		resp, err := c.Get(target)
		if err != nil {
			return "", err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(body))), err
	}
	switch way {
	case "get":
		return get(http.DefaultClient)
	case "direct":
		return get(&http.Client{Transport: &http.Transport{}})
	case "tcp", "udp", "unix":
		c, err := net.DialTimeout(way, target, 5*time.Second)
		if err != nil {
			return "", err
		}
		defer func() { _ = c.Close() }()
		if _, err := c.Write([]byte("hello\n")); err != nil {
			return "", err
		}
		_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
		answer := make([]byte, 100)
		n, err := c.Read(answer)
		return "connected " + strings.TrimSpace(string(answer[:n])), err
	case "own":
		return talkToSelf(target)
	case "family":
		var family int
		if _, err := fmt.Sscan(target, &family); err != nil {
			return "", err
		}
		_, err := unix.Socket(family, unix.SOCK_STREAM, 0)
		return "made", err
	}
	return "", fmt.Errorf("no way %q", way)
}

// talkToSelf listens at an address, or at a socket in the work folder, and connects to
// it from another process.
func talkToSelf(addr string) (string, error) {
	network := "tcp"
	if addr == "unix" {
		network, addr = "unix", filepath.Join("own.sock")
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		line := make([]byte, 100)
		n, _ := c.Read(line)
		host, _, _ := net.SplitHostPort(c.LocalAddr().String())
		_, _ = fmt.Fprintf(c, "%s from %s\n", strings.TrimSpace(string(line[:n])), host)
	}()
	to := l.Addr().String()
	if host, port, err := net.SplitHostPort(to); err == nil && host != "127.0.0.1" {
		to = net.JoinHostPort("127.0.0.1", port)
	}
	out, err := exec.Command(os.Args[0], "probe", network, to).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// echo serves lines on loopback, and returns its address.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	return l.Addr().String()
}

// closedFixture is a fixture at level 3 with a server outside, which has the name
// models.example.org.
func closedFixture(t *testing.T) (h *fixture, base string, network ledger.Network) {
	t.Helper()
	h = newFixture(t, 3)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "hello %s", r.Host)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return h, "http://models.example.org:" + u.Port(), ledger.Network{Mode: ledger.NetworkNone, Hosts: []string{"models.example.org:" + u.Port() + "=127.0.0.1"}}
}

// probes runs a session that tries ways out, and returns a line for each.
func (h *fixture) probes(session string, n ledger.Network, ways ...string) (ledger.Exit, []string) {
	h.t.Helper()
	script := ""
	for _, w := range ways {
		script += fmt.Sprintf("%s probe %s\n", h.program(), w)
	}
	h.script(script)
	l := h.launch(session)
	l.Network = n
	h.start(l)
	x := h.wait(session)
	return x, strings.Split(strings.TrimSpace(x.Tail), "\n")
}

// TestClosedNetwork tries ways out of a network that has one host and one service.
func TestClosedNetwork(t *testing.T) {
	h, base, network := closedFixture(t)
	service, other := echo(t), echo(t)
	network.Services = []string{service}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
	for _, c := range []struct{ way, want string }{
		{"get " + base + "/", "200 hello models.example.org:" + port},
		{"direct " + base + "/", "200 hello models.example.org:" + port},
		{"tcp " + service, "connected hello"},
		{"tcp " + other, "FAILED"},
		{"get http://other.example.org:" + port + "/", "403 nightporter: "},
		{"direct http://other.example.org/", "nightporter: "},
		{"tcp 192.0.2.1:443", "FAILED"},
		{"tcp 127.0.0.1:443", "connected \x15\x03"}, // an alert of TLS: the address stands for no name
		{"udp 192.0.2.1:53", "FAILED"},
		{fmt.Sprintf("family %d", unix.AF_VSOCK), "FAILED"},
		{fmt.Sprintf("family %d", unix.AF_PACKET), "FAILED"},
		{fmt.Sprintf("family %d", unix.AF_INET6), "made"},
	} {
		t.Run(c.way, func(t *testing.T) {
			session := fmt.Sprintf("r1-%d", time.Now().UnixNano())
			x, got := h.probes(session, network, c.way)
			if len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("got %q, want %q; %s %s\n%s", got, c.want, x.Reason, x.Text, h.log(session))
			}
			if c.way == "get "+base+"/" && (len(x.Hosts) != 1 || x.Hosts[0].Host != "models.example.org" || x.Hosts[0].Conns != 1 || x.Hosts[0].Received == 0) {
				t.Errorf("hosts: %+v", x.Hosts)
			}
		})
	}
}

// TestHostRequest holds that a session's request for an unknown host reaches the
// daemon, and that the answer lets the waiting connection go on.
func TestHostRequest(t *testing.T) {
	h, base, network := closedFixture(t)
	network.Hosts, network.Asks = nil, true
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
	daemon, err := statelock.Take(h.state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = daemon.Release() }()
	for _, allow := range []bool{true, false} {
		session := fmt.Sprintf("r1-%t", allow)
		h.script(fmt.Sprintf("%s probe get %s/", h.program(), base))
		l := h.launch(session)
		l.Network = network
		h.start(l)
		ctx, cancel := context.WithCancel(t.Context())
		asked := make(chan ledger.HostRequest, 10)
		done := make(chan error, 1)
		go func() { done <- h.runner.HostRequests(ctx, session, func(r ledger.HostRequest) { asked <- r }) }()
		var r ledger.HostRequest
		select {
		case r = <-asked:
		case <-time.After(patience):
			t.Fatalf("nothing was asked\n%s", h.log(session))
		}
		if r.Host != "models.example.org" || fmt.Sprint(r.Port) != port || r.Session != session {
			t.Errorf("asked for %+v", r)
		}
		if err := h.runner.AnswerHost(session, ledger.HostAnswer{Host: r.Host, Port: r.Port, Allow: allow, Address: "127.0.0.1", Reason: "the owner said no"}); err != nil {
			t.Fatal(err)
		}
		x := h.wait(session)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := map[bool]string{true: "200 hello models.example.org", false: "the owner said no"}[allow]
		if !strings.Contains(x.Tail, want) {
			t.Errorf("allow %t: %s\n%s", allow, x.Tail, h.log(session))
		}
		if len(asked) > 0 {
			t.Errorf("asked twice")
		}
	}
}

// TestLeak holds that a session which sends its environment is ended.
func TestLeak(t *testing.T) {
	h, base, network := closedFixture(t)
	x, _ := h.probes("r1-1", network, `get "`+base+`/?env=$`+canaryVar+`"; sleep 60`)
	if x.Reason != ledger.ExitLeak || !strings.Contains(x.Text, "models.example.org") {
		t.Errorf("ended as %s: %s\n%s", x.Reason, x.Text, x.Tail)
	}
}

// TestNetworkEnv holds that programs find the proxy, the services and the registries.
func TestNetworkEnv(t *testing.T) {
	vars := networkVars(ledger.Network{Mode: ledger.NetworkNone, Services: []string{"127.0.0.2:5432"}, ReadOnly: []string{"registry.npmjs.org"}}, proxyAddress)
	if !slices.Contains(vars, "NO_PROXY=localhost,127.0.0.1,::1,127.0.0.2") || !slices.Contains(vars, "npm_config_registry=http://registry.npmjs.org/") {
		t.Errorf("%q", vars)
	}
}

// TestClosedNeedsBoundary holds that a closed network is never weakened silently.
func TestClosedNeedsBoundary(t *testing.T) {
	h := newFixture(t, 1)
	x, _ := h.probes("r1-1", ledger.Network{Mode: ledger.NetworkNone}, "tcp 127.0.0.1:1")
	if x.Reason != ledger.ExitNotStarted || !strings.Contains(x.Text, "level 3 or 2") {
		t.Errorf("ended as %s: %s", x.Reason, x.Text)
	}
}

// TestSupervisedNetwork tries what a session can do whose network is closed without
// namespaces.
func TestSupervisedNetwork(t *testing.T) {
	_, serve := serveHat(t)
	h := newFixture(t, 2, serve)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprintf(w, "hello %s", r.Host) }))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndex(server.URL, ":")+1:]
	service, other := echo(t), echo(t)
	network := ledger.Network{Mode: ledger.NetworkNone, Hosts: []string{"models.example.org:" + port + "=127.0.0.1"}, Services: []string{service}}
	for _, c := range []struct{ way, want string }{
		{"get http://models.example.org:" + port + "/", "200 hello models.example.org:" + port},
		{"get http://other.example.org/", "403 nightporter: "},
		{"tcp " + service, "connected hello"},
		{"tcp " + other, "FAILED dial tcp " + other + ": connect: connection refused"},
		{"tcp 192.0.2.1:443", "network is unreachable"},
		{"udp " + other, "permission denied"},
		{"own 127.0.0.1:0", "connected hello"},
		{"own 0.0.0.0:0", "connected hello from 127.0.0.1"},
		{"own [::]:0", "connected hello from 127.0.0.1"},
		{"own unix", "connected hello"},
		{fmt.Sprintf("family %d", unix.AF_VSOCK), "FAILED"},
		{"unix $HAT_SOCKET", "connected HTTP/1.1"},
		{"unix " + filepath.Join(h.state, "np.sock"), "FAILED"},
	} {
		t.Run(c.way, func(t *testing.T) {
			session := fmt.Sprintf("r1-%d", time.Now().UnixNano())
			x, got := h.probes(session, network, c.way)
			if !strings.Contains(strings.Join(got, "\n"), c.want) {
				t.Errorf("got %q, want %q; %s %s\n%s", got, c.want, x.Reason, x.Text, h.log(session))
			}
		})
	}
}

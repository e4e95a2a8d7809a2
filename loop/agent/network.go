package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/egress"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Addresses inside a closed network (docs/spec 12.1). Programs find the proxy by
// their environment and the resolver by /etc/resolv.conf; the ports below 1024 are
// out of a session's reach, and the proxies' address is not one that its own
// servers use.
const (
	proxyAddress = "127.64.0.1:3128"
	socksAddress = "127.64.0.1:1080"
	nameServer   = "127.0.0.1"
)

// fileResolver is the file of a session's folder that a closed network has at
// /etc/resolv.conf.
const fileResolver = "net/resolv.conf"

// listener is a socket inside a closed network. The reaper makes it there, and the
// supervisor serves it from outside.
type listener struct {
	Use     listenerUse `json:"use"`
	Network string      `json:"network"` // tcp or udp
	Address string      `json:"address"`
}

// listenerUse says what a listener is for.
type listenerUse string

// Uses of listeners.
const (
	listenProxy   listenerUse = "proxy"   // HTTP proxy
	listenSOCKS   listenerUse = "socks"   // SOCKS5 proxy
	listenDNS     listenerUse = "dns"     // resolver, by both networks
	listenDirect  listenerUse = "direct"  // connections to names, of programs that know no proxy
	listenService listenerUse = "service" // a service of this machine
)

// networkVars returns the variables by which programs find the proxy. There is no
// ALL_PROXY: many that read it end with an error, because they speak no SOCKS.
//
// proxy is the proxy's address, with what it asks for before an @.
func networkVars(n ledger.Network, proxy string) []string {
	policy, _ := policyOf(n) // closeNetwork refuses what cannot be read
	direct := "localhost,127.0.0.1,::1"
	for _, s := range policy.Services {
		if host := s.Addr.Addr().String(); host != nameServer {
			direct += "," + host
		}
	}
	vars := egress.ReadOnlyVars(policy.ReadOnly)
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"} {
		vars = append(vars, name+"=http://"+proxy)
	}
	// Node.js reads the variables above from version 24 on, if it is told to.
	return append(vars, "no_proxy="+direct, "NO_PROXY="+direct, "NODE_USE_ENV_PROXY=1")
}

// sessionNetwork is the supervisor's side of a closed network: it serves the
// listeners, waits for people's answers about other hosts, and keeps what the
// session did with each host. It lives as long as the session, so that a restart of
// the daemon cuts no connection.
type sessionNetwork struct {
	folder  string
	network ledger.Network
	proxy   *egress.Proxy
	leak    chan egress.Target // receives the first target to which the canary went

	stop context.CancelFunc

	permitted map[netip.AddrPort]bool // without a network of its own: addresses of the machine's loopback

	mu       sync.Mutex
	answers  map[string]ledger.HostAnswer // by hostFile
	answered chan struct{}                // closed and made anew when answers grow
	uses     map[string]*ledger.HostUse
}

// newSessionNetwork makes the network's side outside. The plan gets the listeners
// that the reaper has to make.
func newSessionNetwork(folder string, s *spec) (*sessionNetwork, error) {
	policy, err := policyOf(s.Network)
	if err != nil {
		return nil, err
	}
	if s.Canary != "" {
		policy.Canaries = []string{s.Canary}
	}
	n := &sessionNetwork{
		folder: folder, network: s.Network, leak: make(chan egress.Target, 1),
		answers: map[string]ledger.HostAnswer{}, answered: make(chan struct{}), uses: map[string]*ledger.HostUse{},
	}
	token := ""
	if s.Plan.Level < 3 { // other users of the machine reach the listeners, too
		if token, err = randomHex(); err != nil {
			return nil, err
		}
	}
	n.proxy = egress.New(egress.Options{
		Policy: policy, Token: token, Ask: n.ask, Seen: n.seen, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Canary: func(t egress.Target) {
			select {
			case n.leak <- t:
			default: // one is enough to end the session
			}
		},
	})
	if s.Plan.Level >= 3 {
		s.Plan.Listen = n.listeners(policy)
		s.Plan.Env = lastValues(append(s.Plan.Env, networkVars(s.Network, proxyAddress)...))
	} else if err := n.listenOutside(s, token, policy); err != nil {
		return nil, errors.Join(err, n.proxy.Close())
	}
	var ctx context.Context
	ctx, n.stop = context.WithCancel(context.Background())
	go n.watchAnswers(ctx)
	return n, nil
}

// policyOf returns the proxy's policy for a network.
func policyOf(n ledger.Network) (egress.Policy, error) {
	var p egress.Policy
	var errs []error
	parse := func(texts []string, to *[]egress.Host) {
		for _, text := range texts {
			h, err := egress.ParseHost(text)
			if errs = append(errs, err); err == nil {
				*to = append(*to, h)
			}
		}
	}
	if n.Mode == ledger.NetworkPorts { // to every host of the internet
		p.Ports = n.Ports
	}
	parse(n.Hosts, &p.Hosts)
	parse(n.ReadOnly, &p.ReadOnly)
	for _, text := range n.Services {
		s, err := egress.ParseService(text)
		if errs = append(errs, err); err == nil {
			p.Services = append(p.Services, s)
		}
	}
	return p, errors.Join(errs...)
}

// listeners returns the sockets of the network. Names have an address each, and all
// of them share the listeners of 443 and 80, which no session can listen on itself.
// A port that a host names gets a listener at the host's own address.
func (n *sessionNetwork) listeners(p egress.Policy) []listener {
	all := []listener{
		{listenProxy, "tcp", proxyAddress}, {listenSOCKS, "tcp", socksAddress},
		{listenDNS, "udp", nameServer + ":53"}, {listenDNS, "tcp", nameServer + ":53"},
		{listenDirect, "tcp4", "0.0.0.0:443"}, {listenDirect, "tcp4", "0.0.0.0:80"},
	}
	for _, h := range p.Hosts {
		if a := n.proxy.Address(h.Name); h.Port > 0 && h.Port != 443 && h.Port != 80 && !h.Wildcard && a.IsValid() {
			all = append(all, listener{listenDirect, "tcp", netip.AddrPortFrom(a, uint16(h.Port)).String()})
		}
	}
	for _, port := range p.Ports {
		if port < 1024 && port != 53 { // above, it could be a port of the session's own servers
			all = append(all, listener{listenDirect, "tcp4", "0.0.0.0:" + strconv.Itoa(port)})
		}
	}
	for _, s := range p.Services {
		all = append(all, listener{listenService, "tcp", s.Addr.String()})
	}
	slices.SortFunc(all, func(a, b listener) int { // equal ones side by side
		return strings.Compare(a.Network+a.Address, b.Network+b.Address)
	})
	return slices.CompactFunc(all, func(a, b listener) bool { return a.Network == b.Network && a.Address == b.Address })
}

// serve serves the sockets that come from inside, until the network is closed.
func (n *sessionNetwork) serve(from *os.File, listeners []listener) {
	defer func() { _ = from.Close() }()
	for range listeners {
		file, number, err := receiveListener(from)
		if err != nil {
			return // the reaper failed, and reports why
		}
		if number < len(listeners) {
			if err := n.serveOne(file, listeners[number]); err != nil {
				fmt.Fprintln(os.Stderr, "nightporter shim: network:", err)
			}
		}
		_ = file.Close()
	}
}

// serveOne begins to serve one socket.
func (n *sessionNetwork) serveOne(file *os.File, l listener) error {
	if l.Network == "udp" {
		conn, err := net.FilePacketConn(file)
		if err != nil {
			return err
		}
		go func() { _ = n.proxy.ServeDNS(conn, nil) }()
		return nil
	}
	ln, err := net.FileListener(file)
	if err != nil {
		return err
	}
	var serve func(net.Listener) error
	switch l.Use {
	case listenProxy:
		serve = n.proxy.ServeProxy
	case listenSOCKS:
		serve = n.proxy.ServeSOCKS
	case listenDNS:
		serve = func(l net.Listener) error { return n.proxy.ServeDNS(nil, l) }
	case listenDirect:
		serve = n.proxy.ServeDirect
	case listenService:
		s, err := egress.ParseService(l.Address)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		serve = func(l net.Listener) error { return n.proxy.ServeService(l, s) }
	}
	go func() { _ = serve(ln) }() // it ends with the network
	return nil
}

// listenOutside listens for a session that shares the machine's network. It has no
// resolver and no addresses for names there: programs find the proxy by their
// environment alone.
func (n *sessionNetwork) listenOutside(s *spec, token string, p egress.Policy) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.permitted = map[netip.AddrPort]bool{netip.MustParseAddrPort(l.Addr().String()): true}
	for _, s := range p.Services {
		n.permitted[s.Addr] = true
	}
	s.Plan.Env = lastValues(append(s.Plan.Env, networkVars(s.Network, "session:"+token+"@"+l.Addr().String())...))
	go func() { _ = n.proxy.ServeProxy(l) }() // it ends with the network
	return nil
}

// superviseSockets answers the kernel's questions about the session's sockets.
func (n *sessionNetwork) superviseSockets(from *os.File, p plan) {
	defer func() { _ = from.Close() }()
	folders := slices.Concat(p.Write, p.Sockets)
	if err := answerSockets(from, func(a netip.AddrPort) bool { return n.permitted[a] }, folders); err != nil {
		fmt.Fprintln(os.Stderr, "nightporter shim: network:", err)
	}
}

// close ends all connections and returns what the session did with each host, in
// the order of first use.
func (n *sessionNetwork) close() []ledger.HostUse {
	n.stop()
	_ = n.proxy.Close() // nothing can be done about it, and the process ends soon
	n.mu.Lock()
	defer n.mu.Unlock()
	var uses []ledger.HostUse
	for _, u := range n.uses {
		uses = append(uses, *u)
	}
	slices.SortFunc(uses, func(a, b ledger.HostUse) int {
		if c := a.First.Compare(b.First); c != 0 {
			return c
		}
		return strings.Compare(hostFile(a.Host, a.Port), hostFile(b.Host, b.Port))
	})
	return uses
}

// maxHosts limits how many hosts of one session are kept. A session that tries more
// of them looks for one that is open.
const maxHosts = 200

// seen adds a connection to what is kept.
func (n *sessionNetwork) seen(u egress.Use) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := hostFile(u.Host, u.Port)
	use := n.uses[key]
	if use == nil {
		if len(n.uses) >= maxHosts {
			return
		}
		use = &ledger.HostUse{Host: u.Host, Port: u.Port, First: u.Began}
		n.uses[key] = use
	}
	use.Conns++
	if use.Refused = u.Reason; u.Allow { // what is refused got as far as the proxy
		use.Refused = ""
		use.Sent += u.Out
		use.Received += u.In
	}
	if u.Began.Before(use.First) {
		use.First = u.Began
	}
}

// ask asks people about a host, through the daemon. It returns with their answer, or
// when the network is closed: a connection that waits for it gives up before. While
// there is no daemon the request lies there for the next one.
func (n *sessionNetwork) ask(ctx context.Context, t egress.Target) egress.Verdict {
	key, setting := hostFile(t.Host, t.Port), "it is not among hosts of [[project]]"
	if !n.network.Asks {
		return egress.Verdict{Reason: setting}
	}
	if err := n.request(key, ledger.HostRequest{Host: t.Host, Port: t.Port, Program: t.Program, At: time.Now()}); err != nil {
		fmt.Fprintln(os.Stderr, "nightporter shim: ask for a host:", err)
		return egress.Verdict{Reason: setting + ", and it could not be asked for"}
	}
	for {
		n.mu.Lock()
		a, ok := n.answers[key]
		next := n.answered
		n.mu.Unlock()
		if ok {
			return egress.Verdict{Allow: a.Allow, Reason: firstOf(a.Reason, setting+", and nobody allowed it")}
		}
		select {
		case <-next:
		case <-ctx.Done():
			return egress.Verdict{Reason: setting}
		}
	}
}

// request leaves a request for the daemon, once.
func (n *sessionNetwork) request(key string, h ledger.HostRequest) error {
	path := filepath.Join(n.folder, dirHostRequests, key)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	if len(entries) >= maxHosts {
		return fmt.Errorf("%d hosts were asked for already", len(entries))
	}
	return writeJSON(path, h)
}

// watchAnswers reads the daemon's answers as they come.
func (n *sessionNetwork) watchAnswers(ctx context.Context) {
	dir := filepath.Join(n.folder, dirHostAnswers)
	err := watchFolder(ctx, dir, func() {
		entries, _ := os.ReadDir(dir) // it is there as long as the session
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, e := range entries {
			var a ledger.HostAnswer
			if readJSON(filepath.Join(dir, e.Name()), &a) != nil || e.Name() != hostFile(a.Host, a.Port) || n.answers[e.Name()] == a {
				continue
			}
			n.answers[e.Name()] = a
			if a.Allow { // also after an earlier no, which the proxy keeps
				n.allow(a)
			}
		}
		close(n.answered)
		n.answered = make(chan struct{})
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "nightporter shim: answers about hosts:", err)
	}
}

// allow adds a host to what the proxy lets out.
func (n *sessionNetwork) allow(a ledger.HostAnswer) {
	entry := hostEntry(a.Host, a.Port)
	if a.Address != "" {
		entry += "=" + a.Address
	}
	h, err := egress.ParseHost(entry)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nightporter shim: an answer about a host:", err)
		return
	}
	n.proxy.Allow(h)
}

// hostEntry returns a host as the setting hosts would name it.
func hostEntry(host string, port int) string {
	if port == 443 || port == 80 {
		return host
	}
	return host + ":" + strconv.Itoa(port)
}

package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	defaultWait     = time.Minute
	defaultMaxConns = 1000

	// idleTimeout ends a connection on which nothing moves. A model can think
	// for ten minutes without a byte.
	idleTimeout   = 20 * time.Minute
	headerTimeout = 30 * time.Second // for the header of a request, and for a SOCKS greeting
	lingerTimeout = time.Second
	maxHeader     = 64 << 10 // of a request
	maxRefusing   = 64
)

// Use is one connection or, where HTTP is spoken, one request.
type Use struct {
	Target
	Verdict
	Code  Code      `json:"code,omitempty"` // why it was refused or failed; empty if it was let out
	Began time.Time `json:"began"`
	Out   int64     `json:"out"` // bytes from the session
	In    int64     `json:"in"`  // bytes to the session
}

// String returns the use as one line of a log.
func (u Use) String() string {
	outcome := "let out"
	if !u.Allow {
		outcome = fmt.Sprintf("refused as %s: %s", u.Code, u.Reason)
	}
	return fmt.Sprintf("%s %s, %d bytes out, %d in", u.Target, outcome, u.Out, u.In)
}

// Options say what a Proxy does. The functions are called from many goroutines
// at a time, and may call methods of the Proxy other than Close.
type Options struct {
	Policy Policy // its lists must not be changed any more

	// Ask answers whether an unknown host may be reached; nil refuses all. It
	// is called once for a host and port however many connections want it, and
	// its answer serves all later ones until SetPolicy. It may take as long as
	// a person does: a connection waits for it no longer than Wait. The context
	// ends with Close, which waits until Ask has returned.
	Ask  func(context.Context, Target) Verdict
	Wait time.Duration // default one minute

	Seen   func(Use)    // a connection has ended or was refused
	Canary func(Target) // a request carried a canary, and was refused

	// Resolve returns the addresses of a name; the machine's resolver by
	// default. Those that are not of the internet are left out.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // net.Dialer by default
	Roots   *x509.CertPool                                                       // for hosts that are only read; the machine's by default

	MaxConns int    // connections at a time; default 1,000
	Token    string // if set, the password that ServeProxy and ServeSOCKS ask for, with any user name

	// Log gets details at level debug, because a session decides how many there
	// are. What somebody should know is told by Seen and Canary.
	Log *slog.Logger
}

// Proxy lets out of a session what its policy permits. Its methods may be
// called at any time from any goroutine; each Serve method returns nil after
// Close, or the error of its listener.
type Proxy struct {
	opt          Options
	idle         time.Duration
	helloTimeout time.Duration
	own          func() []netip.Addr // addresses of this machine
	names        nameTable
	server       *http.Server
	inside       *tunnelListener
	serveOnce    sync.Once
	refusing     chan struct{} // a place for each connection that is told that there are too many
	forwarder    *httputil.ReverseProxy
	transport    *http.Transport

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	policy    Policy
	canaries  canaries
	changed   chan struct{} // closed when the policy changes
	questions map[string]*question
	open      int // questions without an answer
	listeners map[closer]bool
	conns     map[*conn]bool
}

type closer interface{ Close() error }

// New returns a proxy. Close must be called.
func New(o Options) *Proxy {
	if o.Wait <= 0 {
		o.Wait = defaultWait
	}
	if o.MaxConns <= 0 {
		o.MaxConns = defaultMaxConns
	}
	if o.Resolve == nil {
		o.Resolve = resolveHere
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Proxy{
		opt: o, idle: idleTimeout, helloTimeout: helloTimeout, own: ownAddresses,
		refusing:  make(chan struct{}, maxRefusing),
		changed:   make(chan struct{}),
		questions: map[string]*question{},
		listeners: map[closer]bool{},
		conns:     map[*conn]bool{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.setPolicy(o.Policy)
	p.initHTTP()
	return p
}

// Allow adds hosts to the policy. Connections that wait for an answer about one
// of them go on.
func (p *Proxy) Allow(hosts ...Host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.policy
	next.Hosts = slices.Clone(next.Hosts) // what was read under the lock may be in use
	for _, h := range hosts {
		if !slices.Contains(next.Hosts, h) {
			next.Hosts = append(next.Hosts, h)
		}
	}
	p.setPolicy(next)
}

// SetPolicy replaces the policy for connections and requests to come, and
// forgets the answers of Ask. What is connected stays so. The lists of policy
// must not be changed any more.
func (p *Proxy) SetPolicy(policy Policy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t, q := range p.questions {
		select {
		case <-q.done:
			delete(p.questions, t)
		default: // still open
		}
	}
	p.setPolicy(policy)
	p.transport.CloseIdleConnections() // an address may be pinned anew
}

func (p *Proxy) setPolicy(policy Policy) {
	p.policy = policy
	p.canaries = newCanaries(policy.Canaries)
	close(p.changed)
	p.changed = make(chan struct{})
}

// Address returns the address inside that stands for a host, of 127.64.0.0/10.
// It is the same for the same name as long as the proxy lives. The zero Addr
// says that host is no host name, or that there are too many.
func (p *Proxy) Address(host string) netip.Addr {
	name, err := parseName(host)
	if err != nil || isLiteral(name) {
		return netip.Addr{}
	}
	return p.names.address(name)
}

// Close ends all listeners, connections and questions, and waits until nothing
// runs.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.cancel()
	var all []closer
	for l := range p.listeners {
		all = append(all, l)
	}
	for c := range p.conns {
		all = append(all, c)
	}
	p.mu.Unlock()
	var err error
	for _, c := range all {
		if e := c.Close(); e != nil && !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	_ = p.server.Close()
	p.transport.CloseIdleConnections()
	p.running.Wait()
	p.transport.CloseIdleConnections() // of requests that ended meanwhile
	return err
}

// listen registers a listener until it is closed. It closes l if the proxy is
// closed.
func (p *Proxy) listen(l closer) (ended func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = l.Close()
		return nil, false
	}
	p.listeners[l] = true
	p.running.Add(1)
	return func() {
		p.mu.Lock()
		delete(p.listeners, l)
		p.mu.Unlock()
		p.running.Done()
	}, true
}

// enter counts a goroutine that Close waits for. It reports false if the proxy
// is closed.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running.Add(1)
	}
	return !p.closed
}

// admit registers a connection. It returns nil if there are too many.
func (p *Proxy) admit(nc net.Conn) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.conns) >= p.opt.MaxConns {
		return nil
	}
	c := newConn(p, nc)
	p.conns[c] = true
	return c
}

func (p *Proxy) release(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// limitListener is a listener whose connections are registered. One that is too
// many gets the words busy and is closed.
type limitListener struct {
	net.Listener
	proxy *Proxy
	busy  []byte
}

func (l *limitListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.proxy.admit(nc); c != nil {
			return c, nil
		}
		l.refuse(nc)
	}
}

// refuse tells a client that there are too many connections. Accepting goes on
// meanwhile; if many have to be told, some are closed without waiting until
// they have read it.
func (l *limitListener) refuse(nc net.Conn) {
	select {
	case l.proxy.refusing <- struct{}{}:
		l.proxy.running.Go(func() {
			closeWith(nc, l.busy)
			<-l.proxy.refusing
		})
	default:
		_ = nc.SetWriteDeadline(time.Now().Add(lingerTimeout))
		_, _ = nc.Write(l.busy) // fits into a new connection's buffer
		_ = nc.Close()
	}
}

// serve accepts connections until the proxy or the listener is closed.
func (p *Proxy) serve(l net.Listener, busy []byte, handle func(*conn)) error {
	ended, ok := p.listen(l)
	if !ok {
		return nil
	}
	defer ended()
	defer l.Close()
	limited := &limitListener{l, p, busy}
	for {
		nc, err := limited.Accept()
		switch {
		case p.ctx.Err() != nil:
			if err == nil {
				_ = nc.Close()
			}
			return nil
		case isTemporary(err):
			if !p.sleep(50 * time.Millisecond) {
				return nil
			}
		case err != nil:
			return err
		default:
			p.running.Go(func() { handle(nc.(*conn)) })
		}
	}
}

// isTemporary reports whether accepting may succeed later: too many open files,
// or a connection that was gone before it was accepted.
func isTemporary(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Temporary() //nolint:staticcheck // net/http has the same rule
}

func (p *Proxy) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// openUse is a Use in the making.
type openUse struct {
	proxy *Proxy
	conn  *conn
	use   Use
}

func (p *Proxy) startUse(c *conn, t Target) *openUse {
	return &openUse{p, c, Use{Target: t, Began: time.Now()}}
}

// end reports the connection: as refused if err is one, and else as let out.
func (u *openUse) end(err error) {
	u.use.Allow = err == nil
	if err != nil {
		f := asRefusal(err)
		u.use.Code, u.use.Reason = f.code, f.reason
	}
	if u.conn != nil {
		u.use.Out, u.use.In = u.conn.out.Load(), u.conn.in.Load()
	}
	u.proxy.opt.Log.Debug("egress", "use", u.use)
	if u.proxy.opt.Seen != nil {
		u.proxy.opt.Seen(u.use)
	}
}

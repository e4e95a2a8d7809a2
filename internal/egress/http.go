package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
)

// ServeProxy serves an HTTP proxy: CONNECT, and requests of http:// in absolute
// form. A connection serves one request, so that nothing can be smuggled from
// one into the next.
func (p *Proxy) ServeProxy(l net.Listener) error {
	ended, ok := p.listen(l)
	if !ok {
		return nil
	}
	defer ended()
	busy := &refusal{CodeBusy, fmt.Sprintf("more than %d connections", p.opt.MaxConns)}
	err := p.server.Serve(&limitListener{l, p, rawResponse(busy)})
	if p.ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

type connKey struct{}

func (p *Proxy) initHTTP() {
	p.inside = &tunnelListener{conns: make(chan *conn), done: p.ctx.Done()}
	quiet := slog.NewLogLogger(p.opt.Log.Handler(), slog.LevelDebug)
	p.server = &http.Server{
		Handler:           http.HandlerFunc(p.handle),
		ReadHeaderTimeout: headerTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          quiet,
		Protocols:         new(http.Protocols),

		DisableGeneralOptionsHandler: true,

		BaseContext: func(net.Listener) context.Context { return p.ctx },
		ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
			c := nc.(*conn)
			c.keepHeader()
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	p.server.Protocols.SetHTTP1(true)
	p.server.SetKeepAlivesEnabled(false)
	p.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			t, err := parseTarget(address, 0)
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithCancel(ctx) // it outlives the request
			defer cancel()
			defer context.AfterFunc(p.ctx, cancel)()
			return p.dial(ctx, t.Host, t.Port, exchangeOf(ctx).route.pin)
		},
		TLSClientConfig:        &tls.Config{RootCAs: p.opt.Roots},
		TLSHandshakeTimeout:    helloTimeout,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    16,
		MaxIdleConns:           64,
		IdleConnTimeout:        headerTimeout,
		MaxResponseHeaderBytes: 4 * maxHeader,
		WriteBufferSize:        8 << 10,
		ReadBufferSize:         8 << 10,
	}
	p.forwarder = &httputil.ReverseProxy{
		Rewrite:        rewrite,
		ModifyResponse: plainRedirect,
		Transport:      p.transport,
		FlushInterval:  -1,
		ErrorLog:       quiet,
		BufferPool:     bufferPool{},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			f := asRefusal(err)
			if r.Context().Err() == nil { // else the client has gone
				exchangeOf(r.Context()).err = f
			}
			http.Error(w, f.text(), f.status())
		},
	}
}

// bufferPool lends the buffers of tunnels to the forwarder.
type bufferPool struct{}

func (bufferPool) Get() []byte  { return buffers.Get().(*[16 << 10]byte)[:] }
func (bufferPool) Put(b []byte) { buffers.Put((*[16 << 10]byte)(b)) }

// exchange is a request that is being forwarded. Its context has it.
type exchange struct {
	target Target
	route  route
	err    error // why there was no response
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// rewrite makes a client's request the proxy's own. httputil.ReverseProxy
// removes hop-by-hop headers, Proxy-Authorization among them.
func rewrite(r *httputil.ProxyRequest) {
	e := exchangeOf(r.In.Context())
	r.Out.URL.Scheme, r.Out.URL.Host = "http", authority(e.target.Host, e.route.port, portHTTP)
	if e.route.readOnly {
		r.Out.URL.Scheme, r.Out.URL.Host = "https", authority(e.target.Host, e.route.port, portTLS)
	}
	r.Out.Host = r.Out.URL.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery // as the client wrote it
	if !isWebSocket(r.In) {
		r.Out.Header.Del("Upgrade") // a server need not switch (RFC 9110 7.8)
		r.Out.Header.Del("Connection")
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = v
		}
	}
}

func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// plainRedirect keeps a client of a host that is only read on http://, where the
// host's redirects would send it to https. Other redirects are left alone: the
// client asks anew, and is judged anew.
func plainRedirect(r *http.Response) error {
	to, err := r.Location()
	if err != nil || !exchangeOf(r.Request.Context()).route.readOnly || to.Scheme != "https" || to.Host != r.Request.URL.Host || !strings.HasPrefix(r.Header.Get("Location"), "https:") {
		return nil
	}
	to.Scheme = "http"
	r.Header.Set("Location", to.String())
	return nil
}

func authority(host string, port, usual int) string {
	if port == usual {
		return host
	}
	return host + ":" + strconv.Itoa(port)
}

// handle serves one request.
func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		return
	}
	defer p.running.Done()
	c := r.Context().Value(connKey{}).(*conn)
	t, err := p.check(c, r)
	if err != nil {
		p.startUse(c, t).end(err)
		refuseHTTP(w, c, asRefusal(err))
		return
	}
	if r.Method == http.MethodConnect {
		p.connect(w, r, c, t)
		return
	}
	p.forward(w, r, c, t)
}

// check reads the target of a request and refuses what is malformed, ambiguous,
// without the token, or carries a canary.
func (p *Proxy) check(c *conn, r *http.Request) (Target, error) {
	t, err := p.target(c, r)
	if err != nil {
		return t, err
	}
	if c.target == nil && !p.hasToken(r) {
		return t, refusef(CodeToken, "the proxy's password is missing")
	}
	head := c.header()
	if head == nil {
		return t, refusef(CodeRequest, "%s: a malformed header", t)
	}
	if p.hasCanary(head) || p.hasCanaryName(t.Host) {
		p.sawCanary(t)
		return t, refusef(CodeCanary, "%s: the request carries a secret", t)
	}
	return t, checkHeader(head, r, t)
}

// target reads whom a request is for.
func (p *Proxy) target(c *conn, r *http.Request) (Target, error) {
	if r.ProtoMajor != 1 {
		return Target{}, refusef(CodeRequest, "%s is not spoken here", printable(r.Proto, 16))
	}
	var t Target
	var err error
	switch {
	case c.target != nil && r.Method == http.MethodConnect:
		return *c.target, refusef(CodeRequest, "%s: CONNECT within a tunnel", c.target)
	case c.target != nil:
		return *c.target, nil
	case r.Method == http.MethodConnect:
		if t, err = parseTarget(r.RequestURI, 0); err == nil {
			t.Host = p.names.nameOf(t.Host)
		}
	case r.URL.Scheme == "https":
		return t, refusef(CodeRequest, "https:// is reached by CONNECT")
	case r.URL.Scheme != "http" || r.URL.Host == "":
		return t, refusef(CodeRequest, "this is a proxy: expected CONNECT HOST:PORT or a request of http://HOST/")
	case r.URL.User != nil:
		return t, refusef(CodeRequest, "a user name in the address of a request")
	default:
		t, err = parseTarget(r.URL.Host, portHTTP)
	}
	if err != nil {
		t.Host = printable(r.Host, maxName)
		return t, refusef(CodeName, "%q: %v", t.Host, err)
	}
	program, _, _ := strings.Cut(r.UserAgent(), " ")
	t.Program = printable(program, 64)
	return t, nil
}

// hasToken reports whether a request has the proxy's password.
func (p *Proxy) hasToken(r *http.Request) bool {
	if p.opt.Token == "" {
		return true
	}
	basic := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	_, password, _ := basic.BasicAuth()
	return subtle.ConstantTimeCompare([]byte(password), []byte(p.opt.Token)) == 1
}

// checkHeader looks at the header as it was sent, for what net/http has
// resolved by the time a handler sees it: both framings of a body, and a Host
// beside an absolute address.
func checkHeader(head []byte, r *http.Request, t Target) error {
	tp := textproto.NewReader(bufio.NewReader(bytes.NewReader(head)))
	if _, err := tp.ReadLine(); err != nil {
		return refusef(CodeRequest, "%s: a malformed header", t)
	}
	h, err := tp.ReadMIMEHeader()
	if err != nil {
		return refusef(CodeRequest, "%s: a malformed header: %v", t, err)
	}
	if len(h["Transfer-Encoding"]) > 0 && len(h["Content-Length"]) > 0 {
		return refusef(CodeRequest, "%s: both Content-Length and Transfer-Encoding", t)
	}
	if r.Method == http.MethodConnect {
		if r.ContentLength != 0 {
			return refusef(CodeRequest, "%s: CONNECT with a body", t)
		}
		return nil
	}
	hosts := h["Host"]
	if r.URL.IsAbs() {
		hosts = append(hosts, r.URL.Host)
		if r.URL.Scheme != "http" || r.URL.User != nil {
			return refusef(CodeRequest, "%s: an address other than http://%s/", t, t.Host)
		}
	} else if len(hosts) == 0 {
		return refusef(CodeRequest, "%s: no Host", t)
	}
	for _, host := range hosts {
		if named, err := parseTarget(host, portHTTP); err != nil || named.Host != t.Host || named.Port != t.Port {
			return refusef(CodeRequest, "%s: the request is for %q", t, printable(host, maxName))
		}
	}
	return nil
}

// forward sends a request on.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, c *conn, t Target) {
	use := p.startUse(c, t)
	rt, err := p.judge(r.Context(), t)
	if err == nil {
		err = rt.permits(r, t)
	}
	if err != nil {
		use.end(err)
		refuseHTTP(w, c, asRefusal(err))
		return
	}
	e := &exchange{target: t, route: rt}
	defer func() { use.end(e.err) }() // also when ReverseProxy aborts by a panic
	p.forwarder.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, e)))
}

// permits refuses what a route does not carry.
func (rt route) permits(r *http.Request, t Target) error {
	switch {
	case rt.speech == speakTLS:
		return refusef(CodeTLS, "%s: only TLS is spoken there", t)
	case rt.readOnly && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return refusef(CodeReadOnly, "%s is only read ("+settingReadOnly+"): %s is refused", t, r.Method)
	case rt.readOnly && (r.ContentLength != 0 || isWebSocket(r)):
		return refusef(CodeReadOnly, "%s is only read ("+settingReadOnly+"): more than a request without a body is refused", t)
	case rt.readOnly && overridesMethod(r):
		return refusef(CodeReadOnly, "%s is only read ("+settingReadOnly+"): a method in a header is refused", t)
	}
	return nil
}

// overridesMethod reports whether a request has a header by which frameworks for
// servers let a client that can only GET ask for another method.
func overridesMethod(r *http.Request) bool {
	for _, name := range []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"} {
		if r.Header[name] != nil {
			return true
		}
	}
	return false
}

// connect serves CONNECT.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request, c *conn, t Target) {
	_, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.startUse(c, t).end(err)
		return
	}
	ahead, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	c.unread(ahead)
	p.tunnel(p.ctx, c, t, connectResponder{})
}

type connectResponder struct{}

func (connectResponder) accepted(c *conn) error {
	_, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	return err
}

func (connectResponder) refused(c *conn, f *refusal) { closeWith(c, rawResponse(f)) }

// rawResponse returns a refusal as a response.
func rawResponse(f *refusal) []byte {
	text := f.text()
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n", f.status(), text, len(text)+1)
	if f.code == CodeToken {
		fmt.Fprintf(&b, "Proxy-Authenticate: %s\r\n", challenge)
	}
	fmt.Fprintf(&b, "\r\n%s\n", text)
	return b.Bytes()
}

const challenge = `Basic realm="nightporter"`

// refuseHTTP refuses a request. It writes the response itself: net/http has no
// way to set the text of the status line, which is all that many clients show.
func refuseHTTP(w http.ResponseWriter, c *conn, f *refusal) {
	if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
		closeWith(c, rawResponse(f))
	}
}

// tunnelListener is the listener of connections in whose tunnels HTTP is spoken.
type tunnelListener struct {
	conns chan *conn
	done  <-chan struct{}
}

func (l *tunnelListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *tunnelListener) Close() error   { return nil }
func (l *tunnelListener) Addr() net.Addr { return &net.TCPAddr{} }

// serveInside has the HTTP server serve a tunnel to a target.
func (p *Proxy) serveInside(c *conn, t Target) {
	p.serveOnce.Do(func() { p.running.Go(func() { _ = p.server.Serve(p.inside) }) })
	c.target = &t
	select {
	case p.inside.conns <- c:
	case <-p.ctx.Done():
		_ = c.Close()
	}
}

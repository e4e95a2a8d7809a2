package egress

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"time"
)

// ServeDirect serves programs that ignore proxies: they connect to the address
// that DNS gave them for a name. The connection's local address says which name
// it was, and its local port which port, so that the listener may be one for all
// addresses, such as 0.0.0.0:443.
func (p *Proxy) ServeDirect(l net.Listener) error {
	return p.serve(l, nil, func(c *conn) {
		local, ok := c.LocalAddr().(*net.TCPAddr)
		if !ok {
			_ = c.Close()
			return
		}
		addr := local.AddrPort().Addr().Unmap()
		t := Target{Host: addr.String(), Port: local.Port}
		host, ok := p.names.name(addr)
		if !ok {
			err := refusef(CodeUnknown, "%s stands for no name", addr)
			p.startUse(c, t).end(err)
			directResponder{t.Port}.refused(c, err)
			return
		}
		t.Host = host
		p.tunnel(p.ctx, c, t, directResponder{t.Port})
	})
}

// directResponder says nothing to a client that was accepted: it believes that it
// speaks to the host.
type directResponder struct{ port int }

func (directResponder) accepted(*conn) error { return nil }

func (a directResponder) refused(c *conn, f *refusal) {
	switch a.port {
	case portHTTP:
		// A client that has not asked yet takes an answer for a stray one. What it asks
		// for does not matter, nor whether it is HTTP.
		_ = c.SetReadDeadline(time.Now().Add(helloTimeout))
		_, _ = http.ReadRequest(bufio.NewReader(io.LimitReader(c, maxHeader)))
		closeWith(c, rawResponse(f))
	case portTLS:
		closeWith(c, accessDenied)
	default:
		_ = c.Close()
	}
}

// ServeService serves a local service: what connects to l is connected to the
// service's address outside, as long as the policy has the service.
func (p *Proxy) ServeService(l net.Listener, s Service) error {
	return p.serve(l, nil, func(c *conn) {
		t := Target{Host: s.Addr.Addr().String(), Port: int(s.Addr.Port())}
		use := p.startUse(c, t)
		up, err := p.dialService(t)
		if err != nil {
			use.end(err)
			_ = c.Close()
			return
		}
		c.tie(up)
		join(c, up)
		use.end(nil)
	})
}

func (p *Proxy) dialService(t Target) (net.Conn, error) {
	p.mu.Lock()
	r, ok := p.policy.routeOf(t)
	p.mu.Unlock()
	if !ok {
		return nil, refusef(CodeUnknown, "%s is not among "+settingServices, t)
	}
	return p.dial(p.ctx, t.Host, t.Port, r.pin)
}

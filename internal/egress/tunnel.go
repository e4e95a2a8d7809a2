package egress

import (
	"context"
	"net"
)

// responder tells a client what became of its wish for a tunnel, in the words
// of its protocol.
type responder interface {
	accepted(*conn) error
	refused(*conn, *refusal)
}

// tunnel connects a client to a target, or refuses it. It closes c, except
// where it leaves c to the HTTP server. What is refused is reported before the
// client is told, which takes as long as the client likes.
func (p *Proxy) tunnel(ctx context.Context, c *conn, t Target, a responder) {
	use := p.startUse(c, t)
	r, up, err := p.reach(ctx, t)
	if err != nil {
		use.end(err)
		a.refused(c, asRefusal(err))
		return
	}
	if up != nil {
		c.tie(up)
	}
	if err := a.accepted(c); err != nil {
		use.end(nil)
		_ = c.Close()
		return
	}
	switch r.speech {
	case speakHTTP:
		p.serveInside(c, t)
	case speakTLS:
		if err := p.checkHello(c, t, false); err != nil {
			use.end(err)
			_ = up.Close()
			closeWith(c, accessDenied)
			return
		}
		join(c, up)
		use.end(nil)
	case speakAny:
		use.end(p.joinAny(c, up, t))
	}
}

// reach judges a target and dials it, unless HTTP is spoken there, which dials
// for each request.
func (p *Proxy) reach(ctx context.Context, t Target) (route, net.Conn, error) {
	r, err := p.judge(ctx, t)
	if err != nil {
		return r, nil, err
	}
	if r.speech == speakHTTP {
		return r, nil, nil
	}
	if r.readOnly {
		return r, nil, refusef(CodeReadOnly, "%s is only read ("+settingReadOnly+"): ask for http://%s/ through the proxy, which makes it https", t, t.Host)
	}
	up, err := p.dial(ctx, t.Host, r.port, r.pin)
	return r, up, err
}

// joinAny copies in both directions, and checks the client's first bytes
// meanwhile: in some protocols the server speaks first.
func (p *Proxy) joinAny(c *conn, up net.Conn, t Target) error {
	defer c.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		oneWay(c, up, c)
	}()
	err := p.checkHello(c, t, true)
	if err != nil {
		_ = c.Close()
	} else {
		oneWay(up, c, c)
	}
	<-done
	return err
}

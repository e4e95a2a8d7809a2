package egress

import (
	"context"
	"net"
)

// answerer tells a client what became of its wish for a tunnel, in the words
// of its protocol.
type answerer interface {
	accepted(*conn) error
	refused(*conn, *refusal)
}

// tunnel connects a client to a target, or refuses it. It closes c, except
// where it leaves c to the HTTP server.
func (p *Proxy) tunnel(ctx context.Context, c *conn, t Target, a answerer) {
	use := p.began(c, t)
	r, up, err := p.reach(ctx, t)
	if err != nil {
		a.refused(c, asRefusal(err))
		use.end(err)
		return
	}
	if err := a.accepted(c); err != nil {
		if up != nil {
			_ = up.Close()
		}
		_ = c.Close()
		use.end(nil)
		return
	}
	if r.speech == speakHTTP {
		p.serveInside(c, t)
		return
	}
	c.tie(up)
	use.end(p.carry(c, up, t, r.speech == speakAny))
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

// carry checks the client's first bytes and copies. What a server says first is
// passed on meanwhile where anything may be spoken.
func (p *Proxy) carry(c *conn, up net.Conn, t Target, anything bool) error {
	if !anything {
		if err := p.checkHello(c, t, false); err != nil {
			_ = up.Close()
			closeWith(c, accessDenied)
			return err
		}
		join(c, up)
		return nil
	}
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

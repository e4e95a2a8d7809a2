package egress

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

const (
	portTLS  = 443
	portHTTP = 80

	// maxQuestions bounds the questions that are open at a time, and maxAnswers
	// those that are remembered: a session invents as many names as it likes.
	maxQuestions = 32
	maxAnswers   = 4096
)

// Target is what a session wants to reach.
type Target struct {
	Host    string `json:"host"`              // lower case, punycode
	Port    int    `json:"port"`              // 0 for a query of DNS
	Program string `json:"program,omitempty"` // what the client calls itself, which nothing proves
}

// String returns HOST:PORT.
func (t Target) String() string { return t.Host + ":" + strconv.Itoa(t.Port) }

// Verdict is the answer to whether a target may be reached.
type Verdict struct {
	Allow  bool   `json:"allow"`
	Reason string `json:"reason,omitempty"` // told to the client of what is refused
}

// speech is what may be spoken on a connection.
type speech int

const (
	speakTLS  speech = iota // TLS with the host's name, and nothing else
	speakHTTP               // HTTP/1.1, by the proxy itself
	speakAny                // anything; TLS only with the host's name
)

// route is how a target is reached.
type route struct {
	pin      netip.Addr // dialled without resolving
	port     int        // dialled
	speech   speech
	readOnly bool // GET and HEAD, made https
}

// routeOf finds the entry of the policy for a target. An exact name goes before
// a wildcard, and of two alike Hosts goes before ReadOnly.
func (p *Policy) routeOf(t Target) (route, bool) {
	for _, wildcard := range []bool{false, true} {
		for _, h := range p.Hosts {
			if h.Wildcard == wildcard && h.covers(t.Host) && h.onPort(t.Port) {
				return openRoute(h, t), true
			}
		}
		for _, h := range p.ReadOnly {
			if h.Wildcard == wildcard && h.covers(t.Host) && (h.onPort(t.Port) || h.isWeb() && (Host{}).onPort(t.Port)) {
				return readRoute(h, t), true
			}
		}
	}
	if a, err := netip.ParseAddr(t.Host); err == nil {
		for _, s := range p.Services {
			if s.Addr == netip.AddrPortFrom(a, uint16(t.Port)) {
				return route{pin: a, port: t.Port, speech: speakAny}, true
			}
		}
	}
	if slices.Contains(p.Ports, t.Port) && !isLiteral(t.Host) && !isLocal(t.Host) {
		return openRoute(Host{}, t), true
	}
	return route{}, false
}

// isWeb reports whether h is on the ports of http and https.
func (h Host) isWeb() bool { return (Host{}).onPort(h.Port) || h.Port == 0 }

func openRoute(h Host, t Target) route {
	r := route{pin: h.Addr, port: t.Port, speech: speakAny}
	switch t.Port {
	case portTLS:
		r.speech = speakTLS
	case portHTTP:
		r.speech = speakHTTP
	}
	return r
}

func readRoute(h Host, t Target) route {
	r := route{pin: h.Addr, port: t.Port, speech: speakHTTP, readOnly: true}
	switch t.Port {
	case portTLS:
		r.speech = speakTLS // refused: what is in it cannot be seen
	case portHTTP:
		r.port = portTLS
	}
	return r
}

// names reports whether the policy has an entry for the host that is not a
// wildcard.
func (p *Policy) names(host string) bool {
	for _, list := range [][]Host{p.Hosts, p.ReadOnly} {
		for _, h := range list {
			if !h.Wildcard && h.Name == host {
				return true
			}
		}
	}
	return false
}

// covers reports whether the policy has an entry for the host, whatever the
// port.
func (p *Policy) covers(host string) bool {
	for _, list := range [][]Host{p.Hosts, p.ReadOnly} {
		for _, h := range list {
			if h.covers(host) {
				return true
			}
		}
	}
	return false
}

// question is one target that Ask was called for.
type question struct {
	done    chan struct{} // closed with the answer
	verdict Verdict
}

// judge returns the route to a target, or why there is none. For an unknown
// host it waits up to Options.Wait for the answer.
func (p *Proxy) judge(ctx context.Context, t Target) (route, error) {
	var timeout <-chan time.Time
	for {
		r, q, changed, err := p.decide(t)
		if q == nil {
			return r, err
		}
		if timeout == nil {
			timer := time.NewTimer(p.opt.Wait)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-q.done: // decide has the answer now
		case <-changed:
		case <-timeout:
			return route{}, refusef(CodeWaiting, "%s is not among "+settingHosts+"; whether to allow it was asked and not answered yet, so try again later", t)
		case <-ctx.Done():
			return route{}, refusef(CodeWaiting, "%s: %v", t, context.Cause(ctx))
		}
	}
}

// decide judges a target by what is known now. It returns a question if the
// answer is still open, which it asks if nobody did, and the channel that is
// closed when the policy changes.
func (p *Proxy) decide(t Target) (route, *question, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.policy.checkName(t); err != nil {
		return route{}, nil, nil, err
	}
	if r, ok := p.policy.routeOf(t); ok {
		return r, nil, nil, nil
	}
	if q := p.questions[t.String()]; q != nil {
		select {
		case <-q.done:
			if q.verdict.Allow {
				return openRoute(Host{}, t), nil, nil, nil
			}
			return route{}, nil, nil, denied(t, q.verdict)
		default:
			return route{}, q, p.changed, nil
		}
	}
	if p.opt.Ask == nil {
		return route{}, nil, nil, refusef(CodeUnknown, "%s is not among "+settingHosts, t)
	}
	if p.open >= maxQuestions || len(p.questions) >= maxAnswers {
		return route{}, nil, nil, refusef(CodeBusy, "%s is not among "+settingHosts+", and too many other hosts were asked about", t)
	}
	return route{}, p.ask(t), p.changed, nil
}

// checkName returns why a target is refused by its name alone, whatever
// anybody would answer.
func (p *Policy) checkName(t Target) error {
	switch named := p.names(t.Host); {
	case named:
		return nil
	case isLiteral(t.Host):
		if _, ok := p.routeOf(t); ok {
			return nil // a service
		}
		return refusef(CodeLiteral, "%s is an address; only those that "+settingHosts+" names are reached", t)
	case isLocal(t.Host) && !p.covers(t.Host):
		return refusef(CodeLocal, "%s is a name of local networks; only those that "+settingHosts+" names are reached", t)
	case looksLikeData(t.Host):
		return refusef(CodeLeak, "%s has a name that looks like data; to allow it, write the whole name in "+settingHosts, t)
	}
	return nil
}

func denied(t Target, v Verdict) error {
	if v.Reason == "" {
		v.Reason = "the answer was no"
	}
	return refusef(CodeDenied, "%s was not allowed: %s", t, v.Reason)
}

// ask starts a question. It outlives the connection that caused it, so that
// the answer serves the next one. The caller holds mu.
func (p *Proxy) ask(t Target) *question {
	q := &question{done: make(chan struct{})}
	p.questions[t.String()] = q
	p.open++
	p.running.Go(func() {
		v := p.opt.Ask(p.ctx, t)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.open--
		if p.ctx.Err() != nil {
			v = Verdict{Reason: "nightporter has ended the session"}
		}
		q.verdict = v
		close(q.done)
	})
	return q
}

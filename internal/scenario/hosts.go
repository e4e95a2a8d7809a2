package scenario

import (
	"context"
	"io/fs"

	"github.com/nightporter/nightporter/loop/ledger"
)

// hosts is what sessions asked for, and what they were answered.
type hosts struct {
	asked    []ledger.HostRequest
	answered []ledger.HostAnswer
	changed  chan struct{} // closed when either grows; nil = nobody waits
}

func (h *hosts) grown() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

func (h *hosts) next() <-chan struct{} {
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// Reach asks for a host as a session does, and returns the answer. Session calls it.
func (p *Ports) Reach(ctx context.Context, r ledger.HostRequest) (ledger.HostAnswer, error) {
	p.mu.Lock()
	from := len(p.hosts.answered)
	p.hosts.asked = append(p.hosts.asked, r)
	p.hosts.grown()
	p.mu.Unlock()
	for {
		p.mu.Lock()
		for _, a := range p.hosts.answered[from:] {
			if a.Host == r.Host && a.Port == r.Port {
				p.mu.Unlock()
				return a, nil
			}
		}
		wait := p.hosts.next()
		p.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return ledger.HostAnswer{}, ctx.Err()
		}
	}
}

// Screenshot returns what a session left for a picture.
func (p *Ports) Screenshot(session string) ([]byte, error) {
	if p.Picture != nil {
		if data := p.Picture(session); data != nil {
			return data, nil
		}
	}
	return nil, fs.ErrNotExist
}

// DropScreenshot does nothing: Picture makes its pictures anew.
func (p *Ports) DropScreenshot(string) error { return nil }

// HostRequests reports what a session asks for.
func (p *Ports) HostRequests(ctx context.Context, session string, asked func(ledger.HostRequest)) error {
	for seen := 0; ; {
		p.mu.Lock()
		news := p.hosts.asked[seen:]
		seen = len(p.hosts.asked)
		wait := p.hosts.next()
		p.mu.Unlock()
		for _, r := range news {
			if r.Session == session {
				asked(r)
			}
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil
		}
	}
}

// AnswerHost answers what a session waits for.
func (p *Ports) AnswerHost(_ string, a ledger.HostAnswer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts.answered = append(p.hosts.answered, a)
	p.hosts.grown()
	return nil
}

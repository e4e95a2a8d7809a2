package engine

import (
	"context"
	"sync"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// preparations holds the sessions that are being prepared: planned, without a
// process yet. A session that is cut off in that time never begins.
//
// The cut is in the ledger before cancel is called, and begin is called before
// the state is read. So a preparation sees the cut in the state, or is cancelled.
// From its end on, the runner takes care of it: Runner.End keeps a session that
// has no process yet from getting one.
type preparations struct {
	mu     sync.Mutex
	cancel map[string]context.CancelFunc // by session
}

// begin returns the context of a session's preparation, which ends with cutOff,
// and a function to call at the end of the preparation.
func (p *preparations) begin(ctx context.Context, session string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel == nil {
		p.cancel = map[string]context.CancelFunc{}
	}
	p.cancel[session] = cancel
	return ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.cancel, session)
		cancel()
	}
}

// cutOff cancels the preparations of the sessions that the entries cut off.
func (p *preparations) cutOff(entries []ledger.Entry) {
	for _, e := range entries {
		if _, cut := e.Body.(ledger.SessionCut); !cut {
			continue
		}
		p.mu.Lock()
		if cancel := p.cancel[e.Session]; cancel != nil {
			cancel()
		}
		p.mu.Unlock()
	}
}

// isCut reports whether a session is to end, as of the last commit.
func (e *Engine) isCut(project, session string) bool {
	s, _ := e.State(project)
	ses, ok := s.Project.Session(session)
	return ok && ses.Cut
}

// notBegun returns the exit of a session that was cut off before its start.
func (e *Engine) notBegun(session string) loop.SessionExited {
	now := e.o.Clock()
	return loop.SessionExited{Exit: ledger.Exit{
		Session: session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, Started: now, Ended: now, NotBegun: true,
	}}
}

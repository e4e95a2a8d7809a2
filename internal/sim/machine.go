package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// machine is where sessions run. They outlive the daemon.
type machine struct {
	sessions map[string]*session
	order    []string        // ids, as they were started
	refused  map[string]bool // ids of sessions whose end was asked for before their start
}

func newMachine() machine {
	return machine{sessions: map[string]*session{}, refused: map[string]bool{}}
}

// session is one process that a shim watches.
type session struct {
	w      *site
	launch ledger.Launch
	began  time.Time // by the clock on the wall
	exit   ledger.Exit
	over   chan struct{} // closed at its end
	ended  bool

	network network

	poked chan struct{} // buffers one signal: endBy has changed, or the daemon has gone
	lost  bool          // the power failed
	endBy time.Time     // by the scheduler's clock: when its end is due that was asked for; zero = not asked
}

// shimPatience is how long a shim keeps its session without a daemon.
const shimPatience = 30 * time.Minute

// runner is the machine's sessions as one daemon reaches them.
type runner struct {
	*site
	life *life
}

var (
	_ engine.Runner         = runner{}
	_ engine.Agents         = runner{}
	_ engine.SessionSockets = runner{}
)

// Known is engine.Runner's.
func (r runner) Known(session string) bool { return r.machine.sessions[session] != nil }

// Start is engine.Runner's.
func (r runner) Start(ctx context.Context, l ledger.Launch) error {
	defer r.begin()()
	r.life.sleep(r.between(0, 300*time.Millisecond))
	if r.Known(l.Session) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start %s: %w", l.Session, err)
	}
	err := r.down
	if err == nil && r.hit(gitError) {
		err = syscall.EAGAIN
	}
	if err != nil {
		r.tell("machine", "%s cannot be started: %v", l.Session, err)
		return fmt.Errorf("start %s: %w", l.Session, err)
	}
	s := &session{w: r.site, launch: l, began: r.wall(), network: newNetwork(), over: make(chan struct{}), poked: make(chan struct{}, 1)}
	r.machine.sessions[l.Session] = s
	if r.machine.refused[l.Session] {
		s.exit = ledger.Exit{Session: l.Session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, Started: s.began, Ended: s.began, NotBegun: true}
		s.ended = true
		close(s.over)
		return nil
	}
	r.machine.order = append(r.machine.order, l.Session)
	r.audit.started(l)
	if l.Kind == ledger.KindAgent {
		r.tell("machine", "%s starts: %s of %s by %s", l.Session, l.Hat, l.Task, l.Agent)
	}
	r.spawn(s.live)
	r.life.sleep(r.between(0, 200*time.Millisecond))
	return nil
}

// Wait is engine.Runner's.
func (r runner) Wait(ctx context.Context, id string) (ledger.Exit, error) {
	defer r.begin()()
	s := r.machine.sessions[id]
	if err := r.life.Wait(ctx, sched.Forever, s.over); err != nil {
		return ledger.Exit{}, err
	}
	return s.exit, nil
}

// End is engine.Runner's.
func (r runner) End(_ context.Context, id string, grace ledger.Duration) error {
	s := r.machine.sessions[id]
	switch {
	case s == nil:
		r.machine.refused[id] = true
		return nil
	case s.ended:
		return nil
	}
	if by := r.s.now.Add(grace.D()); s.endBy.IsZero() || by.Before(s.endBy) {
		s.endBy = by
		s.poke()
	}
	return nil
}

func (runner) Touch(string)                        {}
func (runner) Check(context.Context, string) error { return nil }
func (runner) CheckCommands(string) error          { return nil }
func (runner) Mounts() (bool, string)              { return true, "" }
func (runner) Level() (int, []string)              { return 3, nil }
func (runner) Open(string) error                   { return nil }
func (runner) ClosedNetwork() (bool, string)       { return true, "" }
func (runner) Token(session string) string         { return "token of " + session }
func (runner) Close(string)                        {}

func (s *session) poke() {
	select {
	case s.poked <- struct{}{}:
	default:
	}
}

// forcedEnd is the panic with which a session's coroutine leaves its work.
type forcedEnd struct{ reason ledger.ExitReason }

// work lets the session run for d. It does not return if the session is ended
// meanwhile: by the daemon, or by its shim because there is no daemon.
func (s *session) work(d time.Duration) {
	w := s.w
	until := w.s.now.Add(d)
	for {
		next, why := until, ledger.ExitReason("")
		if !s.endBy.IsZero() && s.endBy.Before(next) {
			next, why = s.endBy, ledger.ExitAsked
		}
		if s.lost {
			panic(forcedEnd{ledger.ExitLost})
		}
		if w.daemon == nil {
			if by := w.downSince.Add(shimPatience); by.Before(next) {
				next, why = by, ledger.ExitAbandoned
			}
		}
		if left := next.Sub(w.s.now); left > 0 {
			_ = w.all.Wait(background, left, s.poked)
			continue
		}
		if why != "" {
			panic(forcedEnd{why})
		}
		return
	}
}

// live is the session's whole life.
func (s *session) live() {
	w := s.w
	x := ledger.Exit{Session: s.launch.Session, Reason: ledger.ExitSelf, Turns: -1, Tokens: -1, CostUSD: -1, Boundary: 3}
	func() {
		defer func() {
			switch fault := recover().(type) {
			case nil:
			case forcedEnd:
				x.Reason, x.Code = fault.reason, -1
			default:
				panic(fault)
			}
		}()
		if w.hit(startFails) {
			s.work(time.Second)
			x.Reason, x.Code, x.Fault, x.Text = ledger.ExitNotStarted, -1, ledger.FaultMachine, "fork: resource temporarily unavailable"
			return
		}
		if s.launch.Kind == ledger.KindAgent {
			x.Turns, x.Tokens, x.CostUSD = 3, 1000, w.costOf(s.launch)
			s.agent(&x)
		} else {
			s.command(&x)
		}
	}()
	x.Started, x.Ended = s.began, w.wall()
	s.exit, s.ended = x, true
	if s.launch.Kind != ledger.KindAgent {
		w.audit.ran(s.launch, x)
	}
	if s.launch.Kind == ledger.KindAgent {
		w.tell("machine", "%s ends%s", x.Session, manner(x))
	} else {
		w.tell("machine", "%s %q ends after %s%s", s.launch.Kind, s.launch.Command, max(x.Ended.Sub(x.Started), 0).Round(time.Second), manner(x))
	}
	close(s.over)
}

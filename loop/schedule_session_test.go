package loop

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// session continues a session: it emits an event, or exits.
func (w *world) session(e ledger.Effect, b ledger.EffectStart) {
	result := w.result
	w.result = EffectName{} // an event is none
	ses, ok := w.s.Project.Session(b.Session)
	if !ok {
		w.t.Fatalf("session %s is not in flight", b.Session)
	}
	if ses.Cut && !w.begun[b.Session] { // it never gets a process
		w.remove(e)
		w.result = result
		w.deliver(SessionExited{ledger.Exit{Session: b.Session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, Started: w.now, Ended: w.now, NotBegun: true}}, "exit")
		return
	}
	if w.begun[b.Session] = true; !w.kind && w.draw(4, "prepared") == 0 {
		return // it has a process, and nothing else has happened yet
	}
	x := ledger.Exit{Session: b.Session, Reason: ledger.ExitSelf, Turns: 3, Tokens: 1000, CostUSD: 0.25, Started: w.now, Ended: w.now.Add(time.Minute)}
	if ses.Planned.Kind != ledger.KindAgent {
		if tree := ses.Planned.Tree; !w.kind && w.s.Project.Run.Batch != nil {
			if _, drawn := w.redTrees[tree]; !drawn {
				w.redTrees[tree] = w.draw(2, "red tree") == 0
			}
			if w.redTrees[tree] {
				x.Code, x.Failures = 1, failing(pick(w, "TestA", "TestA", "TestA TestB", "unknown"))
			}
		}
		if !w.kind && (w.s.Project.Run.Batch == nil || w.draw(3, "") == 0) {
			switch w.draw(10, "command") {
			case 0, 1:
				x.Code, x.Failures = 1, failing(pick(w, "TestA", "TestA", "TestA TestB", "TestB", "TestA TestB TestC", "unknown"))
			case 2:
				x.Reason = ledger.ExitDisk
			case 3:
				x.Reason = ledger.ExitLost
			case 4:
				x.Reason = ledger.ExitAbandoned
			case 5:
				x.Reason = ledger.ExitWall
			case 6:
				x.Reason, x.Code, x.Fault = ledger.ExitNotStarted, -1, ledger.FaultMachine
			}
		}
		if w.kind && ses.Planned.Kind == ledger.KindRepro && w.repro(ses) {
			x.Code = 1
		}
		w.outcome[b.Session] = x
		w.remove(e)
		w.result = result
		w.exit(x)
		return
	}
	if ses.Event == nil && !w.asked[b.Session] && (w.kind || w.draw(5, "emit") > 0) {
		w.emitAny(ses)
		if !w.kind {
			return
		}
	}
	if !w.kind {
		switch w.draw(16, "exit") {
		case 0:
			x.Reason = ledger.ExitLost
		case 1:
			x.Failure, x.Until = ledger.FailureLimit, w.now.Add(time.Duration(w.draw(100, "limit")-20)*time.Minute)
		case 2:
			x.Failure = ledger.FailureAuth
		case 3:
			x.Failure = ledger.FailureNetwork
		case 4:
			x.Reason = ledger.ExitDisk
		case 5:
			x.Reason = ledger.ExitMemory
		case 6:
			x.Reason = ledger.ExitStall
		case 7:
			x.Code = 127
		case 8:
			x.Reason = ledger.ExitAbandoned
		case 9:
			if ses.Event == nil {
				x.Reason, x.Code, x.Fault = ledger.ExitNotStarted, -1, ledger.FaultMachine
			}
		case 10:
			w.burst = 1 + w.draw(8, "burst")
		}
		if ses.Event == nil && w.burst > 0 { // a provider that refuses every session for a while
			w.burst--
			x.Code, x.Turns, x.Ended = 1, -1, w.now.Add(2*time.Second)
			x.Reason, x.Failure, x.Until, x.Tail = ledger.ExitSelf, "", time.Time{}, "it refuses"
			if w.draw(3, "wording") == 0 {
				x.Failure, x.Until = ledger.FailureNetwork, w.now.Add(time.Duration(w.draw(60, "pause"))*time.Minute)
			}
		}
	}
	w.remove(e)
	w.result = result
	w.exit(x)
}

// exit delivers a session's end. One that the machine could not start blames
// nobody.
func (w *world) exit(x ledger.Exit) {
	before := w.s
	d := w.do(SessionExited{x}, w.key("exit"))
	if x.Fault != "" {
		w.blameless("the start of a session", before, d)
	}
	w.repeat(SessionExited{x})
}

// repro reports whether the session runs the reproducer's command.
func (w *world) repro(ses Session) bool { return ses.Planned.Command == "go test -run TestBug" }

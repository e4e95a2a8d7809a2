package loop

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestClassifyEarlyEnd checks that an end within ten seconds without a turn
// makes an agent unusable, unless the agent named a temporary failure: an
// overloaded provider refuses the very first request, and no person needs to
// act.
func TestClassifyEarlyEnd(t *testing.T) {
	began := time.Unix(1795190000, 0)
	for _, c := range []struct {
		trouble ledger.FailureClass
		turns   int
		took    time.Duration
		want    ledger.SessionOutcome
	}{
		{"", 0, 2 * time.Second, ledger.EndedUnusable},
		{"", 0, 11 * time.Second, ledger.EndedSilent},
		{"", 1, 2 * time.Second, ledger.EndedSilent},
		{"", -1, 2 * time.Second, ledger.EndedSilent},
		{ledger.FailureNetwork, 0, 2 * time.Second, ledger.EndedNetwork},
		{ledger.FailureLimit, 0, 2 * time.Second, ledger.EndedLimit},
		{ledger.FailureAuth, 3, time.Minute, ledger.EndedUnusable},
	} {
		x := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Failure: c.trouble, Turns: c.turns, Started: began, Ended: began.Add(c.took)}
		if got, _ := Classify(x, false, false); got != c.want {
			t.Errorf("%q, %d turns, %s: %s, want %s", c.trouble, c.turns, c.took, got, c.want)
		}
	}
}

// endAfter is the state after the end of a builder's session on tree-c0.
type endAfter struct {
	Counts ledger.Accounting
	Run    ledger.RunState
	Wait   ledger.WaitReason
	Agent  string // state of the agent: usable, parked or unusable
	// The session that follows.
	Hat     string // "" = none
	With    string // agent
	Tree    string // its input tree
	Again   bool   // it repeats the session that ended
	Noted   bool   // it has a note on how to avoid the same end
	Attempt int
	Cut     bool // it was cut off
	Kept    bool // files of the ended session are kept on a side ref
	Taken   bool // files of the ended session are captured
}

// TestEnds checks each row of the table in docs/spec 2.2: the outcome of a
// session's end, how it is counted, and what follows. The director's script
// plays each end in a builder's session; TestTranscripts has the same nights
// entry by entry.
func TestEnds(t *testing.T) {
	const running, waiting, over = ledger.RunRunning, ledger.RunWaiting, ledger.RunOver
	again := endAfter{Run: running, Agent: "usable", Hat: "builder", With: "claude", Tree: "tree-c0", Again: true, Attempt: 1}
	with := func(a endAfter, change func(*endAfter)) endAfter {
		change(&a)
		return a
	}
	success := endAfter{Counts: ledger.CountsAsSuccess, Run: running, Agent: "usable", Hat: "reviewer", With: "claude", Tree: "t1", Attempt: 1, Taken: true}
	failed := with(again, func(a *endAfter) { a.Counts, a.Noted = ledger.CountsAsFailed, true })
	nothing := with(again, func(a *endAfter) { a.Counts, a.Kept = ledger.CountsAsNothing, true })
	// The next attempt begins with the planner and repeats nothing.
	anew := endAfter{Run: running, Agent: "usable", Hat: "planner", With: "claude", Tree: "tree-c0", Attempt: 2}
	unusable := endAfter{Counts: ledger.CountsAsNothing, Run: over, Agent: "unusable", Attempt: 1}
	const done = `emit build.complete {"summary":"built it","files_modified":["a.go"]}`

	for _, row := range []struct {
		row   string // row of the table in docs/spec 2.2, as written there
		name  string
		set   string // settings
		plays []string
		end   ledger.SessionOutcome
		want  endAfter
	}{
		{"event accepted, whatever the exit code", "exit 0", "", []string{done, "exit", "greens"}, ledger.EndedEvent, success},
		{"event accepted, whatever the exit code", "exit 3", "", []string{done, "exit code 3", "greens"}, ledger.EndedEvent, success},
		{"event accepted, whatever the exit code", "exit 1 at once, without a turn", "", []string{done, "exit at once", "greens"}, ledger.EndedEvent, success},
		{"event accepted, whatever the exit code", "ended after the grace", "", []string{done, "exit asked", "greens"}, ledger.EndedEvent, success},
		{"event accepted, whatever the exit code", "the wall limit comes after it", "", []string{done, "exit wall", "greens"}, ledger.EndedEvent, success},

		{"no event, stall, wall limit", "no event", "", []string{"exit silent"}, ledger.EndedSilent, failed},
		{"no event, stall, wall limit", "no event, exit 3", "", []string{"exit code 3"}, ledger.EndedSilent, failed},
		{"no event, stall, wall limit", "stall", "", []string{"exit stall"}, ledger.EndedStall, failed},
		{"no event, stall, wall limit", "a circle", "", []string{"exit circle"}, ledger.EndedCircle, failed},
		{"no event, stall, wall limit", "wall limit", "", []string{"exit wall"}, ledger.EndedWall, failed},
		{"no event, stall, wall limit", "the second repeat", "", []string{"exit silent", "exit stall"}, ledger.EndedStall, failed},
		{"no event, stall, wall limit", "after two repeats the attempt fails", "", []string{"exit silent", "exit stall", "exit wall"}, ledger.EndedWall,
			with(anew, func(a *endAfter) { a.Counts = ledger.CountsAsFailed })},

		{"usage or rate limit", "waits until resume_at", "", []string{"exit limit"}, ledger.EndedLimit,
			endAfter{Counts: ledger.CountsAsNothing, Run: waiting, Wait: ledger.WaitLimit, Agent: "parked", Attempt: 1, Kept: true}},
		{"usage or rate limit", "goes on by itself then", "", []string{"exit limit", "wait"}, ledger.EndedLimit, nothing},
		{"usage or rate limit", "with a fallback agent", "fallback=codex", []string{"exit limit"}, ledger.EndedLimit,
			with(nothing, func(a *endAfter) { a.Agent, a.With = "parked", "codex" })},

		{"auth, billing, unknown model, agent missing or not startable", "auth", "", []string{"exit auth"}, ledger.EndedUnusable, unusable},
		{"auth, billing, unknown model, agent missing or not startable", "exit 127", "", []string{"exit 127"}, ledger.EndedUnusable, unusable},
		{"auth, billing, unknown model, agent missing or not startable", "not startable", "", []string{"exit not started"}, ledger.EndedUnusable, unusable},
		{"auth, billing, unknown model, agent missing or not startable", "non-zero within 10 s without a turn", "", []string{"exit at once"}, ledger.EndedUnusable, unusable},
		{"auth, billing, unknown model, agent missing or not startable", "with a fallback agent", "fallback=codex", []string{"exit auth"}, ledger.EndedUnusable,
			with(again, func(a *endAfter) { a.Counts, a.Agent, a.With = ledger.CountsAsNothing, "unusable", "codex" })},

		{"network, provider 5xx", "backs off", "", []string{"exit network"}, ledger.EndedNetwork,
			endAfter{Counts: ledger.CountsAsNothing, Run: waiting, Wait: ledger.WaitLimit, Agent: "parked", Attempt: 1, Kept: true}},
		{"network, provider 5xx", "goes on by itself then", "", []string{"exit network", "wait"}, ledger.EndedNetwork, nothing},

		{"pause now, stop now, /now, budget, daemon restart, machine sleep", "pause now", "", []string{"/pause now", "exit asked"}, ledger.EndedCut,
			endAfter{Counts: ledger.CountsAsNothing, Run: ledger.RunPaused, Wait: ledger.WaitPerson, Agent: "usable", Attempt: 1, Kept: true, Cut: true}},
		{"pause now, stop now, /now, budget, daemon restart, machine sleep", "pause now, and resume", "", []string{"/pause now", "exit asked", "/resume"}, ledger.EndedCut,
			with(nothing, func(a *endAfter) { a.Cut = true })},
		{"pause now, stop now, /now, budget, daemon restart, machine sleep", "pause now before it has a process", "", []string{"/pause now", "exit not begun", "/resume"}, ledger.EndedCut,
			with(nothing, func(a *endAfter) { a.Cut, a.Kept = true, false })},
		{"pause now, stop now, /now, budget, daemon restart, machine sleep", "stop now before it has a process", "", []string{"/stop now", "exit not begun"}, ledger.EndedCut,
			endAfter{Counts: ledger.CountsAsNothing, Run: over, Agent: "usable", Attempt: 1, Cut: true}},
		{"pause now, stop now, /now, budget, daemon restart, machine sleep", "stop now", "", []string{"/stop now", "exit asked"}, ledger.EndedCut,
			endAfter{Counts: ledger.CountsAsNothing, Run: over, Agent: "usable", Attempt: 1, Kept: true, Cut: true}},
		{"pause now, stop now, /now, budget, daemon restart, machine sleep", "/now", "", []string{"/now Use cents", "/answer q1 rerun", "exit asked"}, ledger.EndedCut,
			with(nothing, func(a *endAfter) { a.Cut = true })},
		{"pause now, stop now, /now, budget, daemon restart, machine sleep", "daemon away, machine asleep", "", []string{"exit abandoned"}, ledger.EndedCut, nothing},
		{"pause now, stop now, /now, budget, daemon restart, machine sleep", "it fails while it is cut off", "", []string{"/pause now", "exit code 3", "/resume"}, ledger.EndedCut,
			with(nothing, func(a *endAfter) { a.Cut = true })},

		{"lost without trace, killed for memory", "lost once", "", []string{"exit lost"}, ledger.EndedLost, nothing},
		{"lost without trace, killed for memory", "killed for memory once", "", []string{"exit memory"}, ledger.EndedLost, nothing},
		{"lost without trace, killed for memory", "the second in a row fails the attempt", "", []string{"exit lost", "exit memory"}, ledger.EndedLost,
			with(anew, func(a *endAfter) { a.Counts, a.Kept = ledger.CountsAsNothing, true })},
		{"lost without trace, killed for memory", "not in a row", "", []string{"exit lost", "exit silent", "exit lost"}, ledger.EndedLost, nothing},

		{"not startable for a fault of the machine", "holds", "", []string{"exit machine"}, ledger.EndedMachine,
			endAfter{Counts: ledger.CountsAsNothing, Run: waiting, Wait: ledger.WaitMachine, Agent: "usable", Attempt: 1}},
		{"not startable for a fault of the machine", "again and again", "", []string{"exit machine", "wait", "exit machine", "wait", "exit machine", "wait"}, ledger.EndedMachine,
			with(again, func(a *endAfter) { a.Counts = ledger.CountsAsNothing })},
		{"disk full, state not writable", "everything holds", "", []string{"exit disk"}, ledger.EndedDisk,
			endAfter{Counts: ledger.CountsAsNothing, Run: waiting, Wait: ledger.WaitDisk, Agent: "usable", Attempt: 1}},
		{"disk full, state not writable", "goes on when there is room", "", []string{"exit disk", "wait"}, ledger.EndedDisk,
			with(again, func(a *endAfter) { a.Counts = ledger.CountsAsNothing })},
	} {
		t.Run(row.row+"/"+row.name, func(t *testing.T) {
			d := newDirector(t, row.name)
			d.plan.Tasks = d.plan.Tasks[:1]
			if row.set != "" {
				d.play("set " + row.set)
			}
			for _, line := range []string{"go quiet", "plan"} {
				d.play(line)
			}
			before := len(d.entries)
			for _, line := range row.plays {
				d.play(line)
			}
			end, got := d.after(before)
			if end != row.end {
				t.Errorf("the end is %q, want %q", end, row.end)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("after it (-want +got):\n%s", diff)
			}
		})
	}
}

// after returns the outcome of the last agent session that ended in the entries
// from position from, and the state after it.
func (d *director) after(from int) (ledger.SessionOutcome, endAfter) {
	d.t.Helper()
	var end ledger.SessionOutcome
	var ended string
	a := endAfter{Agent: "usable"}
	for _, e := range d.entries[from:] {
		switch b := e.Body.(type) {
		case ledger.SessionEnded:
			if b.Kind != ledger.KindAgent {
				continue
			}
			end, ended, a.Counts = b.End, e.Session, b.Counts
			if got, counts := Classify(b.Exit, b.End == ledger.EndedEvent, b.End == ledger.EndedCut); got != b.End || counts != b.Counts {
				d.t.Fatalf("Classify says %s, %s of what was recorded as %s, %s", got, counts, b.End, b.Counts)
			}
		case ledger.SessionCut:
			a.Cut = true
		case ledger.TreeKept:
			a.Kept = true
		case ledger.TakenOver:
			a.Taken = true
		}
	}
	p := d.s.Project
	a.Run, a.Wait = p.Run.State, p.Run.Wait
	switch agent := d.s.Shared.Agents["claude"]; {
	case agent.Unusable:
		a.Agent = "unusable"
	case !agent.Until.IsZero():
		a.Agent = "parked"
	}
	if w := p.Tasks.At(0).Attempt; w != nil {
		a.Attempt = w.N
	}
	for _, s := range p.Sessions {
		if s.Planned.Kind == ledger.KindAgent && s.ID != ended {
			a.Hat, a.With, a.Tree = s.Planned.Hat, s.Planned.Agent, s.Planned.Tree
			a.Again, a.Noted = s.Planned.Replaces == ended, s.Planned.Note != ""
		}
	}
	return end, a
}

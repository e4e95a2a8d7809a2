package loop

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// PreviewRun returns the state in which a run with these settings, on this
// commit, would plan its first session. Nothing is recorded: Apply changes no
// state that it was given.
func PreviewRun(s State, settings ledger.Settings, snapshot ledger.Snapshot, base ledger.Base) State {
	d := asRun(s, settings, snapshot)
	d.add(scope{}, ledger.PreflightDone{Base: base})
	d.settleReady()
	return d.State
}

// Preview returns a state in which a session of a task is planned with a hat,
// as if its turn came now, and that session's id: BuildPrompt gives what it
// would be sent. "" as the hat is the one that comes next. An event that was
// accepted counts as routed to the hat; guidance that waits is bound, as it
// would be.
func Preview(s State, task, hat string) (State, string, error) {
	r := s.Project.Run
	if r == nil {
		return s, "", fmt.Errorf("%s has no run", s.Project.Name)
	}
	t, ok := s.Project.Find(task)
	if !ok {
		return s, "", fmt.Errorf("%s has no task %q; %s", s.Project.Name, task, s.Project.taskIDs())
	}
	d := &decision{State: s, in: Input{Project: s.Project.Name, Actor: "daemon", Time: r.LastEvent}}
	about := scope{task: t.Task.ID}
	switch {
	case t.Attempt == nil:
		d.add(about, ledger.Commitment{TaskID: t.Task.ID, Title: t.Task.Title, Branch: r.Base.Branch, Base: r.Tip, Tree: r.TipTree})
	case t.Attempt.Stage == ledger.StageHeld:
		d.add(about, ledger.Commitment{TaskID: t.Task.ID, Title: t.Task.Title, Branch: r.Base.Branch, Base: t.Attempt.Base, Tree: t.Attempt.Tree, Resume: true})
	}
	t, _ = d.task(t.Task.ID)
	w := t.Attempt
	if hat == "" {
		hat = d.nextHat(t)
	}
	h, ok := r.upcoming().Hats[strings.ToLower(strings.TrimPrefix(hat, "@"))]
	if !ok {
		return s, "", fmt.Errorf("there is no hat %q; there are %s", hat, strings.Join(sortedKeys(r.upcoming().Hats), ", "))
	}
	planned := ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: h.Name, Model: h.Model, Round: w.Rounds, Wall: h.Timeout, Stall: h.StallTimeout}
	planned.Agent, _ = d.agentFor(h)
	if w.Stage == ledger.StageReady && w.Hat == h.Name {
		planned.Replaces, planned.Note = w.Replaces, w.Note
	}
	if sent := w.unrouted(); w.Hat != h.Name || sent {
		to := ledger.Routed{From: w.Hat, To: h.Name, Tree: w.Tree, Round: w.Rounds}
		if sent {
			to.On = w.Event.Type
		}
		if sent && w.Captured != nil {
			to.Tree = w.Captured.Tree
		}
		if sent && w.Event.Type == ledger.EventReview {
			d.add(scope{task: t.Task.ID, session: w.Session}, ledger.Evidence{Kind: "review", Type: w.Hat, Issues: d.issues(t)})
		}
		d.add(scope{task: t.Task.ID, session: w.Session}, to)
		t, _ = d.task(t.Task.ID)
	}
	session := fmt.Sprintf("%s-%d", r.ID, r.Agents+1)
	about.session, planned.Tree = session, t.Attempt.Tree
	target := guidance.Target{Session: session, Hat: h.Name, Task: ledger.FoldID(t.Task.ID), Parent: ledger.FoldID(t.Task.Parent), Writes: h.Writes()}
	planned.Guidance = d.Project.Guidance.Plan(target)
	reopen := t.Attempt.Fresh && t.Attempt.N > 1
	d.add(about, planned)
	d.add(about, ledger.GuidanceBound{Hat: h.Name, Writes: target.Writes, Binding: planned.Guidance, Reopen: reopen})
	return d.State, session, nil
}

// unrouted reports whether the event of the session in hand is still on its
// way: its files are being taken over, or verified.
func (w *Attempt) unrouted() bool {
	if w.Event == nil {
		return false
	}
	return w.Stage == ledger.StageSession || w.Stage == ledger.StageCapture || w.Stage == ledger.StageChecks || w.Checks != nil
}

// nextHat is whose turn it is: of a session that sent its event the one that
// it is routed to as it looks, else the one in hand.
func (d *decision) nextHat(t TaskState) string {
	w := t.Attempt
	if !w.unrouted() {
		return w.Hat
	}
	to, _ := d.next(t)
	if to == "" || to == ledger.Converged {
		return w.Hat
	}
	return to
}

// taskIDs lists the tasks that can be named, for somebody who named another.
func (p Project) taskIDs() string {
	var ids []string
	for _, t := range p.Tasks.All() {
		if t.Status != ledger.Withdrawn {
			ids = append(ids, t.Task.ID)
		}
	}
	const most = 12
	switch {
	case len(ids) == 0:
		return "it has none"
	case len(ids) > most:
		return fmt.Sprintf("it has %s … %s", strings.Join(ids[:most-1], ", "), ids[len(ids)-1])
	}
	return "it has " + strings.Join(ids, ", ")
}

package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// PreviewRun returns the state in which a run with these settings would plan
// its first session on the commit base. It records nothing, and s stays as it
// is.
func PreviewRun(s State, settings ledger.Settings, snapshot ledger.Snapshot, base ledger.Base) State {
	d := asRun(s, settings, snapshot, time.Time{})
	d.add(scope{}, ledger.PreflightDone{Base: base})
	d.settleReady()
	return d.State
}

// Preview returns a state in which a session of the task is planned with the
// hat, as if it were its turn now, and the id of that session. Package prompt
// builds its prompt from that. An empty hat stands for the next one.
//
// Preview treats an accepted event as routed to the hat, and binds guidance
// that waits. It returns an error if the project has no run, or if the task or
// the hat does not exist. It records nothing.
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
		base, tree := d.startOf(t)
		d.add(about, ledger.Commitment{TaskID: t.Task.ID, Title: t.Task.Title, Branch: r.Base.Branch, Base: base, Tree: tree})
	case t.Attempt.Stage == ledger.StageHeld, t.Queued():
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
	planned := ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: h.Name, Round: w.Rounds, Wall: h.Timeout, Stall: h.StallTimeout}
	planned.Agent, _, _ = d.agentFor(w, h)
	planned.Raised = t.raised(h)
	planned.Model = r.Settings.ModelFor(h, planned.Agent, planned.Raised)
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
	target := guidance.Target{Source: d.Project.Source, Branch: r.requestOf(), Session: session, Hat: h.Name, Task: ledger.FoldID(t.Task.ID), Parent: ledger.FoldID(t.Task.Parent), Writes: h.Writes()}
	planned.Guidance = d.Project.Guidance.Plan(target)
	planned.Outside = d.outsideText(d.Project.readsOutside(t, h, planned.Guidance))
	reopen := t.Attempt.Fresh && t.Attempt.N > 1
	d.add(about, planned)
	d.add(about, ledger.GuidanceBound{Hat: h.Name, Writes: target.Writes, Binding: planned.Guidance, Reopen: reopen})
	return d.State, session, nil
}

// unrouted reports whether the event of the current session still waits for its
// route, while the files are captured or verified.
func (w *Attempt) unrouted() bool {
	if w.Event == nil {
		return false
	}
	return w.Stage == ledger.StageSession || w.Stage == ledger.StageCapture || w.Stage == ledger.StageChecks || w.Checks != nil
}

// nextHat returns the hat of the next session. If the current session has sent
// its event, that is the hat that the event would be routed to now; otherwise
// it is the hat of the attempt.
func (d *decision) nextHat(t TaskState) string {
	w := t.Attempt
	if !w.unrouted() {
		return w.Hat
	}
	to, _ := d.next(t)
	if to == "" || ledger.EndsAttempt(to) {
		return w.Hat
	}
	return to
}

// taskIDs lists the ids of the tasks, for an error about an unknown id.
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

package loop

import (
	"fmt"
	"slices"
	"strings"
)

func (d *decision) takeover(t TaskState, s Session, hat Hat) {
	r, w := d.run(), t.Work
	d.effect(s.ID, EffectTakeover{Takeover: Takeover{
		Run: r.ID, Session: s.ID, Input: w.Tree, Start: w.Start, StartRev: w.Base,
		Ref:   fmt.Sprintf("refs/nightporter/%s/%s/%s/a%d/%s", d.in.Project, r.ID, refPart(t.Task.ID), w.N, strings.TrimPrefix(s.ID, r.ID+"-")),
		Scope: Scope{Task: t.Task.Scope, Layout: r.Settings.Layout, Allowed: hat.WriteAllowed, Denied: hat.WriteDenied, Shipped: hat.Shipped},
	}})
}

// refPart makes a task's id fit for a ref name.
func refPart(id string) string {
	var b strings.Builder
	for _, c := range FoldID(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteRune(c)
		case c == ' ' || c == '.' || c == '/':
			b.WriteByte('-')
		default:
			fmt.Fprintf(&b, "u%x", c)
		}
	}
	return strings.Trim(b.String(), "-")
}

// treeTaken goes on with what a session left: held against the scope, then
// verified, then routed (SPEC 2.3).
func (d *decision) treeTaken(b TreeTaken) {
	r := d.run()
	t, ok := d.workOf(b.Session)
	if !ok || t.Work.Stage != StageTakeover {
		return
	}
	w, about := t.Work, on{task: t.Task.ID, session: b.Session}
	if w.Event == nil {
		d.add(about, TreeKept{Ref: b.Ref, Tree: b.Taken.Tree, Files: b.Taken.Files})
		d.add(about, StageSet{Stage: StageReady})
		return
	}
	hat := r.Settings.Hats[w.Hat]
	d.add(about, TakenOver{Taken: b.Taken, Ref: b.Ref})
	if len(b.Taken.Refused) > 0 {
		d.redo(t, Redo{Why: "violation", Failed: true, Tree: w.Tree,
			Note: "What the session before left cannot be taken over: " + b.Taken.Refused[0].String()})
		return
	}
	if w.Event.Type == EventQuestion {
		d.routeEvent(t, b.Taken.Tree)
		return
	}
	changed := b.Taken.Tree != w.Tree
	if changed {
		ev := Evidence{Kind: "fix-applied", FilesChanged: len(b.Taken.Files)}
		for _, f := range b.Taken.Files {
			ev.LinesAdded += max(f.Added, 0)
			ev.LinesRemoved += max(f.Removed, 0)
		}
		d.add(about, ev)
	}
	noChange := stringOf(w.Event.Data, "no_change")
	if hat.Expect == ExpectPass && !changed && noChange == "" {
		note := "The session before said it was done, but it changed no file that counts. Change the files, or say no_change with the reason."
		if len(b.Taken.Outside) > 0 {
			note = "The session before changed only files out of scope, and they were undone: " + strings.Join(b.Taken.Outside, ", ")
		}
		d.redo(t, Redo{Why: "changed nothing", Failed: true, Tree: w.Tree, Note: note})
		return
	}
	// Commands that are for code alone are spared only where all the rest of
	// the tree is known to be green.
	files := b.Taken.Files
	if w.Tree != w.Start && !(w.Verified != nil && w.Verified.OK && w.Verified.Tree == w.Tree) {
		files = nil
	}
	cmds, setups := r.Settings.commands(KindVerify, files, b.Taken.Lock)
	if hat.Expect != ExpectPass || len(cmds) == 0 {
		d.routeEvent(t, b.Taken.Tree)
		return
	}
	d.add(about, ChecksBegun{Kind: KindVerify, Tree: b.Taken.Tree, Setup: setups, Commands: cmds})
	d.nextCheck(about, false)
}

// workOf returns the task whose attempt a session belongs to.
func (d *decision) workOf(session string) (TaskState, bool) {
	for _, t := range d.Project.Tasks {
		if t.Work != nil && t.Work.Session == session {
			return t, true
		}
	}
	return TaskState{}, false
}

// routeEvent sends the attempt where the pattern says, on the given tree.
func (d *decision) routeEvent(t TaskState, tree string) {
	r, w := d.run(), t.Work
	ev, about := w.Event, on{task: t.Task.ID, session: w.Session}
	switch ev.Type {
	case EventBlocked:
		d.add(about, Submit{Result: "fail", Reason: stringOf(ev.Data, "reason"), Evidence: w.Proof, ClosedAt: d.in.Time, TotalDurationMs: d.in.Time.Sub(w.Began).Milliseconds()})
		d.add(about, AttemptEnded{Failed: true, Why: stringOf(ev.Data, "reason")})
		d.block(t.Task.ID, blockage{reason: stringOf(ev.Data, "reason"), tried: stringOf(ev.Data, "tried"), needs: stringOf(ev.Data, "needs"), work: w})
		return
	case EventQuestion:
		d.add(about, Routed{From: w.Hat, On: ev.Type, To: w.Hat, Tree: tree, Round: w.Rounds, Why: "asked"})
		d.askAgent(t)
		return
	}
	issues := issuesOf(ev.Data)
	above := r.Settings.Pattern.Above(issues) || (ev.Type == "review.verdict" && w.Rounds+1 < r.Settings.Pattern.MinRounds)
	to := r.Settings.Pattern.Next(w.Hat, ev.Type, above, w.been)
	if ev.Type == "review.verdict" {
		verdict := "converged"
		if above {
			verdict = "issues"
		}
		d.add(about, Evidence{Kind: "review", Type: w.Hat, Passes: w.Rounds + 1, Verdict: verdict, Issues: issues})
		if why := stalled(w, issues, tree); above && why != "" {
			d.failAttempt(t.Task.ID, why)
			return
		}
	}
	if to == "" {
		d.end(RunEnded{Reason: ReasonInternal, Exit: 4, Text: fmt.Sprintf("pattern %s has no route for %s of %s", r.Settings.Pattern.Name, ev.Type, w.Hat)})
		return
	}
	d.add(about, Routed{From: w.Hat, On: ev.Type, To: to, Tree: tree, Round: w.Rounds})
	t, _ = d.task(t.Task.ID)
	switch {
	case to == Converged:
		d.converge(t)
	case above && t.Work.Upheld > 0 && t.Work.Upheld%2 == 0:
		d.askDispute(t)
	}
}

// been reports whether a hat had a session in the attempt that was routed on.
func (w *Work) been(hat string) bool {
	return slices.ContainsFunc(w.History, func(s Step) bool { return s.Hat == hat })
}

// contested reports whether a review upholds, issue by issue, what the session
// before it disputed with a reason instead of changing anything (SPEC 2.5).
func (w *Work) contested(issues []Issue) bool {
	n := len(w.IssueSets)
	return w.NoChange != "" && n > 0 && w.IssueSets[n-1] == issueSet(issues)
}

// stalled reports why another round would only repeat an earlier one: the
// same tree, or the same issues (SPEC 2.6).
func stalled(w *Work, issues []Issue, tree string) string {
	if w.contested(issues) {
		return "" // twice, and a person decides
	}
	if slices.Contains(w.IssueSets, issueSet(issues)) {
		return "stalled: the same issues as in an earlier round"
	}
	if w.NoChange == "" && slices.Contains(w.Trees, tree) {
		return "stalled: the same files as in an earlier round"
	}
	return ""
}

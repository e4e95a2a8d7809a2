package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// proofRequest returns what has to be found out about a tree of the task: what it
// changed of what proves. It asks nothing where no command verifies.
func (d *decision) proofRequest(t TaskState) ledger.ProofRequest {
	s := d.run().Settings
	if s.Proof == ledger.ProofOff || d.run().merging(t) { // what a merge changes of the checks is the base's
		return ledger.ProofRequest{}
	}
	q := ledger.ProofRequest{Tests: s.Tests, Scope: t.Task.Scope}
	for _, c := range t.Attempt.withRepro(verifyCommands(s, ledger.KindGuard, nil)) {
		q.Commands = append(q.Commands, c.Run)
	}
	if len(q.Commands) > 0 {
		q.Task = strings.Join(append([]string{t.Task.Title, t.Task.Body}, t.Task.Acceptance...), "\n")
	}
	return q
}

// unguarded reports whether the attempt's tree is green by checks that the attempt
// itself changed, and whose versions of the start were not tried yet.
func (w *Attempt) unguarded() bool {
	f := w.Facts
	return f != nil && (f.Guard != "" && w.Guarded != f.Guard || f.Unguarded != "" && w.Guarded != w.left())
}

// guard verifies the attempt's tree by the start's version of what proves
// (docs/spec 8.4).
func (d *decision) guard(t TaskState) {
	w, about := t.Attempt, scope{task: t.Task.ID, session: t.Attempt.Session}
	if w.Facts.Guard == "" {
		// No such tree can be made. The attempt's own stands for it, as red.
		d.add(about, ledger.Verified{Kind: ledger.KindGuard, Tree: w.left()})
		t, _ = d.task(t.Task.ID)
		d.guarded(t, w.Facts.Unguarded)
		return
	}
	s := d.run().Settings
	d.add(about, newCheck(s, ledger.KindGuard, w.Facts.Guard, false, w.withRepro(verifyCommands(s, ledger.KindGuard, nil))))
	d.nextCheck(about, false)
}

// guarded continues an attempt after the start's checks ran on its tree. If they
// fail, the session has to restore them or say why they had to change; the second
// time a person is asked.
func (d *decision) guarded(t TaskState, why string) {
	w := t.Attempt
	switch {
	case w.GuardOK || w.accepted() || t.allowed():
		if w.Converged {
			d.converge(t)
			return
		}
		d.stands(t, w.left())
	case w.GuardRed >= maxGuardRed, w.Converged && w.shown():
		d.holdTask(t, d.checksQuestion(t))
	case w.Converged && len(w.Fewer) > 0:
		d.collided(t, nil, "on the branch as it is now "+ledger.FewerText(w.Fewer))
	case w.Converged:
		d.collided(t, nil, "on the branch as it is now the start's checks fail")
	case len(w.Fewer) > 0:
		d.redo(t, ledger.Redo{Why: ledger.RedoFewer, Tree: w.left(), Note: fmt.Sprintf(
			"Verification passes after the session before, but fewer tests run than at the start: %s. Find out what keeps the others from running, such as code that ends the process or a new skip, and make them run and pass. If the task makes them go away, as tests over data that it removes, say checks_changed with the reason in your event.",
			ledger.FewerText(w.Fewer))})
	default:
		d.redo(t, ledger.Redo{Why: ledger.RedoChecks, Tree: w.left(), Note: fmt.Sprintf(
			"The session before changed what proves the work (%s), which the task does not name, and with the start's version verification fails: %s. Restore it and make that pass. If the task makes the old version impossible, as a changed interface does, say checks_changed with the reason in your event.",
			w.Facts.Summary, cmp.Or(why, "no reason known"))})
	}
}

// maxGuardRed is how often sessions of an attempt are told that the start's checks
// fail before a person is asked.
const maxGuardRed = 2

// left returns the tree that the attempt's session left, or that of the attempt.
func (w *Attempt) left() string {
	if w.Converged || w.Captured == nil {
		return w.Tree
	}
	return w.Captured.Tree
}

// accepted reports whether an agent gave a reason for all changed checks and all
// tests that do not run.
func (w *Attempt) accepted() bool {
	return w.ChecksReason != "" && w.changedOnly(w.ChecksPaths) && noFewer(w.Fewer, w.ChecksFewer)
}

// allowed reports whether a person allowed all changed checks of the attempt. An
// answer does not cover what later sessions change besides.
func (t TaskState) allowed() bool {
	return t.Proof != nil && t.Proof.Allowed != "" && t.Attempt.changedOnly(changedPaths(*t.Proof)) && noFewer(t.Attempt.Fewer, t.Proof.Fewer)
}

// changedOnly reports whether the attempt changed no other checks than those at
// the paths, besides what its task names.
func (w *Attempt) changedOnly(paths []string) bool {
	return w.Facts != nil && !slices.ContainsFunc(w.Facts.Changes, func(c ledger.CheckChange) bool {
		return !c.Named && !slices.Contains(paths, c.Path)
	})
}

// applyGuard folds the result of a guard.
func (w *Attempt) applyGuard(v ledger.Verified) {
	w.Guarded, w.GuardOK, w.Fewer = v.Tree, v.OK, v.Fewer
	if len(v.Results) > 0 {
		w.GuardTests = countsOf(v.Results)
	}
	if !v.OK && !w.explain() {
		w.GuardRed++
	}
}

// explain takes the reason that the session's event gives for changed checks. It
// reports whether there is one.
func (w *Attempt) explain() bool {
	if w.Event == nil {
		return false
	}
	reason := payload.String(w.Event.Data, "checks_changed")
	if reason == "" {
		return false
	}
	w.ChecksReason, w.ChecksPaths, w.ChecksFewer = reason, nil, w.Fewer
	if w.Facts != nil {
		for _, c := range w.Facts.Changes {
			w.ChecksPaths = append(w.ChecksPaths, c.Path)
		}
	}
	return true
}

// unshown reports whether the new tests of the attempt have to be tried on its
// start before it is committed.
func (d *decision) unshown(w *Attempt) bool {
	f, mode := w.Facts, d.run().Settings.Proof
	return f != nil && f.OnStart != "" && !w.shown() && w.green(w.Tree) && (mode == "" || mode == ledger.ProofFull)
}

// shown reports whether the new tests of the attempt were tried on its start.
func (w *Attempt) shown() bool {
	return w.Facts != nil && w.Shown.Tree != "" && w.Shown.Tree == w.Facts.OnStart
}

// show runs the verification commands on the attempt's start with its new tests:
// they have to fail there to show the change.
func (d *decision) show(t TaskState) {
	about, s := scope{task: t.Task.ID, session: t.Attempt.Session}, d.run().Settings
	d.add(about, newCheck(s, ledger.KindProof, t.Attempt.Facts.OnStart, false, verifyCommands(s, ledger.KindProof, nil)))
	d.nextCheck(about, false)
}

// Shown is what the new tests of an attempt did on its start.
type Shown struct {
	Tree  string           `json:"tree,omitempty"` // the start with the tests
	Word  ledger.ProofWord `json:"word,omitempty"`
	Tests []string         `json:"tests,omitempty"` // those that failed by an assertion
	Flaky []string         `json:"flaky,omitempty"` // those that failed in only one of two runs
	Ran   testCounts       `json:"ran,omitempty"`   // tests that ran there, passed or failed
}

// shownBy judges the run of new tests on the attempt's start, by the commands that
// are green on the attempt's own tree. A test counts whose assertion fails; one that
// could not be built or broke otherwise may only lack new code, and one that is
// flaky, there or on the attempt's own tree, shows nothing.
func shownBy(v ledger.Verified, own *ledger.Verified) Shown {
	shown := Shown{Tree: v.Tree, Word: ledger.Tested}
	for _, res := range v.Results {
		green := false
		if n := indexOfRun(own, res.Run); n >= 0 {
			green = own.Results[n].OK
			for _, f := range own.Results[n].Flakes {
				if res.Failures != nil && slices.Contains(res.Failures.Failed, f) && !slices.Contains(res.Flakes, f) {
					res.Flakes = append(slices.Clip(res.Flakes), f)
				}
			}
		}
		for _, f := range res.Flakes {
			shown.Flaky = append(shown.Flaky, f.Name)
		}
		if res.OK || !res.Setup && !green || onlyFlakes(res) {
			continue
		}
		if shown.Word == ledger.Tested {
			shown.Word = ledger.TestedNew
		}
		if !shows(res) {
			continue
		}
		shown.Word = ledger.Proved
		for _, f := range res.Failures.Failed {
			if f.Kind == ledger.FailureAssertion && !slices.Contains(res.Flakes, f) {
				shown.Tests = append(shown.Tests, f.Name)
			}
		}
	}
	shown.Tests, shown.Flaky = fewOf(shown.Tests), fewOf(shown.Flaky)
	return shown
}

// indexOfRun returns the index of a command's result, -1 if there is none. v may be
// nil.
func indexOfRun(v *ledger.Verified, run string) int {
	if v == nil {
		return -1
	}
	return slices.IndexFunc(v.Results, func(res ledger.Result) bool { return res.Run == run && !res.Setup })
}

// flaky reports whether a command failed on the attempt's tree and passed when it
// was repeated.
func (w *Attempt) flaky(run string) bool {
	n := indexOfRun(w.Verified, run)
	return n >= 0 && w.Verified.Results[n].Flaky
}

// shows reports whether a red result on the start has a failure by which a new test
// shows the change.
func shows(res ledger.Result) bool {
	return !res.Setup && res.Failures != nil && res.Exit > 0 && res.Exit != 126 && res.Exit != 127 &&
		slices.ContainsFunc(res.Failures.Failed, func(f ledger.Failure) bool {
			return (f.Kind == ledger.FailureAssertion || f.Kind == ledger.FailureLine) && !slices.Contains(res.Flakes, f)
		})
}

// onlyFlakes reports whether a red result has no failure that it had both times.
func onlyFlakes(res ledger.Result) bool {
	return res.Failures != nil && len(res.Failures.Failed) > 0 && res.Failures.More == 0 && !slices.ContainsFunc(res.Failures.Failed, func(f ledger.Failure) bool {
		return !slices.Contains(res.Flakes, f)
	})
}

// proofOf returns what the result of the task's attempt is worth (docs/spec 8.4).
func (d *decision) proofOf(t TaskState) ledger.Proof {
	w := t.Attempt
	p := ledger.Proof{Word: ledger.Unproved}
	judged := w.judged(d.run().Settings.For(t.Task))
	if f := w.Facts; f != nil {
		p.Changes, p.Unknown = f.Changes, f.Unknown
	}
	// A command that fails as before the work proves nothing of it.
	passed := w.Tree != w.Start && w.green(w.Tree) && len(w.Verified.Results) > 0 && !slices.ContainsFunc(w.Verified.Results, func(r ledger.Result) bool { return !r.OK })
	switch {
	case w.guardFailed():
		p.Word, p.Reason, p.Fewer = ledger.ChangedChecks, w.ChecksReason, w.Fewer
		if t.allowed() {
			p.Allowed = t.Proof.Allowed
		}
	case passed && w.shown():
		p.Word, p.Tests, p.Flaky = w.Shown.Word, w.Shown.Tests, w.Shown.Flaky
	case passed && w.Facts != nil && w.Facts.NewCode:
		p.Word = ledger.TestedNew
	case passed:
		p.Word = ledger.Tested
	case judged:
		p.Word = ledger.Reviewed
	}
	return p
}

// checksQuestion asks whether the task may rest on checks that it changed.
func (d *decision) checksQuestion(t TaskState) ledger.Question {
	p := d.proofOf(t)
	text := fmt.Sprintf("%s. The old ones do not pass.", t.Attempt.Facts.Summary)
	if len(p.Fewer) > 0 {
		text = ledger.FewerText(p.Fewer) + "."
	}
	return ledger.Question{Kind: ledger.AskChecks, Hat: t.Attempt.Hat, Proof: &p, Text: text}
}

// askChecks asks about a task that was committed on changed checks. Nothing waits
// for the answer.
func (d *decision) askChecks(t TaskState) {
	q := d.checksQuestion(t)
	q.ID, q.Run, q.Task, q.Session, q.Title, q.Asked = d.nextID("q"), d.run().ID, t.Task.ID, t.Attempt.Session, t.Task.Title, d.in.Time
	d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, ledger.QuestionAsked{Question: q})
}

// applyChecks acts on the answer to a question about changed checks.
func applyChecks(d *decision, a answerGiven) {
	t, ok := d.task(a.q.Task)
	if !ok || a.q.Proof == nil {
		return
	}
	about := scope{task: a.q.Task, session: a.q.Session}
	allow := a.choice == "allow"
	if allow {
		p := *a.q.Proof
		p.Allowed = d.by()
		d.add(about, ledger.TaskProved{Proof: p})
	} else {
		d.add(scope{task: a.q.Task}, ledger.TaskWords{Text: redoWords(*a.q.Proof)})
	}
	switch waits := t.Status == ledger.Waiting && t.Question == a.q.ID && t.Attempt != nil; {
	case waits && allow:
		// The tree is verified once more when the attempt resumes.
		d.add(about, ledger.ChecksBegun{Kind: ledger.KindVerify, Tree: t.Attempt.left()})
		d.add(about, ledger.StageSet{Stage: ledger.StageHeld})
		d.setTask(a.q.Task, ledger.Ready, "answered")
		d.goOn()
	case waits:
		d.replan(a.q.Task, "its changed checks were not allowed")
		d.goOn()
	case !allow:
		d.retryTask(a.q.Task)
	}
}

// redoWords tells later sessions why a person wants the task done again.
func redoWords(p ledger.Proof) string {
	if len(p.Fewer) > 0 {
		return "A person wants it done again, so that the tests of the start all run: " + ledger.FewerText(p.Fewer)
	}
	return "A person wants it done again with the checks of the start as they were: " + joinFew(changedPaths(p))
}

func changedPaths(p ledger.Proof) []string {
	var paths []string
	for _, c := range p.Changes {
		if !c.Named {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// calm lets everything succeed and answers all questions, until all work is
// done.
func (w *world) calm() {
	w.kind = true
	for n := range 600 {
		if n == 300 {
			w.noneRecurs()
		}
		w.reports()
		if len(w.todo) > 0 {
			w.outside()
			continue
		}
		r := w.s.Project.Run
		if r.Over() {
			if w.finished() {
				w.ended()
				if m := r.Remake; m != nil || w.unsaid != "" {
					w.t.Fatalf("a branch that was made again is neither verified nor said not to be: %+v %s\n%s", m, w.unsaid, w.dump())
				}
				return
			}
			if qs := w.answerable(); len(qs) > 0 {
				w.settle(qs[0])
				continue
			}
			if r.InWaves() {
				w.now = w.now.Add(24 * time.Hour) // what others claim becomes free after days
			}
			// Of a few sessions a run, a recurring task that is always due takes most.
			w.settings.OnBlocked, w.settings.MaxTasks, w.settings.MaxWaves, w.settings.MaxIterations, w.settings.Until = ledger.OnBlockedContinue, 0, 0, 0, time.Time{}
			w.run()
			continue
		}
		if qs := w.answerable(); len(qs) > 0 {
			w.settle(qs[0])
			continue
		}
		due := Due(w.s)
		switch {
		case r.State == ledger.RunPaused, r.State == ledger.RunStopping:
			w.person(Resume{})
		case due.IsZero():
			w.t.Fatalf("nothing goes on: %s", w.dump())
		default:
			if due.After(w.now) {
				w.now = due
			}
			w.do(Tick{}, "")
		}
	}
	w.t.Fatalf("no end in sight: %s", w.dump())
}

// answerable returns the open questions whose answer is taken: those about a part wait
// for the line of its task.
func (w *world) answerable() []ledger.Question {
	return slices.DeleteFunc(slices.Clone(w.s.Project.Questions), func(q ledger.Question) bool {
		t, _ := w.s.Project.Find(q.Task)
		of, ok := w.s.Project.Find(t.Task.Parent)
		return ok && t.Task.Parent != "" && of.Rest != nil
	})
}

func (w *world) settle(q ledger.Question) {
	choice := map[ledger.QuestionKind]string{ledger.AskBlocked: "retry", ledger.AskManual: "pass", ledger.AskBaseline: "go", ledger.AskReview: "resume", ledger.AskUnticked: "keep", ledger.AskSkip: "wait", ledger.AskNow: "queue", ledger.AskAgent: "a", ledger.AskStart: "cancel", ledger.AskLate: "no", ledger.AskPlan: "approve", ledger.AskAllow: "deny", ledger.AskSecret: "harmless", ledger.AskNewFiles: "ignore", ledger.AskRemake: "drop", ledger.AskChecks: "allow", ledger.AskMerge: "cancel", ledger.AskIdea: "start", ledger.AskThreshold: "use"}[q.Kind]
	words := ""
	if q.Kind == ledger.AskAgent && len(q.Options) == 0 {
		choice, words = "", "this"
	}
	a := w.person(AnswerQuestion{Question: q.ID, Choice: choice, Words: words})
	_, asked := w.s.Project.Question(q.ID)
	switch {
	case a.OK:
	case q.Kind == ledger.AskReview && a.Code == ledger.CodeEnding: // that run was stopped while it was paused
	case q.Kind == ledger.AskRemake && (a.Code == ledger.CodeTooLate || a.Code == ledger.CodeOver) && !asked: // another run began, or its request was merged
	default:
		w.t.Fatalf("%s %s is refused: %v\n%s", q.ID, choice, a, w.dump())
	}
}

// noneRecurs takes what recurs out of the plan. A task that is always due can begin work
// anew for ever, because time passes here only while somebody waits for it.
func (w *world) noneRecurs() {
	tasks := slices.Clone(w.plan.Tasks)
	for n := range tasks {
		tasks[n].Repeat = nil
	}
	w.write(tasks)
}

func (w *world) finished() bool {
	for _, t := range w.s.Project.Tasks.All() {
		if of, ok := w.s.Project.Find(t.Task.Parent); ok && t.Task.Parent != "" && of.Rest != nil {
			continue // the part waits for the line of its task
		}
		if t.Status != ledger.Done && t.Status != ledger.Skipped && t.Status != ledger.Withdrawn && !w.hopeless(*t, 0) {
			return false
		}
	}
	return true
}

// hopeless reports whether a task can never start because a task that it
// depends on was skipped, withdrawn or never existed, or because the phase before its
// own has such a task.
func (w *world) hopeless(t TaskState, depth int) bool {
	if depth > 50 || t.Status != ledger.Pending {
		return false
	}
	for _, id := range slices.Concat(t.Task.DependsOn, t.Parts) {
		dep, ok := w.s.Project.Find(id)
		if !ok || dep.Status == ledger.Skipped || dep.Status == ledger.Withdrawn || w.hopeless(dep, depth+1) {
			return true
		}
	}
	return slices.ContainsFunc(w.s.Project.OpenIn(w.s.Project.PhaseBefore(t)), func(o TaskState) bool { return w.hopeless(o, depth+1) })
}

func (w *world) ended() {
	w.sent()
	w.merging()
	w.commented()
	w.bounded()
	for _, i := range w.s.Project.Guidance.Items {
		if i.State == guidance.Injected && !w.s.Project.Rests(i) {
			w.t.Fatalf("%s is still in use when all is over: %s", i.ID, mustJSON(w.t, i))
		}
	}
	if len(w.s.Project.Failing) > 0 {
		w.t.Fatalf("the fault is over, and still fails: %s", mustJSON(w.t, w.s.Project.Failing))
	}
	if len(w.s.Shared.Leases) > 0 || len(w.s.Project.Sessions) > 0 {
		w.t.Fatalf("something is left in flight: %s", w.dump())
	}
}

package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// What fixes and open issues were worth is kept of done tasks, so that a threshold can
// be learned (docs/spec 2.6). It comes from entries alone, and from those that say which
// threshold a review was held against: of earlier ones nothing is known.

// FixRound is one fix for nothing but issues of one severity.
type FixRound struct {
	Severity ledger.Severity `json:"severity"`
	Lines    int             `json:"lines,omitempty"`  // changed by its sessions; a file without lines counts as one
	Judged   bool            `json:"judged,omitempty"` // another review followed
	Passed   bool            `json:"passed,omitempty"` // that review let the attempt through
}

// ReviewedTask is what is known of a done task for the threshold of its kind.
type ReviewedTask struct {
	Kind   string            `json:"kind"`
	Source string            `json:"source"`
	Task   string            `json:"task"` // folded id; of a part that of its task
	Run    string            `json:"run"`
	Fixes  []FixRound        `json:"fixes,omitempty"` // that another review judged
	Open   []ledger.Severity `json:"open,omitempty"`  // of issues that its last review left open
	Regret Regret            `json:"regret,omitempty"`
}

// Regret says why the result of a done task was not what was wanted; "" = nothing says
// so.
type Regret string

// Regrets.
const (
	RegretReverted Regret = "reverted" // it was taken out of the branch
	RegretRedone   Regret = "redone"   // a person has it done again
	RegretFailed   Regret = "failed"   // a person looked at it, and it is not right
	RegretReturned Regret = "returned" // an evaluator sent it back
)

// keptReviewed limits the done tasks of one kind that the state keeps. What was learned
// of older ones may be wrong by now.
const keptReviewed = 40

// ruleGuidance begins the rule of issues that nightporter makes of guidance that was not
// followed.
const ruleGuidance = "guidance-"

// ofGuidance reports whether an issue is about a person's guidance.
func ofGuidance(i ledger.Issue) bool { return strings.HasPrefix(i.Rule, ruleGuidance) }

// reviewed folds a review: it judges the fix before it, if there was one, and may begin
// the next.
func (w *Attempt) reviewed(b ledger.Evidence) {
	if len(b.Threshold) == 0 {
		return
	}
	var sent []ledger.Severity
	guided := false
	w.LeftOpen = nil
	for _, i := range b.Issues {
		if !i.Sure() {
			continue
		}
		if !slices.Contains(w.LeftOpen, i.Severity) {
			w.LeftOpen = append(w.LeftOpen, i.Severity)
		}
		guided = guided || ofGuidance(i)
		if slices.Contains(b.Threshold, i.Severity) && !slices.Contains(sent, i.Severity) {
			sent = append(sent, i.Severity)
		}
	}
	w.Fixing = b.Verdict == verdictIssues
	if n := len(w.Fixes) - 1; n >= 0 && !w.Fixes[n].Judged {
		w.Fixes = slices.Clone(w.Fixes)
		w.Fixes[n].Judged, w.Fixes[n].Passed = true, !w.Fixing
	}
	if w.Fixing && len(sent) == 1 && !guided {
		w.Fixes = append(slices.Clip(w.Fixes), FixRound{Severity: sent[0]})
	}
}

// fixed adds what a session changed to the fix under way.
func (w *Attempt) fixed(taken ledger.Capture) {
	n := len(w.Fixes) - 1
	if n < 0 || w.Fixes[n].Judged {
		return
	}
	lines := taken.More
	for _, f := range taken.Files {
		lines += max(f.Added+f.Removed, 1)
	}
	if lines > 0 {
		w.Fixes = slices.Clone(w.Fixes)
		w.Fixes[n].Lines += lines
	}
}

// applyReviewed keeps what is known of a task that an attempt has done, and whether
// that is regretted. It is called before the entry changes the task.
func (p Project) applyReviewed(e ledger.Entry) Project {
	switch b := e.Body.(type) {
	case ledger.TaskSet:
		n := p.index(e.Task)
		if n < 0 {
			break
		}
		t := p.Tasks.At(n)
		switch {
		case t.Attempt != nil && t.Attempt.Converged && (b.To == ledger.Done || b.To == ledger.ManualVerify):
			return p.keepReviewed(t)
		case b.To != ledger.Ready || !b.Fresh || b.Again:
		case b.Returned != nil:
			return p.regret(e.Task, RegretReturned)
		case b.From == ledger.Done && b.By != "":
			return p.regret(e.Task, RegretRedone)
		case b.From == ledger.ManualVerify:
			return p.regret(e.Task, RegretFailed)
		}
	case ledger.BranchRemade:
		for _, id := range b.Wish.Drop {
			p = p.regret(id, RegretReverted)
		}
		for _, id := range b.Wish.Back {
			p = p.regret(id, "")
		}
	}
	return p
}

// keepReviewed keeps what is known of a task whose attempt is done.
func (p Project) keepReviewed(t *TaskState) Project {
	w, r := t.Attempt, p.Run
	if r == nil || r.Aside() || t.Task.Own || w.Scripted {
		return p
	}
	is := ReviewedTask{
		Kind: r.Settings.For(w.Of).Pattern.Name, Source: p.Source, Task: ledger.FoldID(p.wholeOf(t.Task.ID)), Run: r.ID,
		Fixes: slices.DeleteFunc(slices.Clone(w.Fixes), func(f FixRound) bool { return !f.Judged }),
	}
	if !w.Fixing { // what no review saw after a fix may be mended
		is.Open = w.LeftOpen
	}
	kept, first := 0, 0
	for n := len(p.Learning.Tasks) - 1; n >= 0; n-- {
		if p.Learning.Tasks[n].Kind == is.Kind {
			kept, first = kept+1, n
		}
	}
	tasks := slices.Clone(p.Learning.Tasks)
	if kept >= keptReviewed {
		tasks = slices.Delete(tasks, first, first+1)
	}
	p.Learning.Tasks = append(tasks, is)
	return p
}

// regret records why the last result of a task was not what was wanted, or with "" that
// it is wanted after all: it was brought back.
func (p Project) regret(task string, why Regret) Project {
	key, run := ledger.FoldID(p.wholeOf(task)), ""
	tasks := slices.Clone(p.Learning.Tasks)
	for n := len(tasks) - 1; n >= 0; n-- {
		t := &tasks[n]
		if t.Source != p.Source || t.Task != key || run != "" && t.Run != run {
			continue
		}
		run = t.Run
		if why != "" || t.Regret == RegretReverted {
			t.Regret = why
		}
	}
	p.Learning.Tasks = tasks
	return p
}

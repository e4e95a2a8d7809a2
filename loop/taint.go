package loop

import (
	"fmt"
	slashpath "path"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Text that strangers may have written goes further than the sessions that read it: into
// notebooks, the newest plan, added tasks. A Taint marks each thing that prompts quote
// and in which such a session wrote (docs/spec 12.1). A session whose prompt quotes a
// tainted thing reads outside text like any other, so what it writes is tainted, too. A
// person ends that by ClearTaints. People read of a taint as a mark; in code that word is
// the source's.
//
// Taints follow from entries that were there before (SessionPlanned.Outside), so no
// writer has to remember to set one.

// Taint marks a thing in which sessions wrote that had read outside text.
type Taint struct {
	Of    TaintOf  `json:"of"`
	ID    string   `json:"id,omitempty"` // of the task or item; "" for a thing that the project has once
	Texts int      `json:"texts"`        // that these sessions wrote in it
	From  []string `json:"from"`         // ids of the tasks that they worked on, the first keptFrom
}

// TaintOf is a kind of thing that prompts quote.
type TaintOf string

// Kinds of things.
const (
	TaintMemory   = TaintOf(ledger.MemoryFact)
	TaintDecision = TaintOf(ledger.MemoryDecision)
	TaintNote     = TaintOf(ledger.MemoryNote)
	TaintPlan     = TaintOf("plan")     // the newest plan of any task
	TaintProgress = TaintOf("progress") // Project.Progress
	TaintGuidance = TaintOf("guidance") // what sessions report on an item that is in force for all tasks
	TaintText     = TaintOf("text")     // a task that a session added
	TaintFindings = TaintOf("findings") // for which an evaluator sent a task back
	TaintWork     = TaintOf("work")     // what sessions of a task leave for later ones of it and its parts: plan, summaries, failures
)

// keptFrom limits the tasks that a Taint names.
const keptFrom = 20

// taintOfFile are the files of load lists that sessions write through hat.
var taintOfFile = map[string]TaintOf{
	ledger.MemoryFact.File():     TaintMemory,
	ledger.MemoryDecision.File(): TaintDecision,
	ledger.MemoryNote.File():     TaintNote,
	ledger.PlanFile:              TaintPlan,
}

// taintID identifies a task among those of all sources of the project.
func taintID(source, task string) string { return source + " " + ledger.FoldID(task) }

// Tainted reports whether a thing is tainted.
func (p Project) Tainted(of TaintOf, id string) bool {
	return slices.ContainsFunc(p.Taints, func(t Taint) bool { return t.Of == of && t.ID == id })
}

// TaintedFile reports whether a file of a load list is tainted.
func (p Project) TaintedFile(file string) bool {
	of, ok := taintOfFile[slashpath.Clean(file)]
	return ok && p.Tainted(of, "")
}

// ofTask reports whether the thing belongs to one task.
func (of TaintOf) ofTask() bool { return of == TaintText || of == TaintFindings || of == TaintWork }

// TaskTaints returns the taints of a task.
func (p Project) TaskTaints(t TaskState) (taints []Taint) {
	id := taintID(p.Source, t.Task.ID)
	for _, k := range p.Taints {
		if k.Of.ofTask() && k.ID == id {
			taints = append(taints, k)
		}
	}
	for _, a := range p.Additions { // the source has a task before the result of writing it is known
		same := func(o ledger.Task) bool { return ledger.TitleKey(o.Title) == ledger.TitleKey(t.Task.Title) }
		if a.Taint != "" && !a.Done && a.Source.String() == p.Source && slices.ContainsFunc(a.Tasks, same) {
			taints = append(taints, Taint{Of: TaintText, ID: id, Texts: 1, From: []string{a.Taint}})
		}
	}
	return taints
}

// TaintedText reports whether a session that had read outside text wrote the task: it
// added it, or planned it as a part.
func (p Project) TaintedText(t TaskState) bool {
	if slices.ContainsFunc(p.TaskTaints(t), func(k Taint) bool { return k.Of == TaintText }) {
		return true
	}
	of, ok := p.Find(t.Task.Parent)
	return ok && t.Task.Parent != "" && (p.Run.TasksForeign() || p.outsideTask(of))
}

// TaintedFindings reports whether an evaluator that had read outside text sent the task
// back.
func (p Project) TaintedFindings(t TaskState) bool {
	return p.Tainted(TaintFindings, taintID(p.Source, t.Task.ID))
}

// readsOutside reports whether the prompt of a session holds outside text.
func (p Project) readsOutside(t TaskState, hat ledger.Hat, b guidance.Binding) bool {
	switch {
	case p.HoldsOutsideText(t), bindsComments(p.Guidance, b):
		return true
	case slices.Contains(hat.Emits, ledger.EventEvaluation) && slices.ContainsFunc(p.Judged(t), p.HoldsOutsideText):
		return true
	}
	return slices.ContainsFunc(hat.Load, func(file string) bool {
		if slashpath.Clean(file) == ledger.PlanFile && len(t.PlanFor(hat)) > 0 {
			return false // its own plan is in the prompt instead
		}
		return p.TaintedFile(file)
	})
}

// wroteOutside reports whether the session of an entry, or the attempt of its task, has
// read outside text.
func (p Project) wroteOutside(e ledger.Entry) bool {
	if s, ok := p.Session(e.Session); ok && s.Planned.Outside != "" {
		return true
	}
	t, ok := p.Find(e.Task)
	return ok && e.Task != "" && (t.Attempt != nil && t.Attempt.Outside != "" || p.HoldsOutsideText(t))
}

// applyTaint folds an entry by which text reaches prompts of later sessions.
func (p Project) applyTaint(e ledger.Entry) Project {
	switch b := e.Body.(type) {
	case ledger.TaintsCleared:
		p.Taints = nil
		p.Additions, p.Ideas = slices.Clone(p.Additions), slices.Clone(p.Ideas)
		for n := range p.Additions {
			p.Additions[n].Taint = ""
		}
		for n := range p.Ideas {
			p.Ideas[n].Taint = ""
		}
	case ledger.SessionPlanned:
		if t, ok := p.Find(e.Task); ok && e.Task != "" && b.Kind == ledger.KindAgent && b.Outside != "" && !p.HoldsOutsideText(t) {
			p = p.taint(TaintWork, taintID(p.Source, e.Task), e.Task)
		}
	case ledger.PartMerged:
		if t, ok := p.Find(e.Task); ok && b.Outside != "" && !p.HoldsOutsideText(t) {
			p = p.taint(TaintWork, taintID(p.Source, e.Task), b.Part)
		}
	case ledger.MemoryKept:
		if p.wroteOutside(e) {
			p = p.taint(TaintOf(b.Kind), "", e.Task)
		}
	case ledger.Routed:
		if b.On == ledger.EventPlan && p.wroteOutside(e) {
			p = p.taint(TaintPlan, "", e.Task)
		}
	case ledger.Submit:
		p.Taints = slices.DeleteFunc(slices.Clone(p.Taints), func(t Taint) bool { return t.Of == TaintProgress })
		if p.wroteOutside(e) {
			p = p.taint(TaintProgress, "", e.Task)
		}
	case ledger.GuidanceReported:
		p = p.taintReport(b.ID, e)
	case ledger.GuidanceJudged:
		p = p.taintReport(b.ID, e)
	case ledger.TaskSet:
		if by, ok := p.returnedBy(b); ok && p.HoldsOutsideText(by) {
			p = p.taint(TaintFindings, taintID(p.Source, e.Task), by.Task.ID)
		}
	case ledger.TasksAdded:
		if a, ok := p.Addition(b.ID); ok && a.Taint != "" {
			for _, id := range b.Tasks {
				p = p.taint(TaintText, taintID(a.Source.String(), id), a.Taint)
			}
		}
	}
	return p
}

// returnedBy returns the task of the evaluator that sends a task back.
func (p Project) returnedBy(b ledger.TaskSet) (TaskState, bool) {
	if b.Returned == nil {
		return TaskState{}, false
	}
	return p.Find(b.Returned.By)
}

// taintReport taints what a session says of an item that sessions of other tasks are
// shown, too.
func (p Project) taintReport(id string, e ledger.Entry) Project {
	if i, ok := p.Guidance.Get(id); ok && i.Sticky && p.wroteOutside(e) {
		return p.taint(TaintGuidance, id, e.Task)
	}
	return p
}

// taint returns the project with one more text in a thing by a session of a task.
func (p Project) taint(of TaintOf, id, from string) Project {
	p.Taints = slices.Clone(p.Taints)
	n := slices.IndexFunc(p.Taints, func(t Taint) bool { return t.Of == of && t.ID == id })
	if n < 0 {
		n = len(p.Taints)
		p.Taints = append(p.Taints, Taint{Of: of, ID: id})
	}
	t := &p.Taints[n]
	t.Texts++
	if len(t.From) < keptFrom && !slices.Contains(t.From, from) {
		t.From = append(slices.Clip(t.From), from)
	}
	return p
}

// TaintCount sums taints up for people.
type TaintCount struct {
	Notes int      // texts in notebooks, plans, and reports on guidance
	Tasks int      // added by such sessions, or worked on by them
	From  []string // ids of the tasks whose sessions wrote them, each once
}

// None reports whether nothing is tainted.
func (c TaintCount) None() bool { return c.Notes+c.Tasks == 0 }

// CountTaints sums the project's taints up. The progress of the last task counts as none:
// sessions that read no other outside text are not shown it.
func (p Project) CountTaints() (c TaintCount) {
	tasks := map[string]bool{}
	for _, t := range p.Taints {
		switch {
		case t.Of == TaintProgress:
			continue
		case t.Of.ofTask():
			tasks[t.ID] = true
		default:
			c.Notes += t.Texts
		}
		for _, from := range t.From {
			if !slices.ContainsFunc(c.From, func(o string) bool { return ledger.SameID(o, from) }) {
				c.From = append(c.From, from)
			}
		}
	}
	c.Tasks = len(tasks)
	return c
}

// ClosedByTaints is what people are told once of a source: that sessions which are shown
// something tainted have a closed network. It reports false if none would at a time.
func (p Project) ClosedByTaints(s ledger.Settings, at time.Time) (ledger.Diagnostic, bool) {
	return ledger.Diagnostic{
		File:   s.Source.Path,
		Text:   "sessions that get marked notes or tasks reach named hosts alone: text by strangers led to these",
		Remedy: "/net counts them. Once you have looked: /net clear",
	}, !p.CountTaints().None() && !p.keptOpen(at)
}

// clearTaints takes all tainted things for the project's own. What sessions in flight
// write is still tainted: they have read it.
func (d *decision) clearTaints() {
	c := d.Project.CountTaints()
	if c.None() {
		d.answer.Code = ledger.CodeSame
		d.say("nothing is marked")
		return
	}
	d.add(scope{}, ledger.TaintsCleared{By: d.by()})
	d.say("cleared: %s; the next session has them as the project's own", c.Text())
}

// Text counts in words: "14 notes and 1 task".
func (c TaintCount) Text() string {
	var parts []string
	for _, k := range []struct {
		n    int
		noun string
	}{{c.Notes, "note"}, {c.Tasks, "task"}} {
		switch k.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+k.noun)
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", k.n, k.noun))
		}
	}
	return strings.Join(parts, " and ")
}

package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// A part is a section of a task's plan that became a task of its own, such as
// "Task 5/b". It stands in no file. It goes through the pattern from the hat
// after the planner, and has its own commit. The task that it belongs to is
// done when all its parts are (docs/spec 4.4).

// partsDue returns the sections of the plan that can become parts now: approved
// ones, or any if all is set. Sections that are parts already are left out, and
// so are those that depend on a section that cannot be built yet.
func (d *decision) partsDue(t TaskState, all bool) []payload.Section {
	w := t.Attempt
	var due []payload.Section
	can := map[string]bool{}
	for _, s := range payload.Sections(w.Plan) {
		ok := all || slices.Contains(w.Consensus.Approved, s.ID)
		for _, on := range s.DependsOn {
			ok = ok && can[on]
		}
		can[s.ID] = ok
		if ok && t.PartOf(s.ID) == "" {
			due = append(due, s)
		}
	}
	return due
}

// makeParts turns the sections that are due into parts. whole means that the
// plan is settled: then the attempt ends, and the task itself only waits for
// its parts. makeParts returns false if it changed nothing.
func (d *decision) makeParts(t TaskState, whole bool) bool {
	w, id := t.Attempt, t.Task.ID
	made := ledger.PartsMade{Plans: map[string]string{}, Whole: whole}
	ids := map[string]string{}
	name := func(section string) string {
		if part := t.PartOf(section); part != "" {
			return part
		}
		return ids[section]
	}
	sections, joins := payload.Sections(w.Plan), d.mergesParts(t)
	for _, s := range d.partsDue(t, whole) {
		task := d.newPart(t, s, joins)
		part := task.ID
		ids[s.ID] = part
		for _, on := range s.DependsOn {
			task.DependsOn = append(task.DependsOn, name(on))
		}
		made.Parts = append(made.Parts, task)
		n := slices.IndexFunc(sections, func(o payload.Section) bool { return o.ID == s.ID })
		made.Plans[part] = string(rawSections(w.Plan)[n])
	}
	if len(made.Parts) == 0 && !whole {
		return false
	}
	about := scope{task: id, session: w.Session}
	d.add(about, made)
	switch {
	case whole && joins:
		now, _ := d.task(id)
		d.awaitParts(t, len(now.Parts), "its sections are built")
	case whole:
		d.submit(t, ledger.Submit{Result: "pass", Outcome: ledger.OutcomePlanned})
		d.add(about, ledger.AttemptEnded{Outcome: ledger.OutcomePlanned, Why: "its plan has parts"})
		t, _ = d.task(id)
		d.add(about, ledger.TaskSet{From: t.Status, To: ledger.Pending, Why: partsText(len(t.Parts))})
	}
	return true
}

// newPart returns the task that a section of a task's plan becomes.
func (d *decision) newPart(t TaskState, s payload.Section, joins bool) ledger.Task {
	return ledger.Task{
		ID: d.freePart(t.Task.ID + "/" + s.ID), Title: oneLine(s.Title), Body: partBody(s), Scope: scopeOf(s.Files), Acceptance: s.Tasks,
		Priority: t.Task.Priority, Role: t.Task.Role, Threshold: t.Task.Threshold, Allow: t.Task.Allow,
		Material: t.Task.Material, Inputs: t.Task.Inputs, Labels: t.Task.Labels, Author: t.Task.Author, Verifier: t.Task.Verifier,
		Mark: ledger.MarkOpen, Parent: t.Task.ID, Joins: joins,
	}
}

// scopeOf returns the scope of a section with these files, which are paths and globs by
// definition. A bare word in a scope would be the name of folders in the repository.
func scopeOf(files []string) string {
	paths := slices.Clone(files)
	for n, f := range paths {
		if !strings.ContainsAny(f, "/.*?[{") {
			f = "./" + f
		}
		if strings.ContainsAny(f, " ,;(") && !strings.Contains(f, "`") {
			if f = "`" + f + "`"; !strings.Contains(f, "/") {
				f = "`./" + f[1:]
			}
		}
		paths[n] = f
	}
	return strings.Join(paths, ", ")
}

// beginParts lets approved sections be built before the others are revised. With one
// lane building and revising take turns; with several they go side by side (argued).
func (d *decision) beginParts(t TaskState) {
	if len(payload.Sections(t.Attempt.Plan)) < 2 || !d.makeParts(t, false) {
		return
	}
	d.add(scope{task: t.Task.ID}, ledger.AttemptEnded{Outcome: ledger.OutcomeParked, Why: "approved parts come first"})
	d.setTask(t.Task.ID, ledger.Ready, "approved parts come first")
}

// freePart returns an id that no part had before: "Task 5/b", or "Task 5/b.2"
// if an earlier plan had a part of that name. With one id for both, the
// ledger's entries about the two could not be told apart.
func (d *decision) freePart(id string) string {
	free := id
	for n := 2; ; n++ {
		if _, used := d.task(free); !used {
			return free
		}
		free = fmt.Sprintf("%s.%d", id, n)
	}
}

// partBody renders the steps of a section as the body of its part.
func partBody(s payload.Section) string {
	var b strings.Builder
	for n, step := range s.Steps {
		var text string
		if json.Unmarshal(step, &text) != nil {
			text = string(step)
		}
		fmt.Fprintf(&b, "%d. %s\n", n+1, text)
	}
	const most = 8000 // bytes; a prompt never cuts a task's text, but may cut its plan
	body := strings.TrimSpace(b.String())
	if len(body) > most {
		body = strings.ToValidUTF8(body[:most], "") + "…\n\nThe plan has the whole of it."
	}
	return body
}

// dropParts withdraws the unfinished parts of a task and detaches all of its
// parts. It returns the short ids of those that are done or being committed.
func (d *decision) dropParts(t TaskState, why string) (done []string) {
	for _, id := range t.Parts {
		p, ok := d.task(id)
		if !ok {
			continue
		}
		if !p.Task.Joins && (p.Status == ledger.Done || p.committing()) {
			done = append(done, ledger.ShortID(id))
			continue
		}
		d.closeQuestions(id, "withdrawn")
		if p.Status == ledger.Skipped || p.Status == ledger.Withdrawn {
			continue
		}
		d.cutTask(p, why)
		if p.Attempt != nil {
			d.add(scope{task: id}, ledger.AttemptEnded{Replan: true, Outcome: ledger.OutcomeAnew, Why: why})
		}
		d.setTask(id, ledger.Withdrawn, why)
		d.expireGuidance(id, "its task was withdrawn")
	}
	if len(t.Parts) > 0 {
		d.add(scope{task: t.Task.ID}, ledger.PartsMade{Gone: t.Parts})
	}
	return done
}

// planAnew drops the parts of a task before a new plan is made, because
// sections of the old and the new plan can have the same ids. It tells the next
// planner which parts are done.
func (d *decision) planAnew(t TaskState, why string) {
	if len(t.Parts) == 0 {
		return
	}
	if done := d.dropParts(t, why); len(done) > 0 {
		d.add(scope{task: t.Task.ID}, ledger.TaskWords{Text: "Done already, by an earlier plan: " + strings.Join(done, ", ") + "."})
	}
}

// settleParts completes the tasks whose parts are all done, or lets them go on where
// the changes of the parts were merged into their tree.
func (d *decision) settleParts() {
	for _, t := range d.Project.Tasks.of(setUnsettled) {
		if t.Status == ledger.Pending && len(t.Parts) > 0 && d.Project.Tasks.openPart(t) == "" {
			d.partsDone(*t)
		}
	}
}

// partsDone completes a task whose parts are done.
func (d *decision) partsDone(t TaskState) {
	id := t.Task.ID
	if t.mergedParts(d.Project.Tasks) {
		if !d.partsIn(&t) {
			d.replan(id, "what its sections changed is gone")
			return
		}
		if m := t.Attempt.Merged; len(m.Parts) == 0 && m.Hat == "" { // nothing was built that a review could judge
			d.closeQuestions(id, "skip")
			d.setTask(id, ledger.Skipped, "all its sections were skipped")
			d.expireGuidance(id, "its task was skipped")
			d.askDependents(t)
			return
		}
		d.setTask(id, ledger.Ready, t.Attempt.Merged.done())
		return
	}
	d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Done, Why: "its parts are done"})
	d.expireGuidance(id, "its task ended")
	d.mark(id, ledger.MarkDone)
	t, _ = d.task(id)
	d.progress(t, "completed", "", "")
}

// yields reports whether the next revision of the plan has to wait, because one
// of the parts can be built first.
func (d *decision) yields(t *TaskState) bool {
	if t.Attempt == nil || t.Attempt.Consensus == nil || !t.Attempt.Consensus.Yields {
		return false
	}
	return slices.ContainsFunc(t.Parts, func(id string) bool {
		p, ok := d.task(id)
		return ok && p.Status == ledger.Ready && d.wanted(&p)
	})
}

package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// A route that divides the verdict of a tester (ledger.EachSection) sends what failed back
// to the sections that the failed checks name: each gets a part of its own, which begins
// with the task's tree, may write the files of the section alone, and is merged as those
// that built it (docs/spec 4.5).

// mendSections makes a part for each section that failed checks name. It returns false,
// and changes nothing, where one of them names none: then one session mends all.
func (d *decision) mendSections(t TaskState, hat string) bool {
	w, id := t.Attempt, t.Task.ID
	faults := map[string][]ledger.Issue{}
	for _, i := range w.Issues {
		if part, ok := d.task(t.PartOf(i.Section)); !ok || part.Status == ledger.Skipped {
			return false
		}
		faults[i.Section] = append(faults[i.Section], i)
	}
	if len(faults) == 0 || !t.joinedBy(d.Project.Tasks) {
		return false
	}
	made := ledger.PartsMade{Plans: map[string]string{}, Whole: true}
	for n, s := range payload.Sections(w.Plan) {
		if len(faults[s.ID]) == 0 {
			continue
		}
		part := d.newPart(t, s, true)
		part.Body, part.Hat = faultsBody(faults[s.ID]), hat
		made.Parts = append(made.Parts, part)
		made.Plans[part.ID] = string(rawSections(w.Plan)[n])
	}
	d.add(scope{task: id, session: w.Session}, made)
	t, _ = d.task(id)
	d.awaitParts(t, len(made.Parts), "its sections are mended")
	return true
}

// faultsBody renders what a tester found of a section as the body of the part that mends
// it.
func faultsBody(issues []ledger.Issue) string {
	lines := []string{"The tester tried the whole, and this part of it failed. Make each criterion true, or dispute it with the reason:"}
	for _, i := range issues {
		lines = append(lines, "- "+i.Text)
	}
	return strings.Join(lines, "\n")
}

// rulingHat returns the hat that rules on what a session disputes and a tester finds
// failed again, "" if the event is no such verdict or the pattern has no ruling left.
func rulingHat(s ledger.Settings, w *Attempt) string {
	if w.Event.Type != ledger.EventFailed || len(payload.Items(w.Disputed)) == 0 {
		return ""
	}
	for _, r := range s.Pattern.Routes {
		if r.From == w.Hat && r.On == w.Event.Type && rules(s.Hats[r.To]) && (r.Most() == 0 || w.sessionsOf(r.To) < r.Most()) {
			return r.To
		}
	}
	return ""
}

// rules reports whether a hat rules on criteria that a tester found failed.
func rules(h ledger.Hat) bool { return slices.ContainsFunc(h.Emits, ledger.IsRuling) }

// wrongFaults returns what is wrong with a verdict that names sections or repeats what
// was ruled out, in words for the agent. "" = nothing.
func wrongFaults(t TaskState, data []byte) string {
	w, failed := t.Attempt, t.Criteria().FailedChecks(data)
	sections := payload.Sections(w.Plan)
	for _, i := range failed {
		if i.Section != "" && !slices.ContainsFunc(sections, func(s payload.Section) bool { return s.ID == i.Section }) {
			return fmt.Sprintf("the plan has no section %q; leave section out where a check is about the whole", i.Section)
		}
	}
	if len(failed) > 0 && len(payload.Counting(failed, w.Rulings)) == 0 {
		return "it was ruled that no criterion which failed has to be met: leave them out, and end with " + ledger.EventPassed
	}
	return ""
}

// ruledOut returns why rulings are refused that drop a criterion which the task itself
// lists, in words for the agent: only a person can do that, by the answer to a question
// that quotes it. "" = they drop none.
func ruledOut(t TaskState, data []byte) string {
	for _, r := range payload.Rulings(data) {
		if !r.Upheld() && t.lists(r.Criterion) && t.Attempt.waived(r.Criterion) == nil {
			return fmt.Sprintf("the task itself asks for %q, and only a person can drop that: uphold it, or end with %s and these words", r.Criterion, ledger.EventQuestion)
		}
	}
	return ""
}

// sharedFiles returns why a plan is refused whose sections have to write distinct files,
// in words for the agent. "" = they do.
func sharedFiles(plan []byte) string {
	type own struct {
		item    ledger.ScopeItem
		section string
	}
	var all []own
	for _, s := range payload.Sections(plan) {
		if len(s.Files) == 0 {
			return fmt.Sprintf("section %q names no files, so nobody could write anything for it", s.ID)
		}
		for _, f := range s.Files {
			for _, item := range ledger.ParseScope(f) {
				if item.Kind != ledger.ScopePath && item.Kind != ledger.ScopeGlob {
					continue
				}
				for _, o := range all {
					if o.section == s.ID || !anyMeet(globsOf(item), globsOf(o.item)) {
						continue
					}
					return fmt.Sprintf("sections %q and %q both write %s (%s): give each file to one of them, and what several need to a section that they depend on", o.section, s.ID, item.Text, o.item.Text)
				}
				all = append(all, own{item, s.ID})
			}
		}
	}
	return ""
}

package loop

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// openInbox makes the tasks bug reports, which are worked through in waves.
func (w *world) openInbox() {
	w.bugs = true
	w.settings.Source = ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json"}
	w.settings.MaxWaves, w.settings.Batch = w.draw(4, ""), w.draw(4, "")
	w.settings.Queue, w.batches = "", false // waves have no batches
	w.settings.Roles = map[string]ledger.Pattern{}
	if w.draw(4, "no triager") > 0 {
		w.settings.Roles[TriagePattern] = patterns[TriagePattern]
	}
	w.reports()
}

// reports makes reports of the tasks of an inbox that are none yet. Somebody may have
// added them. Reports do not come back by themselves.
func (w *world) reports() {
	if !w.bugs {
		return
	}
	for n := range w.plan.Tasks {
		w.plan.Tasks[n].Repeat = nil
		if t := &w.plan.Tasks[n]; t.Report == nil {
			r := reports[pick(w, "total", "label", "date", "crash", "again", "vague", "nothing", "saved")]
			t.Body = fmt.Sprintf("%s %s", r.body, t.Body)
			t.Report, t.Outside, t.Priority = &ledger.Report{Page: r.page}, true, r.priority
		}
	}
}

// verdicts is the answer of a triager, as an event's data.
func (w *world) verdicts(task string) map[string]any {
	t, _ := w.s.Project.Find(task)
	list := []map[string]any{}
	for _, id := range t.Task.Sorts {
		v := map[string]any{"id": id, "verdict": "take"}
		o, ok := w.s.Project.Find(id)
		if !w.kind {
			if w.draw(6, "left out") == 0 {
				continue
			}
			if w.draw(3, "set aside") == 0 && ok && o.Triage != nil && len(o.Triage.Open) > 0 {
				v = map[string]any{"id": id, "verdict": "set_aside", "gate": o.Triage.Open[0], "reason": "not here"}
			}
			if w.draw(9, "nonsense") == 0 {
				v["id"] = "Task 99"
			}
		}
		list = append(list, v)
	}
	return map[string]any{"reports": list}
}

// review answers the passes of a report's fix in the data of a verdict.
func (w *world) review(task string, data map[string]any) {
	t, ok := w.s.Project.Find(task)
	_, passes := t.review()
	if !ok || len(passes) == 0 || !w.kind && w.draw(9, "no passes") == 0 {
		return
	}
	var looks []ledger.PassResult
	for _, p := range passes {
		looks = append(looks, ledger.PassResult{Pass: p, Verdict: ledger.PassIssues, Note: "looked"})
	}
	data["review"] = map[string]any{"passes": looks}
}

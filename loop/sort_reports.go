package loop

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// askedWhy is why triage keeps a report that a person asked for.
const askedWhy = "A person asked for it."

// SortReports returns what EffectTriage results in: what triage says of each report that
// is to be fixed, or was set aside, and which of them others work on. It depends on its
// arguments alone, so that repeating the effect after a crash changes nothing.
func SortReports(s State, e ledger.EffectTriage, v triage.Vocabulary, kinds []triage.Kind, now time.Time) Triaged {
	in := triage.Inputs{Vocabulary: v, Kinds: kinds, Taken: s.Project.Taken, Now: now, Kept: map[string]bool{}}
	out := Triaged{Run: e.Run, Wave: e.Wave, Answers: e.Answers, Claimed: s.Claims(now)}
	for _, t := range s.Project.Tasks.All() {
		if t.Task.Report == nil || isPart(t.Task) || t.Task.Own || t.Status == ledger.Withdrawn {
			continue
		}
		open := t.Status == ledger.Ready || t.Status == ledger.Pending
		switch {
		case open && t.Attempt == nil || t.Aside != "":
			in.Reports = append(in.Reports, t.Task)
			if t.Kept != "" || s.Project.asked(t) {
				in.Kept[ledger.FoldID(t.Task.ID)] = true
			}
			if v := t.judgement(); v != nil {
				in.Verdicts = append(in.Verdicts, triage.Verdict{Task: v.Task, Gate: v.Gate, Why: v.Why, Of: v.Of, Session: t.Judged.Session})
			}
		case t.Status == ledger.Done && t.Commit == "" && !t.Task.Report.Closed.IsZero(): // closed by others, who know whether it is merged
			in.Known = append(in.Known, triage.Known{Task: t.Task, Closed: t.Task.Report.Closed, Merged: true})
		case t.Status == ledger.Done:
			in.Known = append(in.Known, triage.Known{Task: t.Task, Closed: t.Ended})
		case t.Status != ledger.Skipped: // a person's decision about it says nothing about others
			in.Known = append(in.Known, triage.Known{Task: t.Task})
		}
	}
	out.Verdicts = triage.Sort(in)
	for n, v := range out.Verdicts {
		at := s.Project.index(v.Task)
		if at < 0 {
			continue
		}
		switch t := s.Project.Tasks.At(at); {
		case t.Asked != "":
			out.Verdicts[n].Person, out.Verdicts[n].Why = t.Asked, askedWhy
		case s.Project.asked(t):
			out.Verdicts[n].Why = askedWhy
		case t.Kept != "":
			out.Verdicts[n].Person = t.Kept
		}
	}
	return out
}

// PreviewReports returns a project whose reports are sorted as the first wave of its first
// run would sort them by rules.
func PreviewReports(project string, tasks []ledger.Task, v triage.Vocabulary, kinds []triage.Kind, now time.Time) State {
	s := State{Project: Project{Name: project}}
	var list []TaskState
	for _, t := range tasks {
		status := ledger.Ready
		if t.Mark != ledger.MarkOpen {
			status = ledger.Done
		}
		list = append(list, TaskState{Task: t, Status: status})
	}
	s.Project.Tasks = NewTaskList(list...)
	sorted := SortReports(s, ledger.EffectTriage{}, v, kinds, now)
	for _, verdict := range sorted.Verdicts {
		t := &list[s.Project.index(verdict.Task)]
		if t.Triage = &verdict; !verdict.Kept() {
			t.Status, t.Aside = ledger.Skipped, verdict.Gate
		}
	}
	s.Project.Tasks = NewTaskList(list...)
	return s
}

package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/outlook"
)

// OutlookOf returns what the project's run will probably get done from now on. If no run is
// under way, it is about one that begins now with the last run's settings and works on all
// open tasks. others are the histories of the machine's other projects. It reads the state
// alone, so its time does not grow with the ledger.
func OutlookOf(s State, now time.Time, others ...history.History) outlook.Outlook {
	return outlook.Of(outlookQuestion(s, now, others))
}

// OfferedOutlook is OutlookOf for a run that would begin with these settings, the source as
// it was just read, and the day's budget of the configuration. It returns nil if nothing in
// it is open.
func OfferedOutlook(s State, settings ledger.Settings, day ledger.DayBudget, snapshot ledger.Snapshot, now time.Time, others ...history.History) *ledger.Outlook {
	s.Shared.Purse.Day = day
	d := asRun(s, settings, snapshot, now)
	return SaidOf(OutlookOf(d.State, now, others...))
}

// NextOutlook is OfferedOutlook for callers that cannot read the source: it is about the
// tasks that are known. It reports false if those are of another source.
func NextOutlook(s State, settings ledger.Settings, day ledger.DayBudget, now time.Time, others ...history.History) (*ledger.Outlook, bool) {
	if s.Project.Source != settings.Source.String() || settings.Source.Kind == ledger.SourceBugs {
		return nil, false
	}
	s.Shared.Purse.Day = day
	d := &decision{State: s, in: Input{Project: s.Project.Name, Actor: "daemon", Time: now}}
	d.add(scope{}, ledger.RunPlanned{Run: "r0", Settings: settings})
	return SaidOf(OutlookOf(d.takenUp().State, now, others...)), true
}

// SaidOf returns an outlook as the ledger keeps it, nil for one about no task.
func SaidOf(o outlook.Outlook) *ledger.Outlook {
	if o.Total == 0 {
		return nil
	}
	return &ledger.Outlook{
		Total: o.Total, Done: o.Done, Low: o.Low, High: o.High, By: o.By, USDLow: o.USDLow, USDHigh: o.USDHigh, Unsure: o.Unsure, Chance: o.Chance, Basis: string(o.Basis),
		Limit: ledger.OutlookLimit(o.Limit), Budget: ledger.OutlookBudget(o.Budget),
	}
}

func outlookQuestion(s State, now time.Time, others []history.History) outlook.Question {
	q := outlook.Question{Begin: now, Lookup: history.Lookup{Own: s.Project.History, House: others}}
	if s.Project.Run == nil {
		s.Project.Run = &Run{State: ledger.RunOver}
	}
	r := *s.Project.Run
	if r.Over() || r.Aside() {
		r.Settings.Until, r.Settings.From, r.Settings.Only = time.Time{}, "", "" // meant for that run alone
		r.Upkeep, r.Idea = nil, ""
		r.DoneNow = nil
		r = r.withoutSpending()
	}
	s.Project.Run = &r
	d := decision{State: s, in: Input{Project: s.Project.Name, Time: now}}
	q.Lanes, q.OwnRooms, q.Batched = r.Lanes(), r.ownRooms(), d.batching()
	q.Agent, q.Until, q.Stops = r.Settings.Agent, r.Settings.Until, r.Settings.OnBlocked == ledger.OnBlockedStop
	if most := r.Settings.MaxTasks; most > 0 {
		q.Most = max(most-len(r.DoneNow), 1)
	}
	if agent, held, _ := d.agentFor(nil, ledger.Hat{Agent: q.Agent}); held == nil {
		q.Agent = agent
	} else if held.Until.After(now) && !held.Unusable {
		q.Agent, q.Begin = agent, held.Until
	}
	q = d.outlookHats(q)
	at := map[int]int{} // position in the question, by position in the list
	list := s.Project.Tasks
	add := func(n int, t *TaskState) {
		if _, ok := at[n]; ok || !d.outlooked(t) {
			return
		}
		at[n] = len(q.Tasks)
		kind := history.Kind{Pattern: r.upcoming().For(t.Task).Pattern.Name, Size: t.Size()}
		task := outlook.Task{ID: t.Task.ID, Kind: kind, Spent: t.Effort, Alone: d.alone(t), Never: t.Status == ledger.Waiting || t.Untaken()}
		for _, id := range t.Task.DependsOn {
			switch on := list.find(id); {
			case on < 0 || list.At(on).Status == ledger.Done:
			case !d.outlooked(list.At(on)):
				task.Never = true
			default:
				task.After = append(task.After, on)
			}
		}
		q.Tasks = append(q.Tasks, task)
	}
	for _, status := range []ledger.Status{ledger.Active, ledger.Ready, ledger.Pending, ledger.Waiting} {
		for n, t := range list.All() {
			if t.Status == status {
				add(n, t)
			}
		}
	}
	return d.outlookBudgets(d.beside(ordered(q, at)))
}

// Bounds of the comparison of files, which takes long. What is worked on at the same time
// is near in the order, and what is far ahead changes little.
const (
	mostCompared = 4  // tasks before a task, for each lane
	farTask      = 60 // position from which tasks count as apart
)

// beside says which tasks of the question are not worked on at the same time, and how
// many lanes the sections of a divided one can use.
func (d *decision) beside(q outlook.Question) outlook.Question {
	if q.Lanes < 2 {
		return q
	}
	states, areas := make([]*TaskState, len(q.Tasks)), make([][]string, len(q.Tasks))
	for n := range q.Tasks {
		t, _ := d.task(q.Tasks[n].ID)
		states[n], areas[n] = &t, areaOf(&t)
		if !q.Tasks[n].Alone && n < farTask {
			for m := max(n-mostCompared*q.Lanes, 0); m < n; m++ {
				if !q.Tasks[m].Alone && !areasApart(t.Task, states[m].Task, areas[n], areas[m]) {
					q.Tasks[n].Meets = append(q.Tasks[n].Meets, m)
				}
			}
		}
		for _, id := range t.Parts {
			p, ok := d.task(id)
			if !ok || !p.Task.Joins || p.Status == ledger.Done || p.Status == ledger.Skipped || p.Status == ledger.Withdrawn {
				continue
			}
			q.Tasks[n].Spent = q.Tasks[n].Spent.Plus(p.Effort) // what is built is in the task's own
			q.Tasks[n].Wide++
		}
	}
	return q
}

// ordered returns the question with each task behind those that it depends on, whose
// positions are still those of the list. A task of a cycle is never begun.
func ordered(q outlook.Question, at map[int]int) outlook.Question {
	var tasks []outlook.Task
	place := make([]int, len(q.Tasks)) // in tasks, plus 1; 0 = not there yet
	for added := true; added; {
		added = false
		for n, t := range q.Tasks {
			if place[n] > 0 || slices.ContainsFunc(t.After, func(on int) bool { return place[at[on]] == 0 }) {
				continue
			}
			after := make([]int, 0, len(t.After))
			for _, on := range t.After {
				after = append(after, place[at[on]]-1)
			}
			t.After = after
			tasks = append(tasks, t)
			place[n], added = len(tasks), true
		}
	}
	for n, t := range q.Tasks {
		if place[n] == 0 {
			t.After, t.Never = nil, true
			tasks = append(tasks, t)
		}
	}
	q.Tasks = tasks
	return q
}

// outlooked reports whether an outlook counts the task: it is open, the run works on it,
// and a person sees it as a task of the source.
func (d *decision) outlooked(t *TaskState) bool {
	switch t.Status {
	case ledger.Active, ledger.Ready, ledger.Pending, ledger.Waiting:
	default:
		return false
	}
	return t.Task.Parent == "" && !t.Task.Own && !t.Task.Prepares() && t.wish() == ledger.MarkOpen && d.wanted(t)
}

package loop

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Score is what decides the place of a ready task among others (docs/spec 3.7). The
// task with the highest Total comes first.
type Score struct {
	Priority   int  `json:"priority"`   // 4 to 1 for P0 to P3, or the source's own number, bigger first; 0 = none
	Complexity int  `json:"complexity"` // 1 to 10, small first
	Unblocks   int  `json:"unblocks"`   // tasks that name it as what they depend on and are still to do
	Failed     int  `json:"failed"`     // failed attempts, here and as the source counts them
	Minutes    int  `json:"minutes"`    // since its last attempt began, at most mostMinutes
	Tried      bool `json:"tried"`      // an attempt began before; false gives it mostMinutes
}

// Weights of a score, and its limits. The priority of a source is bounded so that
// the sum of all terms fits whatever a file has.
const (
	perPriority     = 10
	perComplexity   = 2
	perUnblocked    = 5
	perFailed       = 3
	mostMinutes     = 60
	mostPriority    = 1_000_000_000
	mostComplexity  = 10
	usualComplexity = 5 // of a task whose source names none
)

// Term is one term of a score: "unblocks 2: 10" has the Count 2 and the Points 10.
type Term struct {
	Name   TermName `json:"name"`
	Count  int      `json:"count"`
	Points int      `json:"points"`
}

// TermName names a term.
type TermName string

// Terms of a score.
const (
	TermPriority   TermName = "priority"
	TermComplexity TermName = "complexity"
	TermUnblocks   TermName = "unblocks"
	TermFailed     TermName = "failed"
	TermNeverTried TermName = "never_tried"
	TermMinutes    TermName = "minutes"
)

// Terms returns the terms of the score, in a fixed order. Their points add up to
// Total.
func (s Score) Terms() []Term {
	last := Term{TermMinutes, s.Minutes, s.Minutes}
	if !s.Tried {
		last.Name = TermNeverTried
	}
	return []Term{
		{TermPriority, s.Priority, perPriority * s.Priority},
		{TermComplexity, s.Complexity, perComplexity * (mostComplexity + 1 - s.Complexity)},
		{TermUnblocks, s.Unblocks, perUnblocked * s.Unblocks},
		{TermFailed, s.Failed, -perFailed * s.Failed},
		last,
	}
}

// Total returns the sum of all terms.
func (s Score) Total() (total int) {
	for _, t := range s.Terms() {
		total += t.Points
	}
	return total
}

// score returns the score of the task at position n.
func (l TaskList) score(n int, now time.Time) Score {
	t := l.tasks.At(n)
	s := Score{
		Priority:   min(max(t.Task.Priority, -mostPriority), mostPriority),
		Complexity: min(max(cmp.Or(t.Task.Complexity, usualComplexity), 1), mostComplexity),
		Failed:     t.Failed + min(max(t.Task.Failures-t.Counted, 0), mostPriority),
		Minutes:    mostMinutes,
	}
	last := int32(-1) // a task that names another one twice stands twice in a row
	for _, m := range l.ids.neededBy[n] {
		if m != last && l.tasks.At(int(m)).todo() {
			s.Unblocks++
		}
		last = m
	}
	tried := t.Last
	if t.Task.Tried.After(tried) {
		tried = t.Task.Tried
	}
	if s.Tried = !tried.IsZero(); s.Tried {
		s.Minutes = int(min(max(now.Sub(tried), 0), mostMinutes*time.Minute) / time.Minute)
	}
	return s
}

// todo reports whether work on the task is still to come.
func (t *TaskState) todo() bool {
	return t.Status != ledger.Done && t.Status != ledger.Skipped && t.Status != ledger.Withdrawn
}

// first reports whether the task comes before all scores: it belongs to the run
// itself, as the repair of a red baseline does, or its attempt has begun, and waiting
// would only move the branch away from under it.
func (t *TaskState) first() bool { return t.Task.Own || t.Attempt != nil }

// byTurn iterates over the tasks that are in set a or in set b, in the order of the run. A
// task that the run has done already comes after all others if none that is done once had
// a turn since: tasks with a short cooldown would else take all turns.
func (d *decision) byTurn(a, b taskSet) iter.Seq2[int, *TaskState] {
	tasks := d.Project.Tasks
	return func(yield func(int, *TaskState) bool) {
		var last []int
		var turn *time.Time // the last one of a task that is done once
		for n, t := range d.ordered(a, b) {
			if d.inAnotherRound(t) {
				if turn == nil {
					turn = new(tasks.lastTurn())
				}
				if turn.Before(t.Ended) {
					last = append(last, n)
					continue
				}
			}
			if !yield(n, t) {
				return
			}
		}
		for _, n := range last {
			if !yield(n, tasks.tasks.At(n)) {
				return
			}
		}
	}
}

// ordered iterates over the tasks that are in set a or in set b, in the order of the
// source, or by score. Equal scores keep the order of the source.
func (d *decision) ordered(a, b taskSet) iter.Seq2[int, *TaskState] {
	l := d.Project.Tasks
	var turns []ranking
	switch r := d.run(); {
	case r.InWaves():
		turns = l.inWaveOrder(l.ofEither(a, b), r.Wave)
	case r.Settings.Order != ledger.OrderScore:
		return l.ofEither(a, b)
	default:
		turns = l.ranked(l.ofEither(a, b), d.in.Time)
	}
	return func(yield func(int, *TaskState) bool) {
		for _, r := range turns {
			if !yield(r.at, l.tasks.At(r.at)) {
				return
			}
		}
	}
}

// ranking is a task's position in its list, and what its turn depends on.
type ranking struct {
	at    int
	first bool
	total int
}

// ranked sorts tasks by score.
func (l TaskList) ranked(tasks iter.Seq2[int, *TaskState], now time.Time) []ranking {
	var turns []ranking
	for n, t := range tasks {
		turns = append(turns, ranking{n, t.first(), l.score(n, now).Total()})
	}
	slices.SortFunc(turns, func(a, b ranking) int {
		switch {
		case a.first != b.first && a.first:
			return -1
		case a.first != b.first:
			return 1
		case a.first: // both: as in the source
			return a.at - b.at
		}
		return cmp.Or(cmp.Compare(b.total, a.total), a.at-b.at)
	})
	return turns
}

// Turn is a ready task in the order in which a run takes them.
type Turn struct {
	Task   string `json:"task"`             // id as written
	Place  int    `json:"place"`            // from 1
	Chosen bool   `json:"chosen,omitempty"` // a person asked for it next
	First  bool   `json:"first,omitempty"`  // it comes before all scores: see Score
	Score  *Score `json:"score,omitempty"`  // nil in the order of the source
}

// Turns returns the ready tasks that the project's run would take, in the order in
// which their turn comes if nothing changes. Without a run, or once it is over, they
// are those of a next run with the same settings.
func Turns(s State, now time.Time) []Turn {
	r := s.Project.Run
	if r == nil {
		return nil
	}
	if r.Over() {
		over := *r
		over.Settings.From, over.Settings.Only, over.Next, over.Upkeep, over.Idea = "", "", "", nil, ""
		r = &over
		s.Project.Run = r
	}
	d := &decision{State: s, in: Input{Project: s.Project.Name, Time: now}}
	var turns []Turn
	for n, t := range d.byTurn(setReady, setReady) {
		if !d.wanted(t) || t.wish() != ledger.MarkOpen || t.Queued() || d.yields(t) {
			continue
		}
		turn := Turn{Task: t.Task.ID, Chosen: r.Next != "" && ledger.FoldID(t.Task.ID) == r.Next}
		if r.Settings.Order == ledger.OrderScore {
			score := d.Project.Tasks.score(n, now)
			turn.Score, turn.First = &score, t.first()
		}
		turns = append(turns, turn)
	}
	if n := slices.IndexFunc(turns, func(t Turn) bool { return t.Chosen }); n > 0 {
		chosen := turns[n]
		turns = slices.Insert(slices.Delete(turns, n, n+1), 0, chosen)
	}
	for n := range turns {
		turns[n].Place = n + 1
	}
	return turns
}

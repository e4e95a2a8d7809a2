package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

func (p Project) index(task string) int {
	if task == "" {
		return -1
	}
	key := ledger.FoldID(task)
	return slices.IndexFunc(p.Tasks, func(t TaskState) bool { return ledger.FoldID(t.Task.ID) == key })
}

// Find returns the task with an id, also in its short form "#5" or "5".
func (p Project) Find(id string) (TaskState, bool) {
	if n := p.index(id); n >= 0 {
		return p.Tasks[n], true
	}
	want := ledger.FoldID(id)
	if len(want) > 0 && want[0] == '#' {
		want = want[1:]
	}
	found := -1
	for n, t := range p.Tasks {
		key := ledger.FoldID(t.Task.ID)
		if key == "task "+want || key == want {
			return t, true
		}
		if want != "" && len(key) > len(want) && key[len(key)-len(want):] == want && !wordChar(key[len(key)-len(want)-1]) {
			if found >= 0 {
				return TaskState{}, false // ambiguous
			}
			found = n
		}
	}
	if found >= 0 {
		return p.Tasks[found], true
	}
	return TaskState{}, false
}

func wordChar(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }

// Question returns an open question by its id, or by the task that it is about.
func (p Project) Question(id string) (ledger.Question, bool) {
	for _, q := range p.Questions {
		if ledger.SameID(q.ID, id) {
			return q, true
		}
	}
	t, ok := p.Find(id)
	if !ok {
		return ledger.Question{}, false
	}
	var found []ledger.Question
	for _, q := range p.Questions {
		if q.Task != "" && ledger.SameID(q.Task, t.Task.ID) {
			found = append(found, q)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return ledger.Question{}, false
}

// SettledQuestion returns one that has its answer, as long as it is remembered.
func (p Project) SettledQuestion(id string) (Answered, bool) {
	for _, s := range p.Answered {
		if ledger.SameID(s.ID, id) {
			return s, true
		}
	}
	return Answered{}, false
}

// Session returns a session in flight.
func (p Project) Session(id string) (Session, bool) {
	for _, s := range p.Sessions {
		if s.ID == id {
			return s, true
		}
	}
	return Session{}, false
}

// Count returns how many tasks are done, and how many there are, without
// those that were withdrawn.
func (p Project) Count() (done, total int) {
	for _, t := range p.Tasks {
		if t.Status == ledger.Withdrawn || t.Task.Parent != "" { // parts count with their task
			continue
		}
		total++
		if t.Status == ledger.Done {
			done++
		}
	}
	return done, total
}

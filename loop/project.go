package loop

import "github.com/nightporter/nightporter/loop/ledger"

// index returns the position of the task with an id, -1 where there is none.
func (p *Project) index(task string) int { return p.Tasks.index(task) }

// Find returns the task with an id, also in its short form "#5" or "5".
func (p Project) Find(id string) (TaskState, bool) {
	if n := p.Tasks.find(id); n >= 0 {
		return *p.Tasks.At(n), true
	}
	return TaskState{}, false
}

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
	return p.Tasks.count(setDone), p.Tasks.count(setCounted)
}

// Place returns where a task stands among those that Count counts, from 1; 0
// for a task that is none of them.
func (p Project) Place(id string) int {
	n := p.index(id)
	if n < 0 || !p.Tasks.in[setCounted].has(n) {
		return 0
	}
	return p.Tasks.in[setCounted].countTo(n)
}

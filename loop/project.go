package loop

import "github.com/nightporter/nightporter/loop/ledger"

// index returns the position of the task with this id, or -1.
func (p *Project) index(task string) int { return p.Tasks.index(task) }

// Find returns the task with this id, and whether there is one. It also takes
// the short forms "#5" and "5".
func (p Project) Find(id string) (TaskState, bool) {
	if n := p.Tasks.find(id); n >= 0 {
		return *p.Tasks.At(n), true
	}
	return TaskState{}, false
}

// Question returns the open question with this id. An id of a task finds the
// only open question about that task; with several of them, it finds none.
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
	if found := p.questionsAbout(t.Task.ID); len(found) == 1 {
		return found[0], true
	}
	return ledger.Question{}, false
}

// NeedsRun reports whether the folders of a run are still needed: it is the last
// one, or an attempt that was parked in it goes on, be it of a task whose source is
// not worked on now.
func (p Project) NeedsRun(run string) bool {
	if p.Run != nil && p.Run.ID == run {
		return true
	}
	parked := func(l TaskList) bool {
		for _, t := range l.of(setAttempt) {
			if t.Attempt.Run == run {
				return true
			}
		}
		return false
	}
	for _, tasks := range p.Shelf {
		if parked(tasks) {
			return true
		}
	}
	return parked(p.Tasks)
}

// SettledQuestion returns the settled question with this id, and whether the
// state still has it: only the last ones are kept.
func (p Project) SettledQuestion(id string) (Answered, bool) {
	for _, s := range p.Answered {
		if ledger.SameID(s.ID, id) {
			return s, true
		}
	}
	return Answered{}, false
}

// Session returns the session with this id, and whether it is in flight.
func (p Project) Session(id string) (Session, bool) {
	for _, s := range p.Sessions {
		if s.ID == id {
			return s, true
		}
	}
	return Session{}, false
}

// Count returns the number of done tasks and of all tasks. Parts and withdrawn
// tasks do not count.
func (p Project) Count() (done, total int) {
	return p.Tasks.count(setDone), p.Tasks.count(setCounted)
}

// Place returns the position of a task among those that Count counts, beginning
// with 1. It returns 0 for any other task.
func (p Project) Place(id string) int {
	n := p.index(id)
	if n < 0 || !p.Tasks.in[setCounted].has(n) {
		return 0
	}
	return p.Tasks.in[setCounted].countTo(n)
}

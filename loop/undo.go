package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// UndoTime is how long an answer can be taken back: a person who was just woken
// presses wrong buttons. It ends early once a session has started (docs/spec
// 6.4, 23.5).
const UndoTime = time.Minute

// before returns the state that an answer is about to change, so that undo can
// restore it. It returns nil if the answer cannot be taken back.
func (p Project) before(b ledger.QuestionAnswered) *ledger.Before {
	for _, q := range p.Questions {
		if q.ID != b.ID || !q.Undoable(b.Choice) {
			continue
		}
		n := p.index(q.Task)
		if n < 0 {
			return nil
		}
		t := p.Tasks.At(n)
		if len(t.Parts) > 0 {
			return nil // the answer may have dropped these parts
		}
		out := ledger.Before{Question: q, Status: t.Status, Why: t.Why, Failed: t.Failed, LastFail: t.LastFail, Replanned: t.Replanned, Words: len(t.Words)}
		if p.Run != nil {
			out.Run, out.Agents = p.Run.ID, p.Run.Agents
		}
		return &out
	}
	return nil
}

// UndoOver says why an answer that could be taken back cannot be any more, "" if it still
// can.
func (p Project) UndoOver(s Answered, now time.Time) string {
	b, r := s.Before, p.Run
	switch {
	case b == nil || now.After(s.At.Add(UndoTime)):
		return fmt.Sprintf("%s is settled since %s; an answer can be taken back for a minute", s.ID, s.At.In(now.Location()).Format("15:04"))
	case r != nil && (r.ID == b.Run && r.Agents > b.Agents || r.ID != b.Run && r.Agents > 0):
		return s.ID + " is not taken back: a session has started since"
	}
	if t, ok := p.Find(b.Question.Task); ok && b.Question.Task != "" {
		if why := p.goneOn(t); why != "" {
			return s.ID + " is not taken back: " + why
		}
	}
	return ""
}

// undo takes an answer back: the question is open again and its task has its
// former status. It refuses after UndoTime, after a session has started, and
// for answers that cannot be undone.
func (d *decision) undo(s Answered) {
	b := s.Before
	r := d.run()
	if b == nil {
		d.refuse(ledger.CodeSettled, "%s is settled: %s; that cannot be taken back", s.ID, s.Text)
		return
	}
	if why := d.Project.UndoOver(s, d.in.Time); why != "" {
		d.refuse(ledger.CodeTooLate, "%s", why)
		return
	}
	if source := d.Project.shelved(b.Question); source != "" {
		d.refuse(ledger.CodeOtherSource, "%s is about %s of %s; start a run of that first. Nothing was changed.", s.ID, ledger.ShortID(b.Question.Task), source)
		return
	}
	t, ok := d.task(b.Question.Task)
	if !ok || t.Status == ledger.Withdrawn {
		d.refuse(ledger.CodeWithdrawn, "%s is no longer in the source", ledger.ShortID(b.Question.Task))
		return
	}
	for _, q := range d.Project.questionsAbout(t.Task.ID) { // the question that the skip asked about its dependents
		if q.Kind == ledger.AskSkip {
			d.add(scope{task: q.Task}, ledger.QuestionExpired{ID: q.ID, Then: "taken back"})
		}
	}
	about := scope{task: t.Task.ID}
	again := *b
	if q := &again.Question; !q.Expires.IsZero() && r != nil {
		// A person who takes an answer back wants time to think. With only the
		// rest of its old time, the question could expire meanwhile.
		scheduleReminder(q, d.in.Time, d.in.Time.Add(r.Settings.QuestionTimeout.D()))
	}
	d.add(about, ledger.AnswerUndone{Before: again, By: d.by()})
	d.add(about, ledger.TaskSet{From: t.Status, To: b.Status, Why: b.Why, Question: b.Question.ID})
	if m := markOf(b.Status); m != "" {
		d.mark(t.Task.ID, m)
	}
	d.putBack(s)
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeUndone, ID: b.Question.ID, Text: fmt.Sprintf("%s is open again", b.Question.ID)}
}

// putBack undoes all consequences of a skip that is taken back, not only the
// skip of its own task. A person who presses Undo means all effects of the
// press; a dependent task that stayed skipped would only be noticed in the
// morning. So putBack restores the tasks that were skipped along with the task,
// although a later answer decided that, and the guidance that waited for any of
// them. Tasks return to the status that their dependencies give them. Parts do
// not return: their task is planned anew.
func (d *decision) putBack(s Answered) {
	guided := s.Guided
	for _, q := range slices.Clone(d.Project.Answered) {
		if q.Subject.Kind != ledger.AskSkip || q.At.Before(s.At) || !ledger.SameID(q.Subject.Task, s.Subject.Task) || q.Subject.Source != s.Subject.Source {
			continue
		}
		guided = append(slices.Clip(guided), q.Guided...)
		for _, id := range q.Along {
			if t, ok := d.task(id); ok && t.Status == ledger.Skipped {
				d.setTask(id, ledger.Pending, "")
			}
		}
	}
	for _, id := range guided {
		if i, ok := d.Project.Guidance.Get(id); ok && i.State == guidance.Expired {
			d.add(scope{task: s.Subject.Task}, ledger.GuidanceKept{ID: id})
		}
	}
}

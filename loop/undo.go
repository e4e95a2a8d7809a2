package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// UndoTime is how long an answer can be taken back, or until something started
// because of it: a sleepy thumb errs (docs/spec 6.4, 23.5).
const UndoTime = time.Minute

// before notes what an answer changes, nil where it cannot be taken back.
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
			return nil // an answer may have taken them back
		}
		out := ledger.Before{Question: q, Status: t.Status, Why: t.Why, Failed: t.Failed, LastFail: t.LastFail, Words: len(t.Words)}
		if p.Run != nil {
			out.Run, out.Agents = p.Run.ID, p.Run.Agents
		}
		return &out
	}
	return nil
}

// undo takes an answer back.
func (d *decision) undo(s Answered) {
	b := s.Before
	r := d.run()
	switch {
	case b == nil:
		d.refuse(ledger.CodeSettled, "%s is settled: %s; that cannot be taken back", s.ID, s.Text)
		return
	case d.in.Time.After(s.At.Add(UndoTime)):
		d.refuse(ledger.CodeTooLate, "%s is settled since %s; an answer can be taken back for a minute", s.ID, s.At.In(d.in.Time.Location()).Format("15:04"))
		return
	case r != nil && (r.ID == b.Run && r.Agents > b.Agents || r.ID != b.Run && r.Agents > 0):
		d.refuse(ledger.CodeTooLate, "%s is not taken back: a session has started since", s.ID)
		return
	}
	t, ok := d.task(b.Question.Task)
	if !ok || t.Status == ledger.Withdrawn {
		d.refuse(ledger.CodeWithdrawn, "%s is no longer in the source", ledger.ShortID(b.Question.Task))
		return
	}
	for _, q := range d.Project.Questions { // what a skip asked about its dependents
		if q.Kind == ledger.AskSkip && ledger.SameID(q.Task, t.Task.ID) {
			d.add(scope{task: q.Task}, ledger.QuestionExpired{ID: q.ID, Then: "taken back"})
		}
	}
	about := scope{task: t.Task.ID}
	again := *b
	if q := &again.Question; !q.Expires.IsZero() && r != nil {
		// Whoever takes an answer back wants to think: with what was left of its
		// time, it could end while they do.
		scheduleReminder(q, d.in.Time, d.in.Time.Add(r.Settings.QuestionTimeout.D()))
	}
	d.add(about, ledger.AnswerUndone{Before: again, By: d.by()})
	d.add(about, ledger.TaskSet{From: t.Status, To: b.Status, Why: b.Why, Question: b.Question.ID})
	if m := markOf(b.Status); m != "" {
		d.mark(t.Task.ID, m)
	}
	d.putBack(s)
	d.answer = Answer{OK: true, Code: ledger.CodeUndone, ID: b.Question.ID, Text: fmt.Sprintf("%s is open again", b.Question.ID)}
}

// putBack undoes what came of a skip that is taken back. That is more than its
// own task: whoever presses Undo means all that they set off with their press,
// and a task that stays put away for want of one that is there again would be
// found in the morning. So what was skipped along comes back too, to where its
// dependencies leave it, though that was another question; and the guidance
// that waited for any of them. Parts do not come back, their task is planned
// anew.
func (d *decision) putBack(s Answered) {
	guided := s.Guided
	for _, q := range slices.Clone(d.Project.Answered) {
		if q.Subject.Kind != ledger.AskSkip || q.At.Before(s.At) || !ledger.SameID(q.Subject.Task, s.Subject.Task) {
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

// overrideExpired takes an answer that comes after nobody had given one in time: it is
// not too late for the sessions that come (docs/spec 23.5).
func (d *decision) overrideExpired(s Answered, b AnswerQuestion) bool {
	q := s.Late
	if q == nil {
		return false
	}
	t, ok := d.task(q.Task)
	if !ok || t.Status == ledger.Done || t.Status == ledger.Skipped || t.Status == ledger.Withdrawn {
		return false
	}
	choice, _ := chooseOption(*q, b.Choice)
	text := trimJoin(b.Choice, b.Words)
	for n, o := range q.Options {
		if choice != "" && choice == ledger.Letter(n) {
			text = trimJoin(o, b.Words)
		}
	}
	if text == "" || choice == "skip" {
		return false
	}
	d.queueGuidance(fmt.Sprintf("To the question %q, answered late: %s", firstLine(q.Text), text), guidance.Address{Task: q.Task})
	return true
}

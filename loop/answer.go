package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// settleAllow records whether a task may change the paths out of scope that q
// names, and tells the task's next session. by is named in that text. settleAllow
// reports whether the task waited for the answer.
func (d *decision) settleAllow(q ledger.Question, allow bool, by string) (waited bool) {
	t, ok := d.task(q.Task)
	if !ok {
		return false
	}
	d.add(scope{task: q.Task}, ledger.PathsAllowed{Paths: q.Paths, Denied: !allow})
	words := fmt.Sprintf("%s is out of scope and stays so; do without it (%s).", joinFew(q.Paths), by)
	if allow {
		words = fmt.Sprintf("%s may be changed for this task (%s).", joinFew(q.Paths), by)
	}
	d.add(scope{task: q.Task}, ledger.TaskWords{Text: words})
	if waited = t.Status == ledger.Waiting && t.Question == q.ID; waited {
		d.setTask(q.Task, ledger.Ready, "answered")
	}
	return waited
}

// unasked withdraws questions about the present source, which another source
// replaces. Questions that a task waits for stay.
func (d *decision) unasked() {
	for _, q := range d.Project.Questions {
		t, _ := d.task(q.Task)
		if q.EndsWithSource() && t.Question != q.ID {
			effectsOf(q).drop(d, q, "another source was taken up")
		}
	}
}

// expire settles a question that was not answered before its expiry time.
func (d *decision) expire(q ledger.Question) { effectsOf(q).expire(d, q) }

// abort blocks the task that waited for q, after q expired.
func (d *decision) abort(q ledger.Question) {
	t, ok := d.task(q.Task)
	if !ok || t.Status != ledger.Waiting {
		return
	}
	why := fmt.Sprintf("%s unanswered: %s", q.ID, firstLine(q.Text))
	if t.Attempt != nil {
		d.add(scope{task: q.Task}, ledger.AttemptEnded{Outcome: ledger.OutcomeBlocked, Why: why})
	}
	d.block(q.Task, blockage{reason: why, needs: "an answer", work: t.Attempt})
}

// answered hands the answer to a question to the task whose hat asked, and makes the task
// ready if it waits. by is the person who answered, "" if nobody did in time.
func (d *decision) answered(q ledger.Question, words, by string) {
	t, ok := d.task(q.Task)
	if !ok {
		return
	}
	d.add(scope{task: q.Task}, ledger.TaskWords{
		Text:   fmt.Sprintf("%s asked: %s\nAnswer: %s", q.Hat, q.Text, words),
		Answer: &ledger.AgentAnswer{Question: q.ID, Text: q.Text, Options: q.Options, Words: words, By: by},
	})
	if t.Status == ledger.Waiting {
		d.setTask(q.Task, ledger.Ready, "answered")
	}
}

// answerQuestion settles a question with a person's answer. It refuses an answer
// that the question does not take. For a settled question, it handles an undo and
// an answer that overrides an expiry.
func (d *decision) answerQuestion(b AnswerQuestion) {
	q, ok := d.Project.Question(b.Question)
	if !ok {
		for _, s := range d.Project.Answered {
			if ledger.SameID(s.ID, b.Question) {
				if strings.EqualFold(strings.TrimSpace(b.Choice), "undo") {
					d.undo(s)
					return
				}
				if d.overrideExpired(s, b) {
					return
				}
				d.refuse(ledger.CodeSettled, "%s is settled: %s", s.ID, s.Text)
				return
			}
		}
		d.refuse(ledger.CodeNoQuestion, "there is no open question %s", b.Question)
		return
	}
	if source := d.Project.shelved(q); source != "" {
		about := q.Tasks
		if q.Task != "" {
			about = []string{q.Task}
		}
		d.refuse(ledger.CodeOtherSource, "%s is about %s of %s; start a run of that first. Nothing was changed.", q.ID, joinFew(shortIDs(about)), source)
		return
	}
	// An answer to AskSkip is about the tasks that depend on this one.
	if t, ok := d.task(q.Task); ok && q.Kind != ledger.AskSkip && d.lineGone(&t) {
		d.refuse(ledger.CodeWithdrawn, "%s is about %s, whose line is gone from %s. Nothing was changed.", q.ID, ledger.ShortID(q.Task), path(d.Project.Source))
		return
	}
	b.Words = strings.ToValidUTF8(b.Words, "\uFFFD")
	choice, ok := chooseOption(q, b.Choice)
	if q.OwnWords() && choice == "" && strings.EqualFold(strings.TrimSpace(trimJoin(b.Choice, b.Words)), "undo") { // undo was pressed twice
		d.refuse(ledger.CodeOpen, "%s is open; there is nothing to take back", q.ID)
		return
	}
	switch {
	case !ok && q.OwnWords():
		b.Words, choice = trimJoin(b.Choice, b.Words), ""
	case ok && choice == "" && b.Words != "":
		choice = q.SentenceVerb()
	}
	verb, known := q.Verb(choice)
	if !ok && !q.OwnWords() || !known || choice == "" && strings.TrimSpace(b.Words) == "" {
		d.refuse(ledger.CodeNoAnswer, "%s takes: %s", q.ID, strings.Join(q.Verbs(), " · "))
		return
	}
	if need := q.RoleFor(choice); d.lacksRole(need) {
		d.refuse(ledger.CodeRole, "%s %s needs the role %s. Nothing was changed.", q.ID, choice, need)
		return
	}
	if verb.Words == ledger.WordsRequired && strings.TrimSpace(b.Words) == "" {
		d.refuse(ledger.CodeWords, "%s %s needs your words: %s %s WORDS", q.ID, choice, q.ID, choice)
		return
	}
	effect := effectOf(q, choice)
	if effect.check != nil {
		if code, why := effect.check(b.Words); why != "" {
			d.refuse(code, "%s", why)
			return
		}
	}
	given := answerGiven{q: q, choice: choice, words: b.Words}
	if effect.along != nil {
		given.along = effect.along(d, q)
	}
	d.add(scope{task: q.Task}, ledger.QuestionAnswered{ID: q.ID, Choice: choice, Words: b.Words, By: d.by(), Along: given.along})
	d.say("%s %s", q.ID, trimJoin(choice, b.Words))
	effect.apply(d, given)
	if q.Task != "" && strings.TrimSpace(b.Words) != "" && d.answer.OK {
		d.attach(scope{task: q.Task}, q.ID) // unless its words became guidance
	}
}

// lacksRole reports whether the input comes from a paired person whose role does not
// include another one.
func (d *decision) lacksRole(need ledger.Role) bool {
	p, paired := d.Shared.Person(d.in.Actor)
	return paired && !p.Role.May(need)
}

// chooseOption returns the verb or letter that a person's text stands for. The text
// may be a verb, a letter, an option's own words, or a prefix of exactly one verb.
// Empty text is valid and chooses nothing. The second result is false if nothing
// matches.
func chooseOption(q ledger.Question, typed string) (string, bool) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if typed == "" {
		return "", true
	}
	verbs := q.Verbs()
	if slices.Contains(verbs, typed) {
		return typed, true
	}
	for n, o := range q.Options {
		if strings.EqualFold(o, typed) {
			return ledger.Letter(n), true
		}
	}
	var found []string
	for _, v := range verbs {
		if strings.HasPrefix(v, typed) {
			found = append(found, v)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return "", false
}

// answerAgent passes the chosen option, a person's own words, or both to the task
// whose session asked.
func (d *decision) answerAgent(q ledger.Question, choice, words string) {
	text := words
	for n, o := range q.Options {
		if choice == ledger.Letter(n) {
			text = trimJoin(o, words)
		}
	}
	d.answered(q, text, d.by())
	d.say("%s: %s. %s goes on with it", q.ID, text, ledger.ShortID(q.Task))
	d.goOn()
}

// judged acts on a person's verdict on a task that needs one. pass makes the
// task done; otherwise the task starts anew with the person's words.
func (d *decision) judged(q ledger.Question, pass bool, words string) {
	t, ok := d.task(q.Task)
	if !ok {
		return
	}
	if !pass || !t.mergedParts(d.Project.Tasks) {
		d.dropParts(t, "a person looked at its task")
	}
	if pass {
		d.add(scope{task: q.Task}, ledger.TaskSet{From: t.Status, To: ledger.Done, Why: "passed by " + d.by()})
		if p := t.Proof; p != nil && (p.Word == ledger.Reviewed || p.Word == ledger.Unproved) {
			d.add(scope{task: q.Task}, ledger.TaskProved{Proof: ledger.Proof{Word: ledger.Reviewed, By: d.by()}})
		}
		d.expireGuidance(q.Task, "its task ended")
		d.mark(q.Task, ledger.MarkDone)
		d.settleParts() // the task may be the last part of another, and without a run nothing else would notice
		d.say("%s done", ledger.ShortID(q.Task))
		of, is := d.task(t.Task.Parent)
		if len(d.dependents(t)) > 0 || is && of.Status == ledger.Done && len(d.dependents(of)) > 0 {
			d.goOn() // tasks that depend on it can run now
		}
		return
	}
	d.add(scope{task: q.Task}, ledger.TaskWords{Text: "A person looked at it and it is not right: " + words})
	d.add(scope{task: q.Task}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "not passed by " + d.by(), Fresh: true})
	d.mark(q.Task, ledger.MarkOpen)
	d.say("%s ready again, with your words", ledger.ShortID(q.Task))
	d.goOn()
}

// overrideExpired accepts an answer to an agent's question that has expired
// with the agent's own choice. Later sessions of the task get it as guidance
// (docs/spec 23.5). It returns false if there is no such question or its task
// is over.
func (d *decision) overrideExpired(s Answered, b AnswerQuestion) bool {
	q := s.Late
	if q == nil {
		return false
	}
	t, ok := d.task(q.Task)
	if !ok || d.Project.shelved(*q) != "" || t.Status == ledger.Done || t.Status == ledger.Skipped || t.Status == ledger.Withdrawn {
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

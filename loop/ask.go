package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// askAgent puts an agent's question to a person. The task waits with its
// tree; others go on.
func (d *decision) askAgent(t TaskState) {
	data := t.Attempt.Event.Data
	d.holdTask(t, ledger.Question{
		Hat: t.Attempt.Hat, Text: payload.String(data, "text"), Options: payload.Strings(data, "options"), Choice: payload.String(data, "choice"),
	})
}

// askDispute puts to a person what a review upheld twice against the reasons
// of the session that should have changed it (SPEC 2.5).
func (d *decision) askDispute(t TaskState) {
	var b strings.Builder
	who := "review"
	if t.Attempt.Event.Type == ledger.EventFailed {
		who = "verifier"
	}
	b.WriteString("The " + who + " upholds this a second time, and the " + t.Attempt.Hat + " sees nothing to change:")
	for _, i := range t.Attempt.Issues {
		b.WriteString("\n" + i.Describe())
	}
	for n := len(t.Attempt.History) - 1; n >= 0; n-- {
		if s := t.Attempt.History[n]; s.Hat == t.Attempt.Hat {
			b.WriteString("\n" + s.Hat + ": " + s.Summary)
			break
		}
	}
	d.holdTask(t, ledger.Question{Hat: t.Attempt.Hat, Text: b.String(), Options: []string{"Fix it as the " + who + " says", "Leave it as it is"}})
}

// strayedAgain lists paths out of scope that the session in hand wrote although
// they had been undone before in this attempt, and that nobody decided on.
func (t TaskState) strayedAgain() []string {
	w := t.Attempt
	if w.Captured == nil {
		return nil
	}
	var paths []string
	for _, p := range w.Captured.Outside {
		before := 0
		for _, q := range w.Strayed { // the session in hand counts once
			if q == p {
				before++
			}
		}
		if before > 1 && !slices.Contains(t.Denied, p) && !slices.Contains(t.Allowed, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// askAllow asks whether a task may write what its sessions keep writing out of
// its scope (SPEC 4.1). With an end, the task waits for it.
func (d *decision) askAllow(t TaskState, paths []string, expires time.Time) {
	for _, q := range d.Project.Questions {
		if q.Kind != ledger.AskAllow || !ledger.SameID(q.Task, t.Task.ID) {
			continue
		}
		if expires.IsZero() {
			return
		}
		for _, p := range q.Paths {
			if !slices.Contains(paths, p) {
				paths = append(slices.Clip(paths), p)
			}
		}
		d.add(scope{task: t.Task.ID}, ledger.QuestionExpired{ID: q.ID, Then: "asked again: the task waits for it now"})
	}
	q := ledger.Question{
		Kind: ledger.AskAllow, Hat: t.Attempt.Hat, Paths: paths, Expires: expires,
		Text: fmt.Sprintf("allow %s for %s?", joinFew(paths), ledger.ShortID(t.Task.ID)),
	}
	if !expires.IsZero() {
		d.holdTask(t, q)
		return
	}
	q.ID, q.Run, q.Task, q.Session, q.Title, q.Asked = d.nextID("q"), d.run().ID, t.Task.ID, t.Attempt.Session, t.Task.Title, d.in.Time
	d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, ledger.QuestionAsked{Question: q})
}

// settleAllow acts on what was decided of paths out of scope. It reports
// whether the task waited for it.
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

// holdTask lets a task wait with its tree for an answer.
func (d *decision) holdTask(t TaskState, q ledger.Question) {
	w, id := t.Attempt, t.Task.ID
	q.ID, q.Run, q.Task, q.Session, q.Title, q.Asked = d.nextID("q"), d.run().ID, id, w.Session, t.Task.Title, d.in.Time
	if q.Kind == "" {
		q.Kind = ledger.AskAgent
		scheduleReminder(&q, d.in.Time, d.in.Time.Add(d.run().Settings.QuestionTimeout.D()))
	}
	about := scope{task: id, session: w.Session}
	d.add(about, ledger.StageSet{Stage: ledger.StageHeld})
	d.add(about, ledger.TaskSet{From: t.Status, To: ledger.Waiting, Why: "asks: " + firstLine(q.Text), Question: q.ID})
	d.add(about, ledger.QuestionAsked{Question: q})
}

// askManual asks a person to look at what no agent can judge.
func (d *decision) askManual(t TaskState, instructions string) {
	list := slices.Clone(t.Task.Acceptance)
	if instructions != "" && instructions != payload.ManualAcceptance {
		list = append([]string{instructions}, list...)
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskManual, Run: d.run().ID, Task: t.Task.ID, Title: t.Task.Title,
		Text: strings.Join(list, "\n"), Asked: d.in.Time,
	}
	if q.Text == "" {
		q.Text = t.Task.Title
	}
	d.add(scope{task: t.Task.ID}, ledger.TaskSet{From: t.Status, To: ledger.ManualVerify, Why: "needs a person", Question: q.ID})
	d.add(scope{task: t.Task.ID}, ledger.QuestionAsked{Question: q})
	d.mark(t.Task.ID, ledger.MarkManualVerify)
}

// shelved names the source whose task waits for the answer to a question, where
// the project is at another one; "" where it is not. The two may have tasks of
// one name. Its time stands still until that source is at work again.
func (p Project) shelved(q ledger.Question) string {
	for _, source := range sortedKeys(p.Shelf) {
		for _, t := range p.Shelf[source].of(setAsks) {
			if t.Question == q.ID {
				return source
			}
		}
	}
	return ""
}

// unasked withdraws what was asked about the source that another one takes the
// place of, and that nothing waits for.
func (d *decision) unasked() {
	for _, q := range d.Project.Questions {
		t, _ := d.task(q.Task)
		if q.EndsWithSource() && t.Question != q.ID {
			effectsOf(q).drop(d, q, "another source was taken up")
		}
	}
}

// expire settles a question that nobody answered in time.
func (d *decision) expire(q ledger.Question) { effectsOf(q).expire(d, q) }

// abort blocks the task of a question that nobody answered in time.
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

// answered gives the words to the task and lets its attempt go on.
func (d *decision) answered(q ledger.Question, words string) {
	t, ok := d.task(q.Task)
	if !ok {
		return
	}
	d.add(scope{task: q.Task}, ledger.TaskWords{Text: fmt.Sprintf("%s asked: %s\nAnswer: %s", q.Hat, q.Text, words)})
	if t.Status == ledger.Waiting {
		d.setTask(q.Task, ledger.Ready, "answered")
	}
}

// answerQuestion settles a question with what a person said.
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
		d.refuse(ledger.CodeOtherSource, "%s is about %s of %s; start a run of that first. Nothing was changed.", q.ID, ledger.ShortID(q.Task), source)
		return
	}
	b.Words = strings.ToValidUTF8(b.Words, "\uFFFD")
	choice, ok := chooseOption(q, b.Choice)
	if q.OwnWords() && choice == "" && strings.EqualFold(strings.TrimSpace(trimJoin(b.Choice, b.Words)), "undo") { // pressed twice
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
}

// choose finds the answer that a person meant: a verb, a letter, an option's
// own words, or the first letters of one where they are unique.
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

// answerAgent gives an option, or a person's own words, to the session that
// asked.
func (d *decision) answerAgent(q ledger.Question, choice, words string) {
	text := words
	for n, o := range q.Options {
		if choice == ledger.Letter(n) {
			text = trimJoin(o, words)
		}
	}
	d.answered(q, text)
	d.say("%s: %s. %s goes on with it", q.ID, text, ledger.ShortID(q.Task))
	d.goOn()
}

// judged is what a person saw on a task that needs one.
func (d *decision) judged(q ledger.Question, pass bool, words string) {
	t, ok := d.task(q.Task)
	if !ok {
		return
	}
	d.dropParts(t, "a person looked at its task")
	if pass {
		d.add(scope{task: q.Task}, ledger.TaskSet{From: t.Status, To: ledger.Done, Why: "passed by " + d.by()})
		d.expireGuidance(q.Task, "its task ended")
		d.mark(q.Task, ledger.MarkDone)
		d.settleParts() // it may be the last one, and no run be there to see that its task is done
		d.say("%s done", ledger.ShortID(q.Task))
		of, is := d.task(t.Task.Parent)
		if len(d.dependents(t)) > 0 || is && of.Status == ledger.Done && len(d.dependents(of)) > 0 {
			d.goOn() // for what waited for it
		}
		return
	}
	d.add(scope{task: q.Task}, ledger.TaskWords{Text: "A person looked at it and it is not right: " + words})
	d.add(scope{task: q.Task}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "not passed by " + d.by(), Fresh: true})
	d.mark(q.Task, ledger.MarkOpen)
	d.say("%s ready again, with your words", ledger.ShortID(q.Task))
	d.goOn()
}

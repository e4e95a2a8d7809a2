package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Answered renders the message that replaces a question's message after the
// answer: the buttons go, the text of the question stays (docs/spec 23.5). item
// is the id of the guidance that the answer was queued as, "" if it was not.
func Answered(s loop.State, q ledger.Question, b ledger.QuestionAnswered, item string, now time.Time) Message {
	by := answeredBy(b.By)
	w := wordingOf(q)
	verb, known := w.verb(b.Choice)
	what := orElse(verb.settled, upper(Foreign(b.Choice)))
	switch {
	case q.OwnWords() && OptionOf(q, b.Choice) >= 0:
		what = strings.ToUpper(b.Choice)
	case what == "":
		what = "answered"
	}
	tail := " by " + by + " " + now.Format("15:04")
	if what != "guided" {
		tail = "," + tail
	}
	m := newMessage("settled."+string(q.Kind), SignDone+" "+q.ID+" "+Cut(what, FirstWidth-Width(q.ID+tail)-4)+tail)
	if q.Kind == ledger.AskNow && b.Choice == "rerun" && item != "" { // docs/spec 23.4: the message says what happens now, not which button was pressed
		who := strings.TrimSpace(shortID(q.Task) + " " + Cut(Foreign(q.Hat), 10))
		m = newMessage("settled.now", Cut(SignNow+" "+who+" reruns with "+item, FirstWidth-8)+" · "+now.Format("15:04"))
		m.Project, m.About = s.Project.Name, q.Task
		m.whole(q.Text)
		m.add("By " + by + ". What it wrote so far is kept" + keptNote(q.Task) + ".")
		return m
	}
	m.Project, m.About = s.Project.Name, q.Task
	w.past(&m, s, q)
	if n := OptionOf(q, b.Choice); q.OwnWords() && n >= 0 {
		m.option(q, n, "")
	}
	if b.Words != "" {
		m.add(upper(by) + ":")
		m.whole(b.Words)
	}
	switch closed := w.closed[b.Choice]; {
	case closed != nil:
		m.add(closed(q, item))
	case known:
		m.add(verb.after(q, item))
	}
	if q.Undoable(b.Choice) {
		m.button("Undo", Undoing(q.ID))
	}
	return m
}

// Taken renders the reply to an answer to an agent's question that was just taken: the
// option with its text, or the words. ok is false for other answers, which the core's text
// tells.
func Taken(q ledger.Question, choice, words string) (m Message, ok bool) {
	if _, verb := wordingOf(q).verbs[strings.ToLower(strings.TrimSpace(choice))]; verb || !q.OwnWords() {
		return Message{}, false
	}
	n := OptionOf(q, choice)
	what := "answered"
	if n >= 0 {
		what = strings.ToUpper(ledger.Letter(n))
	} else {
		words = strings.TrimSpace(choice + " " + words)
	}
	m = newMessage("answer.answer", SignDone+" "+q.ID+" "+what)
	m.About = q.Task
	if n >= 0 {
		m.option(q, n, "")
	}
	if strings.TrimSpace(words) != "" {
		m.quote(words)
	}
	m.add(wordingOf(q).own.after(q, ""))
	return m, true
}

// answeredBy returns the name of a person who answered, in at most 12 columns.
func answeredBy(name string) string {
	if name == "console" {
		return theHost
	}
	return Cut(Foreign(name), 12)
}

// Undoing returns the command that takes back a question's answer: "q5 undo".
func Undoing(question string) string { return question + " undo" }

// Undoes reports whether a command takes back a question's answer.
func (c Command) Undoes() bool {
	return c.Verb == VerbAnswer && strings.EqualFold(strings.TrimSpace(c.Words), "undo")
}

// pastQuoted adds a settled question's headline, task title and text.
func (m *Message) pastQuoted(s loop.State, q ledger.Question) {
	m.pastTitled(s, q)
	m.whole(q.Text)
}

// pastTitled adds a settled question's headline and task title.
func (m *Message) pastTitled(s loop.State, q ledger.Question) {
	head := Headline(s, q)
	if title := Cut(Foreign(q.Title), 34); title != "" {
		head += " · " + title
	}
	m.add(head)
}

// pastHead adds a settled question's headline alone.
func (m *Message) pastHead(s loop.State, q ledger.Question) { m.add(Headline(s, q)) }

// Expired renders the message that replaces a question's message after its
// expiry. again is the question if it stays open, now without an expiry; nil if
// it is over.
func Expired(s loop.State, q ledger.Question, b ledger.QuestionExpired, again *ledger.Question, now time.Time) Message {
	task := shortID(q.Task)
	if again != nil {
		m := newMessage("expired.pauses", firstLine(SignPaused, s.Project.Name, task+" waits: "+q.ID+" unanswered", ""))
		m.Project, m.About = s.Project.Name, q.Task
		m.content(s, q)
		m.add("Other tasks go on. Answer any time.")
		addVerbButtons(&m, *again)
		return m
	}
	w := wordingOf(q)
	tail := " unanswered at " + now.Format("15:04")
	if w.untimed {
		tail = " unanswered"
	}
	then := w.expired(q, b)
	first := SignAway + " " + q.ID + tail + ": " + then
	if then == "" || b.Choice == "" && !w.untimed {
		first = SignAway + " " + q.ID + " is over · " + now.Format("15:04")
	}
	m := newMessage("expired."+string(q.Kind), first)
	m.Project, m.About = s.Project.Name, q.Task
	w.past(&m, s, q)
	if q.OwnWords() && b.Choice != "" {
		m.add(task + " goes on with " + orElse(Cut(Foreign(b.Choice), quoteWidth), "it") + ". Not too late to object:")
		for n, o := range q.Options {
			if len(m.Buttons) < 3 && o != b.Choice {
				m.button("Choose "+strings.ToUpper(ledger.Letter(n)), q.ID+" "+ledger.Letter(n))
			}
		}
		return m
	}
	m.add(upper(Foreign(b.Then)) + ".")
	return m
}

// PutBack renders the message that replaces the settled question about a
// skipped task's dependents when a person takes the skip back. q is the
// question, which is open again; tasks are the dependents that are no longer
// skipped.
func PutBack(s loop.State, settled loop.Answered, q ledger.Question, tasks []string, now time.Time) Message {
	m := newMessage("settled.skip", SignAgain+" "+settled.ID+" taken back with "+q.ID+" · "+now.Format("15:04"))
	m.Project, m.About = s.Project.Name, q.Task
	m.add(Cut(Ranges(tasks), quoteWidth) + ": not put away any more.")
	return m
}

// StillOpen asks an open question once more because nightporter was off between
// from and to: button presses in that time are lost (docs/spec 23.11).
func StillOpen(s loop.State, q ledger.Question, from, to, now time.Time) Message {
	m := Ask(s, q, now)
	m.Key = "again.away"
	first := SignAgain + " " + m.Lines[0].Text
	if over := Width(first) - FirstWidth; over > 0 {
		tail := " (" + q.ID + ")"
		first = Cut(strings.TrimSuffix(first, tail), FirstWidth-Width(tail)) + tail
	}
	m.Lines[0].Text = first
	line := Line{Text: "Asked " + Clock(q.Asked, now) + ", still open. nightporter was off " + Clock(from, now) + "–" + Clock(to, now) + "; a press in that time is lost."}
	m.Lines = append([]Line{m.Lines[0], line}, m.Lines[1:]...)
	return m
}

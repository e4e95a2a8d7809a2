package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Headline is a question in one line without its sign: "#8 blocked, 2 attempts".
func Headline(s loop.State, q ledger.Question) string { return wordingOf(q).headline(s, q) }

// SignOf is the sign of a question's headline.
func SignOf(q ledger.Question) string { return wordingOf(q).sign }

// Meaning says what a verb of a question does, "" where the verb says it all.
func Meaning(q ledger.Question, verb string) string { return wordingOf(q).verbs[verb].means }

// Typed is how the verb of a question is typed: "q5 retry", "q5 guide WORDS".
func Typed(q ledger.Question, verb string) string {
	return strings.TrimSpace(q.ID + " " + verb + " " + wordingOf(q).verbs[verb].words)
}

// Unanswered says what happens if nobody answers. by is when the question
// ends, "" where it has no end.
func Unanswered(s loop.State, q ledger.Question, by string) string {
	if by == "" {
		return wordingOf(q).waits(s, q)
	}
	return "No answer " + by + ": " + wordingOf(q).then(s, q)
}

// unchosen is what becomes of an agent's question without an answer, as the
// run is set (docs/spec 6.4).
func unchosen(s loop.State, q ledger.Question) string {
	set := ""
	if s.Project.Run != nil {
		set = s.Project.Run.Settings.QuestionThen
	}
	n := OptionOf(q, q.Choice)
	switch {
	case set == ledger.ThenAbort:
		return orElse(short(q.Task), "the task") + " is blocked."
	case set == ledger.ThenPause, q.Choice == "":
		return "the task waits."
	case n >= 0:
		return ledger.Letter(n) + ", and on."
	}
	return Cut(Clean(q.Choice), 30) + ", and on."
}

// others says how the tasks around a blocked one go on.
func others(s loop.State, q ledger.Question) string {
	rest := Dependents(s, q.Task)
	if s.Project.Run == nil || s.Project.Run.Over() || s.Project.Run.Settings.OnBlocked != ledger.OnBlockedContinue {
		return rest
	}
	next := NextReady(s, q.Task)
	if t, ok := active(s); ok && !ledger.SameID(t.Task.ID, q.Task) {
		next = t.Task.ID // it has begun already
	}
	if next != "" {
		if rest != "" {
			rest += ", "
		}
		rest += short(next) + " goes on"
	}
	return rest
}

func join(first, rest string) string {
	if rest == "" {
		return first + "."
	}
	return first + "; " + rest + "."
}

// OptionOf returns the index of an option, by its letter or as written, or -1.
func OptionOf(q ledger.Question, choice string) int {
	for n, o := range q.Options {
		if choice != "" && (strings.EqualFold(choice, ledger.Letter(n)) || choice == o) {
			return n
		}
	}
	return -1
}

// Ask is a question as a message of its own.
func Ask(s loop.State, q ledger.Question, now time.Time) Message { return AskAfter(s, q, "", now) }

// AskAfter is the question that an attempt ended with, which says how that one
// came out.
func AskAfter(s loop.State, q ledger.Question, o ledger.AttemptOutcome, now time.Time) Message {
	w := wordingOf(q)
	if w.text == TextOutcome {
		q.Text = OutcomeWhy(o, q.Text)
	}
	tail := " (" + q.ID + ")"
	first := w.first(s, q, FirstWidth-Width(tail))
	m := newMessage("ask."+string(q.Kind), Cut(Clean(first), FirstWidth-len(tail))+tail)
	m.Project, m.About = s.Project.Name, q.Task
	w.body(&m, s, q, now)
	by := ""
	if !q.Expires.IsZero() {
		by = "by " + Clock(q.Expires, now)
	}
	then := Unanswered(s, q, by)
	if n := OptionOf(q, q.Choice); n >= 0 { // letters are large here, as on the buttons
		then = strings.Replace(then, ": "+ledger.Letter(n)+",", ": "+strings.ToUpper(ledger.Letter(n))+",", 1)
	}
	m.add(then)
	buttons(&m, q)
	return m
}

// asking is the first line of an agent's question, with as much of it as fits:
// on a lock screen nothing else is seen. "? shop #4 asks: May an…"
func asking(s loop.State, q ledger.Question, width int) string {
	const least = 8 // columns: less of it says nothing
	head := Headline(s, q)
	project := Cut(Clean(s.Project.Name), max(6, width-Width(SignOf(q)+"  "+head+": ")-12))
	first := SignOf(q) + " " + project + " " + head
	if room := width - Width(first+": "); room >= least {
		if said := strings.TrimSpace(Cut(Clean(q.Text), room)); said != "" {
			first += ": " + said
		}
	}
	return Cut(first, width)
}

// described adds what a question is about: its task, its text, what was tried,
// and the options.
func (m *Message) described(s loop.State, q ledger.Question, now time.Time) {
	w := wordingOf(q)
	facts := Cut(Clean(q.Title), quoteWidth)
	if q.Hat != "" {
		facts = strings.TrimPrefix(facts+" · "+Cut(Clean(q.Hat), 16), " · ")
	}
	m.add(strings.TrimPrefix(facts+" · "+Clock(q.Asked, now), " · "))
	if w.text == TextSteps {
		m.steps(CleanLines(q.Text))
	} else {
		m.quote(q.Text)
	}
	if w.facts != nil {
		w.facts(m, s, q)
	}
	if q.Tried != "" {
		m.add("Tried: " + Cut(Clean(q.Tried), mostSaid))
	}
	if q.Needs != "" {
		m.add("Needs: " + Cut(Clean(q.Needs), mostSaid))
	}
	for n, o := range q.Options {
		m.add(strings.ToUpper(ledger.Letter(n)) + "  " + Cut(Clean(o), quoteWidth) + ChoiceNote(q, n))
	}
	for _, v := range q.Verbs() {
		if means := Meaning(q, v); means != "" {
			m.add(v + ": " + means)
		}
	}
	if len(q.Tasks) > 0 {
		m.add(Ranges(q.Tasks))
	}
}

// Limits of what an agent can make a question say: it is read in the dark, and
// must never become a row of bubbles.
const (
	mostSaid  = 4 * quoteWidth
	mostSteps = 15
)

// steps adds what a person is to look at, a line each.
func (m *Message) steps(lines []string) {
	lines = slices.DeleteFunc(lines, func(l string) bool { return Clean(l) == "" })
	for _, line := range lines[:min(len(lines), mostSteps)] {
		m.add(Cut(Clean(line), 2*quoteWidth))
	}
	if more := len(lines) - mostSteps; more > 0 {
		m.add(fmt.Sprintf("… and %d more", more))
	}
}

func kept(task string) string {
	if task == "" {
		return ""
	}
	return " for /diff " + arg(task)
}

// ChoiceNote marks the option that the agent would take itself.
func ChoiceNote(q ledger.Question, n int) string {
	if OptionOf(q, q.Choice) != n {
		return ""
	}
	if q.Hat == "" {
		return " (the agent's choice)"
	}
	return " (" + Cut(Clean(q.Hat), 16) + "'s choice)"
}

package bot

import (
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Headline returns a question as one line without its sign: "#8 blocked, 2
// attempts".
func Headline(s loop.State, q ledger.Question) string { return wordingOf(q).headline(s, q) }

// SignOf returns the sign that stands before a question's headline.
func SignOf(q ledger.Question) string { return wordingOf(q).sign }

// Meaning says what an answer's verb does, "" for a verb that explains itself.
func Meaning(q ledger.Question, verb string) string {
	w := wordingOf(q).verbs[verb]
	if w.meansFor != nil {
		return w.meansFor(q)
	}
	return w.means
}

// Unanswered says what happens if nobody answers. by is the time when the
// question expires, as text, "" if it never does.
func Unanswered(s loop.State, q ledger.Question, by string) string {
	if by == "" {
		return wordingOf(q).waits(s, q)
	}
	return "No answer " + by + ": " + wordingOf(q).then(s, q)
}

// unchosen says what happens to an agent's question that nobody answers, by the
// run's question_then setting (docs/spec 6.4).
func unchosen(s loop.State, q ledger.Question) string {
	set := ""
	if s.Project.Run != nil {
		set = s.Project.Run.Settings.QuestionThen
	}
	n := OptionOf(q, q.Choice)
	switch {
	case set == ledger.ThenAbort:
		return orElse(shortID(q.Task), "the task") + " is blocked."
	case set == ledger.ThenPause, q.Choice == "":
		return "the task waits."
	case n >= 0:
		return ledger.Letter(n) + ", and on."
	}
	return Cut(Foreign(q.Choice), 30) + ", and on."
}

// blockedEffects names the tasks that wait for a blocked task, and the task that
// runs next.
func blockedEffects(s loop.State, q ledger.Question) string {
	rest := Dependents(s, q.Task)
	if s.Project.Run == nil || s.Project.Run.Over() || s.Project.Run.Settings.OnBlocked != ledger.OnBlockedContinue {
		return rest
	}
	var next []string
	for _, t := range activeTasks(s) { // they are at work already
		if !ledger.SameID(t.Task.ID, q.Task) {
			next = append(next, t.Task.ID)
		}
	}
	if ready := NextReady(s, q.Task); len(next) == 0 && ready != "" {
		next = []string{ready}
	}
	if len(next) == 0 {
		return rest
	}
	if rest != "" {
		rest += ", "
	}
	if len(next) > 1 {
		return rest + Ranges(next) + " go on"
	}
	return rest + shortID(next[0]) + " goes on"
}

func joinClauses(first, rest string) string {
	if rest == "" {
		return first + "."
	}
	return first + "; " + rest + "."
}

// OptionOf returns the index of the option that choice names by its letter or by
// its text, or -1.
func OptionOf(q ledger.Question, choice string) int {
	for n, o := range q.Options {
		if choice != "" && (strings.EqualFold(choice, ledger.Letter(n)) || choice == o) {
			return n
		}
	}
	return -1
}

// Ask renders a question as a message.
func Ask(s loop.State, q ledger.Question, now time.Time) Message { return AskAfter(s, q, "", now) }

// AskAfter renders the question that an attempt ended with. o is the attempt's
// outcome; it words the reason in questions about a blocked task. "" leaves the
// question's text as it is.
func AskAfter(s loop.State, q ledger.Question, o ledger.AttemptOutcome, now time.Time) Message {
	w := wordingOf(q)
	if w.text == TextOutcome {
		q.Text = OutcomeWhy(o, q.Text)
	}
	tail := " (" + q.ID + ")"
	first := w.first(s, q, FirstWidth-Width(tail))
	m := newMessage("ask."+string(q.Kind), Cut(CleanLine(first), FirstWidth-len(tail))+tail)
	m.Project, m.About = s.Project.Name, q.Task
	w.body(&m, s, q, now)
	if q.OwnWords() && len(q.Options) == 0 {
		m.add("Reply to this in your own words.")
	}
	then := Unanswered(s, q, deadline(q, now))
	if n := OptionOf(q, q.Choice); n >= 0 { // options have capital letters here, as on the buttons
		then = strings.Replace(then, ": "+ledger.Letter(n)+",", ": "+strings.ToUpper(ledger.Letter(n))+",", 1)
	}
	m.add(then)
	addVerbButtons(&m, q)
	return m
}

// deadline says until when a question waits, "" if it has no end.
func deadline(q ledger.Question, now time.Time) string {
	if q.Expires.IsZero() {
		return ""
	}
	return "by " + Clock(q.Expires, now)
}

// asking returns the first line of an agent's question: "? shop #4 asks: May
// an…". It includes the start of the question's text because a lock screen shows
// nothing else.
func asking(s loop.State, q ledger.Question, width int) string {
	const least = 8 // columns: a shorter excerpt of the text says nothing
	head := Headline(s, q)
	project := Cut(Clean(s.Project.Name), max(6, width-Width(SignOf(q)+"  "+head+": ")-12))
	first := SignOf(q) + " " + project + " " + head
	if room := width - Width(first+": "); room >= least {
		if said := strings.TrimSpace(Cut(Foreign(WithoutMarks(q.Text)), room)); said != "" {
			first += ": " + said
		}
	}
	return Cut(first, width)
}

// described adds a question's content: its title, text, facts, what was tried
// and what is needed, the options and the meaning of its verbs.
func (m *Message) described(s loop.State, q ledger.Question, now time.Time) {
	facts := Cut(Foreign(q.Title), quoteWidth)
	if q.Hat != "" {
		facts = strings.TrimPrefix(facts+" · "+Cut(Foreign(q.Hat), 16), " · ")
	}
	m.add(strings.TrimPrefix(facts+" · "+Clock(q.Asked, now), " · "))
	m.content(s, q)
}

// content adds what a question asks, whole, below the line that says who asks it.
func (m *Message) content(s loop.State, q ledger.Question) {
	w := wordingOf(q)
	if w.text == TextSteps {
		m.steps(q.Text)
	} else {
		m.whole(q.Text)
	}
	if w.facts != nil {
		w.facts(m, s, q)
	}
	m.excerpt(q.Text, q.Excerpt)
	m.labelled("Tried", q.Tried)
	m.labelled("Needs", q.Needs)
	m.options(q)
	for _, v := range q.Verbs() {
		if means := Meaning(q, v); means != "" {
			m.add(v + ": " + means)
		}
	}
	if len(q.Tasks) > 0 && q.Kind != ledger.AskSkip { // whose text names them
		m.add(Ranges(q.Tasks))
	}
}

// Limits of an agent's text that stands in a question like its own lines. People read
// it on a phone at night, so a longer text is a quote, which a chat folds.
const (
	mostSaid  = 4 * quoteWidth
	mostSteps = 10
)

// steps adds the steps of a manual verification, one per line.
func (m *Message) steps(text string) {
	lines := slices.DeleteFunc(CleanLines(WithoutMarks(text)), func(l string) bool { return strings.TrimSpace(l) == "" })
	if len(lines) > mostSteps || slices.ContainsFunc(lines, func(l string) bool { return !isShort(l, 2*quoteWidth) }) {
		m.whole(text)
		return
	}
	for _, line := range lines {
		m.add(Foreign(line))
	}
}

// options adds the options of an agent's question behind their letters, a long one as a
// quote.
func (m *Message) options(q ledger.Question) {
	for n := range q.Options {
		m.option(q, n, ChoiceNote(q, n))
	}
}

func (m *Message) option(q ledger.Question, n int, note string) {
	letter, text := strings.ToUpper(ledger.Letter(n)), WithoutMarks(q.Options[n])
	if isShort(text, quoteWidth) {
		m.add(letter + "  " + Foreign(text) + note)
		return
	}
	m.add(letter + note + ":")
	m.whole(text)
}

func keptNote(task string) string {
	if task == "" {
		return ""
	}
	return " for /diff " + idArg(task)
}

// ChoiceNote returns the mark of option n if the agent would choose it itself;
// otherwise "".
func ChoiceNote(q ledger.Question, n int) string {
	if OptionOf(q, q.Choice) != n {
		return ""
	}
	if q.Hat == "" {
		return " (the agent's choice)"
	}
	return " (" + Cut(Foreign(q.Hat), 16) + "'s choice)"
}

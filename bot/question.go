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
func Headline(s loop.State, q ledger.Question) string {
	task := short(q.Task)
	switch q.Kind {
	case ledger.AskBlocked:
		text := task + " blocked"
		if t, ok := FindTask(s, q.Task); ok && t.Failed > 0 {
			text += ", " + Plural(t.Failed, "attempt")
		}
		return text
	case ledger.AskManual:
		return task + " manual verify"
	case ledger.AskAgent:
		return task + " asks"
	case ledger.AskBaseline:
		return "Tests fail before any work"
	case ledger.AskReview:
		return Count(s).String() + " done, paused"
	case ledger.AskUnticked:
		return Plural(len(q.Tasks), "done task") + " open again"
	case ledger.AskSkip:
		return task + " skipped; what needs it?"
	case ledger.AskNow:
		if doing := Doing(s); doing != "" {
			return "Stop " + doing + ", rerun?"
		}
		return "Stop and rerun?"
	case ledger.AskStart:
		text, _, _ := strings.Cut(Clean(q.Text), ", ")
		return strings.TrimSpace("Start " + Cut(s.Project.Name, 12) + "? " + text)
	case ledger.AskLate:
		text := Cut(Clean(q.Text), 11) + " from " + sentAt(q).Format("15:04")
		if Width(text) > 17 { // "/pause now": the id has to fit in behind it
			return text + ": still?"
		}
		return text + ": still do it?"
	case ledger.AskPlan:
		return planHead(s, q)
	case ledger.AskAllow:
		return outsideHead(q, quoteWidth)
	}
	switch {
	case q.Task != "":
		return task + " asks"
	case q.Title != "":
		return Cut(Clean(q.Title), 30)
	}
	return "A question"
}

// SignOf is the sign of a question's headline.
func SignOf(q ledger.Question) string {
	switch q.Kind {
	case ledger.AskBlocked:
		return SignBlocked
	case ledger.AskReview:
		return SignPaused
	}
	return SignAsk
}

// Meaning says what a verb of a question does, "" where the verb says it all.
func Meaning(q ledger.Question, verb string) string {
	switch string(q.Kind) + " " + verb {
	case "baseline fix":
		return "a task that mends them comes first"
	case "baseline go":
		return "goes on; it is shown on every task"
	case "unticked keep":
		return "they stay done"
	case "unticked redo":
		return "they are done again"
	case "skip wait":
		return "what needs it waits"
	case "skip skip":
		return "what needs it is skipped too"
	}
	return ""
}

// Typed is how the verb of a question is typed: "q5 retry", "q5 guide WORDS".
func Typed(q ledger.Question, verb string) string {
	switch verb {
	case "guide":
		verb = "guide WORDS"
	case "fail":
		verb = "fail WHAT YOU SAW"
	case "reject":
		verb = "reject WHY"
	}
	return q.ID + " " + verb
}

// Unanswered says what happens if nobody answers.
func Unanswered(s loop.State, q ledger.Question, by string) string {
	if by == "" {
		switch q.Kind {
		case ledger.AskBlocked:
			return join("Stays blocked", others(s, q))
		case ledger.AskManual:
			if Doing(s) == "" && NextReady(s, q.Task) == "" {
				return "Waits as long as it takes."
			}
			return "Waits as long as it takes; others go on."
		case ledger.AskReview:
			return "Stays paused until you resume."
		case ledger.AskPlan:
			return "No answer: nothing starts."
		}
		return "Waits as long as it takes."
	}
	then := ""
	switch q.Kind {
	case ledger.AskAgent:
		then = unchosen(s, q)
	case ledger.AskBaseline:
		then = "goes on, shown on every task."
		if s.Project.Run != nil && s.Project.Run.Settings.Profile == "review" {
			then = "not started."
		}
	case ledger.AskUnticked:
		then = "they stay done."
	case ledger.AskSkip:
		then = "what needs it waits."
	case ledger.AskNow:
		then = "queued, nothing is stopped."
	case ledger.AskStart:
		then = "not started."
	case ledger.AskLate:
		then = "not done."
	case ledger.AskPlan:
		then = "nothing starts."
	case ledger.AskAllow:
		then = "stays out."
	default:
		then = "it stays as it is."
	}
	return "No answer " + by + ": " + then
}

// unchosen is what becomes of an agent's question without an answer, as the
// run is set (SPEC 6.4).
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
	if q.Kind == ledger.AskBlocked {
		q.Text = OutcomeWhy(o, q.Text)
	}
	tail := " (" + q.ID + ")"
	head := Headline(s, q)
	first := SignOf(q) + " " + s.Project.Name + " " + head
	switch {
	case q.Kind == ledger.AskAllow:
		project := Cut(s.Project.Name, 12)
		first = SignAsk + " " + project + " " + outsideHead(q, FirstWidth-Width(SignAsk+" "+project+" "+tail))
	case q.Kind == ledger.AskAgent:
		first = asking(s, q, FirstWidth-Width(tail))
	case q.Kind == ledger.AskStart, q.Kind == ledger.AskLate, q.Kind == ledger.AskNow:
		first = SignOf(q) + " " + head // the project is in it, or is where it is asked
	case Width(first+tail) > FirstWidth:
		first = SignOf(q) + " " + Cut(s.Project.Name, max(6, FirstWidth-Width(head+tail)-3)) + " " + head
	}
	m := newMessage("ask."+string(q.Kind), Cut(Clean(first), FirstWidth-len(tail))+tail)
	m.Project, m.About = s.Project.Name, q.Task
	m.asked(s, q, now)
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

// asked is what a question says between its first line and what happens if
// nobody answers.
func (m *Message) asked(s loop.State, q ledger.Question, now time.Time) {
	switch q.Kind {
	case ledger.AskStart:
		for _, line := range offered(s, q) {
			m.add(line)
		}
		return
	case ledger.AskLate:
		m.add("Sent " + Clock(sentAt(q), now) + " by " + Cut(Clean(q.By), 20) + ", read " + Clock(q.Asked, now) + ".")
		return
	}
	facts := Cut(Clean(q.Title), quoteWidth)
	if q.Hat != "" {
		facts = strings.TrimPrefix(facts+" · "+Cut(Clean(q.Hat), 16), " · ")
	}
	m.add(strings.TrimPrefix(facts+" · "+Clock(q.Asked, now), " · "))
	if q.Kind == ledger.AskManual {
		m.steps(CleanLines(q.Text))
	} else {
		m.quote(q.Text)
	}
	switch q.Kind {
	case ledger.AskPlan:
		m.verdicts(s, q)
	case ledger.AskAllow:
		m.paths(q)
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
	if q.Kind == ledger.AskNow {
		m.add("Its work so far is done again; what it wrote is kept" + kept(q.Task) + ".")
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

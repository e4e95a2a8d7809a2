package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Answered is what a question's message becomes when it has its answer: its
// buttons go, what it asked stays (PHONE 3.5). item is the guidance that the
// answer was queued as, "" where it was none.
func Answered(s loop.State, q ledger.Question, b ledger.QuestionAnswered, item string, now time.Time) Message {
	by := Cut(Clean(b.By), 12)
	if b.By == "console" {
		by = theHost
	}
	what := upper(Clean(b.Choice))
	switch {
	case b.Choice == "guide":
		what = "guided"
	case q.Kind == ledger.AskStart && b.Choice == "review":
		what = asReview
	case q.Kind == ledger.AskAgent && OptionOf(q, b.Choice) >= 0:
		what = strings.ToUpper(b.Choice)
	case what == "":
		what = "answered"
	}
	tail := " by " + by + " " + now.Format("15:04")
	if what != "guided" {
		tail = "," + tail
	}
	m := newMessage("settled."+string(q.Kind), SignDone+" "+q.ID+" "+Cut(what, FirstWidth-Width(q.ID+tail)-4)+tail)
	if q.Kind == ledger.AskNow && b.Choice == "rerun" && item != "" { // PHONE 3.4: what is done, not what was pressed
		who := strings.TrimSpace(short(q.Task) + " " + Cut(Clean(q.Hat), 10))
		m = newMessage("settled.now", Cut(SignNow+" "+who+" reruns with "+item, FirstWidth-8)+" · "+now.Format("15:04"))
		m.Project, m.About = s.Project.Name, q.Task
		m.quote(q.Text)
		m.add("By " + by + ". What it wrote so far is kept" + kept(q.Task) + ".")
		return m
	}
	m.Project, m.About = s.Project.Name, q.Task
	m.was(s, q)
	if n := OptionOf(q, b.Choice); q.Kind == ledger.AskAgent && n >= 0 {
		m.add(strings.ToUpper(ledger.Letter(n)) + "  " + Cut(Clean(q.Options[n]), quoteWidth))
	}
	if b.Words != "" {
		m.add(upper(by) + ":")
		m.quote(b.Words)
	}
	m.add(after(q, b.Choice, item))
	if loop.Undoable(q, b.Choice) {
		m.button("Undo", Undoing(q.ID))
	}
	return m
}

// Undoing is what takes the answer to a question back.
func Undoing(question string) string { return question + " undo" }

// was is what a settled question asked.
func (m *Message) was(s loop.State, q ledger.Question) {
	head := Headline(s, q)
	if title := Cut(Clean(q.Title), 34); title != "" && q.Kind != ledger.AskStart && q.Kind != ledger.AskLate {
		head += " · " + title
	}
	m.add(head)
	if q.Kind != ledger.AskManual && q.Kind != ledger.AskStart && q.Kind != ledger.AskLate {
		m.quote(q.Text)
	}
	if q.Kind == ledger.AskAllow {
		m.paths(q)
	}
}

// after says what comes of an answer.
func after(q ledger.Question, choice, item string) string {
	task := short(q.Task)
	switch string(q.Kind) + " " + choice {
	case "blocked retry":
		return task + " is tried again."
	case "blocked skip", "agent skip":
		return task + " is put away."
	case "blocked guide":
		return orElse(item, "Your words") + " → " + task + ", next attempt."
	case "manual pass":
		return task + " is done and ticked."
	case "manual fail":
		return task + " is done again, with these words."
	case "baseline fix":
		return "The run mends it first."
	case "baseline go":
		return "The run goes on; it is shown on every task."
	case "baseline stop", "start cancel":
		return "Nothing was started."
	case "review resume":
		return "The run goes on."
	case "review stop":
		return "The run ends."
	case "start start", "start review":
		return "It looks first at what would fail at night, then starts."
	case "late no":
		return "Nothing was done."
	case "late yes":
		return "Done."
	case "now queue":
		return orElse(item, "It") + " waits for the next session; nothing is stopped."
	case "now rerun":
		return orElse(item, "It") + " goes into the session that starts now."
	case "plan approve":
		return task + " is built as planned."
	case "plan reject":
		return task + " is planned anew, with these words."
	case "plan retry":
		return task + " is tried again."
	case "plan skip":
		return task + " is put away."
	case "allow allow":
		return task + " may write it from now on."
	case "allow deny":
		return "It stays out of " + task + "."
	}
	if q.Kind == ledger.AskAgent {
		return task + " goes on with it."
	}
	if means := Meaning(q, choice); means != "" {
		return upper(means) + "."
	}
	return ""
}

// Expired is what a question's message becomes when nobody answered in time.
// again is the question where it stays open without an end, nil otherwise.
func Expired(s loop.State, q ledger.Question, b ledger.QuestionExpired, again *ledger.Question, now time.Time) Message {
	task := short(q.Task)
	if again != nil {
		m := newMessage("expired.pauses", fit(SignPaused, s.Project.Name, task+" waits: "+q.ID+" unanswered", ""))
		m.Project, m.About = s.Project.Name, q.Task
		m.quote(q.Text)
		for n, o := range q.Options {
			m.add(strings.ToUpper(ledger.Letter(n)) + "  " + Cut(Clean(o), quoteWidth))
		}
		m.add("Other tasks go on. Answer any time.")
		buttons(&m, *again)
		return m
	}
	tail := " unanswered at " + now.Format("15:04")
	then := ""
	switch q.Kind {
	case ledger.AskAgent:
		then = Cut(Clean(b.Choice), 10)
		if n := OptionOf(q, b.Choice); n >= 0 {
			then = strings.ToUpper(ledger.Letter(n))
		}
	case ledger.AskStart:
		tail, then = " unanswered", "not started"
	case ledger.AskLate:
		tail, then = " unanswered", "not done"
	case ledger.AskNow:
		then = "queued"
	case ledger.AskBaseline:
		then = Clean(b.Choice)
	case ledger.AskAllow:
		then = "stays out"
	}
	first := SignAway + " " + q.ID + tail + ": " + then
	if then == "" || b.Choice == "" && q.Kind != ledger.AskStart && q.Kind != ledger.AskLate {
		first = SignAway + " " + q.ID + " is over · " + now.Format("15:04")
	}
	m := newMessage("expired."+string(q.Kind), first)
	m.Project, m.About = s.Project.Name, q.Task
	m.was(s, q)
	if q.Kind == ledger.AskAgent && b.Choice != "" {
		m.add(task + " goes on with " + orElse(Cut(Clean(b.Choice), quoteWidth), "it") + ". Not too late to object:")
		for n, o := range q.Options {
			if len(m.Buttons) < 3 && o != b.Choice {
				m.button("Choose "+strings.ToUpper(ledger.Letter(n)), q.ID+" "+ledger.Letter(n))
			}
		}
		return m
	}
	m.add(upper(Clean(b.Then)) + ".")
	return m
}

// PutBack is what the message about the dependents of a skipped task becomes
// when the skip is taken back: q is the question that is open again.
func PutBack(s loop.State, settled loop.Answered, q ledger.Question, tasks []string, now time.Time) Message {
	m := newMessage("settled.skip", SignAgain+" "+settled.ID+" taken back with "+q.ID+" · "+now.Format("15:04"))
	m.Project, m.About = s.Project.Name, q.Task
	m.add(Cut(Ranges(tasks), quoteWidth) + ": not put away any more.")
	return m
}

// StillOpen is a question once more, after nightporter was off (PHONE 3.11).
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

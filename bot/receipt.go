package bot

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A guidance item has one receipt, a message that is edited as the item's state
// changes (docs/spec 23.4). Each function here renders one state, and all of them
// quote the person's words.

// receipt returns a receipt's first line, "○ g17 queued · 01:47", and the words.
func receipt(key, sign, what string, s loop.State, i guidance.Item, now time.Time) Message {
	m := newMessage("guidance."+key, sign+" "+i.ID+" "+what+" · "+now.Format("15:04"))
	m.Project, m.About = s.Project.Name, i.Task
	m.quote(addressed(i) + i.Text + OriginOf(i) + picturesOf(s, i.ID))
	return m
}

// picturesOf tells how many pictures were sent with guidance or added tasks, to stand
// behind the words: " · 2 pictures". It returns "" for none.
func picturesOf(s loop.State, id string) string {
	n := 0
	for _, f := range s.Project.AttachedTo(id).Files {
		if f.Picture() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return " · " + Plural(n, "picture")
}

// OriginOf says whose comment on what an item was made of, to stand behind its words:
// " · ann on PR 48, cart.go:12". It returns "" for other items.
func OriginOf(i guidance.Item) string {
	o := i.Origin
	if o == nil {
		return ""
	}
	text := " · " + Cut(Foreign(i.By), 20) + " on " + requestName(o.Number)
	if o.Path != "" {
		text += ", " + Cut(Foreign(path.Base(o.Path)), 24)
	}
	if o.Path != "" && o.Line > 0 {
		text += ":" + strconv.Itoa(o.Line)
	}
	return text
}

// addressed returns an item's address in the form in which people type it:
// "@fixer #4 ".
func addressed(i guidance.Item) string {
	out := ""
	if i.Sticky {
		out += "!sticky "
	}
	if i.Hat != "" {
		out += "@" + i.Hat + " "
	}
	if i.Task != "" {
		out += "#" + idArg(i.Task) + " "
	}
	return out
}

// Queued is the receipt of guidance that was just saved. forecast comes from
// loop.Forecast. sent is the time when it was written if that was long before
// now, else zero.
func Queued(s loop.State, i guidance.Item, forecast ledger.Forecast, now, sent time.Time) Message {
	return queued(s, i, forecast, now, sent, "queued")
}

// QueuedWords is Queued for plain words, which may have been meant otherwise: it says
// that they are guidance, with a button that takes them back (docs/spec 6.8).
func QueuedWords(s loop.State, i guidance.Item, forecast ledger.Forecast, now, sent time.Time) Message {
	what := "queued as guidance"
	if !sent.IsZero() { // the first line has no room for more
		what = "guidance"
	}
	m := queued(s, i, forecast, now, sent, what)
	m.button("Not guidance", i.ID+" not guidance")
	return m
}

func queued(s loop.State, i guidance.Item, forecast ledger.Forecast, now, sent time.Time, what string) Message {
	m := receipt("queued", SignLater, what, s, i, now)
	if i.Sticky {
		m = receipt("sticky", SignLater, "sticky", s, i, now)
	}
	if !sent.IsZero() {
		m.Lines[0].Text = Cut(m.Lines[0].Text+" (sent "+Clock(sent, now)+")", FirstWidth)
	}
	to := "To the " + Clean(forecast.String()) + "."
	if forecast.Every || forecast.NextRun || forecast.Rests || forecast.Before != "" {
		to = "To " + Clean(forecast.String()) + "."
	}
	if among := activeTasks(s); forecast == (ledger.Forecast{}) && len(among) > 1 {
		to = "To the next session that writes, whichever task has it first."
	}
	if doing := notInterrupted(s, i.Task); doing != "" {
		to += " " + doing
		m.add(to)
		m.button("Drop", "/drop "+i.ID)
		m.button("Now", "/now "+i.ID)
	} else {
		if r := s.Project.Run; !r.Over() && r.State == ledger.RunPaused {
			to = strings.TrimSuffix(to, ".") + ", once you resume " + Clean(s.Project.Name) + "."
		}
		m.add(to)
		m.button("Drop", "/drop "+i.ID)
	}
	if t, known := s.Project.Find(i.Task); known && t.Status == ledger.Blocked {
		m.add(shortID(t.Task.ID) + " is blocked: no session of it comes before it is tried again.")
		m.button("Retry "+shortID(t.Task.ID), "/retry "+idArg(t.Task.ID))
	}
	return m
}

// notInterrupted says what goes on although something is queued for a task, or for any
// with "": "#7 builder is not interrupted." It returns "" if no session is at work.
func notInterrupted(s loop.State, task string) string {
	if !agentInFlight(s) {
		return ""
	}
	active := activeTasks(s)
	for _, t := range active {
		if task != "" && ledger.SameID(t.Task.ID, task) {
			return shortID(t.Task.ID) + " " + phaseOf(t) + " is not interrupted."
		}
	}
	switch doing := Doing(s); {
	case doing == "":
		return ""
	case len(active) > 1:
		return doing + " are not interrupted."
	default:
		return doing + " is not interrupted."
	}
}

// Changed is the receipt of queued guidance whose words were edited in the chat.
func Changed(s loop.State, i guidance.Item, now time.Time) Message {
	m := receipt("changed", SignLater, "changed", s, i, now)
	m.add("Still waiting for the next session.")
	m.button("Drop", "/drop "+i.ID)
	if Doing(s) != "" && agentInFlight(s) {
		m.button("Now", "/now "+i.ID)
	}
	return m
}

// Injected is the receipt of guidance that a session has received. replaces is
// the session that this session repeats, "" if it repeats none.
func Injected(s loop.State, i guidance.Item, hat, session, replaces string, now time.Time) Message {
	who := strings.TrimSpace(shortID(taskOf(i)) + " " + Cut(Foreign(hat), 10))
	m := receipt("injected", SignNow, "with "+who, s, i, now)
	m.About = taskOf(i)
	run, n, _ := strings.Cut(Clean(session), "-")
	line := run + ", session " + n
	if _, old, ok := strings.Cut(Clean(replaces), "-"); ok {
		line += ", for " + old
	}
	m.add(line + ". What became of it will stand here.")
	if i.Sticky {
		m.button("Drop", "/drop "+i.ID)
	}
	return m
}

// taskOf returns the task that an item is bound to, else the task that it is
// addressed to.
func taskOf(i guidance.Item) string {
	if i.Bound != "" && i.Bound != "-" {
		return i.Bound
	}
	return i.Task
}

// HandedOn is the receipt of guidance whose session ended without using it, so
// that the next session gets it.
func HandedOn(s loop.State, i guidance.Item, b ledger.SessionEnded, session string, now time.Time) Message {
	m := receipt("replaced", SignAgain, "handed on", s, i, now)
	m.About = taskOf(i)
	_, n, _ := strings.Cut(Clean(session), "-")
	m.add("Session " + n + ": " + EndText(b) + ".")
	m.add("Goes to the one that replaces it.")
	return m
}

// Reported is the receipt of guidance after a session reported what it did with
// it. hat is that session's hat.
func Reported(s loop.State, i guidance.Item, hat string, now time.Time) Message {
	task := taskOf(i)
	who := strings.TrimSpace(shortID(task) + " " + Cut(Foreign(hat), 16))
	if i.Sticky {
		return stickyReceipt(s, i, who, now)
	}
	var m Message
	switch i.State {
	case guidance.SetAside:
		m = receipt("setaside", SignAway, "set aside", s, i, now)
		m.said(who, i.Note)
		m.add("Not used again unless you resend it.")
		m.addButton(textButton("Resend", "/guidance", "NEW WORDS"))
	case guidance.NotReported:
		m = receipt("notreported", SignLook, "not reported", s, i, now)
		m.add(who + " did not say what it did with it. It still holds for " + orElse(shortID(task), "its task") + ", and the reviewer looks for it.")
		m.diff(task)
	default:
		m = receipt("addressed", SignDone, "addressed", s, i, now)
		m.said(who, i.Note)
		m.diff(task)
	}
	m.About = task
	return m
}

// stickyReceipt is the receipt of sticky guidance after a session reported on it: it
// stays in force and waits for the next session.
func stickyReceipt(s loop.State, i guidance.Item, who string, now time.Time) Message {
	m := newMessage("guidance.sticky", SignLater+" "+i.ID+" sticky since "+Clock(i.At, now))
	m.Project = s.Project.Name
	m.quote(addressed(i) + i.Text + OriginOf(i) + picturesOf(s, i.ID))
	text := "In every writing session until you drop it. Last: " + who
	switch i.State {
	case guidance.SetAside:
		m.add(text + " set it aside:")
		m.whole(orElse(i.Note, "without a word"))
	case guidance.NotReported:
		m.add(text + ", which did not say.")
	default:
		m.add(text + ", fine.")
	}
	m.button("Drop", "/drop "+i.ID)
	return m
}

func (m *Message) said(who, note string) {
	if Clean(note) == "" {
		m.add(who + ", without a word.")
		return
	}
	m.add(who + ":")
	m.whole(note)
}

func (m *Message) diff(task string) {
	if task != "" {
		m.button("Diff", "/diff "+idArg(task))
	}
}

// Reviewed is the receipt after a review judged whether the words were followed.
// by is the hat that reported on them, hat the reviewer's.
func Reviewed(s loop.State, i guidance.Item, by, hat string, followed bool, note string, now time.Time) Message {
	if followed {
		m := Reported(s, i, by, now)
		if !i.Sticky { // the first line has the time of the report, not that of the review
			at := ""
			if !i.Reported.IsZero() { // ledgers of earlier releases lack this time
				at = " · " + i.Reported.In(now.Location()).Format("15:04")
			}
			m.Lines[0].Text = strings.TrimSuffix(m.Lines[0].Text, " · "+now.Format("15:04")) + at
		}
		m.add(upper(Cut(Foreign(hat), 16)) + ", " + now.Format("15:04") + ": followed.")
		return m
	}
	m := receipt("notfollowed", SignFailed, "not followed", s, i, now)
	m.About = taskOf(i)
	m.said(strings.TrimSpace(shortID(taskOf(i))+" "+Cut(Foreign(hat), 16)), note)
	m.add("Goes to the fixer as a major issue, with your words.")
	if i.Sticky {
		m.button("Drop", "/drop "+i.ID)
	}
	return m
}

// Gone is the receipt of expired guidance, which no session will get any more.
func Gone(s loop.State, i guidance.Item, why string, now time.Time) Message {
	m := receipt("expired", SignAway, "expired", s, i, now)
	m.add(upper(Cut(Foreign(why), 2*quoteWidth)) + ". Gone unless you keep it.")
	m.button("Keep", i.ID+" keep")
	return m
}

// Dropped is the receipt of guidance that a person took back.
func Dropped(project string, i guidance.Item, by string, now time.Time) Message {
	m := newMessage("guidance.dropped", SignAway+" "+i.ID+" dropped by "+Cut(Foreign(by), 12)+" · "+now.Format("15:04"))
	m.Project = project
	m.quote(addressed(i) + i.Text)
	m.add("No session gets it.")
	return m
}

// Moved is the receipt of a picture that was guidance by itself, until the words of its
// album came below another one.
func Moved(project string, i guidance.Item, now time.Time) Message {
	m := newMessage("guidance.dropped", SignAway+" "+i.ID+" goes with later words · "+now.Format("15:04"))
	m.Project = project
	m.quote(addressed(i) + i.Text)
	m.add("They came below another picture of its album, and have all of them.")
	return m
}

// TooLate is the reply to an edit or drop of guidance that a session already has.
// words are the new words, "" for a drop.
func TooLate(s loop.State, i guidance.Item, words string, now time.Time) Message {
	what := "not changed"
	if words == "" {
		what = "not dropped"
	}
	since := ""
	who := shortID(taskOf(i))
	if has, ok := s.Project.Session(i.Session); ok {
		since = " since " + Clock(has.At, now)
		who = strings.TrimSpace(who + " " + Cut(Clean(has.Planned.Hat), 16))
	}
	m := refusal("guidance.toolate", Cut(SignFailed+" "+i.ID+" "+what+": "+i.State.Word()+since, FirstWidth))
	m.Project, m.About = s.Project.Name, taskOf(i)
	who = orElse(who, "A session")
	if words == "" {
		m.add(who + " has your words. No answer: it stays so.")
		return m
	}
	m.quote(words)
	m.add(who + " has your first words. No answer: it stays so.")
	m.exact("Send as new", "/guidance "+addressed(i)+words)
	return m
}

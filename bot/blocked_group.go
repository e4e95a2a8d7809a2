package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// BlockedTask is a blocked task in a message of several. Question is its question, of
// which a settled one has only ID, Task and Asked; Settled is what became of it, nil if
// it is open.
type BlockedTask struct {
	Question ledger.Question
	Settled  *loop.Answered
}

// BlockedTogether announces the third task that is blocked within an hour, in
// one message with the blocked tasks before it (docs/spec 23.5), and renders that
// message anew when one of them is settled: it says what became of each, and keeps
// buttons for the rest. all holds at least one, the newest last.
func BlockedTogether(s loop.State, all []BlockedTask, now time.Time) Message {
	var open []ledger.Question
	var ids []string
	for _, b := range all {
		if b.Settled == nil {
			open = append(open, b.Question)
			ids = append(ids, shortID(b.Question.Task))
		}
	}
	first := firstLine(SignBlocked, s.Project.Name, fmt.Sprintf("%d blocked: %s", len(open), strings.Join(ids, " ")), "")
	if len(open) == 0 {
		for _, b := range all {
			ids = append(ids, shortID(b.Question.Task))
		}
		first = firstLine(SignDone, s.Project.Name, "settled: "+strings.Join(ids, " "), "")
	}
	m := newMessage("ask.blocked3", first)
	last := all[len(all)-1].Question
	m.Project, m.About = s.Project.Name, last.Task
	m.add(Clock(last.Asked, now))
	for _, b := range all {
		if b.Settled != nil {
			m.add(settledBlock(*b.Settled, b.Question.Task, now))
			m.whole(b.Settled.Words)
		}
	}
	if len(open) > 0 {
		m.openBlocks(s, open)
	} else {
		m.add("Nothing of it waits for you any more.")
	}
	if x := all[len(all)-1].Settled; x != nil && x.Before != nil && now.Before(x.At.Add(loop.UndoTime)) {
		label := "Undo"
		if len(all) > 1 { // it takes back one of them
			label += " " + shortID(last.Task)
		}
		m.button(label, Undoing(x.ID))
	}
	return m
}

// openBlocks adds why the tasks are blocked that still are, and their buttons.
func (m *Message) openBlocks(s loop.State, open []ledger.Question) {
	last := open[len(open)-1]
	same := true
	var args []string
	for _, q := range open {
		same = same && q.Text == open[0].Text && q.Tried == open[0].Tried && q.Needs == open[0].Needs
		args = append(args, idArg(q.Task))
	}
	if same && len(open) > 1 {
		m.add("All:")
		m.blockedBy(last)
	} else {
		for _, q := range open[max(0, len(open)-4):] {
			m.add(shortID(q.Task) + " (" + q.ID + ")")
			m.blockedBy(q)
		}
	}
	stay, all := "They stay blocked", " all"
	if len(open) == 1 {
		stay, all = "Stays blocked", " "+shortID(last.Task)
	}
	if next := NextReady(s, last.Task); next != "" && s.Project.Run != nil && s.Project.Run.Settings.OnBlocked == ledger.OnBlockedContinue {
		stay += "; " + shortID(next) + " goes on"
	}
	m.add(stay + ".")
	m.button("Retry"+all, "/retry "+strings.Join(args, " "))
	m.button("Skip"+all, "/skip "+strings.Join(args, " "))
	for _, q := range open[max(0, len(open)-3):] {
		m.whyButton(q.Task, true)
	}
}

// blockedBy adds why a task is blocked, what was tried and what it needs: all that its own
// message would say.
func (m *Message) blockedBy(q ledger.Question) {
	m.whole(q.Text)
	m.excerpt(q.Text, q.Excerpt)
	m.labelled("Tried", q.Tried)
	m.labelled("Needs", q.Needs)
}

// settledBlock says what became of a blocked task: "✓ #3 (q3): Retry, by Mira 03:20".
func settledBlock(x loop.Answered, task string, now time.Time) string {
	head := " " + shortID(task) + " (" + x.ID + "): "
	if x.By == "" {
		return SignAway + head + Cut(Clean(x.Text), 40) + ", " + Clock(x.At, now)
	}
	by := Cut(Clean(x.By), 12)
	if x.By == "console" {
		by = theHost
	}
	w := wordingOf(ledger.Question{Kind: ledger.AskBlocked})
	verb, _ := w.verb(x.Choice)
	what := orElse(orElse(verb.settled, upper(Clean(x.Choice))), "answered")
	if verb.settled == "" {
		what += ","
	}
	return SignDone + head + what + " by " + by + " " + Clock(x.At, now)
}

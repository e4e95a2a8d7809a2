package delivery

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// tail is the end of a first line that has to survive its being cut: the id to
// answer, or the clock.
var tail = regexp.MustCompile(`(?: \([^()]{1,12}\)| · [0-9]{2}:[0-9]{2})$`)

// againLine says why a message whose first sending is in doubt comes again.
// restart is when nightporter was started after that sending; zero: the doubt
// is of this process's own making.
func againLine(class ledger.MessageClass, restart, now time.Time) string {
	why := "the first is in doubt."
	if class != ledger.ClassAsk {
		return "Sent again: " + why
	}
	if !restart.IsZero() {
		why = "a restart at " + bot.Clock(restart, now) + " left the first in doubt."
	}
	return "Sent again: " + why + " Answer either."
}

// openLine says of a question that had to wait when it was asked.
func openLine(asked, now time.Time) string {
	return "Asked " + bot.Clock(asked, now) + ", still open."
}

// mark is a message with lines added below its first one, and with the sign of
// what comes again in front of it. Where the sign leaves too little room, the
// first line is cut, and stands whole below, as it does in any message.
func mark(m bot.Message, again bool, lines ...string) bot.Message {
	if len(m.Lines) == 0 || len(lines) == 0 && !again {
		return m
	}
	m.Lines = slices.Clone(m.Lines)
	first := m.First()
	at := 1
	if head, cut := strings.CutSuffix(first, "…"); cut && len(m.Lines) > 1 && strings.HasPrefix(m.Lines[1].Text, head) {
		at = 2
	}
	if again && !strings.HasPrefix(first, bot.SignAgain) {
		signed := bot.SignAgain + " " + first
		if bot.Width(signed) > bot.FirstWidth {
			end := tail.FindString(signed)
			signed = bot.Cut(strings.TrimSuffix(signed, end), bot.FirstWidth-bot.Width(end)) + end
			if at == 1 {
				m.Lines = slices.Insert(m.Lines, 1, bot.Line{Text: first})
				at = 2
			}
		}
		m.Lines[0].Text = signed
	}
	for i, text := range lines {
		m.Lines = slices.Insert(m.Lines, at+i, bot.Line{Text: text})
	}
	return m
}

// lateMessage opens what a chat gets after an outage: when it was, what
// follows, and where the rest is. kept is what is still queued.
func lateMessage(platform string, o outage, kept []ledger.QueuedMessage, dropped int, now time.Time) bot.Message {
	from, to := bot.Clock(o.from, now), bot.Clock(o.to, now)
	first := bot.SignLook + " " + platform + " out of reach " + from + "–" + to
	if bot.Width(first) > bot.FirstWidth { // another day's clock is longer
		first = bot.SignLook + " " + platform + " away " + from + "–" + to
	}
	if !o.away {
		first = bot.SignLook + " Sent late: held up since " + from
	}
	var asks []string
	others := 0
	for _, m := range kept {
		switch {
		case m.Edit:
		case m.Class == ledger.ClassAsk:
			asks = append(asks, m.Key)
		default:
			others++
		}
	}
	var text []string
	if o.away { // that nightporter itself was there is known
		text = append(text, "Work went on.")
	}
	follow := ""
	if n := len(asks); n > 0 {
		follow = fmt.Sprintf("%d questions follow with their times", n)
		if n == 1 {
			follow = "1 question follows with its time"
		}
		if ids := someIDs(asks); ids != "" {
			follow += " (" + ids + ")"
		}
		if others > 0 {
			follow += fmt.Sprintf(", and %s", messages(others))
		}
	} else if others == 1 {
		follow = "1 message follows"
	} else if others > 1 {
		follow = fmt.Sprintf("%d messages follow", others)
	}
	switch {
	case follow != "" && dropped > 0:
		text = append(text, follow+"; what is over is left out.")
	case follow != "":
		text = append(text, follow+".")
	case dropped > 0:
		text = append(text, "What is over is left out.")
	}
	text = append(text, "The rest is in /status.")
	return bot.Message{
		Key:   "late." + strings.ToLower(platform),
		Lines: []bot.Line{{Text: bot.Cut(first, bot.FirstWidth)}, {Text: strings.Join(text, " ")}},
	}
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// someIDs are the first three keys: "q5 q6 q7 …".
func someIDs(keys []string) string {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == "" })
	if len(keys) > 3 {
		keys = append(keys[:3], "…")
	}
	return strings.Join(keys, " ")
}

// movedDown takes the place of a live message that went further down and
// cannot be deleted any more.
func movedDown() bot.Message {
	return bot.Message{Key: "status.moved", Lines: []bot.Line{{Text: "→ moved down"}}}
}

package delivery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// firstLineID matches the id at the end of a first line, which a reader answers with.
var firstLineID = regexp.MustCompile(` \(([^()]{1,12})\)$`)

// resentLine explains why a message that may have arrived is sent again.
// restart is the start of this process if an earlier process left the doubt,
// and zero if this process did.
func resentLine(class ledger.MessageClass, restart, now time.Time) string {
	why := "the first is in doubt."
	if class != ledger.ClassAsk {
		return "Sent again: " + why
	}
	if !restart.IsZero() {
		why = "a restart at " + bot.Clock(restart, now) + " left the first in doubt."
	}
	return "Sent again: " + why + " Answer either."
}

// stillOpenLine says when a question was asked whose delivery was delayed.
func stillOpenLine(asked, now time.Time) string {
	return "Asked " + bot.Clock(asked, now) + ", still open."
}

// annotate returns m with lines inserted below its first line and, for a copy
// that is sent again, with bot.SignAgain in front. If the sign makes the first
// line too wide, one with an id follows a line of its own that names the id, and any
// other goes on in the second line. m is not changed.
func annotate(m bot.Message, again bool, lines ...string) bot.Message {
	if len(m.Lines) == 0 || len(lines) == 0 && !again {
		return m
	}
	first, body := m.First(), m.Lines[1:]
	cut, wasCut := strings.CutSuffix(first, "…")
	switch {
	case len(body) == 0:
	case body[0].Rest:
		first, body = bot.JoinFirst(first, body[0].Text), body[1:]
	case wasCut && strings.HasPrefix(body[0].Text, cut): // by an earlier release
		first, body = body[0].Text, body[1:]
	}
	head := m.Lines[:len(m.Lines)-len(body)]
	if again && !strings.HasPrefix(first, bot.SignAgain) {
		head = bot.FirstLines(bot.SignAgain + " " + first)
		if id := firstLineID.FindStringSubmatch(first); id != nil && len(head) > 1 {
			head = []bot.Line{{Text: bot.SignAgain + " " + id[1] + " again"}, {Text: first}}
		}
	}
	at := len(head)
	m.Lines = slices.Concat(head, body)
	for i, text := range lines {
		m.Lines = slices.Insert(m.Lines, at+i, bot.Line{Text: text})
	}
	return m
}

// outageMessage is the first message of a chat after an outage: its duration,
// the number of messages that follow, and where to read the rest. kept holds the
// messages still queued.
func outageMessage(platform string, o outage, kept []ledger.QueuedMessage, dropped int, now time.Time) bot.Message {
	from, to := bot.Clock(o.from, now), bot.Clock(o.to, now)
	first := bot.SignLook + " " + platform + " out of reach " + from + "–" + to
	if bot.Width(first) > bot.FirstWidth { // the clock of an earlier day includes the weekday
		first = bot.SignLook + " " + platform + " away " + from + "–" + to
	}
	if !o.observed {
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
	if o.observed { // after a restart nothing is known about the work meanwhile
		text = append(text, "Work went on.")
	}
	follow := ""
	if n := len(asks); n > 0 {
		follow = fmt.Sprintf("%d questions follow with their times", n)
		if n == 1 {
			follow = "1 question follows with its time"
		}
		if ids := firstKeys(asks); ids != "" {
			follow += " (" + ids + ")"
		}
		if others > 0 {
			follow += fmt.Sprintf(", and %s", countMessages(others))
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

func countMessages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// firstKeys joins the first three non-empty keys: "q5 q6 q7 …".
func firstKeys(keys []string) string {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == "" })
	if len(keys) > 3 {
		keys = append(keys[:3], "…")
	}
	return strings.Join(keys, " ")
}

// movedMessage replaces an old live message that the platform does not delete.
func movedMessage() bot.Message {
	return bot.Message{Key: "status.moved", Lines: []bot.Line{{Text: "→ moved down"}}}
}

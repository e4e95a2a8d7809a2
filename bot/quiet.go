package bot

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// quietHours handles /quiet. Quiet hours belong to a chat, so the host and a
// foreground run have none.
func quietHours(ctx context.Context, h sharedRequest) (Message, bool, error) {
	if !h.stays || h.r.Actor == consoleActor {
		m := newMessage("quiet", SignLater+" Quiet hours are a chat's")
		m.add("Type /quiet in the chat; [digest] quiet in the configuration is for all.")
		return m, true, nil
	}
	m, err := chatQuiet(ctx, h.host, h.r, h.c)
	return m, true, err
}

// chatQuiet shows or changes the quiet hours of the request's chat (docs/spec 6.4).
func chatQuiet(ctx context.Context, host DaemonService, r Request, c Command) (Message, error) {
	chat := orElse(r.Chat, r.Actor)
	if c.Target != "" {
		typed := ledger.Hours(c.Target)
		if until, is := untilClock(c.Target, r.Time); is {
			typed = ledger.QuietUntil(until, "")
		}
		a, err := host.Do(ctx, loop.Input{Key: r.Key, Time: r.Time, Actor: r.Actor, Name: r.Name, Body: people.SetQuiet{Chat: chat, Hours: typed}})
		if err != nil {
			return Message{}, err
		}
		if !a.OK {
			m := refusal("quiet.wrong", SignFailed+" Not a part of the day")
			m.add(a.Text)
			return m, nil
		}
	}
	until, hours := host.Shared().QuietHours(chat, host.QuietHours()).Until()
	if r.Time.Before(until) {
		m := newMessage("quiet", SignDone+" Quiet until "+Clock(until.In(r.Time.Location()), r.Time))
		m.add("All comes, without a sound; only a standstill rings, once a night.")
		m.add(thenQuiet(hours))
		m.button("Ring again", "/quiet "+orElse(string(hours), "default"))
		return m, nil
	}
	switch {
	case hours == "" || hours == ledger.QuietOff:
		m := newMessage("quiet", SignLater+" No quiet hours")
		m.add("This chat rings at any time. Set them: /quiet 23:00-07:00")
		return m, nil
	case hours.Has(r.Time):
		m := newMessage("quiet", SignDone+" Quiet now, "+string(hours))
		m.add("All comes, without a sound; only a standstill rings, once a night.")
		m.button("Off", "/quiet off")
		return m, nil
	}
	m := newMessage("quiet", SignDone+" Quiet "+string(hours))
	m.add("All comes then, too, without a sound; only a standstill rings, once a night.")
	m.button("Off", "/quiet off")
	return m, nil
}

// thenQuiet says what holds after hours that hold once.
func thenQuiet(daily ledger.Hours) string {
	if daily == "" || daily == ledger.QuietOff {
		return "Then it rings as before."
	}
	return "Then quiet " + string(daily) + " as before."
}

// untilForm matches a moment of today or tomorrow: "until 9", "until 9:30", "till
// 9pm", "bis 9 Uhr".
var untilForm = regexp.MustCompile(`^(?:until|till|til|bis)\s+([01]?[0-9]|2[0-3])(?:[:.]([0-5][0-9]))?\s*(am|pm|h|uhr)?$`)

// untilClock returns the next time at which the clock shows what the words name, in
// now's zone.
func untilClock(words string, now time.Time) (at time.Time, is bool) {
	m := untilForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(words)))
	if m == nil {
		return time.Time{}, false
	}
	hour, _ := strconv.Atoi(m[1]) // digits, by the form
	minute, _ := strconv.Atoi(m[2])
	switch {
	case (m[3] == "am" || m[3] == "pm") && (hour == 0 || hour > 12):
		return time.Time{}, false
	case m[3] == "pm" && hour < 12:
		hour += 12
	case m[3] == "am" && hour == 12:
		hour = 0
	}
	y, month, d := now.Date()
	if at = time.Date(y, month, d, hour, minute, 0, 0, now.Location()); !at.After(now) {
		at = time.Date(y, month, d+1, hour, minute, 0, 0, now.Location())
	}
	return at, true
}

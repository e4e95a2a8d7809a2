package people

import "github.com/nightporter/nightporter/loop/ledger"

// QuietHours returns the quiet hours of a chat: its own if it has any,
// otherwise those of the configuration.
func (s State) QuietHours(chat string, otherwise ledger.Hours) ledger.Hours {
	own, ok := s.Quiet[chat]
	if !ok {
		return otherwise
	}
	if until, daily := own.Until(); !until.IsZero() && daily == "" {
		return ledger.QuietUntil(until, otherwise)
	}
	return own
}

// decide changes a chat's quiet hours.
func (b SetQuiet) decide(d *decision) {
	hours, err := ledger.ParseHours(string(b.Hours))
	if err != nil {
		d.refuse(ledger.CodeHours, "%s", err)
		return
	}
	if until, daily := hours.Until(); !until.IsZero() && daily == "" {
		_, daily = d.Quiet[b.Chat].Until()
		hours = ledger.QuietUntil(until, daily)
	}
	if d.Quiet[b.Chat] == hours { // "" for a chat without hours of its own
		d.accept(ledger.CodeSame, hoursText(hours))
		return
	}
	d.add(ledger.QuietSet{Chat: b.Chat, Hours: hours})
	d.accept(ledger.CodeSet, hoursText(hours))
}

// hoursText describes quiet hours to the people in a chat.
func hoursText(h ledger.Hours) string {
	switch h {
	case "":
		return "Quiet hours as in the configuration"
	case ledger.QuietOff:
		return "No quiet hours here any more"
	}
	if until, _ := h.Until(); !until.IsZero() {
		return "Quiet until " + until.Format("15:04")
	}
	return "Quiet " + string(h)
}

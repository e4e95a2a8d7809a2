package people

import "github.com/nightporter/nightporter/loop/ledger"

// QuietHours returns the quiet hours of a chat: its own if it has any,
// otherwise those of the configuration.
func (s State) QuietHours(chat string, otherwise ledger.Hours) ledger.Hours {
	if own, ok := s.Quiet[chat]; ok {
		return own
	}
	return otherwise
}

// decide changes a chat's quiet hours.
func (b SetQuiet) decide(d *decision) {
	hours, err := ledger.ParseHours(string(b.Hours))
	if err != nil {
		d.refuse(ledger.CodeHours, "%s", err)
		return
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
	return "Quiet " + string(h)
}

package loop

import "github.com/nightporter/nightporter/loop/ledger"

// QuietHours returns the quiet hours of a chat: its own if it has any,
// otherwise those of the configuration.
func (h Shared) QuietHours(chat string, otherwise ledger.Hours) ledger.Hours {
	if own, ok := h.Quiet[chat]; ok {
		return own
	}
	return otherwise
}

// setQuiet changes a chat's quiet hours.
func (d *decision) setQuiet(b SetQuiet) {
	hours, err := ledger.ParseHours(string(b.Hours))
	if err != nil {
		d.refuse(ledger.CodeHours, "%s", err)
		return
	}
	if now, own := d.Shared.Quiet[b.Chat]; own && now == hours || !own && hours == "" {
		d.answer = ledger.Answer{OK: true, Code: ledger.CodeSame, Text: hoursText(hours)}
		return
	}
	d.addShared(ledger.QuietSet{Chat: b.Chat, Hours: hours})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeSet, Text: hoursText(hours)}
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

package bot

import "time"

// Unsaved announces that nothing can be committed, and so nothing begins, since a
// time. It is sent without the outbox, which lies on the same disk.
func Unsaved(text string, since, now time.Time) Message {
	m := newMessage("outage", SignLook+" nothing can be saved · "+now.Format("15:04"))
	m.add("Since " + Clock(since, now) + ":")
	m.quote(text)
	m.add("What runs goes on; nothing new begins. Make room on the host.")
	m.add("Goes on by itself. Sent directly: commands get no answer until then.")
	return m
}

// SavedAgain announces the end of what Unsaved announced.
func SavedAgain(since, now time.Time) Message {
	m := newMessage("outage.over", SignAgain+" saved again · "+now.Format("15:04"))
	m.add("Nothing could be saved for " + Took(now.Sub(since)) + ". All goes on.")
	return m
}

package bot

import "github.com/nightporter/nightporter/loop/ledger"

// Hearing is the reply to a recording until its words are known.
func Hearing(project, id string) Message {
	m := newMessage("voice.hearing", SignLater+" "+id+" is being written down")
	m.Project = project
	m.add("Its words will stand here.")
	return m
}

// Heard renders what became of a recording, in the message of Hearing.
func Heard(project string, b ledger.VoiceHeard) Message {
	if b.Error != "" {
		m := newMessage("voice.failed", SignFailed+" "+b.ID+" not queued: no words")
		m.Project = project
		m.quote(b.Text)
		m.whole(b.Error)
		m.add("Type it, or send it again.")
		return m
	}
	m := newMessage("voice.heard", SignDone+" "+b.ID+" heard: "+b.As)
	m.Project = project
	m.quote(b.Text)
	return m
}

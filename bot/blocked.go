package bot

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop"
)

// Blocked describes a project that cannot be worked on now, such as one whose
// repository is not mounted. why is one line; rests reports that an unfinished
// run waits for it. now is in the person's time zone.
func Blocked(project, why string, rests bool, now time.Time) Message {
	rest := " cannot start"
	if rests {
		rest = " waits"
	}
	m := newMessage("blocked", SignLook+" "+Cut(Clean(project), 16)+rest+" · "+now.Format("15:04"))
	m.quote(why)
	if rests {
		m.add("Goes on by itself when that is mended. All other projects go on.")
	} else {
		m.add("Looked at again by itself, and at /run " + Clean(project) + ".")
	}
	m.Project = project
	return m
}

// Standing describes a project whose unfinished run waits because it cannot be
// worked on, for a terminal. The reason is in the project's warning.
func Standing(s loop.State, now time.Time) Message {
	t := Count(s)
	m := newMessage("blocked.status", firstLine(SignLook, s.Project.Name, t.String()+", not worked on", " · "+now.Format("15:04")))
	m.add(standingLine(s, t))
	return m
}

// Unblocked tells that a project for which Blocked was sent can be worked on
// again.
func Unblocked(project string, now time.Time) Message {
	m := newMessage("unblocked", SignDone+" "+Cut(Clean(project), 16)+" is back · "+now.Format("15:04"))
	m.add("A run that waited goes on.")
	m.Project = project
	return m
}

// blockedOf returns why a project cannot be worked on, "" if it can or if that is
// not known.
func blockedOf(service Service, project string) (why string, rests bool) {
	if b, ok := service.(Blocker); ok {
		return b.Blocked(project)
	}
	return "", false
}

// stillBlocked looks again at a blocked project whose unfinished run waits, and
// returns the refusal of /run if it still cannot be worked on.
func stillBlocked(ctx context.Context, d dispatch) (Message, bool) {
	b, ok := d.service.(Blocker)
	if !ok {
		return Message{}, false
	}
	if _, rests := b.Blocked(d.project); !rests {
		return Message{}, false
	}
	b.LookAgain(ctx)
	why, rests := b.Blocked(d.project)
	m := Blocked(d.project, why, rests, d.r.Time)
	m.Refused = true
	return m, rests
}

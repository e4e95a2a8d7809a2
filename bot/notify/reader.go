package notify

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// reader is a chat that is told of a project.
type reader struct {
	chat   string
	people []ledger.Person // that are let in and read there; none in a thread of strangers
}

// readers are the chats that a project's news goes to: its own threads, which
// everybody of their platform reads who is in there, and the own chats of
// everybody else. So nobody is told twice (SPEC 6.1, PHONE 3.9).
func (c *composer) readers() []reader {
	var threads, alone []reader
	for _, chat := range c.threads(c.project()) {
		threads = append(threads, reader{chat: chat})
	}
	for _, p := range c.last.Shared.People {
		if n := slices.IndexFunc(threads, func(r reader) bool { return c.reads(r.chat, p) }); n >= 0 {
			threads[n].people = append(threads[n].people, p)
			continue
		}
		alone = append(alone, reader{chat: p.ID, people: []ledger.Person{p}})
	}
	return append(threads, alone...)
}

// only reports whether nobody reads there but one person: what they have just
// asked for makes no sound.
func (r reader) only(id string) bool {
	return len(r.people) > 0 && !slices.ContainsFunc(r.people, func(p ledger.Person) bool { return p.ID != id })
}

// reads reports whether somebody reads in a thread.
func (c *composer) reads(thread string, p ledger.Person) bool {
	return platform(thread) == platform(p.ID) && (c.o.Reads == nil || c.o.Reads(thread, p.ID))
}

// project is the one that the decision is about, "" for the house alone.
func (c *composer) project() string {
	if name := c.last.Project.Name; name != "" {
		return name
	}
	return c.in.Project
}

// threads are a project's own chats, at most one a platform.
func (c *composer) threads(project string) []string {
	if c.o.Threads == nil || project == "" {
		return nil
	}
	return c.o.Threads(project)
}

// platform is what an address begins with: "telegram", "slack".
func platform(address string) string {
	name, _, _ := strings.Cut(address, ":")
	return name
}

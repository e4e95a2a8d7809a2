package notify

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// reader is a chat that gets a project's news.
type reader struct {
	chat   string
	people []ledger.Person // paired people who read the chat; none if a thread has only strangers
}

// readers returns the chats that get a project's news: its own threads, and the
// private chats of all people who do not read one of the threads. So nobody is
// told twice (docs/spec 6.1, 23.9).
func (c *composer) readers() []reader {
	var threads, alone []reader
	for _, chat := range c.threads(c.project()) {
		threads = append(threads, reader{chat: chat})
	}
	for _, p := range c.last.Shared.People {
		if n := slices.IndexFunc(threads, func(r reader) bool { return c.readsThread(r.chat, p) }); n >= 0 {
			threads[n].people = append(threads[n].people, p)
			continue
		}
		alone = append(alone, reader{chat: p.ID, people: []ledger.Person{p}})
	}
	return append(threads, alone...)
}

// isOnly reports whether one person alone reads the chat. The result of their
// own command then makes no sound.
func (r reader) isOnly(id string) bool {
	return len(r.people) > 0 && !slices.ContainsFunc(r.people, func(p ledger.Person) bool { return p.ID != id })
}

// readsThread reports whether a person reads a thread.
func (c *composer) readsThread(thread string, p ledger.Person) bool {
	return platform(thread) == platform(p.ID) && (c.o.Reads == nil || c.o.Reads(thread, p.ID))
}

// project returns the project of the decision, or "" if only the shared state
// changes.
func (c *composer) project() string {
	if name := c.last.Project.Name; name != "" {
		return name
	}
	return c.in.Project
}

// threads returns a project's own chats, at most one a platform.
func (c *composer) threads(project string) []string {
	if c.o.Threads == nil || project == "" {
		return nil
	}
	return c.o.Threads(project)
}

// platform returns the first part of an address: "telegram", "slack".
func platform(address string) string {
	name, _, _ := strings.Cut(address, ":")
	return name
}

package chat

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
)

// Threads maps projects to their threads. A thread is a chat that belongs to
// one project: a topic or group of Telegram, a channel of Slack. Each platform
// has at most one for a project. News of the project goes to the thread instead
// of each person's private chat, and commands typed there concern the project.
type Threads struct {
	catalog *project.Catalog
	moves   migrations
	titles  sync.Map               // names of threads by address, learned from messages
	accepts func(chat string) bool // whether a chat accepts messages, as far as is known
	gone    sync.Map               // topics that were deleted, by address
}

// NewThreads returns the threads of a catalog's projects. moved stores the
// addresses of migrated groups.
func NewThreads(c *project.Catalog, moved Cursors) *Threads {
	return &Threads{catalog: c, moves: migrations{store: moved}, accepts: func(string) bool { return true }}
}

// Of returns the addresses that news of a project goes to: its group instead of a
// topic that was deleted. It omits threads that refuse messages: their news goes to
// private chats.
func (t *Threads) Of(project string) []string {
	pr, _ := t.catalog.Find(project)
	all := t.of(pr)
	for n, chat := range all {
		if _, gone := t.gone.Load(chat); gone {
			all[n] = platform.Group(chat)
		}
	}
	return slices.DeleteFunc(all, func(chat string) bool { return !t.accepts(chat) })
}

// of returns the addresses of a project's threads on the platforms in use.
func (t *Threads) of(pr config.Project) []string {
	var out []string
	for _, p := range platform.Used(t.catalog.Begun()) {
		if chat := t.on(p, pr); chat != "" {
			out = append(out, chat)
		}
	}
	return out
}

// on returns the current address of a project's thread on a platform, "" for
// none.
func (t *Threads) on(p platform.Platform, pr config.Project) string {
	written := p.Thread(pr)
	if written == "" {
		return ""
	}
	group := p.Group(written)
	return t.moves.of(group) + strings.TrimPrefix(written, group)
}

// all returns the addresses of all projects' threads.
func (t *Threads) all() []string {
	var out []string
	for _, pr := range t.catalog.Config().Projects {
		out = append(out, t.of(pr)...)
	}
	return out
}

// Project returns the project that a chat belongs to, "" for a chat of all
// projects. A project's group includes its topics, except topics that are
// another project's thread.
func (t *Threads) Project(chat string) string {
	if name := t.exact(chat); name != "" {
		return name
	}
	return t.exact(platform.Group(chat))
}

// exact returns the project whose thread has exactly this address.
func (t *Threads) exact(chat string) string {
	for _, pr := range t.catalog.Config().Projects {
		if slices.Contains(t.of(pr), chat) {
			return pr.Name
		}
	}
	return ""
}

// Place names the project's thread for the reader of r, on the reader's
// platform; for a request from the host it names all threads.
func (t *Threads) Place(project string, r bot.Request) string {
	pr, _ := t.catalog.Find(project)
	var names []string
	for _, chat := range t.of(pr) {
		switch name, _, _ := strings.Cut(chat, ":"); {
		case chat == r.Chat:
			return "this chat"
		case r.Actor == "console" || strings.HasPrefix(r.Actor, name+":"):
			names = append(names, t.name(chat))
		}
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case r.Actor == "console" || !slices.ContainsFunc(t.catalog.Config().Projects, func(pr config.Project) bool { return len(t.of(pr)) > 0 }):
		return ""
	case r.Chat == "":
		return "this chat"
	}
	return "in private"
}

// name returns a thread's title or, until a message reveals it, its number.
func (t *Threads) name(chat string) string {
	p, _ := platform.Of(chat) // the prefix is always known: the address comes from the table
	kind, id := p.ThreadName(strings.TrimPrefix(chat, p.Prefix()))
	if title, known := t.titles.Load(chat); known {
		return fmt.Sprintf("%s %q", kind, bot.Cut(title.(string), 20))
	}
	return kind + " " + id
}

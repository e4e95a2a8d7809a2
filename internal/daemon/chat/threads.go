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

// Threads knows the chats that are a project's own: where the people of one
// platform talk of it alone, a topic or group of Telegram, a channel of Slack.
// There is one for each platform at the most. What is told of the project goes
// there instead of to everybody of that platform, and what they type there is
// for the project.
type Threads struct {
	catalog *project.Catalog
	moves   moves
	titles  sync.Map               // what threads are called, by address; the platforms say it now and then
	accepts func(chat string) bool // as far as is known
}

// NewThreads returns the threads of a catalog's projects. moved says where the
// addresses of groups that moved are kept.
func NewThreads(c *project.Catalog, moved Cursors) *Threads {
	return &Threads{catalog: c, moves: moves{store: moved}, accepts: func(string) bool { return true }}
}

// Of are the addresses that news of a project goes to. One that takes nothing
// is none: then everybody hears it in their own chat.
func (t *Threads) Of(project string) []string {
	pr, _ := t.catalog.Find(project)
	return slices.DeleteFunc(t.of(pr), func(chat string) bool { return !t.accepts(chat) })
}

// of are the addresses of a project's threads, on the platforms in use.
func (t *Threads) of(pr config.Project) []string {
	var out []string
	for _, p := range platform.Used(t.catalog.Begun()) {
		if chat := t.on(p, pr); chat != "" {
			out = append(out, chat)
		}
	}
	return out
}

// on is the address of a project's thread on a platform, where it moved to.
func (t *Threads) on(p platform.Platform, pr config.Project) string {
	written := p.Thread(pr)
	if written == "" {
		return ""
	}
	group := p.Group(written)
	return t.moves.of(group) + strings.TrimPrefix(written, group)
}

// all are the addresses of the threads of all projects.
func (t *Threads) all() []string {
	var out []string
	for _, pr := range t.catalog.Config().Projects {
		out = append(out, t.of(pr)...)
	}
	return out
}

// Project is the project whose thread a chat is, "" for a chat that all share.
// A group that is one's is so with the topics that are nobody's.
func (t *Threads) Project(chat string) string {
	if name := t.exact(chat); name != "" {
		return name
	}
	return t.exact(platform.Group(chat))
}

// exact is the project whose thread has just this address.
func (t *Threads) exact(chat string) string {
	for _, pr := range t.catalog.Config().Projects {
		if slices.Contains(t.of(pr), chat) {
			return pr.Name
		}
	}
	return ""
}

// Place names the thread of a project on the platform of who asks; from the
// host all of them.
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

// name is what people call a thread; by its number, until somebody wrote there.
func (t *Threads) name(chat string) string {
	p, _ := platform.Of(chat) // an address of the table itself
	kind, id := p.ThreadName(strings.TrimPrefix(chat, p.Prefix()))
	if title, known := t.titles.Load(chat); known {
		return fmt.Sprintf("%s %q", kind, bot.Cut(title.(string), 20))
	}
	return kind + " " + id
}

package operator

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Service is where people's lines arrive: it is bot's view of the engine, and
// the operator socket's handler.
type Service struct {
	o       Options
	watched timelines // of runs that somebody looks at
}

var (
	_ bot.Service            = (*Service)(nil)
	_ socket.OperatorHandler = (*Service)(nil)
)

// Options are what a Service works with.
type Options struct {
	Engine   Engine
	Chats    Chats // nil where Stays is false
	Store    *store.Store
	Projects *project.Planner
	Sessions Sessions
	Digests  *digest.Maker
	Threads  bot.Placer         // where projects are talked of; nil where Stays is false
	Ways     func() []PairWay   // in which a pairing code can be sent
	Changes  *service.Broadcast // rung after every committed entry
	Closing  <-chan struct{}    // closed when the daemon is about to end: nobody waits for news any more
	Person   string             // who types at the terminal
	Stays    bool               // every configured project is worked on, and shown
	Serves   bool               // this process stays to act on what it is told
	Log      *slog.Logger
}

// Engine decides inputs and knows the state of all projects.
type Engine interface {
	Do(ctx context.Context, in loop.Input) (loop.Answer, error)
	State(project string) (loop.State, bool)
	Projects() []string
	Shared() loop.Shared
}

// Chats commits what is answered in chats, with the cursor of what was asked.
type Chats interface {
	DoWith(ctx context.Context, in loop.Input, with func(loop.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (loop.Answer, error)
	Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error
}

// Sessions shows what sessions print.
type Sessions interface {
	Glimpse(session string, most int) (agent.OutputTail, error)
}

// New returns the service.
func New(o Options) *Service { return &Service{o: o} }

// Do decides an input.
func (svc *Service) Do(ctx context.Context, in loop.Input) (loop.Answer, error) {
	return svc.o.Engine.Do(ctx, in)
}

// State returns a project's state. One that is configured, and of which the
// ledger knows nothing yet, is there too where it is worked on.
func (svc *Service) State(project string) (loop.State, bool) {
	s, ok := svc.o.Engine.State(project)
	if !ok && svc.o.Stays {
		if _, ok = svc.o.Projects.Find(project); ok {
			s.Project.Name = project
		}
	}
	return s, ok
}

// Projects returns the names of all projects, sorted: those of the ledger, and
// under `up` those of the configuration.
func (svc *Service) Projects() []string {
	names := svc.o.Engine.Projects()
	if svc.o.Stays {
		for _, pr := range svc.o.Projects.Config().Projects {
			names = append(names, pr.Name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }) // the house is none
}

// project is the one that was named, or the only one there is.
func (svc *Service) project(name string) string {
	if names := svc.Projects(); name == "" && len(names) == 1 {
		return names[0]
	}
	return name
}

func reply(text string, data any) (api.Reply, error) {
	raw, err := json.Marshal(data)
	return api.Reply{OK: true, Text: text, Data: raw}, err
}

// PairWay is a platform by which a code can be sent.
type PairWay struct {
	Platform string `json:"platform"`      // its name in the table of platforms
	Bot      string `json:"bot,omitempty"` // name of the bot, where it is known and people use it
}

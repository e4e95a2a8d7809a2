package operator

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Service answers the operator: it implements the commands' view of the engine
// (bot.Service) and the handler of the operator's socket. Create it with New.
// All methods are safe for concurrent use.
type Service struct {
	o       Options
	watched timelines // timelines of the runs shown on live screens
	rests   paneRests // of large live screens
	figures statsFolds
}

var (
	_ bot.Service            = (*Service)(nil)
	_ bot.SourceChecker      = (*Service)(nil)
	_ bot.StatsReader        = (*Service)(nil)
	_ socket.OperatorHandler = (*Service)(nil)
)

// Options are the dependencies of a Service. All fields are required unless a
// comment says otherwise.
type Options struct {
	Attachments *attachment.Store // files that people sent
	Engine      Engine
	Chats       Chats // nil where Stays is false
	Store       *store.Store
	Projects    *project.Planner
	Sessions    Sessions
	Digests     *digest.Maker
	Readings    *project.Readings                    // what the projects' sources say between runs; nil where one run alone is worked on
	Threads     bot.Placer                           // names the chats of a project; nil where Stays is false
	Ways        func(context.Context) []PairPlatform // platforms on which a pairing code can be sent
	Changes     *service.Broadcast                   // signalled after every committed entry
	Closing     <-chan struct{}                      // closed when the daemon is about to end; ends long polls
	Person      string                               // name of the operator, for the ledger
	Stays       bool                                 // all configured projects are worked on and shown
	Serves      bool                                 // this process keeps running and carries out inputs
	Log         *slog.Logger
}

// Engine decides inputs and returns the state of every project.
type Engine interface {
	Folds
	Do(ctx context.Context, in loop.Input) (ledger.Answer, error)
	State(project string) (loop.State, bool)
	Projects() []string
	Shared() loop.Shared
	// Written waits until all decided changes to people's own files are written.
	Written(ctx context.Context) error
	// Unread returns why a project's entries could not be folded, nil for none.
	Unread(project string) error
}

// Folds returns the state of each stream, to be compared with its entries, and is
// told of one that differs.
type Folds interface {
	Folded(stream string) (s loop.State, seq int64)
	Distrust(stream string)
}

// Chats commits answers to chat messages in one transaction with the cursor of
// the message that they answer.
type Chats interface {
	DoWith(ctx context.Context, in loop.Input, with func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (ledger.Answer, error)
	Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error
}

// Sessions returns the latest output of a session, and the last action in it.
type Sessions interface {
	Transcript(session string, most int) ([]agent.Passage, error)
	OutputStamp(session string) string
	OutputTail(session string, most int) (agent.OutputTail, error)
	LastAction(session string) (string, error)
}

// New returns a service for these dependencies.
func New(o Options) *Service { return &Service{o: o} }

// now returns the time in the configured zone: people read it by their own clock,
// wherever the host stands.
func (svc *Service) now() time.Time { return time.Now().In(svc.o.Projects.Zone()) }

// Do decides an input of the operator.
func (svc *Service) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	return svc.o.Engine.Do(ctx, in)
}

// State returns a project's state, between runs with the tasks as its source has them
// now. It also finds a configured project without any ledger entry, unless this process
// works on one run alone.
func (svc *Service) State(project string) (loop.State, bool) {
	s, ok := svc.recorded(project)
	return svc.o.Readings.Known(s), ok
}

// recorded returns the state that follows from the ledger alone. That of a configured
// project without any entry is empty but for the name.
func (svc *Service) recorded(project string) (loop.State, bool) {
	s, ok := svc.o.Engine.State(project)
	if !ok && svc.configured() {
		if _, ok = svc.o.Projects.Find(project); ok {
			s.Project.Name = project
		}
	}
	return s, ok
}

// configured reports whether the projects of the configuration count, also before they
// have an entry in the ledger.
func (svc *Service) configured() bool { return svc.o.Stays || !svc.o.Serves }

// SourceTrouble returns why a project's source could not be read the last time.
func (svc *Service) SourceTrouble(project string) string { return svc.o.Readings.Trouble(project) }

// lookTime is how long a look waits for the first reading of a source.
const lookTime = 2 * time.Second

// awaitSource waits until a project's source was read once, "" for all.
func (svc *Service) awaitSource(ctx context.Context, project string) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if !svc.o.Serves && svc.o.Readings != nil {
		svc.o.Readings.Read(ctx, project)
		return
	}
	svc.o.Readings.Await(ctx, project)
}

// Projects returns the names of all projects in the ledger and of the configuration,
// sorted; of the ledger alone where this process works on one run.
func (svc *Service) Projects() []string {
	names := svc.o.Engine.Projects()
	if svc.configured() {
		for _, pr := range svc.o.Projects.Config().Projects {
			names = append(names, pr.Name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }) // the stream of shared entries
}

// project returns the given name or, for "", the name of the only project. A process
// that only answers takes the only one of the ledger for it, too: the others of the
// configuration were never begun.
func (svc *Service) project(name string) string {
	if name != "" {
		return name
	}
	if names := svc.Projects(); len(names) == 1 {
		return names[0]
	}
	begun := slices.DeleteFunc(svc.o.Engine.Projects(), func(name string) bool { return name == "" })
	if !svc.o.Stays && len(begun) == 1 {
		return begun[0]
	}
	return ""
}

func reply(text string, data any) (api.Reply, error) {
	raw, err := json.Marshal(data)
	return api.Reply{OK: true, Text: text, Data: raw}, err
}

// PairPlatform is a platform on which a pairing code can be sent.
type PairPlatform struct {
	Platform string `json:"platform"`      // its name in the table of platforms
	Bot      string `json:"bot,omitempty"` // name of the bot; "" if unknown, or if people do not address it by name
}

package engine

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options configure an Engine. Ledger, Ports and Log are required.
type Options struct {
	Ledger Ledger
	// Ports opens a project's adapters for the settings of its run. An error
	// that a person can correct is a *ledger.InputError.
	Ports func(ctx context.Context, s ledger.Settings) (Ports, error)
	// Adder opens the task list of a repository alone, for tasks that are added while
	// no run has the project's adapters open. nil: tasks are only added to those. An
	// error that a person can correct is a *ledger.InputError.
	Adder func(repo string, source ledger.SourceRef) (Adder, error)
	// Attachments are the files that people sent. nil: there are none.
	Attachments Attachments
	// Transcribe turns a recording of a media type into words. An error that is no
	// fault of the machine says why there are none. nil: it cannot be done here.
	Transcribe func(ctx context.Context, id, typ string, data []byte) (string, error)
	// Observe is called with every committed entry, in order, from Run's
	// goroutine. It must not block. May be nil.
	Observe func(before, after loop.State, e ledger.Entry)
	// Compose returns the messages about a decision, which are committed with
	// it. It is called from Run's goroutine with the state before the decision,
	// and must not block. May be nil.
	Compose func(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing
	// Sent is called after a commit with the chats that have new messages in the
	// outbox, from any goroutine. It must not block. May be nil.
	Sent func(chats []string)
	// FreeDisk returns the free bytes on the disk of the state folder. nil skips
	// the check.
	FreeDisk func() (uint64, error)
	// Load returns the load average of the machine in the last minute. It is called from
	// Run's goroutine. nil: no run is held by it.
	Load func() (float64, error)
	// Outage is called when the ledger begins to refuse commits for a fault of the
	// machine, when the reason changes, and with the zero value when it takes them
	// again. It is called from Run's goroutine, and must not block. May be nil.
	Outage func(Outage)
	// KeptRefs returns how long hidden refs of a run are kept after its last capture.
	// It is called from any goroutine; nil: ledger.DefaultRetention.
	KeptRefs func() time.Duration
	Clock    func() time.Time // nil: time.Now
	Log      *slog.Logger

	// Skip reports whether Open goes on without a project whose entries cannot be
	// folded. Inputs for that project fail until TakeUp has read it. nil = never.
	Skip func(project string, err error) bool
	// Scheduler runs the engine's goroutines and waits; nil: sched.Runtime.
	Scheduler sched.Scheduler
}

// Engine runs the projects of one ledger. Its methods are safe for concurrent
// use, except that Run is called once.
type Engine struct {
	o          Options
	calls      inbox
	effects    counter
	carriesOut func(project string) bool // reports whether effects of a project are carried out; set once, by Run
	preparing  preparations
	writes     counter // effects in progress that write into people's files
	captures   captures
	saved      map[string]int64 // last entry of each stream's last snapshot
	unsaved    int              // entries since the last snapshots
	stalls     map[string]stall // projects whose inputs cannot be committed; of Run's goroutine
	owesTick   bool             // a stall ended by the commit of another project; of Run's goroutine
	clock      jumpMeter        // of Run's goroutine
	loadRead   time.Time        // when Load was called last, by the scheduler's clock; of Run's goroutine
	outage     Outage           // the last one that was told of; of Run's goroutine
	at         time.Time        // of the last input; of Run's goroutine
	same       int              // inputs of that time before it; of Run's goroutine
	again      signals          // for effects that wait for their next try
	pushed     signals          // for the next look at requests

	mu       sync.RWMutex     // guards the fields below; only Run's goroutine writes them, but for wrong
	wrong    map[string]bool  // streams of which no snapshots are saved, see Distrust
	heads    map[string]int64 // last entry of each stream
	shared   loop.Shared
	projects map[string]loop.Project
	ports    map[string]Ports
	watches  map[string]context.CancelFunc
	looks    map[string]context.CancelFunc // of open requests
	unread   map[string]error              // projects whose entries could not be folded
}

// State returns a project's state as of the last commit, and whether the project
// exists. The returned state is never changed.
func (e *Engine) State(project string) (loop.State, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	p, ok := e.projects[project]
	return loop.State{Shared: e.shared, Project: p}, ok
}

// Shared returns the state that all projects share, as of the last commit.
func (e *Engine) Shared() loop.Shared {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.shared
}

// Folded returns the state of one stream alone, as of its last commit, and the
// number of the last entry in it. A snapshot of it would hold the same.
func (e *Engine) Folded(stream string) (s loop.State, seq int64) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if stream == ledger.SharedStream {
		return loop.State{Shared: e.shared}, e.heads[stream]
	}
	return loop.State{Project: e.projects[strings.TrimPrefix(stream, ledger.ProjectStream(""))]}, e.heads[stream]
}

// Projects returns the names of all projects, sorted.
func (e *Engine) Projects() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	names := make([]string, 0, len(e.projects))
	for name := range e.projects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// With returns the messages and the chat's cursor to commit together with an
// input's decision, given the answer to that input.
type With func(a ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)

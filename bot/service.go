package bot

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Service is what the conversation needs of the engine.
type Service interface {
	// Do decides an input and returns after what it led to was committed.
	Do(ctx context.Context, in loop.Input) (loop.Answer, error)
	// State returns a project's state as it is now, false for an unknown one.
	State(project string) (loop.State, bool)
	// Projects returns the names of all projects.
	Projects() []string
	// Records returns the ledger's records of a task, by its id as written, or
	// of the last run where task is "", in order.
	Records(ctx context.Context, project, task string) ([]ledger.Record, error)
	// Runs returns the ids of a project's runs, ended long ago or not, in the
	// order in which they were planned.
	Runs(ctx context.Context, project string) ([]string, error)
	// RunRecords returns the ledger's records of a run, in order: of some types
	// alone, or all where none is named.
	RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error)
	// Diff returns the patch of a task, by its id as written, or of a run
	// ("r14"), or of the last run where target is "". "" means that nothing changed.
	Diff(ctx context.Context, project, target string) (string, error)
	// Hats returns a pattern and its hats: with pattern "" the project's own,
	// those of the run that is under way or of the one that would start now.
	// What a person has to mend, and a pattern that is not there, is a
	// *ledger.InputError.
	Hats(ctx context.Context, project, pattern string) (HatSet, error)
}

// HatSet is a pattern with all that counts for it.
type HatSet struct {
	Pattern  ledger.Pattern
	Hats     map[string]ledger.Hat // all that the project can use
	Agent    string                // of hats that name none
	Patterns []string              // all that the project can use
	Routes   string                // the pattern's, drawn in lines of at most FirstWidth columns
}

// DaemonService is the Service of `nightporter up`: it knows the paired people and can
// start runs. A foreground run is none.
type DaemonService interface {
	Service
	// Shared returns what the projects share.
	Shared() loop.Shared
	// QuietHours are those of chats that have none of their own.
	QuietHours() ledger.Hours
	// Configured returns the names of the projects that runs can be started
	// for, in the order of the configuration.
	Configured() []string
	// Offer resolves the settings of a run that somebody asks for and reads its
	// source. What a person has to mend is a *ledger.InputError.
	Offer(ctx context.Context, project string, f RunFlags) (loop.OfferRun, error)
}

// Placer is a DaemonService that knows the chats of its projects.
type Placer interface {
	// Place names the chat that a project's news goes to, as somebody reads it who
	// asks: `topic "shop"`, "this chat". "" where no project has one of its own.
	Place(project string, r Request) string
}

// Request is one line that somebody sent.
type Request struct {
	Key     string // natural key: the same key is the same command
	Actor   string // "console", "telegram:48213377"
	Name    string // for people: "Mira"
	Project string // where the line was sent to; "" = unknown
	Chat    string // address of where it was sent to, if others read there too; "" = the sender's own
	Text    string
	Time    time.Time // its location is the person's
}

package engine

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Ledger keeps what was decided. It is the store's side of DESIGN 2, step 3.
type Ledger interface {
	// Commit writes a batch in one transaction. A batch whose key was
	// committed before writes nothing and returns the first one's answer.
	Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error)
	// Records calls yield with the entries of a stream after seq, in order.
	Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error
	// Pending returns the effects without a result, oldest first.
	Pending(ctx context.Context) ([]ledger.PendingEffect, error)
	// Snapshot returns the newest snapshot of a stream that the given core
	// version wrote, or one with Seq 0.
	Snapshot(ctx context.Context, stream string, version int) (ledger.SnapshotRow, error)
	// SaveSnapshot keeps one and drops the older ones of its stream.
	SaveSnapshot(ctx context.Context, row ledger.SnapshotRow) error
}

// Source is where one run's tasks come from (SPEC 3.2).
type Source interface {
	// Read parses the source. Malformed input is a *ledger.InputError with every
	// finding; nothing of it may be used then.
	Read(ctx context.Context) (ledger.Snapshot, error)
	// Mark writes statuses into the user's own file.
	Mark(ctx context.Context, marks []ledger.Marking) error
	// Log appends to the progress log, unless an entry with its key is there.
	Log(ctx context.Context, p ledger.Progress) error
	// Watch calls changed after the source was changed by somebody, until ctx ends.
	Watch(ctx context.Context, changed func()) error
	// Owned returns the paths below the repository that are never in a
	// session's scope: the source file and its progress log.
	Owned() []string
}

// Stamper is a source whose marks can travel in a task's commit instead of
// being written into the person's checkout (SPEC 3.2, commit_status).
type Stamper interface {
	// Stamp returns the source's files with the marks and the progress entry in
	// them, by path. read gives a file of the commit's tree, nil where it has
	// none; a source that is not in the tree has nothing to stamp.
	Stamp(read func(path string) ([]byte, error), marks []ledger.Marking, p ledger.Progress) (map[string][]byte, error)
}

// Workspace is the daemon's own repository and the run's work folder (SPEC 9).
type Workspace interface {
	// Begin looks at the user's repository, fetches it into ours and decides
	// where its run starts. What makes a start impossible is a *ledger.InputError.
	Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error)
	// Restore brings the run's work folder to a tree; ignored files stay.
	Restore(ctx context.Context, run, tree string) error
	// Capture reads what a session left, without running its git.
	Capture(ctx context.Context, t ledger.CaptureRequest) (ledger.Capture, error)
	// Commit makes a task's commit and moves the branch to it, in our
	// repository and then in the user's. A branch that somebody else moved is
	// a *ledger.BranchMoved, one that is checked out a *ledger.InputError.
	//
	// files are put into the tree besides, by path: the source's own, where
	// marks travel in commits. Usually nil.
	Commit(ctx context.Context, c ledger.CommitTask, files map[string][]byte) (ledger.Committed, error)
	// Merge lays a change onto a branch that moved.
	Merge(ctx context.Context, m ledger.MergeTree) (ledger.Merged, error)
}

// Files looks things up in the daemon's own repository.
type Files interface {
	// Work returns the absolute path of the run's work folder.
	Work(run string) string
	// Clean makes a fresh folder of the given commit's tree and returns its path.
	Clean(ctx context.Context, run, commit string) (string, error)
	// Read returns a file of a tree or commit, nil where there is none.
	Read(ctx context.Context, tree, path string) ([]byte, error)
	// Diff returns the patch between two trees or commits, cut to limit bytes
	// with a last line that says so.
	Diff(ctx context.Context, from, to string, limit int) (string, error)
	// Changed lists what differs between two trees or commits.
	Changed(ctx context.Context, from, to string) ([]ledger.FileChange, error)
}

// Runner starts and ends sessions. A session outlives the daemon.
type Runner interface {
	// Known reports whether the session was started before, by whomever.
	Known(session string) bool
	// Start begins a session. It is findable: a second Start of the same
	// session starts nothing and returns nil.
	Start(ctx context.Context, l ledger.Launch) error
	// Wait blocks until the session has ended and its whole process tree is
	// gone. It works for one that an earlier daemon started.
	Wait(ctx context.Context, session string) (ledger.Exit, error)
	// End asks a session's shim to end it: after grace, at once for zero.
	// It returns without waiting; nothing happens where it has ended.
	End(ctx context.Context, session string, grace ledger.Duration) error
	// Touch tells the shim that the session called hat, which is a sign of life.
	Touch(session string)
}

// Notebook keeps what sessions want later ones to know, in the .ralph folder
// of the person's checkout, which ignores itself (SPEC 4.1, 11).
type Notebook interface {
	// Keep appends one line, unless a line with its key is there.
	Keep(ctx context.Context, m ledger.Memory) error
	// KeepPlan writes events/latest-plan.json.
	KeepPlan(ctx context.Context, plan []byte) error
	// Read returns a file below .ralph by its path in the repository
	// (".ralph/agent/decisions.md"), nil where there is none. What is not a
	// plain file inside the folder is not read.
	Read(ctx context.Context, path string) ([]byte, error)
}

// HatFiles are the files that a project's hats and patterns come from.
type HatFiles interface {
	// Read gives the hats and the pattern with which a run of these settings
	// would start now. What is wrong in a file is the error.
	Read(s ledger.Settings) (ledger.Pattern, map[string]ledger.Hat, error)
	// Watch calls changed after a file was changed by somebody, until ctx ends.
	Watch(ctx context.Context, changed func()) error
}

// Agents says what can be known of agents without starting one.
type Agents interface {
	// Check reports what would keep an agent from being started: nil when it
	// is present. It starts no model turn and costs nothing.
	Check(ctx context.Context, agent string) error
	// Level is the boundary that sessions will have, and what keeps it from
	// being a higher one.
	Level() (int, []string)
}

// Scoper resolves a scope against a tree, for preflight: an error, or
// findings that only warn.
type Scoper interface {
	ResolveScope(ctx context.Context, tree string, s ledger.Scope) ([]string, []ledger.Finding, error)
}

// Sockets opens the socket through which one session talks to the engine.
type SessionSockets interface {
	// Open listens for the session; a second Open replaces the first.
	Open(session string) error
	// Token is what the session has to bear. It is the same after a restart.
	Token(session string) string
	// Close stops listening. Nothing happens where nobody does.
	Close(session string)
}

// Ports are one project's adapters.
type Ports struct {
	Source    Source
	Workspace Workspace
	Files     Files
	Scoper    Scoper
	Notebook  Notebook       // nil: nothing is kept
	Hats      HatFiles       // nil: they never change
	Zone      *time.Location // of the person; times in decisions are in it
}

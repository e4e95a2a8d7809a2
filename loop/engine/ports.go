package engine

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// Ledger stores decisions. Package store implements it.
type Ledger interface {
	// Commit writes a batch in one transaction. If the batch's key was committed
	// before, it writes nothing and returns the stored answer.
	Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error)
	// Records calls yield with the entries of a stream after seq, in order.
	Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error
	// Pending returns the effects without a result, oldest first.
	Pending(ctx context.Context) ([]ledger.PendingEffect, error)
	// Head returns the number and the hash of a stream's last entry, 0 and nil
	// for an empty stream.
	Head(ctx context.Context, stream string) (seq int64, hash []byte, err error)
	// Snapshot returns the newest snapshot of a stream that the given core
	// version wrote, or one with Seq 0. The error for one that was altered is
	// ledger.ErrSnapshotAltered.
	Snapshot(ctx context.Context, stream string, version int) (ledger.SnapshotRow, error)
	// SaveSnapshot stores a snapshot and deletes the older ones of its stream.
	SaveSnapshot(ctx context.Context, row ledger.SnapshotRow) error
}

// Source is the task list of one run (docs/spec 3.2).
type Source interface {
	// Read parses the source. For malformed input it returns a
	// *ledger.InputError with all findings and no usable snapshot.
	Read(ctx context.Context) (ledger.Snapshot, error)
	// Mark writes the status of tasks into the person's own file.
	Mark(ctx context.Context, marks []ledger.Marking) error
	// Log appends an entry to the progress log, unless one with its key exists.
	Log(ctx context.Context, p ledger.Progress) error
	// Watch calls changed after each change of the source by somebody else,
	// until ctx ends.
	Watch(ctx context.Context, changed func()) error
	// Owned returns the paths in the repository that no session may write: the
	// source file and its progress log.
	Owned() []string
}

// Adder writes new tasks into a source, and takes them out again (docs/spec 3.8). Its
// errors are for people, but for faults of the machine.
type Adder interface {
	// AddOnce adds tasks that an earlier call has not added. When it returns, they
	// are durable and visible.
	AddOnce(ctx context.Context, a ledger.AddTasks) (ledger.AddedTasks, error)
	// RemoveAdded takes out what AddOnce added, or nothing if it is out.
	RemoveAdded(ctx context.Context, r ledger.RemoveTasks) error
}

// Stamper is a Source whose marks can be part of a task's commit instead of a
// change in the person's checkout (docs/spec 3.2, commit_status).
type Stamper interface {
	// Stamp returns the source's files, by path, with the marks and the
	// progress entry added. read returns a file of the commit's tree, or nil.
	// For a source outside of the tree, Stamp returns no files.
	Stamp(read func(path string) ([]byte, error), marks []ledger.Marking, p ledger.Progress) (map[string][]byte, error)
}

// Repository is the daemon's own repository, in which work becomes commits (docs/spec
// 9).
type Repository interface {
	// Begin fetches the person's repository into the daemon's and decides which
	// commit the run starts from. If the run cannot start, the error is a
	// *ledger.InputError with the reasons.
	Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error)
	// Commit makes a task's commit and moves the branch to it, first in the
	// daemon's repository and then in the person's. If somebody added
	// commits to the branch, the error is a *ledger.BranchMoved; if the user's
	// repository or the branch cannot be used for now, a *ledger.RepositoryError.
	//
	// files are added to the tree, by path: those of a source whose marks are
	// part of commits. Usually nil.
	Commit(ctx context.Context, c ledger.CommitTask, files map[string][]byte) (ledger.Committed, error)
	// Merge applies a change to a branch that has moved.
	Merge(ctx context.Context, m ledger.MergeTree) (ledger.Merged, error)
	// Remake makes a branch with some of the commits of another one. If the user's
	// repository or the branch cannot be used for now, the error is a
	// *ledger.RepositoryError.
	Remake(ctx context.Context, b ledger.RemakeBranch) (ledger.Remade, error)
	// Lift makes the commit of one task on another base than the run's branch.
	Lift(ctx context.Context, l ledger.LiftCommit) (ledger.Lifted, error)
}

// Files reads the daemon's own repository.
type Files interface {
	// Read returns a file of a tree or commit, or nil if it does not exist.
	Read(ctx context.Context, tree, path string) ([]byte, error)
	// Changes returns the files that differ between two trees or commits, sorted
	// by path, with patches of at most limit bytes in all.
	Changes(ctx context.Context, from, to string, limit int) ([]ledger.Change, error)
	// EachFile calls each with the files of a tree or commit for which take returns
	// true, and at most limit bytes of each.
	EachFile(ctx context.Context, tree string, limit int, take func(path string) bool, each func(path string, text []byte)) error
}

// Notebook stores notes of sessions for later sessions, in the .ralph folder of
// the person's checkout, which a .gitignore of its own excludes from git (docs/spec
// 4.1, 11).
type Notebook interface {
	// Keep appends one line, unless a line with its key exists.
	Keep(ctx context.Context, m ledger.Memory) error
	// KeepPlan writes events/latest-plan.json.
	KeepPlan(ctx context.Context, plan []byte) error
	// KeepWaves writes autopilot-state.json.
	KeepWaves(ctx context.Context, state []byte) error
	// Read returns a file below .ralph by its path in the repository, such as
	// ".ralph/agent/decisions.md", or nil if it does not exist. It refuses
	// anything but a regular file inside the folder.
	Read(ctx context.Context, path string) ([]byte, error)
}

// HatFiles are the files that define a project's hats and patterns.
type HatFiles interface {
	// Read returns the pattern and the hats with which a run with these
	// settings would start now. A mistake in a file is an error.
	Read(s ledger.Settings) (ledger.Pattern, map[string]ledger.Hat, error)
	// Watch calls changed after each change of a file by somebody else, until
	// ctx ends.
	Watch(ctx context.Context, changed func()) error
}

// Attachments are the files that people sent and the pictures that were taken, beside
// the ledger by hash.
type Attachments interface {
	// Read returns the bytes of a hash. The error for bytes that are not there is
	// fs.ErrNotExist.
	Read(hash string) ([]byte, error)
	// Erase removes the bytes of a hash for good. It does nothing if they are not
	// there.
	Erase(hash string) error
	// Put writes bytes to the disk and returns their hash. Settle has to follow once
	// an entry names it, or Leave if that is not known.
	Put(data []byte) (hash string, err error)
	Settle(hash string) error
	Leave(hash string)
}

// Scoper resolves a scope against a tree, for preflight. Its findings are
// warnings; an error means that the scope cannot be used.
type Scoper interface {
	ResolveScope(ctx context.Context, tree string, s ledger.Scope) ([]string, []ledger.Diagnostic, error)
}

// Ports are one project's adapters.
type Ports struct {
	Source     Source
	Adder      Adder // of Source; nil: it takes no tasks
	Repository Repository
	Files      Files
	Scoper     Scoper
	Place      Place     // where its sessions run
	Notebook   Notebook  // nil: notes are not stored
	Publisher  Publisher // nil: nothing is pushed
	// Redact removes secrets from a text that leaves the machine; nil: as it is.
	Redact func(string) string
	// Toolchains returns the versions of programs that the files of a tree name
	// and that are not installed. nil: nobody looks.
	Toolchains func(ctx context.Context, tree string) ([]ledger.Diagnostic, error)
	// Installed reports whether sessions find a program on PATH. nil: they find all.
	Installed func(program string) bool
	// OneSession reports whether an agent's login allows one session at a time. nil: none
	// does.
	OneSession func(agent string) (bool, error)
	// Reads returns the paths of a tree from which an agent's program reads settings,
	// although its repository is not trusted. nil: none does.
	Reads func(ctx context.Context, tree, agent string) ([]string, error)
	// WantedHosts returns the hosts that an agent's program asks for, without a model
	// turn and without letting anything out. nil: nobody tries.
	WantedHosts func(ctx context.Context, agent string) ([]ledger.HostUse, error)
	// Proposed returns the setup commands that fit the files of a tree, for
	// projects that set none. Nil proposes nothing.
	Proposed func(ctx context.Context, tree string) ([]string, error)
	Hats     HatFiles // nil: hats never change during a run
	// Kinds returns the kinds of fixes that triage knows. Nil knows none.
	Kinds func() ([]triage.Kind, error)
	Zone  *time.Location // time zone of the times in decisions
}

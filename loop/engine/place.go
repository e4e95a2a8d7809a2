package engine

import (
	"context"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Place is all that a run needs of the machine on which its sessions run. The
// engine reaches that machine through the place of the session's project and in
// no other way. What makes decisions and commits (Ledger, Repository, Source,
// Notebook) stays where the engine is.
type Place struct {
	Folders WorkFolders
	Rooms   Rooms
	Runner  Runner // lays the caches of sessions, too
	Agents  Agents
	Sockets SessionSockets
}

// WorkFolders are the folders in which sessions work, one for each lane of a run (docs/spec 9).
type WorkFolders interface {
	// Work returns the work folder as sessions see it.
	Work(use ledger.WorkUse) ledger.Room
	// Restore resets the work folder to a tree. Ignored files stay. In a run with several
	// lanes they become those of the setup of the tree, if that is another one than
	// before.
	Restore(ctx context.Context, use ledger.WorkUse) error
	// Capture returns the changes that a session left. It never runs the git of
	// the session's folder, whose configuration the session could have changed.
	Capture(ctx context.Context, t ledger.CaptureRequest) (ledger.Capture, error)
	// Undoes reports whether Capture would undo a change of a path because it is out of
	// scope, as far as the path tells. tree is the one that the attempt began with.
	Undoes(ctx context.Context, use ledger.WorkUse, tree string, s ledger.Scope, path string) (bool, error)
}

// Rooms are the clean rooms in which trees are verified (docs/spec 9.5). A check
// first runs its setup commands, and then all others in one room.
type Rooms interface {
	// SetupRoom prepares the folder for setup command number n, from 0. If the
	// Room is Done, no setup command of the tree has to run.
	SetupRoom(ctx context.Context, use ledger.RoomUse, n int) (ledger.Room, error)
	// LayRoom returns the room for a command, as the command before it left it,
	// or a new one.
	LayRoom(ctx context.Context, use ledger.RoomUse, anew bool) (ledger.Room, error)
	// KeepLayer lets other trees use what setup made for a tree: it was
	// committed.
	KeepLayer(ctx context.Context, tree string) error
}

// Runner starts and ends sessions. A session outlives the daemon.
type Runner interface {
	// Known reports whether the session was started before, by this process or
	// an earlier one.
	Known(session string) bool
	// Start starts a session. A second Start of the same session does nothing
	// and returns nil. A session whose End came first does not begin: Start
	// returns nil, and Wait its exit. A cancelled ctx ends the preparation; after
	// an error, nothing was started.
	Start(ctx context.Context, l ledger.Launch) error
	// Wait blocks until the session and its whole process tree have ended. The
	// session may have been started by an earlier process.
	Wait(ctx context.Context, session string) (ledger.Exit, error)
	// End asks a session's shim to end it after grace, or at once if grace is
	// zero. It does not wait. If the session has ended, it does nothing; if it
	// has not begun, it never begins. The request outlives both processes.
	End(ctx context.Context, session string, grace ledger.Duration) error
	// Touch reports a sign of life of the session to its shim, so that the stall
	// limit starts anew.
	Touch(session string)
	// Screenshot returns the bytes that an ended session of KindShot left for a
	// picture, which anybody could have made. The error for one that left none is
	// fs.ErrNotExist.
	Screenshot(session string) ([]byte, error)
	// DropScreenshot removes what Screenshot returns, if there is anything: what could
	// be used of it is kept beside the ledger.
	DropScreenshot(session string) error
	// HostRequests calls asked for each host that the session asks for and that has
	// no answer, those of before the call included, until ctx ends. For a session
	// whose network is open it returns nil at once.
	HostRequests(ctx context.Context, session string, asked func(ledger.HostRequest)) error
	// AnswerHost settles a host for the rest of the session. It may be repeated; the
	// latest answer holds. If the session has ended, it does nothing.
	AnswerHost(session string, a ledger.HostAnswer) error
}

// Agents reports on agents without starting one.
type Agents interface {
	// Check returns the reason why an agent cannot be started, or nil. It starts
	// no model turn.
	Check(ctx context.Context, agent string) error
	// CheckCommands returns what keeps commands of a project from getting what
	// the configuration names for them, or nil.
	CheckCommands(project string) error
	// Mounts reports whether sessions can have folders mounted, and if not, why.
	Mounts() (ok bool, why string)
	// Level returns the boundary level of future sessions, and the reasons why
	// it is not higher.
	Level() (int, []string)
	// ClosedNetwork reports whether sessions can have a network of their own
	// (ledger.NetworkNone), and if not, why.
	ClosedNetwork() (ok bool, why string)
}

// SessionSockets manages the sockets through which sessions call the engine.
// Each session has its own.
type SessionSockets interface {
	// Open listens for the session. A second call replaces the first socket.
	Open(session string) error
	// Token returns the secret that the session's calls must carry. It is the
	// same after a restart.
	Token(session string) string
	// Close stops listening. It does nothing if no socket is open.
	Close(session string)
}

package ledger

import (
	"encoding/json"
	"time"
)

// Kind is the kind of a session. Only agent sessions count as iterations; the
// others run commands in the same boundary, because those commands execute what
// a session may have written (docs/spec 2.3).
type Kind string

// Kinds of session.
const (
	KindAgent    Kind = "agent"
	KindSetup    Kind = "setup"
	KindBaseline Kind = "baseline"
	KindVerify   Kind = "verify"
	KindFinal    Kind = "final"   // the branch tip
	KindLift     Kind = "lift"    // the commit of one task on another base
	KindBatch    Kind = "batch"   // the changes of several tasks, one on top of the other
	KindRepro    Kind = "repro"   // the command of a reproducer, which has to fail
	KindGuard    Kind = "guard"   // a tree with the start's version of what proves over it
	KindProof    Kind = "proof"   // the attempt's start with the new tests over it, which have to fail
	KindShot     Kind = "shot"    // a picture of the attempt's start commit, or of its tree
	KindHook     Kind = "hook"    // the command of a [[hook]] of the configuration; of no run
	KindRecheck  Kind = "recheck" // the attempt's start commit: does a failing command fail there too?
)

// Launch holds everything that the runner needs to start a session.
type Launch struct {
	Session string            `json:"session"` // r14-25; r14-c7 for a session without an agent
	Project string            `json:"project"`
	Run     string            `json:"run"`
	Task    string            `json:"task,omitempty"` // id as written
	Kind    Kind              `json:"kind"`
	Hat     string            `json:"hat,omitempty"`
	Agent   string            `json:"agent,omitempty"` // name of the agent in the configuration, for KindAgent
	Model   string            `json:"model,omitempty"`
	Effort  string            `json:"effort,omitempty"`
	Command string            `json:"command,omitempty"` // command for sh -c, for every other kind
	Prompt  string            `json:"prompt,omitempty"`
	Context map[string][]byte `json:"context,omitempty"` // files of the folder CONTEXT, by name
	Work    string            `json:"work"`              // absolute path of the work folder
	Token   string            `json:"token,omitempty"`   // HAT_TOKEN
	Wall    Duration          `json:"wall"`              // limit of the whole length; 0 = no limit
	Stall   Duration          `json:"stall"`             // limit of the time without output, hat call and CPU use; 0 = no limit
	Denied  []string          `json:"denied,omitempty"`  // tools.denied of the hat

	Allowed   []string `json:"allowed,omitempty"`   // commands that deploy or publish, which the task or the project allows
	Protected []string `json:"protected,omitempty"` // branches that no session pushes to
	Mounts    []Mount  `json:"mounts,omitempty"`    // folders shown at other paths; needs a machine that has mounts (docs/spec 9.5)
	Cache     CacheUse `json:"cache,omitzero"`
	Network   Network  `json:"network,omitzero"`
	MaxUSD    float64  `json:"max_usd,omitempty"`    // it is ended when it has spent this; 0 = no limit
	MaxTokens int64    `json:"max_tokens,omitempty"` // it is ended when it has used these; 0 = no limit
}

// CacheUse names the caches that a session works with. What it writes reaches the
// project's own caches only if Trusted says so; otherwise it is kept apart under a
// name, over the project's (docs/spec 9.5).
type CacheUse struct {
	Trusted bool   `json:"trusted,omitempty"` // only files that a person or a commit vouches for run in it
	Name    string `json:"name,omitempty"`    // what the session writes is kept under it for others of the same name; "" for this session alone
	Over    string `json:"over,omitempty"`    // name of caches that Name's lie over, besides the project's
	Anew    bool   `json:"anew,omitempty"`    // forget what was written under Name
	Beside  bool   `json:"beside,omitempty"`  // others of the project may be at work at the same time, with other caches
}

// Mount shows folders of the machine at another path in a session's own view of
// the file system. With Lower it is an overlay: the session sees all folders
// merged, and what it writes and deletes goes to Upper alone. Without Lower,
// Upper itself is shown. All paths are absolute, and the session may write At.
type Mount struct {
	At    string   `json:"at"`              // an existing folder
	Lower []string `json:"lower,omitempty"` // folders that stay unchanged, topmost first
	Upper string   `json:"upper"`
	Work  string   `json:"work,omitempty"` // with Lower: an empty folder beside Upper for the kernel's use
}

// WorkUse names the work folder of a run's lane, and the tree that it is to hold.
type WorkUse struct {
	Run   string
	Lane  int      // from 0
	Lanes int      // that the run has; with one, all work folders of a project are one after another the same
	Tree  string   // tree or commit
	Setup []string // the project's setup commands, in order
}

// RoomUse names the room in which a command of a check runs (docs/spec 9.5).
type RoomUse struct {
	Tree   string   `json:"tree"`             // tree or commit whose files the room holds
	Parent string   `json:"parent,omitempty"` // the commit that Tree builds on; "" for a Tree that is a commit itself
	Setup  []string `json:"setup,omitempty"`  // the project's setup commands, in order
	Own    int      `json:"own,omitempty"`    // number of the lane whose own room it is, from 1; 0 = the one that checks have in turn
}

// Room is a room that is ready for a command.
type Room struct {
	Dir    string  // absolute path, the same for every room of a project where rooms are mounted
	Mounts []Mount // how the machine shows the room at Dir; none if it lies there
	Done   bool    // for a setup command: what it makes is there already
	// Layer names the layer if its setup has caches of its own, because it ran on
	// files that were not committed; otherwise it is "".
	Layer string
}

// ExitReason is why a session's process ended, as its shim reports it.
type ExitReason string

// Reasons of an end.
const (
	ExitSelf       ExitReason = "exited"      // it ended by itself, with Code or Signal
	ExitStall      ExitReason = "stall"       // the shim ended it: it showed no activity for too long
	ExitWall       ExitReason = "wall"        // the shim ended it: it ran too long
	ExitAsked      ExitReason = "asked"       // the daemon asked for its end (grace after its event, pause now, stop now)
	ExitAbandoned  ExitReason = "abandoned"   // the shim ended it: there was no daemon for 30 minutes
	ExitNotStarted ExitReason = "not_started" // the agent could not be started at all
	ExitLost       ExitReason = "lost"        // nothing shows how it ended
	ExitMemory     ExitReason = "memory"      // it used too much memory: the kernel killed it, or the shim ended it
	ExitProcesses  ExitReason = "processes"   // the shim ended it: it had too many processes
	ExitLeak       ExitReason = "leak"        // the shim ended it: it sent a value that was planted to be found (docs/spec 12.1)
	ExitDisk       ExitReason = "disk"        // the disk is full, or the state folder not writable
	ExitSecret     ExitReason = "secret"      // setup left a secret where sessions can read it
	ExitCircle     ExitReason = "circle"      // the shim ended it: its output showed that it went in a circle
	ExitBudget     ExitReason = "budget"      // the shim ended it: its output showed that it had spent Launch.MaxUSD or MaxTokens
)

// FailureClass is the kind of provider failure that an agent's own output reports.
type FailureClass string

// Failures that an agent adapter recognises. "" means none.
const (
	FailureLimit   FailureClass = "limit"   // usage limit
	FailureAuth    FailureClass = "auth"    // logged out, billing, unknown model
	FailureNetwork FailureClass = "network" // network, provider 5xx, or a provider that refuses the pace (429)
	FailureEarly   FailureClass = "early"   // no adapter reports it: sessions in a row ended within seconds
)

// Exit describes the end of a session's process: the content of its exit.json,
// and the facts that the agent's adapter read from the output. Classify
// interprets it; Code alone means nothing.
type Exit struct {
	Session  string       `json:"session"`
	Reason   ExitReason   `json:"why"`
	Code     int          `json:"code"`             // exit code; -1 if ended by a signal or unknown
	Signal   string       `json:"signal,omitempty"` // "SIGKILL"
	Text     string       `json:"text,omitempty"`   // one line for people, if Reason or Failure needs an explanation
	Failure  FailureClass `json:"trouble,omitempty"`
	Until    time.Time    `json:"until,omitzero"` // end of a usage limit, or of the pause that a provider asks for, if the agent named it
	Started  time.Time    `json:"started"`
	Ended    time.Time    `json:"ended"`
	Tail     string       `json:"tail,omitempty"`   // last lines of output, at most 4 kB, valid UTF-8
	Said     string       `json:"said,omitempty"`   // an agent's last words and calls, as people read them; "" = its output shows none
	Turns    int          `json:"turns"`            // number of model turns; -1 = unknown
	Tokens   int64        `json:"tokens"`           // -1 = unknown
	CostUSD  float64      `json:"cost_usd"`         // -1 = unknown
	Killed   int          `json:"killed"`           // number of processes in its tree that had to be killed after it
	Cached   bool         `json:"cached,omitempty"` // setup that was not run, because its layer is there (docs/spec 9.5)
	Boundary int          `json:"boundary"`         // level that was in force: 1, 2 or 3 (docs/spec 12.1)

	Uncounted bool `json:"uncounted,omitempty"` // its agent's output has figures in a form that is not known, so Tokens and CostUSD are not all known
	// Window is the agent's usage window that is nearest to its end, as the agent
	// reported it; nil = unknown.
	Window *UsageWindow `json:"window,omitempty"`
	// Windows are all that it reported, Window among them, in the order of their names. An
	// entry of an earlier release has Window alone.
	Windows []UsageWindow `json:"windows,omitempty"`

	Unverified bool `json:"unverified,omitempty"` // Failure was read from plain output, which a test or the model can write as well as the agent
	Called     bool `json:"called,omitempty"`     // the session called hat
	NotBegun   bool `json:"not_begun,omitempty"`  // it was ended before its agent or command was started

	Usage    *TokenUsage `json:"usage,omitempty"`     // Tokens by kind; nil = unknown
	Prompt   int64       `json:"prompt,omitempty"`    // length in bytes of the prompt that it was given; 0 = unknown, or an entry of an earlier release
	PricedBy CostSource  `json:"priced_by,omitempty"` // what CostUSD is from; "" = unknown, or an entry of an earlier release

	Estimated  bool `json:"estimated,omitempty"`   // CostUSD is no figure of the agent's: PricedByTable or PricedByEstimate; with ExitBudget: or lacks what was asked last
	OverBudget bool `json:"over_budget,omitempty"` // it was ended because it had spent Launch.MaxUSD or MaxTokens
	OverTokens bool `json:"over_tokens,omitempty"` // with OverBudget: it was MaxTokens; Tokens lacks what was asked last

	Fault Fault `json:"fault,omitempty"` // with ExitNotStarted: what keeps the machine from starting it for now

	Denied []string `json:"denied,omitempty"` // rules by which its wrappers refused calls; for people

	// Event is what the agent's last message ended with, where the configuration lets it
	// count. An entry has none: it is decided before the end is.
	Event *WrittenEvent `json:"event,omitempty"`

	Hosts []HostUse `json:"hosts,omitempty"` // hosts that it reached or asked for, in the order of first use; only with NetworkNone

	Picture *Picture `json:"picture,omitempty"` // that a command of KindShot left; nil = none, or none that can be used

	Failures *Failures   `json:"failures,omitempty"` // what failed in a command that ended red; nil = unknown, or nothing
	Ran      []TestCount `json:"ran,omitempty"`      // tests that ran in a command, by runner; a runner without a count is missing
}

// UsageWindow is a part of time for which an agent's account has a limit.
type UsageWindow struct {
	Name   string    `json:"name,omitempty"` // the agent's word for it: "five_hour"
	Used   float64   `json:"used"`           // part of the limit: 0.92 = 92 %
	Resets time.Time `json:"resets,omitzero"`
}

// WrittenEvent is an event that an agent wrote into its last message in place of
// sending it.
type WrittenEvent struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// OverLimits reports whether the session was ended for what it used: memory or
// processes.
func (e Exit) OverLimits() bool { return e.Reason == ExitMemory || e.Reason == ExitProcesses }

// Took returns the wall-clock length of the session, 0 if unknown.
func (e Exit) Took() time.Duration {
	if e.Started.IsZero() || e.Ended.Before(e.Started) {
		return 0
	}
	return e.Ended.Sub(e.Started)
}

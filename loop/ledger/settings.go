package ledger

import (
	"slices"
	"time"
)

// Settings holds the settings of one run. They are resolved once, from flags,
// config and profile, and are recorded in the ledger with the run, so that a fold
// reads no other file and every run can be explained later.
type Settings struct {
	Project         string             `json:"project"`
	Repo            string             `json:"repo"` // absolute path of the user's repository
	Source          SourceRef          `json:"source"`
	Profile         string             `json:"profile"` // review or overnight
	Pattern         Pattern            `json:"pattern"`
	Hats            map[string]Hat     `json:"hats"`
	Roles           map[string]Pattern `json:"roles,omitempty"` // patterns that the roles of tasks name, besides Pattern
	Agent           string             `json:"agent"`
	Fallback        string             `json:"fallback,omitempty"`     // agent to use while Agent is parked or unusable; see FallbacksOf
	Others          []string           `json:"others,omitempty"`       // agents that a person may choose instead
	Barred          []Bar              `json:"barred,omitempty"`       // those of Others that can neither be chosen nor make a second review
	MCP             []string           `json:"mcp,omitempty"`          // agents that are offered the verbs of hat as tools of MCP
	EventBlocks     []string           `json:"event_blocks,omitempty"` // agents whose last message may end with the session's event
	OnBlocked       string             `json:"on_blocked"`             // stop or continue
	MaxTasks        int                `json:"max_tasks"`              // 0 = none
	MaxIterations   int                `json:"max_iterations"`         // sessions; 0 = none
	MaxWaves        int                `json:"max_waves,omitempty"`    // bug sources; 0 = none
	Batch           int                `json:"batch,omitempty"`        // bug sources: reports a wave; with QueueBatch: tasks that are verified together at most
	Domains         []string           `json:"domains,omitempty"`      // hosts at which the project is used, for triage
	Elsewhere       []string           `json:"elsewhere,omitempty"`    // those of the other projects
	Queue           QueueMode          `json:"queue,omitempty"`        // "" is QueueEach
	Order           Order              `json:"order,omitempty"`        // "" is OrderDocument
	Until           time.Time          `json:"until,omitzero"`         // time at which the run ends; zero = no limit
	From            string             `json:"from,omitempty"`         // id of the task to start at
	Only            string             `json:"only,omitempty"`         // id of the only task to do
	Setup           []Command          `json:"setup,omitempty"`
	Verify          []Command          `json:"verify,omitempty"`
	Protected       []string           `json:"protected,omitempty"`
	Allow           []string           `json:"allow,omitempty"`  // commands that deploy or publish, which every session may call
	Push            string             `json:"push"`             // never, end or task
	Remote          string             `json:"remote,omitempty"` // name or address of the remote; "" = origin
	Base            string             `json:"base,omitempty"`   // branch that requests ask to be merged into; "" = the one that the person is on, else the remote's own default
	Requests        Requests           `json:"requests,omitzero"`
	Layout          []string           `json:"layout,omitempty"`
	Boundary        string             `json:"boundary,omitempty"` // "required" refuses boundaries below level 2
	QuestionTimeout Duration           `json:"question_timeout"`
	QuestionThen    string             `json:"question_then,omitempty"` // for an agent's unanswered question: continue, pause or abort; "" = continue if the agent named a choice, else pause
	BaselineTimeout Duration           `json:"baseline_timeout"`
	Grace           Duration           `json:"grace"` // time between a session's event and its end
	Timezone        string             `json:"timezone,omitempty"`
	CoAuthor        string             `json:"co_author,omitempty"` // footer of task commits; "" = none
	CommitStatus    bool               `json:"commit_status,omitempty"`
	BdWrite         bool               `json:"bd_write,omitempty"`       // finished issues of beads are closed through bd
	Consensus       bool               `json:"consensus,omitempty"`      // the critic judges each plan before it is built
	PlanApproval    bool               `json:"plan_approval,omitempty"`  // after that, a person approves it
	ReplanAfter     int                `json:"replan_after,omitempty"`   // failed attempts after which a task is planned anew, once; 0 = never, MaxAttempts at most
	Proof           ProofMode          `json:"proof,omitempty"`          // "" is ProofFull
	Tests           []string           `json:"tests,omitempty"`          // globs of tests besides the usual ones; "!GLOB" = no test
	RoomFiles       []string           `json:"room_files,omitempty"`     // untracked files of the user's checkout that rooms get; globs
	Sign            bool               `json:"sign,omitempty"`           // commits are signed by the user's git configuration (docs/spec 9.3)
	Hooks           bool               `json:"hooks,omitempty"`          // the repository's commit hooks check each tree in its room (docs/spec 9.3)
	AllowUnproved   bool               `json:"allow_unproved,omitempty"` // the run may start although nothing can prove its work (docs/spec 2.0)
	Flags           string             `json:"flags,omitempty"`          // other flags of `run`, for the resume command
	Operator        string             `json:"operator,omitempty"`       // flags of every operator command: "--state DIR --config FILE"
	Stays           bool               `json:"stays,omitempty"`          // the run belongs to `up`: it waits for a person instead of ending

	// MaxNewFiles is the number of new files that a session may leave without a
	// question to a person; 0 = DefaultMaxNewFiles, -1 = any.
	MaxNewFiles int `json:"max_new_files,omitempty"`

	// ScriptedMarks says whether tasks of the scripted agent are marked in the
	// person's file. It is empty in entries of earlier releases.
	ScriptedMarks ScriptedMarks `json:"scripted_marks,omitempty"`

	// Screenshot says how pictures of the start and of the result are taken; nil =
	// none are.
	Screenshot *Screenshot `json:"screenshot,omitempty"`

	// Parallel is the number of tasks that are worked on at a time; 0 and 1 = one
	// (docs/spec 4.5).
	Parallel int `json:"parallel,omitempty"`

	// MaxLoad is the load average of the machine from which no further lane begins a
	// session; 0 = any.
	MaxLoad float64 `json:"max_load,omitempty"`

	// AgentSessions limits, by agent, the sessions of all projects at a time. An agent
	// without a row has no limit of its own.
	AgentSessions map[string]int `json:"agent_sessions,omitempty"`

	// Budget is what the run may spend.
	Budget Budget `json:"budget,omitzero"`

	// Network says what the sessions of the run may reach.
	Network NetworkRules `json:"network,omitzero"`

	// NoLearning keeps people from being asked about thresholds (docs/spec 2.6).
	NoLearning bool `json:"no_learning,omitempty"`

	// MarksWorking says that the source has a word for a task at work, CountsTries that
	// it records how often a task was tried (docs/spec 3.4, 3.5).
	MarksWorking bool `json:"marks_working,omitempty"`
	CountsTries  bool `json:"counts_tries,omitempty"`

	// Fallbacks lists, by agent, those that take its place while it is parked or
	// unusable, the first one first. Entries of earlier releases have Fallback alone.
	Fallbacks map[string][]string `json:"fallbacks,omitempty"`

	// Models has the models of tiers, by agent. An agent without a row chooses its model
	// by itself.
	Models map[string]Tiers `json:"models,omitempty"`

	// Reserve is the part of an agent's usage window that is left unused, by agent: 0.2
	// parks it once 80 % are used. It needs an agent that reports its use.
	Reserve map[string]float64 `json:"reserve,omitempty"`

	// StaleClaim is how long the claim of somebody else on a bug report is respected
	// while it shows no progress; 0 = StaleClaim of this package.
	StaleClaim time.Duration `json:"stale_claim,omitempty"`
}

// SourceBugs is the kind of sources that hold bug reports.
const SourceBugs = "bugs"

// InWaves reports whether a run works through its source in waves (docs/spec 7.1).
func (s Settings) InWaves() bool { return s.Source.Kind == SourceBugs }

// Requests says which requests for its branch a run makes.
type Requests struct {
	Draft     bool      `json:"draft,omitempty"`
	Labels    []string  `json:"labels,omitempty"`
	Reviewers []string  `json:"reviewers,omitempty"`
	Watch     WatchMode `json:"watch,omitempty"` // how long open requests are looked at
	// PerTask asks for a branch and a request for each task, stacked in the order
	// of the commits, in place of one of the run.
	PerTask bool `json:"per_task,omitempty"`
	// Apart, with PerTask, asks for branches that have one task each and stand on the
	// base, and on another one of the run only where both change the same files.
	Apart bool `json:"apart,omitempty"`
}

// Pushes reports whether the run's branch is pushed, at its end or after each task.
func (s Settings) Pushes() bool { return s.Push == PushEnd || s.Push == PushTask }

// Values of Settings.Push.
const (
	PushNever = "never"
	PushEnd   = "end"
	PushTask  = "task"
)

// QueueMode says when the tasks of a run are committed.
type QueueMode string

// Modes of the queue (docs/spec 2.3).
const (
	QueueEach  QueueMode = "each"  // each when it converges
	QueueBatch QueueMode = "batch" // several together, once all commands pass for them as one
)

// Order says in which order the ready tasks of a run are taken.
type Order string

// Orders of ready tasks (docs/spec 3.7).
const (
	OrderDocument Order = "document" // as they stand in the source
	OrderScore    Order = "score"    // by priority, size, what they unblock and how they went
)

// DefaultMaxNewFiles is Settings.MaxNewFiles of settings that name none. More new
// files in one session are hardly work: most often an ignore rule was forgotten.
const DefaultMaxNewFiles = 20_000

// DefaultBatch is the size of a batch whose settings name none.
const DefaultBatch = 5

// ScriptedMarks says what becomes of marks of the scripted agent.
type ScriptedMarks string

// Values of ScriptedMarks.
const (
	ScriptedWithheld ScriptedMarks = "withheld"
	ScriptedWritten  ScriptedMarks = "written" // a person asked for it: --yes-demo
)

// ScriptedAgent is the name of the built-in agent that follows a script. It does
// no part of a task, so its sessions are no result.
const ScriptedAgent = "demo"

// ScriptedNote is what commits, progress logs and digests say of its work.
const ScriptedNote = "scripted agent: nothing was really done"

// IsScripted reports whether the name is that of the scripted agent, in runs
// with these settings.
func (s Settings) IsScripted(agent string) bool {
	return s.ScriptedMarks != "" && agent == ScriptedAgent
}

// Scripted reports whether the scripted agent runs any hat of these settings.
func (s Settings) Scripted() bool {
	return s.IsScripted(s.Agent) || slices.ContainsFunc(s.Pattern.Routes, func(r Route) bool { return s.IsScripted(s.Hats[r.From].Agent) })
}

// Limits are the settings that a run's profile decides unless something else sets
// them (docs/spec 2.4).
type Limits struct {
	Profile       string `json:"profile"`
	OnBlocked     string `json:"on_blocked"`
	MaxTasks      int    `json:"max_tasks"`
	MaxIterations int    `json:"max_iterations"`
}

// RoleImplementer is the role of a task that is built by the run's own pattern, as one
// without a role is.
const RoleImplementer = "implementer"

// For returns the settings for a task: with the pattern that its role names. An
// unknown role has the run's own pattern; preflight refuses such a run.
func (s Settings) For(t Task) Settings {
	if p, ok := s.Roles[t.Role]; ok && t.Role != RoleImplementer {
		s.Pattern = p
	}
	return s
}

// Limits returns the limits in the settings.
func (s Settings) Limits() Limits {
	return Limits{Profile: s.Profile, OnBlocked: s.OnBlocked, MaxTasks: s.MaxTasks, MaxIterations: s.MaxIterations}
}

// WithLimits returns a copy of the settings with other limits.
func (s Settings) WithLimits(l Limits) Settings {
	s.Profile, s.OnBlocked, s.MaxTasks, s.MaxIterations = l.Profile, l.OnBlocked, l.MaxTasks, l.MaxIterations
	return s
}

// ProposedSetup takes the place of a setup command in the settings of a project
// that sets none. Each tree is set up by the commands that `nightporter init`
// would propose for it, so that a lockfile that appears during a run counts.
const ProposedSetup = "setup as init proposes"

// ProposesSetup reports whether the run's setup is ProposedSetup.
func (s Settings) ProposesSetup() bool { return len(s.Setup) == 1 && s.Setup[0].Run == ProposedSetup }

// Built-in settings (docs/spec 2.2, 2.3, 2.4, 6.4).
const (
	DefaultQuestionTimeout = Duration(30 * time.Minute)
	DefaultBaselineTimeout = Duration(15 * time.Minute)
	DefaultGrace           = Duration(60 * time.Second)
	DefaultVerifyTimeout   = Duration(30 * time.Minute)

	MaxConflicts     = 2  // attempts of a task beside others whose change met theirs; then it is alone (docs/spec 4.5)
	MaxAttempts      = 2  // failed attempts, then the task is blocked (docs/spec 2.5)
	MaxSessions      = 20 // sessions in one attempt (docs/spec 2.5)
	MaxRed           = 3  // red verifications in a row (docs/spec 2.5)
	MaxFailed        = 3  // failed sessions in a row: the first and two repeats (docs/spec 2.2)
	MaxBlockedInARow = 3  // blocked tasks without a success (docs/spec 2.4)
	MaxEmptyWaves    = 2  // waves in a row without a success (docs/spec 7.4)
)

// Values of Settings.OnBlocked: what a run does after a task is blocked.
const (
	OnBlockedStop     = "stop"
	OnBlockedContinue = "continue"
)

// Values of Settings.QuestionThen: what happens to an agent's question that nobody
// answers in time (docs/spec 6.4).
const (
	ThenContinue = "continue" // the task goes on with the agent's own choice; if it named none, the task waits
	ThenPause    = "pause"    // the task waits
	ThenAbort    = "abort"    // the task is blocked
)

// SourceRef names a source as KIND:PATH.
type SourceRef struct {
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Foreign bool   `json:"foreign,omitempty"` // strangers may have written the text of its tasks: reports, issues
}

func (s SourceRef) String() string { return s.Kind + ":" + s.Path }

// Command is one command of setup or verification.
type Command struct {
	Run     string   `json:"run"`
	When    string   `json:"when,omitempty"`    // always (default), code, final
	Timeout Duration `json:"timeout,omitempty"` // 0 = DefaultVerifyTimeout

	// Parallel says that it may run beside the check of another lane: it needs no
	// port, no fixed folder and no machine of its own.
	Parallel bool `json:"parallel,omitempty"`
}

// HooksCommand runs the commit hooks of the user's repository in a room. It is the
// first of Settings.Verify where hooks are on, before anything that a session wrote
// can change the room.
const HooksCommand = "git commit-hooks"

// Bar is the reason why an agent cannot take part in a run, and its remedy.
type Bar struct {
	Agent  string `json:"agent"`
	Text   string `json:"text"`
	Remedy string `json:"fix"`
}

// Bar returns the reason why an agent cannot take part, and whether there is one.
func (s Settings) Bar(agent string) (Bar, bool) {
	for _, b := range s.Barred {
		if b.Agent == agent {
			return b, true
		}
	}
	return Bar{}, false
}

// WithAgent returns a copy of the settings with another agent, also for hats that
// name the old agent. Those hats lose their model, because models belong to an
// agent.
func (s Settings) WithAgent(agent string) Settings {
	old := s.Agent
	if agent == old {
		return s
	}
	hats := map[string]Hat{}
	for name, h := range s.Hats {
		if h.Agent == "" || h.Agent == old {
			h.Agent, h.Model, h.Pinned = "", s.Models[agent].Model(h.Tier), false
		}
		hats[name] = h
	}
	others := []string{old}
	for _, o := range s.Others {
		if o != agent && o != old {
			others = append(others, o)
		}
	}
	if s.CoAuthor == DefaultCoAuthor(old) {
		s.CoAuthor = DefaultCoAuthor(agent)
	}
	s.Agent, s.Hats, s.Others = agent, hats, others
	return s
}

// Planner returns the name of the hat that plans: the pattern's planner, else the
// hat "planner" if it can emit plans, else "".
func (s Settings) Planner() string {
	for _, r := range s.Pattern.Routes {
		if r.On == EventPlan {
			return r.From
		}
	}
	if slices.Contains(s.Hats["planner"].Emits, EventPlan) {
		return "planner"
	}
	return ""
}

// DefaultCoAuthor returns the co-author footer of task commits for a configuration
// that names none.
func DefaultCoAuthor(agent string) string { return agent + " <" + agent + "@localhost>" }

package loop

import (
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
	"github.com/nightporter/nightporter/loop/request"
	"github.com/nightporter/nightporter/loop/triage"
)

// StateVersion is the version of State's JSON. The engine throws a snapshot of
// another version away and folds the ledger from its beginning.
const StateVersion = 41

// State is the input of every decision about one project: the project itself
// and what it shares with the others. It is the fold of their two streams and
// holds nothing else. Apply never changes a State: it returns a new one. The
// zero value is the state before the first entry.
type State struct {
	Shared  Shared  `json:"House"` // called House in snapshots since version 5
	Project Project `json:"Project"`
}

// Shared is the state that all projects share.
type Shared struct {
	MaxSessions int                   `json:"max_sessions"`
	Issued      map[string]int        `json:"issued,omitempty"` // last number issued, by prefix: r, g, q
	Leases      []ledger.LeaseGranted `json:"leases,omitempty"`
	Agents      map[string]AgentHold  `json:"agents,omitempty"`  // agents with a restriction, by name
	Backoff     map[string]int        `json:"backoff,omitempty"` // network failures in a row, by agent

	Limits map[string]LimitStreak `json:"limits,omitempty"` // limits in a row, by agent
	Early  map[string]EarlyStreak `json:"early,omitempty"`  // sessions in a row that ended at once, by agent

	Windows map[string][]UsedWindow `json:"windows,omitempty"` // usage windows, by agent

	Purse     Purse           `json:"purse,omitzero"`
	Uncounted map[string]bool `json:"uncounted,omitempty"` // agents of which people were told that their figures are unknown

	people.State // people, their chats and digests
}

// Project is the state of one repository that nightporter works on.
type Project struct {
	Name       string                   `json:"name"`
	Source     string                   `json:"source,omitempty"`   // KIND:PATH of the source that Tasks came from
	Shelf      map[string]TaskList      `json:"shelf,omitempty"`    // tasks of the project's other sources
	Archive    map[string]Archived      `json:"archive,omitempty"`  // what is left of sources that were not worked on for long
	Tasks      TaskList                 `json:"tasks,omitzero"`     // in document order
	Run        *Run                     `json:"run,omitempty"`      // last run, ended or not; nil = none yet
	Aside      *Run                     `json:"aside,omitempty"`    // the last run, while one that keeps a request green, plans an idea or checks is in its place
	Queued     *ledger.RunQueued        `json:"queued,omitempty"`   // begins after that one
	Branches   map[string]Tip           `json:"branches,omitempty"` // last branch, by source
	Green      map[string]string        `json:"green,omitempty"`    // branch tip that passed verification, by source
	RedTips    map[string]ledger.RedTip `json:"red_tips,omitempty"` // tip that failed it; until a tip passes, by source
	Guidance   guidance.Queue           `json:"guidance,omitzero"`
	Questions  []ledger.Question        `json:"questions,omitempty"`   // open ones
	Answered   []Answered               `json:"settled,omitempty"`     // last settled questions, kept for late answers
	Sessions   []Session                `json:"sessions,omitempty"`    // in flight: planned and not ended
	Progress   string                   `json:"progress,omitempty"`    // one line about the task that finished or was blocked last
	Failing    []FailingEffect          `json:"failing,omitempty"`     // effects that a fault of the machine keeps from being carried out
	Internal   int                      `json:"internal,omitempty"`    // runs in a row that ended with an internal error
	NotStarted *NotStarted              `json:"not_started,omitempty"` // the last run could not start; nil = it could
	Told       map[string][]string      `json:"told,omitempty"`        // warnings about a plan that people were told, by source
	Cleared    []string                 `json:"cleared,omitempty"`     // fingerprints of findings that a person called no secret, the newest last
	Additions  []Addition               `json:"additions,omitempty"`   // tasks that were added lately, or are being added
	Attached   []Attached               `json:"attached,omitempty"`    // files that people sent, oldest first
	Ideas      []Idea                   `json:"ideas,omitempty"`       // that are being planned, or whose plan waits for an answer
	Requests   request.State            `json:"requests,omitzero"`     // branches that were pushed, and their requests
	Leftovers  map[string][]Leftover    `json:"leftovers,omitempty"`   // fixes that earlier runs did not push, by source
	Learning   Learning                 `json:"learning,omitzero"`     // what is known about thresholds
	Taken      []triage.Taken           `json:"taken,omitempty"`       // what fixes of bug reports took, by kind and tier
	History    history.History          `json:"history,omitzero"`      // what its sessions and tasks took
	Hosts      []HostRule               `json:"hosts,omitempty"`       // hosts that people opened for good
	HostsSeen  []SeenHost               `json:"hosts_seen,omitempty"`  // hosts that its sessions reached, the newest last
	Taints     []Taint                  `json:"taints,omitempty"`      // what sessions wrote in that had read outside text
	OpenUntil  time.Time                `json:"open_until,omitzero"`   // until then a person keeps the network open for sessions that read outside text
}

// NotStarted is about runs in a row that could not start for the same reason.
type NotStarted struct {
	Text  string `json:"text"` // the first problem
	Times int    `json:"times"`
}

// Tip is a branch that nightporter made, and its last commit.
type Tip struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}

// Answered is a settled question: answered, expired or withdrawn.
type Answered struct {
	ID      string           `json:"id"`
	Text    string           `json:"text"` // outcome, for people: "retry, Mira"
	At      time.Time        `json:"at"`
	Asked   time.Time        `json:"asked,omitzero"`
	Choice  string           `json:"choice,omitempty"`
	Words   string           `json:"words,omitempty"`
	By      string           `json:"by,omitempty"`    // name, for people; "" = nobody answered
	Actor   string           `json:"actor,omitempty"` // id of the same person: names are not unique
	Subject QuestionSubject  `json:"of,omitzero"`
	Along   []string         `json:"along,omitempty"`  // ids of tasks that the answer skipped along with its own
	Guided  []string         `json:"guided,omitempty"` // ids of guidance items that were addressed to its task or to the tasks in Along
	Before  *ledger.Before   `json:"before,omitempty"` // state before the answer, for undo; nil = cannot be undone
	Late    *ledger.Question `json:"late,omitempty"`   // agent's question that expired and took the agent's own choice
}

// QuestionSubject is the subject of a settled question. It holds what a reply
// to a late answer needs.
type QuestionSubject struct {
	Kind  ledger.QuestionKind `json:"kind,omitempty"`
	Task  string              `json:"task,omitempty"`  // id as written
	Tasks []string            `json:"tasks,omitempty"` // of AskSkip and AskUnticked

	Source string `json:"source,omitempty"` // that the tasks are in; "" = unknown or none
}

// Run is one run: work on a source until a stop reason ends it.
type Run struct {
	ID        string             `json:"id"`
	Settings  ledger.Settings    `json:"settings"`
	Hats      *ledger.HatsRead   `json:"hats,omitempty"`     // hats and pattern reloaded during the run; the next session is planned with them
	HatsBad   string             `json:"hats_bad,omitempty"` // why the hats on disk cannot be used
	Check     bool               `json:"check,omitempty"`
	ByItself  bool               `json:"by_itself,omitempty"` // nightporter started it, by its schedule
	Upkeep    *ledger.Upkeep     `json:"upkeep,omitempty"`    // it keeps an open request green; nil = it works on the source's tasks
	Idea      string             `json:"idea,omitempty"`      // id of the idea that it plans; "" = it works on the source's tasks
	State     ledger.RunState    `json:"state"`
	Wait      ledger.WaitReason  `json:"wait,omitempty"`
	Until     time.Time          `json:"until,omitzero"`       // when the wait ends
	WaitAgent string             `json:"wait_agent,omitempty"` // see AwaitedAgent
	Text      string             `json:"text,omitempty"`       // about the wait, for people
	Signal    string             `json:"signal,omitempty"`
	StopBy    string             `json:"stop_by,omitempty"`
	StopNow   bool               `json:"stop_now,omitempty"`
	Base      ledger.Base        `json:"base,omitzero"`
	Tip       string             `json:"tip,omitempty"` // last commit of the branch
	TipTree   string             `json:"tip_tree,omitempty"`
	TipTests  testCounts         `json:"tip_tests,omitempty"` // tests that ran on TipTree
	Planned   time.Time          `json:"planned"`
	Started   time.Time          `json:"started,omitzero"`
	Ended     *ledger.RunEnded   `json:"ended,omitempty"`
	EndedAt   time.Time          `json:"ended_at,omitzero"`
	Added     int                `json:"added,omitempty"`    // tasks that its sessions added
	Agents    int                `json:"agents"`             // agent sessions planned; also the number of the last one
	Commands  int                `json:"commands"`           // command sessions (setup, verification) planned
	Counted   int                `json:"counted"`            // agent sessions since the last start or resume, for max_iterations
	Scripted  int                `json:"scripted,omitempty"` // sessions of the scripted agent planned
	Doubted   int                `json:"doubted,omitempty"`  // sessions that Counted leaves out and whose failure is unverified
	Commits   int                `json:"commits"`
	DoneNow   []string           `json:"done_now,omitempty"`  // ids of tasks done since the last start or resume
	DoneIn    int                `json:"done_in,omitempty"`   // tasks done in the run
	Streak    int                `json:"streak"`              // tasks blocked in a row without a success in between
	Exempt    []ledger.Exemption `json:"exempt,omitempty"`    // what may fail without counting
	Exempted  []string           `json:"exempted,omitempty"`  // ids of tasks that were committed while something exempt failed
	Checks    *Checks            `json:"checks,omitempty"`    // baseline or final verification under way
	Batch     *TaskBatch         `json:"batch,omitempty"`     // tasks that are being verified and committed together
	Batches   int                `json:"batches,omitempty"`   // batches begun
	Made      []MadeCommit       `json:"made,omitempty"`      // commits of its branch, in order, also those that were left out
	Wave      *Wave              `json:"wave,omitempty"`      // in waves: the one under way
	Waves     []ledger.WaveEnded `json:"waves,omitempty"`     // the last ones that are over
	LastWave  int                `json:"last_wave,omitempty"` // number of the last one
	Held      []ledger.Claimed   `json:"held,omitempty"`      // by branches of the remote, as the last wave that is over saw them
	WavesNow  int                `json:"waves_now,omitempty"` // that are over since the last start or resume
	EmptyRow  int                `json:"empty_row,omitempty"` // of them, the last ones without a success
	NoJudge   string             `json:"no_judge,omitempty"`  // why no triager's session begins any more; "" = one may
	Remakes   int                `json:"remakes,omitempty"`   // branches that were made from its first one
	Remake    *Remake            `json:"remake,omitempty"`    // branch that is being made again
	Loaded    *ledger.LoadHeld   `json:"loaded,omitempty"`    // the load of the machine keeps further lanes from beginning a session
	Finishing *ledger.RunEnded   `json:"finishing,omitempty"`
	Drains    bool               `json:"drains,omitempty"` // Finishing waits until what is in hand is over
	Baseline  []ledger.Result    `json:"baseline,omitempty"`
	Red       *ledger.Verified   `json:"red,omitempty"`    // red baseline that is being settled
	Origin    *ledger.Verified   `json:"origin,omitempty"` // result of its red commands on the person's own commit
	Final     *ledger.Verified   `json:"final,omitempty"`
	FinalTip  string             `json:"final_tip,omitempty"` // commit that Final verified
	Said      *ledger.Outlook    `json:"said,omitempty"`      // what people were told at its start that it will probably get done
	Retold    *RetoldOutlook     `json:"retold,omitempty"`    // what they were told last since then; nil = nothing else
	Next      string             `json:"next,omitempty"`      // folded id of the task that /next chose
	Name      string             `json:"name,omitempty"`      // of the source
	Source    string             `json:"source,omitempty"`    // why the source's file cannot be read; "" = it can
	CostUSD   float64            `json:"cost_usd"`
	Unpriced  int                `json:"unpriced"` // agent sessions whose cost is unknown
	Spent     Spent              `json:"spent,omitzero"`
	Tokens    int64              `json:"tokens,omitempty"`    // with what was reserved for sessions that told none, where a budget holds
	Estimated int                `json:"estimated,omitempty"` // agent sessions whose cost is estimated, or computed from their tokens

	AssumedUSD float64 `json:"assumed_usd,omitempty"` // reserved for sessions whose cost stays unknown
	ExtraUSD   float64 `json:"extra_usd,omitempty"`   // what people added to its budget

	AssumedTokens int64 `json:"assumed_tokens,omitempty"` // of Tokens: reserved for sessions that told none
	Untold        int   `json:"untold,omitempty"`         // such sessions

	ExtraTokens int64                 `json:"extra_tokens,omitempty"`
	TaskBudgets map[string]TaskBudget `json:"task_budgets,omitempty"` // what people decided about tasks, by folded id
	SessionOver *SessionOver          `json:"session_over,omitempty"` // nil = none went over its own budget
	Warned      []ledger.BudgetWarned `json:"warned,omitempty"`       // what people were told of budgets of the run and its tasks
	LastEvent   time.Time             `json:"last_event,omitzero"`

	Hosts []HostRule `json:"hosts,omitempty"` // what people said of hosts, for this run or one of its sessions
	// HostsWanted are the hosts that were asked for before the run began.
	HostsWanted []HostRule `json:"hosts_wanted,omitempty"`

	HostsAsked int                `json:"hosts_asked,omitempty"` // hosts that people were asked about
	Outside    ledger.OutsideText `json:"outside,omitempty"`     // what its agent sessions had that read outside text; closed if one had it
}

// Over reports whether the run has ended. A nil Run is over.
func (r *Run) Over() bool { return r == nil || r.State == ledger.RunOver }

// Aside reports whether the run works on no task of the source: it keeps a request
// green, or plans an idea. It gives way to a run of the source.
func (r *Run) Aside() bool { return r != nil && (r.Upkeep != nil || r.Idea != "") }

// asideOver returns the reason why such a run ends when nothing is left to do.
func (r *Run) asideOver() ledger.Reason {
	if r.Idea != "" {
		return ledger.ReasonIdea
	}
	return ledger.ReasonUpkeep
}

// Iterations returns the number of sessions that count for max_iterations, since
// the run's last start or resume.
func (r *Run) Iterations() int { return r.Counted + r.Doubted }

// Session is a session in flight: planned and not ended.
type Session struct {
	ID      string                `json:"id"`
	Planned ledger.SessionPlanned `json:"planned"`
	Task    string                `json:"task,omitempty"`   // id as written
	Parent  string                `json:"parent,omitempty"` // of a part: id of its task
	Attempt string                `json:"attempt,omitempty"`
	Lane    int                   `json:"lane,omitempty"` // whose work folder it may use
	At      time.Time             `json:"at"`
	Cut     bool                  `json:"cut,omitempty"`   // the daemon asked for its end
	Event   *ledger.EventAccepted `json:"event,omitempty"` // event that was accepted; nil = none yet
	Owed    bool                  `json:"owed,omitempty"`  // an event was refused once because it did not report on guidance
	Refused int                   `json:"refused,omitempty"`
	Refusal string                `json:"refusal,omitempty"` // why the last of these was refused
	Kept    int                   `json:"kept,omitempty"`    // number of texts that it wrote to notebooks

	Throttled bool `json:"throttled,omitempty"` // people were told that it calls too often
}

package ledger

import (
	"time"
)

// RunPlanned begins a run, before its preflight.
type RunPlanned struct {
	Run      string   `json:"run"`
	Settings Settings `json:"settings"`
	Check    bool     `json:"check,omitempty"`    // preflight only
	Fresh    bool     `json:"fresh,omitempty"`    // start from HEAD, even if the branch of an earlier run has commits
	Previous string   `json:"previous,omitempty"` // branch of the source's last run
	Upkeep   *Upkeep  `json:"upkeep,omitempty"`   // the run keeps an open request green, and works on no task of the source
	Idea     string   `json:"idea,omitempty"`     // id of IdeaTaken: the run plans that idea, and works on no task of the source
}

// RunQueued records that a run is to begin once the one at work has ended: one that
// works on no task of the source, and gives way, or one that ends and takes no more
// tasks.
type RunQueued struct {
	Settings Settings `json:"settings"`
	Check    bool     `json:"check,omitempty"`
	Fresh    bool     `json:"fresh,omitempty"`
}

// RunResumed records that a person started an unfinished run again. The counts of
// its limits start from zero.
type RunResumed struct {
	Settings Settings `json:"settings"`
}

// AgentChosen records that a person chose another agent for the rest of the run.
type AgentChosen struct {
	Agent string `json:"agent"`
}

// PreflightFailed records the problems that keep the run from starting.
type PreflightFailed struct {
	Problems []Diagnostic `json:"problems"`
}

// PreflightDone records a successful preflight and the commit that work starts from.
type PreflightDone struct {
	Base     Base         `json:"base"`
	Warnings []Diagnostic `json:"warnings,omitempty"`
}

// RunStarted records that a run may start agents from now on. Advisory lists
// the verification commands that already fail on the start commit, and Exempt
// what fails in them: that is shown and counts against no attempt. In entries of
// earlier releases Exempt is missing, and whatever fails in those commands is
// exempt.
type RunStarted struct {
	Tasks    int      `json:"tasks"`
	First    string   `json:"first,omitempty"`
	Baseline []Result `json:"baseline,omitempty"`
	Advisory []string `json:"advisory,omitempty"`

	Exempt []Exemption `json:"exempt,omitempty"`
	Repair *RedTip     `json:"repair,omitempty"` // the run's first task repairs this

	// Outlook is what the run will probably get done; nil = it has no open task, or works on
	// none of the source's.
	Outlook *Outlook `json:"outlook,omitempty"`
}

// OutlookChanged records that a run under way will probably get something else done than
// people were told last. Outlook is about the whole run, as that of RunStarted: what is done
// and spent already counts.
type OutlookChanged struct {
	Outlook Outlook `json:"outlook"`
}

// ExemptionsSet records what is exempt from here on, after a verification showed
// that less fails than before. Ended says what is not exempt any more.
type ExemptionsSet struct {
	Exempt []Exemption `json:"exempt,omitempty"`
	Ended  []string    `json:"ended,omitempty"`
}

// TipFailed records that the commit which a run continues from fails verification
// and the person's own commit does not: earlier runs broke it.
type TipFailed struct {
	Tip RedTip `json:"tip"`
}

// RunState is the state of a run (docs/spec 1).
type RunState string

// States of a run.
const (
	RunPlanning RunState = "planned"
	RunRunning  RunState = "running"
	RunPausing  RunState = "pausing"
	RunPaused   RunState = "paused"
	RunWaiting  RunState = "waiting"
	RunStopping RunState = "stopping"
	RunOver     RunState = "ended"
)

// WaitReason says what a waiting or paused run waits for.
type WaitReason string

// What a run can wait for.
const (
	WaitLimit    WaitReason = "limit"
	WaitQuestion WaitReason = "question"
	WaitAgent    WaitReason = "agent"
	WaitReview   WaitReason = "review" // paused after max_tasks
	WaitPerson   WaitReason = "person" // paused by /pause
	WaitDisk     WaitReason = "disk"
	WaitMachine  WaitReason = "machine" // a fault of the machine keeps an effect from being carried out
)

// BaselineBroke records commands that passed on the start commit when the run
// began and now fail there. No task of the run caused that. What fails is exempt
// for one task; in entries of earlier releases, without Exempt, the commands are
// exempt for the rest of the run.
type BaselineBroke struct {
	Commands []string `json:"commands"`
	Text     string   `json:"text"` // the first command and the end of its output

	Exempt []Exemption `json:"exempt,omitempty"`
}

// RunStateSet records a change of a run's state.
type RunStateSet struct {
	State  RunState   `json:"state"`
	Wait   WaitReason `json:"wait,omitempty"`
	Until  time.Time  `json:"until,omitzero"`
	Agent  string     `json:"agent,omitempty"` // the agent that the run waits for, with WaitLimit and WaitAgent
	Text   string     `json:"text,omitempty"`
	Signal string     `json:"signal,omitempty"` // the signal that stopped the run: SIGINT, SIGTERM
	Now    bool       `json:"now,omitempty"`    // running sessions are cut off
}

// LoadHeld records that the load of the machine keeps further lanes from beginning a
// session, or with a Load of 0 that it does not any more. The next session of an agent
// ends it, too.
type LoadHeld struct {
	Load float64 `json:"load,omitempty"` // the average when it began, with the sessions that it does not show yet
	Max  float64 `json:"max,omitempty"`  // Settings.MaxLoad
}

// Reason is why a run ended (docs/spec 2.4).
type Reason string

// Reasons.
const (
	ReasonDone       Reason = "all tasks done"
	ReasonChosen     Reason = "chosen tasks done" // --from or --only excluded the remaining tasks
	ReasonBlocked    Reason = "blocked task"
	ReasonNothing    Reason = "nothing left that can run"
	ReasonManual     Reason = "only manual verify left"
	ReasonStreak     Reason = "3 tasks in a row blocked"
	ReasonEmptyWaves Reason = "2 waves in a row without a success"
	ReasonWaves      Reason = "max waves"
	ReasonIterations Reason = "max iterations"
	ReasonUntil      Reason = "wall clock"
	ReasonBudget     Reason = "budget"
	ReasonBaseline   Reason = "baseline broke" // verification now fails on the start commit too
	ReasonStopped    Reason = "stopped"
	ReasonPreflight  Reason = "could not start"
	ReasonChecked    Reason = "checked"              // run --check
	ReasonReplaced   Reason = "replaced"             // by run --new
	ReasonIdea       Reason = "idea worked on"       // the end of a run with RunPlanned.Idea
	ReasonUpkeep     Reason = "request looked after" // the end of a run with RunPlanned.Upkeep
	ReasonInternal   Reason = "internal error"
)

// RunFinishing records that a run is about to end, while its branch tip is
// still being verified.
type RunFinishing struct {
	Ending RunEnded `json:"ending"`
	Drains bool     `json:"drains,omitempty"` // what is in hand in lanes completes first; another entry follows
}

// RunEnded records why a run ended and how to resume it.
type RunEnded struct {
	Reason    Reason     `json:"reason"`
	Exit      int        `json:"exit"`            // ExitCode of this end
	Agent     string     `json:"agent,omitempty"` // the unusable agent, if the run ended because of it
	Text      string     `json:"text,omitempty"`
	By        string     `json:"by,omitempty"`
	Done      int        `json:"done"`
	Total     int        `json:"total"`
	Branch    string     `json:"branch,omitempty"`
	Tip       string     `json:"tip,omitempty"`
	Lost      []string   `json:"lost,omitempty"`      // ids of tasks that are not done and whose lines went while it was under way
	Unpushed  []string   `json:"unpushed,omitempty"`  // ids of tasks whose fixes a person who stopped it at once kept from being pushed
	Held      []Claimed  `json:"held,omitempty"`      // with ReasonNothing: the reports that are left, all of which others work on
	Before    []string   `json:"before,omitempty"`    // ids of open tasks before Settings.From, which nothing but that flag left out
	Final     []Result   `json:"final,omitempty"`     // verification of the branch tip
	FinalOK   *bool      `json:"final_ok,omitempty"`  // nil: not run
	FinalCut  bool       `json:"final_cut,omitempty"` // that verification was cut off
	Proof     ProofCount `json:"proof,omitempty"`     // words of the tasks that the run did
	Unsure    int        `json:"unsure,omitempty"`    // tasks on the branch that are not Sure
	Unallowed int        `json:"unallowed,omitempty"` // of them, those with changed checks that nobody allowed
	Signal    string     `json:"signal,omitempty"`    // the signal that stopped the run: SIGINT, SIGTERM
	Resume    string     `json:"resume,omitempty"`    // the exact command

	Exempt   []Exemption `json:"exempt,omitempty"`   // in force at the end
	Exempted []string    `json:"exempted,omitempty"` // ids of tasks that were committed while something exempt failed
	RedTip   *RedTip     `json:"red_tip,omitempty"`  // no tip was green since
}

// HatsRead records that hats or the pattern changed on disk during the run.
// Sessions planned from here on use the new ones. If Trouble is set, the files
// cannot be used and the previous hats stay in force.
type HatsRead struct {
	Pattern Pattern        `json:"pattern,omitzero"`
	Hats    map[string]Hat `json:"hats,omitempty"`
	Trouble string         `json:"trouble,omitempty"`
}

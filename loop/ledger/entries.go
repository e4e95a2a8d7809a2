package ledger

import (
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/guidance"
)

// Missed returns the days without a digest between last, the day of the previous
// digest, and this one: at most seven, none if last is "" or no date.
func (b DigestSent) Missed(last string) []string {
	day, err := time.Parse(time.DateOnly, b.Day)
	if err != nil {
		return nil
	}
	since, err := time.Parse(time.DateOnly, last)
	if err != nil {
		return nil
	}
	var out []string
	for n := 7; n >= 1; n-- {
		if d := day.AddDate(0, 0, -n); d.After(since) {
			out = append(out, d.Format(time.DateOnly))
		}
	}
	return out
}

// Bodies returns a zero value of every type of entry.
func Bodies() []Body {
	return []Body{
		SharedSet{}, IDIssued{}, LeaseGranted{}, LeaseReleased{}, AgentParked{}, AgentUnusable{}, AgentUsable{},
		PairingOffered{}, PairingTried{}, PairingEnded{}, PersonPaired{}, PersonRemoved{}, QuietSet{}, StrangerWrote{}, CommandRefused{},
		WasOff{}, DigestSent{}, WeekDigestSent{},
		RunPlanned{}, RunResumed{}, AgentChosen{}, PreflightFailed{}, PreflightDone{}, RunStarted{}, RunStateSet{}, RunFinishing{}, RunEnded{},
		BaselineBroke{}, HatsRead{}, SourceRead{}, SourceMarked{}, TaskSet{}, TaskWords{}, TaskNext{}, PathsAllowed{}, PartsMade{}, PlanSettled{},
		Commitment{}, Claim{}, Evidence{}, Submit{},
		ChecksBegun{}, SessionPlanned{}, EventAccepted{}, EventRefused{}, SessionCut{}, SessionEnded{}, SessionOutput{},
		TakenOver{}, TreeKept{}, Verified{}, Routed{}, Redo{}, StageSet{}, TreeMerged{}, TipFound{}, TaskCommitted{}, AttemptEnded{},
		GuidanceQueued{}, GuidanceChanged{}, GuidanceDropped{}, GuidanceBound{}, GuidanceReported{}, GuidanceJudged{}, GuidanceExpired{}, GuidanceKept{},
		QuestionAsked{}, ReminderDue{}, QuestionAnswered{}, AnswerUndone{}, QuestionExpired{},
		MemoryKept{},
		InputPoisoned{}, EffectFailed{},
	}
}

// SharedSet records the configuration that all projects share.
type SharedSet struct {
	MaxSessions int `json:"max_sessions"`
}

// IDIssued records that the number of a run, guidance item or question is taken.
// The numbers count per daemon and are never reused.
type IDIssued struct {
	Kind string `json:"kind"` // r, g, q
	N    int    `json:"n"`
}

// LeaseGranted gives one session a slot and an agent.
type LeaseGranted struct {
	Session string `json:"session"`
	Project string `json:"project"`
	Agent   string `json:"agent,omitempty"`
}

// LeaseReleased frees a session's slot and agent.
type LeaseReleased struct {
	Session string `json:"session"`
}

// AgentParked records that no project uses an agent until a time: it is at its
// usage limit, or it backs off.
type AgentParked struct {
	Agent string       `json:"agent"`
	Until time.Time    `json:"until"`
	Known bool         `json:"known"` // the agent named Until; else it is our estimate, after which the agent is tried
	Why   FailureClass `json:"why"`
	Text  string       `json:"text,omitempty"`
	Times int          `json:"times,omitempty"` // parkings in a row, for the back-off
}

// AgentUnusable records that an agent cannot work until a person repairs something.
type AgentUnusable struct {
	Agent     string `json:"agent"`
	LoggedOut bool   `json:"logged_out,omitempty"`
	Text      string `json:"text"`
}

// AgentUsable ends a parking or an unusable state.
type AgentUsable struct {
	Agent  string `json:"agent"`
	Worked bool   `json:"worked,omitempty"` // one of its sessions worked: the next back-off starts from the beginning
	Trial  bool   `json:"trial,omitempty"`  // it needed a person and nobody reported a repair: it is only tried again
}

// PairingOffered records that the host shows a pairing code. The ledger keeps only
// its hash.
type PairingOffered struct {
	Hash  string    `json:"hash"`
	Role  Role      `json:"role"`
	Until time.Time `json:"until"`
}

// PairingTried records a wrong pairing code. Void says that it was the last try
// allowed and the offered code is void.
type PairingTried struct {
	Who   string `json:"who"` // "telegram:99120045"
	Name  string `json:"name,omitempty"`
	Tries int    `json:"tries"`
	Void  bool   `json:"void,omitempty"`
}

// PairingEnded records that a pairing code is void: it expired, or another code
// was offered.
type PairingEnded struct {
	Why string `json:"why"`
}

// PersonPaired records a paired person. A person who is paired already gets the
// new role.
type PersonPaired struct {
	Person Person `json:"person"`
}

// PersonRemoved records that a person is not paired any more.
type PersonRemoved struct {
	ID string `json:"id"`
}

// QuietSet records a chat's own quiet hours. Hours "" removes them, so that the
// configured hours apply again.
type QuietSet struct {
	Chat  string `json:"chat"`
	Hours Hours  `json:"hours"`
}

// StrangerWrote records a message of a sender who is not paired, at most once an
// hour for each sender.
type StrangerWrote struct {
	Who  string `json:"who"`
	Name string `json:"name,omitempty"`
	Chat string `json:"chat,omitempty"`
	Why  string `json:"why,omitempty"` // not paired, anonymous, a bot
}

// CommandRefused records a command that the sender's role does not include.
type CommandRefused struct {
	Who     string `json:"who"`
	Name    string `json:"name,omitempty"`
	Role    Role   `json:"role"`
	Command string `json:"command"` // its first word
	Project string `json:"project,omitempty"`
}

// WasOff records a time without a running nightporter. The next start writes it,
// and only for absences that people may ask about.
type WasOff struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// DigestSent records the digest of a local day, so that no second one is sent.
type DigestSent struct {
	Day   string    `json:"day"`   // 2026-11-20, in the person's zone
	Meant time.Time `json:"meant"` // when it was due
	From  time.Time `json:"from"`  // what it looks at: after From, up to To
	To    time.Time `json:"to"`
}

// WeekDigestSent records the digest of a week, so that no second one is sent.
type WeekDigestSent struct {
	Week  string    `json:"week"`  // ISO 8601, 2026-W47, in the person's zone
	Meant time.Time `json:"meant"` // when it was due
	From  time.Time `json:"from"`  // what it looks at: after From, up to To
	To    time.Time `json:"to"`
}

// RunPlanned begins a run, before its preflight.
type RunPlanned struct {
	Run      string   `json:"run"`
	Settings Settings `json:"settings"`
	Check    bool     `json:"check,omitempty"`    // preflight only
	Fresh    bool     `json:"fresh,omitempty"`    // start from HEAD, even if an earlier branch has commits
	Previous string   `json:"previous,omitempty"` // branch of the source's last run
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
	Problems []Finding `json:"problems"`
}

// PreflightDone records a successful preflight and the commit that work starts from.
type PreflightDone struct {
	Base     Base      `json:"base"`
	Warnings []Finding `json:"warnings,omitempty"`
}

// RunStarted records that a run may start agents from now on. Advisory lists the
// verification commands that fail on the start commit already; their failures are
// shown but count against no attempt.
type RunStarted struct {
	Tasks    int      `json:"tasks"`
	First    string   `json:"first,omitempty"`
	Baseline []Result `json:"baseline,omitempty"`
	Advisory []string `json:"advisory,omitempty"`
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
)

// BaselineBroke records commands that passed on the start commit when the run
// began and fail there now, in a clean folder. No task of the run broke them, so
// from here on their failures are only shown.
type BaselineBroke struct {
	Commands []string `json:"commands"`
	Text     string   `json:"text"` // the first command and the end of its output
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

// Reason is why a run ended (docs/spec 2.4).
type Reason string

// Reasons.
const (
	ReasonDone       Reason = "all tasks done"
	ReasonChosen     Reason = "chosen tasks done" // --from or --only left the others out
	ReasonBlocked    Reason = "blocked task"
	ReasonNothing    Reason = "nothing left that can run"
	ReasonManual     Reason = "only manual verify left"
	ReasonStreak     Reason = "3 tasks in a row blocked"
	ReasonIterations Reason = "max iterations"
	ReasonUntil      Reason = "wall clock"
	ReasonBudget     Reason = "budget"
	ReasonBaseline   Reason = "baseline broke" // verification now fails on the start commit as well
	ReasonStopped    Reason = "stopped"
	ReasonPreflight  Reason = "could not start"
	ReasonChecked    Reason = "checked"  // run --check
	ReasonReplaced   Reason = "replaced" // by run --new
	ReasonInternal   Reason = "internal error"
)

// RunFinishing records that a run is about to end, while its branch tip is
// still being verified in a clean folder.
type RunFinishing struct {
	Ending RunEnded `json:"ending"`
}

// RunEnded records why a run ended and how to resume it.
type RunEnded struct {
	Reason   Reason   `json:"reason"`
	Exit     int      `json:"exit"`            // ExitCode of this end
	Agent    string   `json:"agent,omitempty"` // the unusable agent, if the run ended because of it
	Text     string   `json:"text,omitempty"`
	By       string   `json:"by,omitempty"`
	Done     int      `json:"done"`
	Total    int      `json:"total"`
	Branch   string   `json:"branch,omitempty"`
	Tip      string   `json:"tip,omitempty"`
	Final    []Result `json:"final,omitempty"`     // verification of the branch tip in a clean folder
	FinalOK  *bool    `json:"final_ok,omitempty"`  // nil: not run
	FinalCut bool     `json:"final_cut,omitempty"` // that verification was cut off
	Signal   string   `json:"signal,omitempty"`    // the signal that stopped the run: SIGINT, SIGTERM
	Resume   string   `json:"resume,omitempty"`    // the exact command
}

// HatsRead records that hats or the pattern changed on disk during the run.
// Sessions planned from here on use the new ones. If Trouble is set, the files
// cannot be used and the previous hats stay in force.
type HatsRead struct {
	Pattern Pattern        `json:"pattern,omitzero"`
	Hats    map[string]Hat `json:"hats,omitempty"`
	Trouble string         `json:"trouble,omitempty"`
}

// SourceRead records how the source differs from its last reading. It has new and
// changed tasks in full, and the order of all tasks.
type SourceRead struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Tasks   []Task   `json:"tasks,omitempty"`   // new, or changed in any field but Line
	Order   []string `json:"order"`             // ids of all tasks, in document order
	Gone    []string `json:"gone,omitempty"`    // ids that are no longer there
	Own     []Task   `json:"own,omitempty"`     // tasks that nightporter puts in front; no file contains them
	Trouble string   `json:"trouble,omitempty"` // why the file cannot be used; the last good reading stays in force
}

// SourceMarked records that a status was written into the user's file.
type SourceMarked struct {
	Mark  Mark   `json:"mark"`
	Error string `json:"error,omitempty"` // why it could not be written; "" = it was
}

// TaskSet records a change of a task's status.
type TaskSet struct {
	From     Status `json:"from,omitempty"`
	To       Status `json:"to"`
	Why      string `json:"why,omitempty"`
	Question string `json:"question,omitempty"` // id of the open question that belongs to it
	Fresh    bool   `json:"fresh,omitempty"`    // failed attempts are forgotten: after /retry, or an edit of the body
}

// TaskWords records a person's words about a task. Every later prompt of the task
// contains them.
type TaskWords struct {
	Text string `json:"text"`
}

// TaskNext records that a person wants the task to be the next one.
type TaskNext struct{}

// PathsAllowed records the decision about paths outside of a task's scope that its
// sessions wrote repeatedly. A person allows the task to write them, or, with
// Denied, they stay out and are not asked about again.
type PathsAllowed struct {
	Paths  []string `json:"paths"`
	Denied bool     `json:"denied,omitempty"`
}

// PartsMade turns approved sections of a task's plan into tasks such as "Task
// 5/b", which are in no file (docs/spec 4.4). Gone lists parts of an earlier plan
// that were never begun. Whole says that the plan is settled: the task is done
// when its parts are.
type PartsMade struct {
	Parts []Task            `json:"parts,omitempty"`
	Plans map[string]string `json:"plans,omitempty"` // the section of each part as JSON, keyed by the part's id as written
	Gone  []string          `json:"gone,omitempty"`
	Whole bool              `json:"whole,omitempty"`
}

// PlanSettled records the result of the argument about a plan: the critic or a
// person approved it, or a person sent it back with words.
type PlanSettled struct {
	Approved bool   `json:"approved"`
	By       string `json:"by"` // "critic", or a person's name
	Rounds   int    `json:"rounds"`
	Words    string `json:"words,omitempty"`
}

// Commitment is the first entry of an attempt's chain.
type Commitment struct {
	TaskID string `json:"taskId"`
	Title  string `json:"title"`
	Tier   string `json:"tier,omitempty"`
	Branch string `json:"branch"`
	Base   string `json:"base"` // commit that the attempt builds on
	Tree   string `json:"tree"`
	Resume bool   `json:"resume,omitempty"` // a parked attempt continues from its tree
}

// Claim records which agent took the task.
type Claim struct {
	AgentID   string    `json:"agentId"`
	StartedAt time.Time `json:"startedAt"`
}

// Evidence is one proof of what an attempt did. Kind decides which fields are
// filled: investigation, fix-applied, build, review.
type Evidence struct {
	Kind         string   `json:"kind"`
	RootCause    string   `json:"rootCause,omitempty"`
	Affected     []string `json:"affectedFiles,omitempty"`
	Strategy     string   `json:"strategy,omitempty"`
	FilesChanged int      `json:"filesChanged,omitempty"`
	LinesAdded   int      `json:"linesAdded,omitempty"`
	LinesRemoved int      `json:"linesRemoved,omitempty"`
	Command      string   `json:"command,omitempty"`
	ExitCode     int      `json:"exitCode,omitempty"`
	DurationMs   int64    `json:"durationMs,omitempty"`
	Tail         string   `json:"tail,omitempty"`
	Flaky        bool     `json:"flaky,omitempty"`
	Type         string   `json:"reviewType,omitempty"`
	Passes       int      `json:"passes,omitempty"`
	Verdict      string   `json:"verdict,omitempty"`
	Issues       []Issue  `json:"issues,omitempty"`
}

// AttemptOutcome says how an attempt ended.
type AttemptOutcome string

// Outcomes. OutcomeConverged is the only success. OutcomeParked, OutcomePlanned
// and OutcomeAnew are no failures and count against no limit.
const (
	OutcomeConverged AttemptOutcome = "converged" // no issue at or above the threshold, all green
	OutcomeStalled   AttemptOutcome = "stalled"   // another round would only repeat an earlier one
	OutcomeLimit     AttemptOutcome = "limit"     // MaxSessions reached
	OutcomeRed       AttemptOutcome = "red"       // verification failed MaxRed times in a row
	OutcomeFailed    AttemptOutcome = "failed"    // failed sessions
	OutcomeBlocked   AttemptOutcome = "blocked"   // a session or an expired question says that the task cannot be done
	OutcomeBudget    AttemptOutcome = "budget"
	OutcomeParked    AttemptOutcome = "parked"  // continues later from its tree
	OutcomeAnew      AttemptOutcome = "anew"    // starts over without a failure: a conflict, another plan
	OutcomePlanned   AttemptOutcome = "planned" // its plan became parts
)

// Submit is the last entry of an attempt's chain.
type Submit struct {
	Result          string         `json:"result"` // pass or fail
	Outcome         AttemptOutcome `json:"outcome,omitempty"`
	Reason          string         `json:"reason,omitempty"`
	Evidence        []string       `json:"evidence,omitempty"` // ids of the sessions that produced the result
	ClosedAt        time.Time      `json:"closedAt"`
	TotalDurationMs int64          `json:"totalDurationMs"`
	Commit          string         `json:"commit,omitempty"`
}

// ChecksBegun records the commands that are about to run: setup, then
// verification. Each of them is a session.
type ChecksBegun struct {
	Kind     Kind      `json:"kind"` // verify, baseline, final
	Tree     string    `json:"tree"`
	Setup    int       `json:"setup,omitempty"` // number of leading Commands that are setup
	Commands []Command `json:"commands"`
}

// SessionPlanned records a session before its start, with all that it will be
// given.
type SessionPlanned struct {
	Kind     Kind             `json:"kind"`
	Hat      string           `json:"hat,omitempty"`
	Agent    string           `json:"agent,omitempty"`
	Model    string           `json:"model,omitempty"`
	Command  string           `json:"command,omitempty"`
	Index    int              `json:"index,omitempty"`  // position of the command in its check
	Repeat   bool             `json:"repeat,omitempty"` // repeats a command that failed
	Tree     string           `json:"tree"`             // input tree
	Round    int              `json:"round,omitempty"`
	Guidance guidance.Binding `json:"guidance,omitzero"`
	Replaces string           `json:"replaces,omitempty"` // the session that this session repeats
	Note     string           `json:"note,omitempty"`     // the stricter note of a repeat
	Wall     Duration         `json:"wall,omitempty"`
	Stall    Duration         `json:"stall,omitempty"`
}

// EventAccepted records the event that a session ended with. A session has at most
// one.
type EventAccepted struct {
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
	Receipt string          `json:"receipt"`
}

// EventRefused records a rejected event, so that the chain shows it.
type EventRefused struct {
	Type string   `json:"type"`
	Why  string   `json:"why"`
	Owed []string `json:"owed,omitempty"` // guidance that it did not report on, which is a reason to reject an event once
}

// SessionEnded records how a session ended and how it is counted.
type SessionEnded struct {
	Kind   Kind           `json:"kind"`
	End    SessionOutcome `json:"end"`
	Counts Accounting     `json:"counts,omitempty"` // agent sessions only
	Exit   Exit           `json:"exit"`
	OK     bool           `json:"ok"`             // commands only: the command passed
	Text   string         `json:"text,omitempty"` // for people, and for the stricter note of the session that repeats it
}

// SessionCut records that the daemon ended a session early. Its work counts as
// nothing.
type SessionCut struct {
	Why string `json:"why"`
}

// SessionOutput records the result of a session and never changes (docs/spec 8.1).
type SessionOutput struct {
	Hat         string   `json:"hat"`
	Event       string   `json:"event"`
	Summary     string   `json:"summary,omitempty"`
	Artifacts   []string `json:"artifacts,omitempty"`
	IssuesFound int      `json:"issues_found"`
	Suggestions int      `json:"suggestions"`
	DurationMs  int64    `json:"duration_ms"`
}

// TakenOver records the tree that was captured from a session.
type TakenOver struct {
	Taken Capture `json:"taken"`
	Ref   string  `json:"ref"`
}

// TreeKept records the files of a session that counts as nothing. No session
// builds on them, but people can look at them.
type TreeKept struct {
	Ref   string       `json:"ref"`
	Tree  string       `json:"tree"`
	Files []FileChange `json:"files,omitempty"`
}

// Result is the result of one verification command.
type Result struct {
	Run      string `json:"run"`
	OK       bool   `json:"ok"`
	Flaky    bool   `json:"flaky,omitempty"` // failed, then passed when repeated
	Advisory bool   `json:"advisory,omitempty"`
	Exit     int    `json:"exit"`
	Ms       int64  `json:"ms"`
	Tail     string `json:"tail,omitempty"`
	Session  string `json:"session"`
}

// Verified records the result of all commands of a check, on a session's tree, the
// start commit (baseline) or the branch tip (final).
type Verified struct {
	Kind    Kind     `json:"kind"`
	OK      bool     `json:"ok"`
	Results []Result `json:"results,omitempty"`
	Tree    string   `json:"tree"`
}

// Routed records which hat is next, on which tree, and why.
type Routed struct {
	From  string `json:"from,omitempty"`
	On    string `json:"on,omitempty"`
	To    string `json:"to"` // a hat or Converged
	Tree  string `json:"tree"`
	Round int    `json:"round,omitempty"`
	Why   string `json:"why,omitempty"`
}

// Redo records that the same hat works once more because its last session cannot
// be routed.
type Redo struct {
	Why    RedoReason `json:"why"`
	Note   string     `json:"note"`             // for the next session
	Tree   string     `json:"tree"`             // input tree of the next session
	Failed bool       `json:"failed,omitempty"` // counts as a failed session
}

// StageSet records an attempt's stage where no other entry implies it.
type StageSet struct {
	Stage Stage `json:"stage"`
}

// TreeMerged records the merge of a task's change onto a newer tip: the tree or the
// conflicts.
type TreeMerged struct {
	Onto      string   `json:"onto"`
	Tree      string   `json:"tree,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
}

// TaskCommitted records a task's commit on the branch. A task has one.
type TaskCommitted struct {
	Commit  string       `json:"commit"`
	Parent  string       `json:"parent"`
	Tree    string       `json:"tree"`
	Subject string       `json:"subject"`
	Files   []FileChange `json:"files,omitempty"`
}

// TipFound records that somebody else added commits to the run's branch.
type TipFound struct {
	Commit string `json:"commit"`
}

// AttemptEnded records the end of an attempt that did not converge.
type AttemptEnded struct {
	Failed  bool           `json:"failed"` // false: parked, to continue from its tree
	Why     string         `json:"why"`
	Replan  bool           `json:"replan,omitempty"` // after a conflict: the task starts over on the new tip, and this attempt does not count
	Outcome AttemptOutcome `json:"outcome,omitempty"`
}

// GuidanceQueued records a new guidance item.
type GuidanceQueued struct {
	Item guidance.Item `json:"item"`
}

// GuidanceChanged replaces the words of a queued guidance item.
type GuidanceChanged struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// GuidanceDropped records that a person took a guidance item back.
type GuidanceDropped struct {
	ID string `json:"id"`
}

// GuidanceBound binds guidance items to a session that is being planned.
type GuidanceBound struct {
	Hat     string           `json:"hat"`
	Writes  bool             `json:"writes"`
	Binding guidance.Binding `json:"binding"`
	Reopen  bool             `json:"reopen,omitempty"` // first session of a new attempt
}

// GuidanceReported records what a session says it did with a guidance item.
type GuidanceReported struct {
	ID    string         `json:"id"`
	State guidance.State `json:"state"`
	Note  string         `json:"note,omitempty"`
}

// GuidanceJudged records whether the work follows a guidance item, as judged by a
// read-only session that was shown the item.
type GuidanceJudged struct {
	ID       string `json:"id"`
	Hat      string `json:"hat"`
	Followed bool   `json:"followed"`
	Note     string `json:"note,omitempty"`
}

// GuidanceExpired ends a guidance item that no session will take any more.
type GuidanceExpired struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// GuidanceKept queues an expired guidance item again.
type GuidanceKept struct {
	ID string `json:"id"`
}

// QuestionAsked records a question with everything needed to ask it again.
type QuestionAsked struct {
	Question Question `json:"question"`
}

// ReminderDue records that a reminder of an open question is due. Which chats
// receive it is decided for each chat.
type ReminderDue struct {
	ID string `json:"id"`
}

// QuestionAnswered settles a question with a person's answer.
type QuestionAnswered struct {
	ID     string   `json:"id"`
	Choice string   `json:"choice,omitempty"`
	Words  string   `json:"words,omitempty"`
	By     string   `json:"by"`
	Along  []string `json:"along,omitempty"` // tasks skipped with it: those that depend on a skipped task
}

// AnswerUndone takes an answer back. The question is open again, and a TaskSet in
// the same decision restores its task.
type AnswerUndone struct {
	Before Before `json:"before"`
	By     string `json:"by"`
}

// QuestionExpired settles a question without a person's answer: its time is over,
// or there is nothing left to ask.
type QuestionExpired struct {
	ID     string `json:"id"`
	Choice string `json:"choice,omitempty"` // the answer that it was settled with; "" = its task keeps waiting
	Then   string `json:"then"`
}

// MemoryKind names one of the project's notebooks.
type MemoryKind string

// Notebooks, each a file of .ralph/agent in the person's checkout.
const (
	MemoryFact     MemoryKind = "memory"   // memories.md: what is true of the repository
	MemoryDecision MemoryKind = "decision" // decisions.md: what was decided, and why
	MemoryNote     MemoryKind = "note"     // scratchpad.md: for the sessions that follow
)

// MemoryKept records a text that a session leaves for later sessions (docs/spec 11).
type MemoryKept struct {
	Kind MemoryKind `json:"kind"`
	Hat  string     `json:"hat"`
	Text string     `json:"text"`
}

// InputPoisoned records an input whose decision panicked. It is never tried again,
// and everything else goes on. With Done, the decision itself stands, in the
// entries before this one, and only composing its messages failed.
type InputPoisoned struct {
	Key   string `json:"key"`
	Kind  string `json:"kind"`
	Error string `json:"error"`
	Done  bool   `json:"done,omitempty"`
}

// EffectFailed records an effect that could not be carried out.
type EffectFailed struct {
	Kind string `json:"kind"`
	Key  string `json:"key"`
	Text string `json:"text"`
	Disk bool   `json:"disk,omitempty"`
}

// EntryType values, in the order of Bodies.
func (SharedSet) EntryType() string { return "house.set" }

func (IDIssued) EntryType() string { return "id.issued" }

func (LeaseGranted) EntryType() string { return "lease.granted" }

func (LeaseReleased) EntryType() string { return "lease.released" }

func (AgentParked) EntryType() string { return "agent.parked" }

func (AgentUnusable) EntryType() string { return "agent.unusable" }

func (AgentUsable) EntryType() string { return "agent.usable" }

func (PairingOffered) EntryType() string { return "pairing.offered" }

func (PairingTried) EntryType() string { return "pairing.tried" }

func (PairingEnded) EntryType() string { return "pairing.ended" }

func (PersonPaired) EntryType() string { return "person.paired" }

func (PersonRemoved) EntryType() string { return "person.removed" }

func (QuietSet) EntryType() string { return "quiet.set" }

func (StrangerWrote) EntryType() string { return "stranger.wrote" }

func (CommandRefused) EntryType() string { return "command.refused" }

func (WasOff) EntryType() string { return "house.off" }

func (DigestSent) EntryType() string { return "digest.sent" }

func (WeekDigestSent) EntryType() string { return "digest.week" }

func (RunPlanned) EntryType() string { return "run.planned" }

func (RunResumed) EntryType() string { return "run.resumed" }

func (AgentChosen) EntryType() string { return "agent.chosen" }

func (PreflightFailed) EntryType() string { return "preflight.failed" }

func (PreflightDone) EntryType() string { return "preflight.done" }

func (RunStarted) EntryType() string { return "run.started" }

func (RunStateSet) EntryType() string { return "run.state" }

func (RunFinishing) EntryType() string { return "run.finishing" }

func (RunEnded) EntryType() string { return "run.ended" }

func (BaselineBroke) EntryType() string { return "baseline.broke" }

func (HatsRead) EntryType() string { return "hats.read" }

func (SourceRead) EntryType() string { return "source.read" }

func (SourceMarked) EntryType() string { return "source.marked" }

func (TaskSet) EntryType() string { return "task.set" }

func (TaskWords) EntryType() string { return "task.words" }

func (TaskNext) EntryType() string { return "task.next" }

func (PathsAllowed) EntryType() string { return "paths.allowed" }

func (PartsMade) EntryType() string { return "parts.made" }

func (PlanSettled) EntryType() string { return "plan.settled" }

func (Commitment) EntryType() string { return "commit" }

func (Claim) EntryType() string { return "claim" }

func (Evidence) EntryType() string { return "evidence" }

func (Submit) EntryType() string { return "submit" }

func (ChecksBegun) EntryType() string { return "checks.begun" }

func (SessionPlanned) EntryType() string { return "session.planned" }

func (EventAccepted) EntryType() string { return "event.accepted" }

func (EventRefused) EntryType() string { return "event.refused" }

func (SessionCut) EntryType() string { return "session.cut" }

func (SessionEnded) EntryType() string { return "session.ended" }

func (SessionOutput) EntryType() string { return "session.output" }

func (TakenOver) EntryType() string { return "tree.taken" }

func (TreeKept) EntryType() string { return "tree.kept" }

func (Verified) EntryType() string { return "tree.verified" }

func (Routed) EntryType() string { return "routed" }

func (Redo) EntryType() string { return "redo" }

func (StageSet) EntryType() string { return "stage.set" }

func (TreeMerged) EntryType() string { return "tree.merged" }

func (TipFound) EntryType() string { return "tip.found" }

func (TaskCommitted) EntryType() string { return "task.committed" }

func (AttemptEnded) EntryType() string { return "attempt.ended" }

func (GuidanceQueued) EntryType() string { return "guidance.queued" }

func (GuidanceChanged) EntryType() string { return "guidance.changed" }

func (GuidanceDropped) EntryType() string { return "guidance.dropped" }

func (GuidanceBound) EntryType() string { return "guidance.bound" }

func (GuidanceReported) EntryType() string { return "guidance.reported" }

func (GuidanceJudged) EntryType() string { return "guidance.judged" }

func (GuidanceExpired) EntryType() string { return "guidance.expired" }

func (GuidanceKept) EntryType() string { return "guidance.kept" }

func (QuestionAsked) EntryType() string { return "question.asked" }

func (ReminderDue) EntryType() string { return "reminder.due" }

func (QuestionAnswered) EntryType() string { return "question.answered" }

func (AnswerUndone) EntryType() string { return "answer.undone" }

func (QuestionExpired) EntryType() string { return "question.expired" }

func (MemoryKept) EntryType() string { return "memory.kept" }

func (InputPoisoned) EntryType() string { return "input.poisoned" }

func (EffectFailed) EntryType() string { return "effect.failed" }

package ledger

import (
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/guidance"
)

// Missed returns the days without a digest between this one and the one that
// was sent before it, "" where that is not known: at most the last seven.
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
		HouseSet{}, IDIssued{}, LeaseGranted{}, LeaseReleased{}, AgentParked{}, AgentUnusable{}, AgentUsable{},
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

// HouseSet records what the config gives all projects together.
type HouseSet struct {
	MaxSessions int `json:"max_sessions"`
}

// IDIssued records that a number of r, g or q is taken. They count per daemon
// and are never reused.
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

// LeaseReleased takes the slot back.
type LeaseReleased struct {
	Session string `json:"session"`
}

// AgentParked says that an agent is at its usage limit, or backs off, until a
// time, in all projects.
type AgentParked struct {
	Agent string       `json:"agent"`
	Until time.Time    `json:"until"`
	Known bool         `json:"known"` // the agent named the time; else it is ours, and tried again
	Why   FailureClass `json:"why"`
	Text  string       `json:"text,omitempty"`
	Times int          `json:"times,omitempty"` // how often in a row, for the back-off
}

// AgentUnusable says that an agent needs a person before it can work again.
type AgentUnusable struct {
	Agent     string `json:"agent"`
	LoggedOut bool   `json:"logged_out,omitempty"`
	Text      string `json:"text"`
}

// AgentUsable ends a parking or an unusable state.
type AgentUsable struct {
	Agent  string `json:"agent"`
	Worked bool   `json:"worked,omitempty"` // a session of it worked: its next back-off begins anew
	Trial  bool   `json:"trial,omitempty"`  // a person was needed and nobody said that it is mended: it is only tried again
}

// PairingOffered records that the host shows a code. Only its hash is kept.
type PairingOffered struct {
	Hash  string    `json:"hash"`
	Role  Role      `json:"role"`
	Until time.Time `json:"until"`
}

// PairingTried records a wrong code. Void: it was the last one allowed.
type PairingTried struct {
	Who   string `json:"who"` // "telegram:99120045"
	Name  string `json:"name,omitempty"`
	Tries int    `json:"tries"`
	Void  bool   `json:"void,omitempty"`
}

// PairingEnded records that a code is void: its time is over, or another was
// offered.
type PairingEnded struct {
	Why string `json:"why"`
}

// PersonPaired lets somebody in. Who was in already has the new role.
type PersonPaired struct {
	Person Person `json:"person"`
}

// PersonRemoved takes somebody out.
type PersonRemoved struct {
	ID string `json:"id"`
}

// QuietSet records a chat's own quiet hours; "" takes them away again.
type QuietSet struct {
	Chat  string `json:"chat"`
	Hours Hours  `json:"hours"`
}

// StrangerWrote records that somebody who is not in wrote, once an hour each.
type StrangerWrote struct {
	Who  string `json:"who"`
	Name string `json:"name,omitempty"`
	Chat string `json:"chat,omitempty"`
	Why  string `json:"why,omitempty"` // not paired, anonymous, a bot
}

// CommandRefused records what somebody's role does not let them do.
type CommandRefused struct {
	Who     string `json:"who"`
	Name    string `json:"name,omitempty"`
	Role    Role   `json:"role"`
	Command string `json:"command"` // the word alone
	Project string `json:"project,omitempty"`
}

// WasOff records that no nightporter was there for a while. It is written by
// the next one, and only of absences that somebody may ask about.
type WasOff struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// DigestSent records the digest of a local day: no other one is sent that day.
type DigestSent struct {
	Day   string    `json:"day"`   // 2026-11-20, in the person's zone
	Meant time.Time `json:"meant"` // when it was due
	From  time.Time `json:"from"`  // what it looks at: after From, up to To
	To    time.Time `json:"to"`
}

// WeekDigestSent records the digest of a week: no other one is sent for it.
type WeekDigestSent struct {
	Week  string    `json:"week"`  // ISO 8601, 2026-W47, in the person's zone
	Meant time.Time `json:"meant"` // when it was due
	From  time.Time `json:"from"`  // what it looks at: after From, up to To
	To    time.Time `json:"to"`
}

// RunPlanned begins a run, before anything was tried.
type RunPlanned struct {
	Run      string   `json:"run"`
	Settings Settings `json:"settings"`
	Check    bool     `json:"check,omitempty"`    // preflight only
	Fresh    bool     `json:"fresh,omitempty"`    // from HEAD, whatever earlier branches hold
	Previous string   `json:"previous,omitempty"` // branch of the source's last run
}

// RunResumed says that a person started an unfinished run again; the counts
// of its limits begin anew.
type RunResumed struct {
	Settings Settings `json:"settings"`
}

// AgentChosen records that a person lets the run go on with another agent.
type AgentChosen struct {
	Agent string `json:"agent"`
}

// PreflightFailed lists what keeps the run from starting.
type PreflightFailed struct {
	Problems []Finding `json:"problems"`
}

// PreflightDone records where the run's work starts from.
type PreflightDone struct {
	Base     Base      `json:"base"`
	Warnings []Finding `json:"warnings,omitempty"`
}

// RunStarted is the moment from which agents are started. Advisory lists
// verification commands that failed on the start commit already and are only
// shown.
type RunStarted struct {
	Tasks    int      `json:"tasks"`
	First    string   `json:"first,omitempty"`
	Baseline []Result `json:"baseline,omitempty"`
	Advisory []string `json:"advisory,omitempty"`
}

// RunState is where a run stands (docs/spec 1).
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

// WaitReason is what a waiting or paused run waits for.
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
// began and fail there now, in a clean folder: no task of this run broke them.
// From here on they are only shown.
type BaselineBroke struct {
	Commands []string `json:"commands"`
	Text     string   `json:"text"` // the first one, and the end of its output
}

// RunStateSet records a change of a run's state.
type RunStateSet struct {
	State  RunState   `json:"state"`
	Wait   WaitReason `json:"wait,omitempty"`
	Until  time.Time  `json:"until,omitzero"`
	Agent  string     `json:"agent,omitempty"` // waited for, with WaitLimit and WaitAgent
	Text   string     `json:"text,omitempty"`
	Signal string     `json:"signal,omitempty"` // SIGINT, SIGTERM: what stopped it
	Now    bool       `json:"now,omitempty"`    // sessions in hand are cut off
}

// Reason a run ended for (docs/spec 2.4).
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
	ReasonBaseline   Reason = "baseline broke" // verification fails on the start commit too, by now
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

// RunEnded records why a run ended and what to do next.
type RunEnded struct {
	Reason  Reason   `json:"reason"`
	Exit    int      `json:"exit"`
	Agent   string   `json:"agent,omitempty"` // that cannot be used, where the run ended for that
	Text    string   `json:"text,omitempty"`
	By      string   `json:"by,omitempty"`
	Done    int      `json:"done"`
	Total   int      `json:"total"`
	Branch  string   `json:"branch,omitempty"`
	Tip     string   `json:"tip,omitempty"`
	Final   []Result `json:"final,omitempty"`    // verification of the branch tip in a clean folder
	FinalOK *bool    `json:"final_ok,omitempty"` // nil: not run
	Resume  string   `json:"resume,omitempty"`   // the exact command
}

// HatsRead records that hats or the pattern were changed on disk while the run
// was under way: sessions planned from here on work by the new ones. Trouble:
// they cannot be used as they are, and those that were read before stand.
type HatsRead struct {
	Pattern Pattern        `json:"pattern,omitzero"`
	Hats    map[string]Hat `json:"hats,omitempty"`
	Trouble string         `json:"trouble,omitempty"`
}

// SourceRead records how the source differs from what was known of it: new
// and changed tasks whole, and the order of all.
type SourceRead struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Tasks   []Task   `json:"tasks,omitempty"`   // new, or changed in any field but Line
	Order   []string `json:"order"`             // ids of all tasks, in document order
	Gone    []string `json:"gone,omitempty"`    // ids that are no longer there
	Own     []Task   `json:"own,omitempty"`     // tasks that nightporter adds in front; they are in no file
	Trouble string   `json:"trouble,omitempty"` // the file cannot be used as it is; the last good reading stands
}

// SourceMarked records that a status was written into the user's file.
type SourceMarked struct {
	Mark  Mark   `json:"mark"`
	Error string `json:"error,omitempty"` // not written, and why
}

// TaskSet records a transition of a task.
type TaskSet struct {
	From     Status `json:"from,omitempty"`
	To       Status `json:"to"`
	Why      string `json:"why,omitempty"`
	Question string `json:"question,omitempty"` // open question that goes with it
	Fresh    bool   `json:"fresh,omitempty"`    // two new attempts: /retry, or the body was edited
}

// TaskWords records what a person said of a task, for every later prompt.
type TaskWords struct {
	Text string `json:"text"`
}

// TaskNext records that a person wants a task next.
type TaskNext struct{}

// PathsAllowed records what is decided of paths out of a task's scope that its
// sessions wrote again and again: a person lets it write them, or they stay
// out, and are not asked about again.
type PathsAllowed struct {
	Paths  []string `json:"paths"`
	Denied bool     `json:"denied,omitempty"`
}

// PartsMade turns approved sections of a task's plan into tasks of their own,
// "Task 5/b", that are in no file (docs/spec 4.4). Gone lists parts that an earlier
// plan made and that nobody began. Whole: the plan is settled, and the task is
// done when its parts are.
type PartsMade struct {
	Parts []Task            `json:"parts,omitempty"`
	Plans map[string]string `json:"plans,omitempty"` // the section of each part, as JSON, by its id as written
	Gone  []string          `json:"gone,omitempty"`
	Whole bool              `json:"whole,omitempty"`
}

// PlanSettled records what became of a plan that was argued about: approved by
// the critic, or by a person, or sent back by one with words.
type PlanSettled struct {
	Approved bool   `json:"approved"`
	By       string `json:"by"` // "critic", or a person's name
	Rounds   int    `json:"rounds"`
	Words    string `json:"words,omitempty"`
}

// Commitment opens an attempt's chain.
type Commitment struct {
	TaskID string `json:"taskId"`
	Title  string `json:"title"`
	Tier   string `json:"tier,omitempty"`
	Branch string `json:"branch"`
	Base   string `json:"base"` // commit that the attempt builds on
	Tree   string `json:"tree"`
	Resume bool   `json:"resume,omitempty"` // a parked attempt goes on from its tree
}

// Claim says which agent took the task.
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

// AttemptOutcome is how an attempt ended.
type AttemptOutcome string

// Outcomes. Only the first is a success, and parked, planned and anew are no
// failures: they never count.
const (
	OutcomeConverged AttemptOutcome = "converged" // no issue at or above the threshold, all green
	OutcomeStalled   AttemptOutcome = "stalled"   // another round would only repeat an earlier one
	OutcomeLimit     AttemptOutcome = "limit"     // 20 sessions
	OutcomeRed       AttemptOutcome = "red"       // verification red 3 times in a row
	OutcomeFailed    AttemptOutcome = "failed"    // failed sessions
	OutcomeBlocked   AttemptOutcome = "blocked"   // a session, or a question's end, says that it cannot be done
	OutcomeBudget    AttemptOutcome = "budget"
	OutcomeParked    AttemptOutcome = "parked"  // goes on from its tree
	OutcomeAnew      AttemptOutcome = "anew"    // starts anew without having failed: a conflict, another plan
	OutcomePlanned   AttemptOutcome = "planned" // became parts
)

// Submit closes an attempt's chain.
type Submit struct {
	Result          string         `json:"result"` // pass or fail
	Outcome         AttemptOutcome `json:"outcome,omitempty"`
	Reason          string         `json:"reason,omitempty"`
	Evidence        []string       `json:"evidence,omitempty"` // sessions that produced it
	ClosedAt        time.Time      `json:"closedAt"`
	TotalDurationMs int64          `json:"totalDurationMs"`
	Commit          string         `json:"commit,omitempty"`
}

// ChecksBegun records that commands are going to be run: setup first, then
// verification, each as a session of its own.
type ChecksBegun struct {
	Kind     Kind      `json:"kind"` // verify, baseline, final
	Tree     string    `json:"tree"`
	Setup    int       `json:"setup,omitempty"` // the first so many of Commands are setup
	Commands []Command `json:"commands"`
}

// SessionPlanned records a session before it is started, with what it will
// be given.
type SessionPlanned struct {
	Kind     Kind             `json:"kind"`
	Hat      string           `json:"hat,omitempty"`
	Agent    string           `json:"agent,omitempty"`
	Model    string           `json:"model,omitempty"`
	Command  string           `json:"command,omitempty"`
	Index    int              `json:"index,omitempty"`  // of the command in its check
	Repeat   bool             `json:"repeat,omitempty"` // a red command once more
	Tree     string           `json:"tree"`             // input tree
	Round    int              `json:"round,omitempty"`
	Guidance guidance.Binding `json:"guidance,omitzero"`
	Replaces string           `json:"replaces,omitempty"` // the session that this one does over
	Note     string           `json:"note,omitempty"`     // the stricter note of a repeat
	Wall     Duration         `json:"wall,omitempty"`
	Stall    Duration         `json:"stall,omitempty"`
}

// EventAccepted is the one event of a session.
type EventAccepted struct {
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
	Receipt string          `json:"receipt"`
}

// EventRefused records an event that was not taken, so that the chain shows it.
type EventRefused struct {
	Type string   `json:"type"`
	Why  string   `json:"why"`
	Owed []string `json:"owed,omitempty"` // guidance that it omitted; refused once for that
}

// SessionEnded records a session's end and what it counts as.
type SessionEnded struct {
	Kind   Kind           `json:"kind"`
	End    SessionOutcome `json:"end"`
	Counts Accounting     `json:"counts,omitempty"` // of an agent session
	Exit   Exit           `json:"exit"`
	OK     bool           `json:"ok"`             // of a command: it passed
	Text   string         `json:"text,omitempty"` // for people, and the stricter note of a session that does it over
}

// SessionCut records that the daemon asked for a session's end: what it has
// done so far counts as nothing.
type SessionCut struct {
	Why string `json:"why"`
}

// SessionOutput is the immutable record of what a session brought (docs/spec 8.1).
type SessionOutput struct {
	Hat         string   `json:"hat"`
	Event       string   `json:"event"`
	Summary     string   `json:"summary,omitempty"`
	Artifacts   []string `json:"artifacts,omitempty"`
	IssuesFound int      `json:"issues_found"`
	Suggestions int      `json:"suggestions"`
	DurationMs  int64    `json:"duration_ms"`
}

// TakenOver records the tree that was taken over from a session.
type TakenOver struct {
	Taken Capture `json:"taken"`
	Ref   string  `json:"ref"`
}

// TreeKept records what a session left that counts as nothing: it is not
// built on, but it is there to be looked at.
type TreeKept struct {
	Ref   string       `json:"ref"`
	Tree  string       `json:"tree"`
	Files []FileChange `json:"files,omitempty"`
}

// Result is what one verification command did.
type Result struct {
	Run      string `json:"run"`
	OK       bool   `json:"ok"`
	Flaky    bool   `json:"flaky,omitempty"` // red, then green on repeat
	Advisory bool   `json:"advisory,omitempty"`
	Exit     int    `json:"exit"`
	Ms       int64  `json:"ms"`
	Tail     string `json:"tail,omitempty"`
	Session  string `json:"session"`
}

// Verified records a whole verification: of a session's tree, of the start
// commit (baseline), or of the branch tip (final).
type Verified struct {
	Kind    Kind     `json:"kind"`
	OK      bool     `json:"ok"`
	Results []Result `json:"results,omitempty"`
	Tree    string   `json:"tree"`
}

// Routed records which hat goes on, on which tree, and why.
type Routed struct {
	From  string `json:"from,omitempty"`
	On    string `json:"on,omitempty"`
	To    string `json:"to"` // hat, or converged
	Tree  string `json:"tree"`
	Round int    `json:"round,omitempty"`
	Why   string `json:"why,omitempty"`
}

// Redo sends the same hat again: its session stands in the way of a route.
type Redo struct {
	Why    RedoReason `json:"why"`
	Note   string     `json:"note"`             // for the next session
	Tree   string     `json:"tree"`             // its input
	Failed bool       `json:"failed,omitempty"` // counts as a failed session
}

// StageSet moves an attempt to a stage that no other entry implies.
type StageSet struct {
	Stage Stage `json:"stage"`
}

// TreeMerged records that a task's change was laid onto a newer tip.
type TreeMerged struct {
	Onto      string   `json:"onto"`
	Tree      string   `json:"tree,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
}

// TaskCommitted records a task's one commit on the branch.
type TaskCommitted struct {
	Commit  string       `json:"commit"`
	Parent  string       `json:"parent"`
	Tree    string       `json:"tree"`
	Subject string       `json:"subject"`
	Files   []FileChange `json:"files,omitempty"`
}

// TipFound records that somebody added commits to the run's branch.
type TipFound struct {
	Commit string `json:"commit"`
}

// AttemptEnded says what became of an attempt that did not converge.
type AttemptEnded struct {
	Failed  bool           `json:"failed"` // false: parked, to go on from its tree
	Why     string         `json:"why"`
	Replan  bool           `json:"replan,omitempty"` // a conflict: starts anew on the new tip and does not count
	Outcome AttemptOutcome `json:"outcome,omitempty"`
}

// GuidanceQueued records a directive.
type GuidanceQueued struct {
	Item guidance.Item `json:"item"`
}

// GuidanceChanged replaces the words of a queued one.
type GuidanceChanged struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// GuidanceDropped takes one back.
type GuidanceDropped struct {
	ID string `json:"id"`
}

// GuidanceBound binds items to a session that is being planned.
type GuidanceBound struct {
	Hat     string           `json:"hat"`
	Writes  bool             `json:"writes"`
	Binding guidance.Binding `json:"binding"`
	Reopen  bool             `json:"reopen,omitempty"` // first session of a new attempt
}

// GuidanceReported is what a session says it did with an item.
type GuidanceReported struct {
	ID    string         `json:"id"`
	State guidance.State `json:"state"`
	Note  string         `json:"note,omitempty"`
}

// GuidanceJudged is what a session that only reads found of an item that it
// was shown: whether the work follows it.
type GuidanceJudged struct {
	ID       string `json:"id"`
	Hat      string `json:"hat"`
	Followed bool   `json:"followed"`
	Note     string `json:"note,omitempty"`
}

// GuidanceExpired ends an item that nobody will take any more.
type GuidanceExpired struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// GuidanceKept queues an expired item again.
type GuidanceKept struct {
	ID string `json:"id"`
}

// QuestionAsked records a question with everything needed to ask it again.
type QuestionAsked struct {
	Question Question `json:"question"`
}

// ReminderDue records that the time has come to say once more that a question
// is open. Whom it is said to is decided for each chat.
type ReminderDue struct {
	ID string `json:"id"`
}

// QuestionAnswered settles one.
type QuestionAnswered struct {
	ID     string   `json:"id"`
	Choice string   `json:"choice,omitempty"`
	Words  string   `json:"words,omitempty"`
	By     string   `json:"by"`
	Along  []string `json:"along,omitempty"` // tasks that are put away with it: what cannot be done without a skipped one
}

// AnswerUndone takes an answer back: its question is open again, and its task
// stands as it did (a task.set beside it says how).
type AnswerUndone struct {
	Before Before `json:"before"`
	By     string `json:"by"`
}

// QuestionExpired settles one that nobody answered in time.
type QuestionExpired struct {
	ID     string `json:"id"`
	Choice string `json:"choice,omitempty"` // what it was settled with, "" = its task waits on
	Then   string `json:"then"`
}

// MemoryKind is which of the project's notebooks a text belongs to.
type MemoryKind string

// Notebooks, each a file of .ralph/agent in the person's checkout.
const (
	MemoryFact     MemoryKind = "memory"   // memories.md: what is true of the repository
	MemoryDecision MemoryKind = "decision" // decisions.md: what was decided, and why
	MemoryNote     MemoryKind = "note"     // scratchpad.md: for the sessions that follow
)

// MemoryKept records what a session wants later ones to know (docs/spec 11).
type MemoryKept struct {
	Kind MemoryKind `json:"kind"`
	Hat  string     `json:"hat"`
	Text string     `json:"text"`
}

// InputPoisoned records an input whose decision failed inside nightporter:
// it is never tried again, and everything else goes on. Where Done is set, only
// telling people of it failed: it was decided, by the entries before this one.
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
func (HouseSet) EntryType() string { return "house.set" }

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

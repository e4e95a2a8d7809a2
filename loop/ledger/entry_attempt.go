package ledger

import (
	"time"
)

// Commitment is the first entry of an attempt's chain.
type Commitment struct {
	TaskID string `json:"taskId"`
	Title  string `json:"title"`
	Tier   string `json:"tier,omitempty"`
	Branch string `json:"branch"`
	Base   string `json:"base"` // commit that the attempt builds on
	Tree   string `json:"tree"`
	Resume bool   `json:"resume,omitempty"` // the attempt was parked and continues from its tree
}

// Claim records which agent took the task.
type Claim struct {
	AgentID   string    `json:"agentId"`
	StartedAt time.Time `json:"startedAt"`
	Lane      int       `json:"lane,omitempty"` // in which the attempt works, from 0
}

// EvidenceVerification is the kind of evidence that a verifier's or tester's verdict is.
const EvidenceVerification = "verification"

// Evidence is one proof of what an attempt did. Kind decides which fields are
// filled: investigation, fix-applied, build, review, verification, pr.
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
	Type         string   `json:"reviewType,omitempty"` // of a review: the kind of the fix, or the hat where that has none
	Passes       int      `json:"passes,omitempty"`     // reviews of the attempt, with this one
	Verdict      string   `json:"verdict,omitempty"`
	Issues       []Issue  `json:"issues,omitempty"`
	URL          string   `json:"url,omitempty"` // of the request, with kind pr
	Number       int      `json:"number,omitempty"`

	// Threshold is what a review was held against, nil in entries of earlier releases.
	// Learned is the id of the question that set it; "" = the task or its pattern does.
	Threshold []Severity `json:"threshold,omitempty"`
	Learned   string     `json:"learned,omitempty"`

	// Looks are the passes of a review by the kind of the fix, nil for other reviews.
	Looks []PassResult `json:"looks,omitempty"`

	Agent string `json:"agent,omitempty"` // whose review it is, for a task that asks for two

	// Criteria are what a verifier or tester says of each acceptance criterion of the
	// task, in their order, and then of what else it tried; nil for other kinds.
	Criteria []CriterionResult `json:"criteria,omitempty"`
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

// AttemptEnded records the end of an attempt that did not converge.
type AttemptEnded struct {
	Failed  bool           `json:"failed"` // false: parked, to continue from its tree
	Why     string         `json:"why"`
	Replan  bool           `json:"replan,omitempty"` // after a conflict: the task starts over on the new tip, and this attempt does not count
	Outcome AttemptOutcome `json:"outcome,omitempty"`

	// Conflict is what the change could not be merged with; nil = something else ended
	// the attempt.
	Conflict *Conflict `json:"conflict,omitempty"`
}

// Conflict is a change that could not become part of a branch because of others. Both
// sides begin at Base: the trees Mine and Theirs differ from it by one change each.
type Conflict struct {
	Base   string   `json:"base"`            // commit; for a part, tree that it began with
	Mine   string   `json:"mine"`            // tree
	Theirs string   `json:"theirs"`          // tip of the branch; for a part, tree of its task
	Paths  []string `json:"paths,omitempty"` // that both changed; empty = they merge, and the result failed its checks
}

// ChecksBegun records the commands that are about to run: setup, then
// verification. Each of them is a session. The first ones prepare the work folder
// for later sessions, and all others run in a room (docs/spec 9.5).
type ChecksBegun struct {
	Kind     Kind      `json:"kind"` // verify, baseline, final
	Tree     string    `json:"tree"`
	Work     int       `json:"work,omitempty"`  // number of leading Commands that are setup of the work folder
	Setup    int       `json:"setup,omitempty"` // number of leading Commands that are setup, of work folder and room
	Commands []Command `json:"commands"`
	For      string    `json:"for,omitempty"` // of KindShot without an attempt: the task that a person is going to look at
}

// Result is the result of one verification command.
type Result struct {
	Run      string `json:"run"`
	OK       bool   `json:"ok"`
	Flaky    bool   `json:"flaky,omitempty"` // failed, then passed when repeated
	Advisory bool   `json:"advisory,omitempty"`
	Setup    bool   `json:"setup,omitempty"` // of a setup command
	Exit     int    `json:"exit"`
	Ms       int64  `json:"ms"`
	Tail     string `json:"tail,omitempty"`
	Session  string `json:"session"`
	Why      string `json:"why,omitempty"` // why it failed, where its output cannot know: "longer than 15m"

	Failures *Failures `json:"failures,omitempty"` // what failed; nil = unknown, or nothing
	New      []Failure `json:"new,omitempty"`      // the first of them that no exemption covers, where the command has one

	Flakes []Failure `json:"flakes,omitempty"` // the first of what failed in only one of two runs of a command that was repeated

	Picture *Picture `json:"picture,omitempty"` // of KindShot

	Ran []TestCount `json:"ran,omitempty"` // tests by runner; a runner without a count is missing: unknown, not zero
}

// Verified records the result of all commands of a check, on a session's tree, the
// start commit (baseline) or the branch tip (final).
type Verified struct {
	Kind    Kind     `json:"kind"`
	OK      bool     `json:"ok"`
	Results []Result `json:"results,omitempty"`
	Tree    string   `json:"tree"`

	// Batch is the id of the batch whose check ran the commands, in a result that
	// was taken over from it: the commit holds the very tree that it verified.
	Batch string `json:"batch,omitempty"`

	Fewer []FewerTests `json:"fewer,omitempty"` // of a guard: where fewer tests ran than at the start, which makes it red
}

// Routed records which hat is next, on which tree, and why.
type Routed struct {
	From  string `json:"from,omitempty"`
	On    string `json:"on,omitempty"`
	To    string `json:"to"` // a hat or Converged
	Tree  string `json:"tree"`
	Round int    `json:"round,omitempty"`
	Why   string `json:"why,omitempty"`

	Second bool `json:"second,omitempty"` // the review passed, and another agent has to confirm it (Task.SecondReview)
}

// Redo records that the same hat runs again because its last session cannot be
// routed.
type Redo struct {
	Why    RedoReason `json:"why"`
	Note   string     `json:"note"`             // for the next session
	Tree   string     `json:"tree"`             // input tree of the next session
	Failed bool       `json:"failed,omitempty"` // counts as a failed session
}

// StageSet records an attempt's stage where no other entry implies it.
type StageSet struct {
	Stage    Stage `json:"stage"`
	Forgiven bool  `json:"forgiven,omitempty"` // its last failed sessions in a row that ended at once count no more: they were the agent's trouble
}

// TreeMerged records the merge of a task's change onto a newer tip: the tree or the
// conflicts.
type TreeMerged struct {
	Onto      string   `json:"onto"`
	OntoTree  string   `json:"onto_tree,omitempty"` // for a part: the tree of its task, which takes the place of Onto's own
	Tree      string   `json:"tree,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`

	Proof *ProofFacts `json:"proof,omitempty"` // of Tree against Onto

	// Batch is the id of the batch in which Tree was verified. The attempt's own
	// verification, and what its tree changed of what proves, stand.
	Batch string `json:"batch,omitempty"`
}

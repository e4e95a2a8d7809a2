package loop

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// AgentHold is why an agent is not used, or used on trial only.
type AgentHold struct {
	Unusable  bool                `json:"unusable,omitempty"` // until a person acts or a trial succeeds
	LoggedOut bool                `json:"logged_out,omitempty"`
	Trial     bool                `json:"trial,omitempty"` // was unusable and is being tried again: no longer held
	Until     time.Time           `json:"until,omitzero"`  // end of the hold; for an unusable agent, time of the next trial
	Known     bool                `json:"known,omitempty"`
	Why       ledger.FailureClass `json:"why,omitempty"`
	Text      string              `json:"text,omitempty"`
	Since     time.Time           `json:"since,omitzero"`
	Times     int                 `json:"times,omitempty"`
}

// TaskState is a task of the source and its progress.
type TaskState struct {
	Task     ledger.Task   `json:"task"`
	Status   ledger.Status `json:"status"`
	Why      string        `json:"why,omitempty"`
	Question string        `json:"question,omitempty"`  // id of the open question about it
	Attempts int           `json:"attempts"`            // attempts begun, ever; also the number of the last one
	Failed   int           `json:"failed"`              // failed attempts since the task was last made fresh
	LastFail string        `json:"last_fail,omitempty"` // why the last attempt failed
	Failures []Failure     `json:"failures,omitempty"`  // the last failed attempts, oldest first, for the prompt of the next one
	Stalled  bool          `json:"stalled,omitempty"`   // the last attempt made no progress: the next one begins with a new plan
	Commit   string        `json:"commit,omitempty"`
	Chain    *Chain        `json:"chain,omitempty"`     // evidence of its last attempt
	Proof    *ledger.Proof `json:"proof,omitempty"`     // what its "done" is worth; nil before, and for tasks of earlier releases
	ProvedIn string        `json:"proved_in,omitempty"` // run in which Proof was first known
	// Pictured has the pictures of its last attempt; nil = none were taken.
	Pictured *ledger.Pictured `json:"pictured,omitempty"`
	Marked   ledger.Mark      `json:"marked,omitempty"` // mark that nightporter wrote to the source last
	MarkedAt time.Time        `json:"marked_at,omitzero"`
	Lifted   ledger.Mark      `json:"lifted,omitempty"`   // mark that a person's answer overrules, until the source shows a different one
	Attempt  *Attempt         `json:"work,omitempty"`     // attempt under way or parked
	Scripted bool             `json:"scripted,omitempty"` // the scripted agent worked on it, in a run that withholds its marks
	Person   bool             `json:"person,omitempty"`   // a person has to approve it: its checkbox stays open until then
	Words    []string         `json:"words,omitempty"`    // answers and failed manual checks, shown in every later prompt
	Allowed  []string         `json:"allowed,omitempty"`  // paths outside its scope that a person allowed
	Denied   []string         `json:"denied,omitempty"`   // paths outside its scope that stay forbidden after a question
	TakeAll  []string         `json:"take_all,omitempty"` // folders of which a person takes any number of new files
	LeftOut  []string         `json:"left_out,omitempty"` // folders whose new files are no part of it
	Parts    []string         `json:"parts,omitempty"`    // ids of the parts made from its plan: the task is done when they are
	Plan     json.RawMessage  `json:"plan,omitempty"`     // newest plan, kept after its attempt; for a part, its section
	Doubted  time.Time        `json:"doubted,omitzero"`   // reading since which the source lacks something of it, which is not believed yet
	Lost     string           `json:"lost,omitempty"`     // run that lost it: the reading was not the one that it started on
	Rest     *ledger.Rest     `json:"rest,omitempty"`     // what its line brings back; nil unless it is withdrawn
	Archived bool             `json:"archived,omitempty"` // it came from the archive, and its text was not read since
	// ArchivedText is the fingerprint of an archived task's text; "" = unknown.
	ArchivedText string    `json:"archived_text,omitempty"`
	Ended        time.Time `json:"ended,omitzero"`
	// Returned says why an evaluator sent it back; nil = none did since it was last
	// taken up by a person.
	Returned *ledger.Returned `json:"returned,omitempty"`
	Last     time.Time        `json:"last,omitzero"` // time of the last attempt
	// Replanned is the number of failed attempts after which it was planned anew; 0 = it
	// was not, since a person last took it up.
	Replanned int `json:"replanned,omitempty"`
	// Conflicts is the number of attempts whose change could not be merged with what was
	// done meanwhile.
	Conflicts int `json:"conflicts,omitempty"`
	// Conflict is what the last of them met; nil = there was none.
	Conflict *ledger.Conflict `json:"conflict,omitempty"`
	// Repeated says that it was done and came back (Task.Repeat).
	Repeated bool `json:"repeated,omitempty"`
	// Uncounted is the number of failed attempts that the source's own count lacks, and
	// Counted the number of those that it has. Task.Failures minus Counted are other
	// tools'.
	Uncounted int `json:"uncounted,omitempty"`
	Counted   int `json:"counted,omitempty"`
	// Taken is the hash of the text with which a person took a task of somebody whose
	// word alone starts no session (Task.Author); "" = nobody did, or the text is another
	// one now.
	Taken string `json:"taken,omitempty"`
	// Triage is what triage says of a report; nil = it was not sorted yet. Aside is the
	// gate by which it is set aside now, and Kept the id of the person who brought it
	// back: no triage sets it aside again.
	Triage *ledger.Triage `json:"triage,omitempty"`
	Judged *JudgedReport  `json:"judged,omitempty"` // nil = no triager's session was asked about it
	// WorkedMs is the time of the agent sessions that fix the report, over all attempts
	// since it was done the last time.
	WorkedMs int64       `json:"worked_ms,omitempty"`
	Aside    ledger.Gate `json:"aside,omitempty"`
	Kept     string      `json:"kept,omitempty"`
	// Effort is what it took since its work began; zero once that is in the history.
	Effort history.Effort `json:"effort,omitzero"`
	// Asked is the id of the person who asked for the report, whatever triage says of it
	// and whoever claims it; "" = nobody did since it was settled last.
	Asked string `json:"asked,omitempty"`
}

// review returns the kind of a report's fix, and the passes of its review. Reviews of
// other tasks have none.
func (t *TaskState) review() (kind string, passes []ledger.Pass) {
	if t.Task.Report == nil || t.Triage == nil {
		return "", nil
	}
	return t.Triage.Kind, t.Triage.Passes
}

// Attempt is one try at a task: a chain of sessions, each of which continues
// the tree of the one before.
type Attempt struct {
	N            int                   `json:"n"`
	Run          string                `json:"run"`
	Of           ledger.Task           `json:"of"`                  // task as it was when the attempt began
	Base         string                `json:"base"`                // commit that the attempt builds on
	Start        string                `json:"start"`               // tree of Base
	Tree         string                `json:"tree"`                // input tree of the next session
	Unclaimed    string                `json:"unclaimed,omitempty"` // tree that Tree's last changes began with, which no session has ended with as done; "" = there are none
	Merging      *ledger.Conflict      `json:"merging,omitempty"`   // the two sides of its last merge; nil = it was not merged
	Merged       *MergedParts          `json:"merged,omitempty"`    // the changes of its parts so far; nil = none are merged into its tree
	Lane         int                   `json:"lane,omitempty"`      // in which it works
	Hat          string                `json:"hat"`                 // hat of the current session, or of the next one
	Stage        ledger.Stage          `json:"stage"`
	Session      string                `json:"session,omitempty"` // id of the current session, or of the last one
	Agent        string                `json:"agent,omitempty"`   // of that session
	Sessions     int                   `json:"sessions"`
	Reserved     ledger.Reservation    `json:"reserved,omitzero"`    // of the last session
	Met          *MetBudget            `json:"met,omitempty"`        // the last session was ended at its budget; nil = it was not
	Outside      ledger.OutsideText    `json:"outside,omitempty"`    // what its sessions had; closed if one had it
	Scripted     bool                  `json:"scripted,omitempty"`   // the scripted agent had one of its sessions
	EarlyRow     int                   `json:"early_row,omitempty"`  // of FailedRow, the last ones that ended at once
	EarlyText    string                `json:"early_text,omitempty"` // how its last session ended that may be held against the agent
	FailedRow    int                   `json:"failed_row"`           // failed sessions in a row
	LostRow      int                   `json:"lost_row"`
	Red          int                   `json:"red"`                   // red verifications in a row
	RedBatches   int                   `json:"red_batches,omitempty"` // batches that failed by it
	Facts        *ledger.ProofFacts    `json:"facts,omitempty"`       // what Tree changed of what proves; nil if nobody asked
	Guarded      string                `json:"guarded,omitempty"`     // Facts.Guard that was verified last
	GuardOK      bool                  `json:"guard_ok,omitempty"`
	GuardRed     int                   `json:"guard_red,omitempty"`     // times that it was red without a reason
	Fewer        []ledger.FewerTests   `json:"fewer,omitempty"`         // why it was red: fewer tests ran than at the start
	ChecksReason string                `json:"checks_reason,omitempty"` // why an agent changed checks
	ChecksPaths  []string              `json:"checks_paths,omitempty"`  // the paths that the reason is for
	ChecksFewer  []ledger.FewerTests   `json:"checks_fewer,omitempty"`  // the missing tests that the reason is for
	StartTests   testCounts            `json:"start_tests,omitempty"`   // tests that ran on Start
	GuardTests   testCounts            `json:"guard_tests,omitempty"`   // tests that ran on Guarded
	Recounted    bool                  `json:"recounted,omitempty"`     // StartTests were counted once more, after fewer had run
	Shown        Shown                 `json:"shown,omitzero"`
	Rechecked    bool                  `json:"rechecked,omitempty"` // the red commands also ran on the start commit (docs/decisions/0011)
	Rounds       int                   `json:"rounds"`
	Second       string                `json:"second,omitempty"`   // agent whose review of Tree passed, which another one has to confirm
	Note         string                `json:"note,omitempty"`     // for the next session: why the last one is repeated
	Replaces     string                `json:"replaces,omitempty"` // id of the session that the next one repeats
	Owed         []string              `json:"owed,omitempty"`     // guidance ids missing from a refused event of this attempt
	Event        *ledger.EventAccepted `json:"event,omitempty"`    // of the current session
	Refusal      *ledger.EventRefused  `json:"refusal,omitempty"`  // the last event that was refused, until one is accepted
	Said         string                `json:"said,omitempty"`     // last words of its last session that ended, if that sent no event
	SaidBy       string                `json:"said_by,omitempty"`  // hat of that session
	Captured     *ledger.Capture       `json:"taken,omitempty"`    // of the current session
	Checks       *Checks               `json:"checks,omitempty"`
	Plan         json.RawMessage       `json:"plan,omitempty"`
	History      []Step                `json:"history,omitempty"` // finished sessions of this attempt
	Issues       []ledger.Issue        `json:"issues,omitempty"`  // from the last review, or failed checks from a verifier
	Found        []ledger.Issue        `json:"found,omitempty"`   // by the current review
	Fixes        []FixRound            `json:"fixes,omitempty"`
	Fixing       bool                  `json:"fixing,omitempty"`    // the last review sent the task back
	LeftOpen     []ledger.Severity     `json:"left_open,omitempty"` // of the issues of the last review
	Verified     *ledger.Verified      `json:"verified,omitempty"`
	Judged       string                `json:"judged,omitempty"`     // session whose files the result in Verified is for
	Trees        []string              `json:"trees,omitempty"`      // tree after each round
	IssueSets    []string              `json:"issue_sets,omitempty"` // fingerprint of the issues of each review
	Converged    bool                  `json:"converged,omitempty"`  // the attempt is being committed
	Manual       string                `json:"manual,omitempty"`     // instructions for the person who has to look at the result
	NoChange     string                `json:"no_change,omitempty"`
	Disputed     json.RawMessage       `json:"disputed,omitempty"`     // issues that the fixer disputes, with its reasons
	Upheld       int                   `json:"upheld,omitempty"`       // times in a row that a review upheld a disputed issue
	FailedTrees  []string              `json:"failed_trees,omitempty"` // that a tester found at fault
	Rulings      []payload.Ruling      `json:"rulings,omitempty"`      // about what it found
	Learnings    string                `json:"learnings,omitempty"`
	Strayed      []string              `json:"strayed,omitempty"`   // paths written outside the scope, over the whole attempt
	Leaks        int                   `json:"leaks,omitempty"`     // captures in which a secret was found
	Repro        string                `json:"repro,omitempty"`     // command that failed on the start tree and has to pass (docs/spec 2.3)
	Consensus    *Consensus            `json:"consensus,omitempty"` // argument about its plan; nil = none
	Began        time.Time             `json:"began"`
	Fresh        bool                  `json:"fresh,omitempty"`   // no session was planned yet
	Proof        []string              `json:"proof,omitempty"`   // sessions whose evidence the submission lists
	Answers      []Answer              `json:"answers,omitempty"` // to questions of its sessions

	Criteria []ledger.CriterionResult `json:"criteria,omitempty"` // what the last verdict of a verifier or tester says of each
}

// Consensus is the state of the argument about a plan (docs/spec 4.4).
type Consensus struct {
	Rounds   []payload.Critique `json:"rounds,omitempty"`   // the critic's verdicts on this plan
	Approved []string           `json:"approved,omitempty"` // ids of sections that the critic approved; they are not revised
	Advice   string             `json:"advice,omitempty"`   // from the architect, for the next revision
	Yields   bool               `json:"yields,omitempty"`   // a part is built before the next revision
}

// Step is one finished session, as later prompts describe it.
type Step struct {
	Session string `json:"session"`
	Hat     string `json:"hat"`
	Event   string `json:"event"`
	Summary string `json:"summary,omitempty"`
}

// Checks is a setup or verification under way. Its commands run one after
// another.
type Checks struct {
	Kind     ledger.Kind      `json:"kind"` // of the whole check: verify, baseline, final
	Tree     string           `json:"tree"`
	Commands []ledger.Command `json:"commands"`
	Work     int              `json:"work,omitempty"` // number of leading Commands that are setup of the work folder
	Setup    int              `json:"setup"`          // number of leading Commands that are setup, of work folder and room
	For      string           `json:"for,omitempty"`  // as in ledger.ChecksBegun
	Index    int              `json:"index"`
	Repeat   bool             `json:"repeat"`
	Lost     int              `json:"lost,omitempty"` // number of sessions of the check that were lost
	Results  []ledger.Result  `json:"results,omitempty"`
	First    *ledger.Result   `json:"first,omitempty"` // red result of a command that is being repeated
}

func (w *Attempt) rounds() int {
	if w.Consensus == nil {
		return 0
	}
	return len(w.Consensus.Rounds)
}

// changes reports whether the session was meant to change files.
func (s Step) changes() bool { return payload.ChangesFiles(s.Event) }

// writer returns the id of the session whose files the attempt converged with:
// the last one that was meant to change files.
func (w *Attempt) writer() string {
	for n := len(w.History) - 1; n >= 0; n-- {
		if s := w.History[n]; s.changes() {
			return s.Session
		}
	}
	return w.Session
}

// wish returns the mark that the source gives the task. It returns MarkOpen
// where a person's later decision overrules that mark.
func (t *TaskState) wish() ledger.Mark {
	if t.Task.Mark == "" || t.Task.Mark == t.Lifted {
		return ledger.MarkOpen
	}
	return t.Task.Mark
}

// green reports whether the attempt verified this tree and it passed.
func (w *Attempt) green(tree string) bool {
	v := w.Verified
	return v != nil && v.Kind == ledger.KindVerify && v.OK && v.Tree == tree
}

// withRepro appends the command that reproduced the fault, unless cmds has it
// already. A fix has to make it pass even if the project's own commands do not
// run it.
func (w *Attempt) withRepro(cmds []ledger.Command) []ledger.Command {
	if w.Repro == "" || slices.ContainsFunc(cmds, func(c ledger.Command) bool { return c.Run == w.Repro }) {
		return cmds
	}
	return append(cmds, ledger.Command{Run: w.Repro})
}

// judged reports whether a hat that judges had the last session, or all since the
// last one that could write.
func (w *Attempt) judged(s ledger.Settings) bool {
	for n := len(w.History) - 1; n >= 0; n-- {
		switch hat := w.History[n].Hat; {
		case s.Judges(hat):
			return true
		case s.Hats[hat].Writes():
			return false
		}
	}
	return false
}

// PlanFor returns the plan that a session of the task's attempt works by: that of the
// attempt, or else the newest plan of the task; for a part, its section. A planner
// without a plan of this attempt gets nil, because a plan that failed is disposable.
func (t *TaskState) PlanFor(hat ledger.Hat) json.RawMessage {
	switch {
	case t.Attempt != nil && len(t.Attempt.Plan) > 0:
		return t.Attempt.Plan
	case t.Task.Parent != "" || !slices.Contains(hat.Emits, ledger.EventPlan):
		return t.Plan
	}
	return nil
}

// looked reports whether a person looks at the result of the task's attempt
// before the task is done.
func (t *TaskState) looked() bool { return t.Person || t.Attempt.Manual != "" }

// sessionsOf returns the number of sessions of the hat that finished in this attempt and
// were routed on. Those of all parts count as one.
func (w *Attempt) sessionsOf(hat string) (n int) {
	for _, s := range w.History {
		if s.Hat == hat {
			n++
		}
	}
	return n
}

// contested reports whether a review repeats exactly the issues of the review
// before it, after the session in between disputed them and changed nothing
// (docs/spec 2.5).
func (w *Attempt) contested(issues []ledger.Issue) bool {
	n := len(w.IssueSets)
	return w.NoChange != "" && n > 0 && w.IssueSets[n-1] == issueSet(issues)
}

// unmoved reports whether a verifier has failed the same tree three times in a row.
// Another round would only repeat the result.
func (w *Attempt) unmoved() bool {
	n := len(w.FailedTrees)
	return n > 2 && w.FailedTrees[n-1] == w.FailedTrees[n-2] && w.FailedTrees[n-2] == w.FailedTrees[n-3]
}

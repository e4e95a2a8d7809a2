package loop

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// Pairing is a code that the host shows now.
type Pairing struct {
	Hash  string      `json:"hash"`
	Role  ledger.Role `json:"role"`
	Until time.Time   `json:"until"`
	Tries int         `json:"tries"` // wrong ones so far
}

// Stranger is when somebody who is not in was recorded last.
type Stranger struct {
	Who string    `json:"who"`
	At  time.Time `json:"at"`
}

// AgentHold is why an agent cannot be used.
type AgentHold struct {
	Unusable  bool                `json:"unusable,omitempty"` // needs a person
	LoggedOut bool                `json:"logged_out,omitempty"`
	Trial     bool                `json:"trial,omitempty"` // was unusable, and is tried again by itself: it is held no more
	Until     time.Time           `json:"until,omitzero"`  // parked; of an unusable one, when it is tried again by itself
	Known     bool                `json:"known,omitempty"`
	Why       ledger.FailureClass `json:"why,omitempty"`
	Text      string              `json:"text,omitempty"`
	Since     time.Time           `json:"since,omitzero"`
	Times     int                 `json:"times,omitempty"`
}

// TaskState is a task and what became of it.
type TaskState struct {
	Task     ledger.Task     `json:"task"`
	Status   ledger.Status   `json:"status"`
	Why      string          `json:"why,omitempty"`
	Question string          `json:"question,omitempty"`  // the open one that goes with it
	Attempts int             `json:"attempts"`            // begun, ever: the number of the last one
	Failed   int             `json:"failed"`              // since it was last made fresh
	LastFail string          `json:"last_fail,omitempty"` // why the last attempt came to nothing
	Stalled  bool            `json:"stalled,omitempty"`   // it stood still: the next one is planned anew
	Commit   string          `json:"commit,omitempty"`
	Marked   ledger.Mark     `json:"marked,omitempty"` // what we wrote into the source last
	MarkedAt time.Time       `json:"marked_at,omitzero"`
	Lifted   ledger.Mark     `json:"lifted,omitempty"`  // mark that a person's answer overrules, until the source shows another
	Attempt  *Attempt        `json:"work,omitempty"`    // attempt in hand, or parked
	Person   bool            `json:"person,omitempty"`  // a person has to pass it: its box stays open until then
	Words    []string        `json:"words,omitempty"`   // answers and failed manual checks, for every later prompt
	Allowed  []string        `json:"allowed,omitempty"` // paths out of its scope that a person lets it write
	Denied   []string        `json:"denied,omitempty"`  // paths out of its scope that were asked about and stay so
	Parts    []string        `json:"parts,omitempty"`   // ids of the parts that its plan became: it is done when they are
	Plan     json.RawMessage `json:"plan,omitempty"`    // the newest one, also after its attempt; of a part, its section
	Ended    time.Time       `json:"ended,omitzero"`
	Last     time.Time       `json:"last,omitzero"` // of the last attempt
}

// Attempt is one attempt: the chain of sessions that tries a task once.
type Attempt struct {
	N         int                   `json:"n"`
	Run       string                `json:"run"`
	Of        ledger.Task           `json:"of"`    // the task as it was when the attempt began
	Base      string                `json:"base"`  // commit it builds on
	Start     string                `json:"start"` // that commit's tree
	Tree      string                `json:"tree"`  // input tree of the next session
	Hat       string                `json:"hat"`   // of the session in hand, or of the next one
	Stage     ledger.Stage          `json:"stage"`
	Session   string                `json:"session,omitempty"` // in hand, or the last one
	Sessions  int                   `json:"sessions"`
	FailedRow int                   `json:"failed_row"` // failed sessions in a row
	LostRow   int                   `json:"lost_row"`
	Red       int                   `json:"red"`                 // red verifications in a row
	Rechecked bool                  `json:"rechecked,omitempty"` // the start commit was looked at once more
	Rounds    int                   `json:"rounds"`
	Note      string                `json:"note,omitempty"`     // for the next session: why it is done over
	Replaces  string                `json:"replaces,omitempty"` // session that the next one does over
	Owed      []string              `json:"owed,omitempty"`     // guidance that an event of this attempt was refused for
	Event     *ledger.EventAccepted `json:"event,omitempty"`    // of the session in hand
	Captured  *ledger.Capture       `json:"taken,omitempty"`    // of the session in hand
	Checks    *Checks               `json:"checks,omitempty"`
	Plan      json.RawMessage       `json:"plan,omitempty"`
	History   []Step                `json:"history,omitempty"` // finished sessions of this attempt
	Issues    []ledger.Issue        `json:"issues,omitempty"`  // of the last review, or the checks that a verifier saw fail
	Found     []ledger.Issue        `json:"found,omitempty"`   // of the review in hand
	Verified  *ledger.Verified      `json:"verified,omitempty"`
	Judged    string                `json:"judged,omitempty"`     // session that Verified is about
	Trees     []string              `json:"trees,omitempty"`      // after each round
	IssueSets []string              `json:"issue_sets,omitempty"` // of each review
	Converged bool                  `json:"converged,omitempty"`  // scope its way to the commit
	Manual    string                `json:"manual,omitempty"`     // instructions: a person has to look when it is committed
	NoChange  string                `json:"no_change,omitempty"`
	Disputed  json.RawMessage       `json:"disputed,omitempty"` // AsIssues that the fixer says are none, with its reasons
	Upheld    int                   `json:"upheld,omitempty"`   // times in a row that a review upheld what was disputed
	Learnings string                `json:"learnings,omitempty"`
	Strayed   []string              `json:"strayed,omitempty"`   // paths out of scope, over the attempt
	Repro     string                `json:"repro,omitempty"`     // command that failed on the start tree and has to pass (docs/spec 2.3)
	Consensus *Consensus            `json:"consensus,omitempty"` // while its plan is argued about
	Began     time.Time             `json:"began"`
	Fresh     bool                  `json:"fresh,omitempty"` // no session planned yet
	Proof     []string              `json:"proof,omitempty"` // sessions whose evidence the submission names
}

// Consensus is where the argument about a plan stands (docs/spec 4.4).
type Consensus struct {
	Rounds   []payload.Critique `json:"rounds,omitempty"`   // the critic's verdicts since the plan was begun
	Approved []string           `json:"approved,omitempty"` // ids of sections that the critic let pass; they are not revised
	Advice   string             `json:"advice,omitempty"`   // the architect's, for the next revision
	Yields   bool               `json:"yields,omitempty"`   // a part is built before the next revision
}

// Step is one finished session as later prompts tell it.
type Step struct {
	Session string `json:"session"`
	Hat     string `json:"hat"`
	Event   string `json:"event"`
	Summary string `json:"summary,omitempty"`
}

// Checks is a setup or verification in hand: its commands one after another.
type Checks struct {
	Kind     ledger.Kind      `json:"kind"` // of the whole: verify, baseline, final
	Tree     string           `json:"tree"`
	Commands []ledger.Command `json:"commands"`
	Setup    int              `json:"setup"` // the first so many of Commands are setup
	Index    int              `json:"index"`
	Repeat   bool             `json:"repeat"`
	Lost     int              `json:"lost,omitempty"` // how often in a row the command was lost
	Results  []ledger.Result  `json:"results,omitempty"`
	First    *ledger.Result   `json:"first,omitempty"` // red result that is being repeated
}

func (w *Attempt) rounds() int {
	if w.Consensus == nil {
		return 0
	}
	return len(w.Consensus.Rounds)
}

// changes reports whether a session was there to change files.
func (s Step) changes() bool {
	switch s.Event {
	case "build.complete", "fix.complete", "docs.complete", "refactor.complete":
		return true
	}
	return false
}

// writer is the session whose files the attempt converged with.
func (w *Attempt) writer() string {
	for n := len(w.History) - 1; n >= 0; n-- {
		if s := w.History[n]; s.changes() {
			return s.Session
		}
	}
	return w.Session
}

// wish is what the source asks for with the task, as far as no person has
// decided otherwise since.
func (t *TaskState) wish() ledger.Mark {
	if t.Task.Mark == "" || t.Task.Mark == t.Lifted {
		return ledger.MarkOpen
	}
	return t.Task.Mark
}

// green reports whether a tree is known to pass verification.
func (w *Attempt) green(tree string) bool {
	v := w.Verified
	return v != nil && v.Kind == ledger.KindVerify && v.OK && v.Tree == tree
}

// withRepro adds the command that showed the fault: what fixes it has to make
// it pass, whether or not the project's own commands run it.
func (w *Attempt) withRepro(cmds []ledger.Command) []ledger.Command {
	if w.Repro == "" || slices.ContainsFunc(cmds, func(c ledger.Command) bool { return c.Run == w.Repro }) {
		return cmds
	}
	return append(cmds, ledger.Command{Run: w.Repro})
}

// been reports whether a hat had a session in the attempt that was routed on.
func (w *Attempt) been(hat string) bool {
	return slices.ContainsFunc(w.History, func(s Step) bool { return s.Hat == hat })
}

// contested reports whether a review upholds, issue by issue, what the session
// before it disputed with a reason instead of changing anything (docs/spec 2.5).
func (w *Attempt) contested(issues []ledger.Issue) bool {
	n := len(w.IssueSets)
	return w.NoChange != "" && n > 0 && w.IssueSets[n-1] == issueSet(issues)
}

// unmoved reports whether a verifier upholds twice what it saw fail, and no
// file was changed in between: another round would only repeat that.
func (w *Attempt) unmoved() bool {
	failed, n := 0, len(w.Trees)
	for _, s := range w.History {
		if s.Event == ledger.EventFailed {
			failed++
		}
	}
	return failed > 2 && n > 2 && w.Trees[n-1] == w.Trees[n-2] && w.Trees[n-2] == w.Trees[n-3]
}

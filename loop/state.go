package loop

import (
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// StateVersion is the version of State's JSON. A snapshot of another version
// is thrown away and the ledger folded from its beginning.
const StateVersion = 5

// State is what one project's decisions are made from: the project and the
// house that it shares. It is a fold of the two streams and nothing else.
// States are values: Apply never changes one that it was given.
type State struct {
	Shared  Shared  `json:"House"` // the name in snapshots since version 5
	Project Project `json:"Project"`
}

// Shared is what projects share.
type Shared struct {
	MaxSessions int                     `json:"max_sessions"`
	Issued      map[string]int          `json:"issued,omitempty"` // last number of r, g, q
	Leases      []ledger.LeaseGranted   `json:"leases,omitempty"`
	Agents      map[string]AgentHold    `json:"agents,omitempty"`  // agents that cannot be used now
	Backoff     map[string]int          `json:"backoff,omitempty"` // network failures in a row, by agent
	People      []ledger.Person         `json:"people,omitempty"`  // in the order in which they were let in
	Pairing     *Pairing                `json:"pairing,omitempty"` // the code that is shown now
	Strangers   []Stranger              `json:"strangers,omitempty"`
	Quiet       map[string]ledger.Hours `json:"quiet,omitempty"` // of chats that have hours of their own
	Digest      ledger.DigestSent       `json:"digest,omitzero"` // the last one
	Week        ledger.WeekDigestSent   `json:"week,omitzero"`   // the last one
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

// Project is one repository under nightporter.
type Project struct {
	Name      string              `json:"name"`
	Source    string              `json:"source,omitempty"`   // KIND:PATH that Tasks came from
	Shelf     map[string]TaskList `json:"shelf,omitempty"`    // tasks of its other sources
	Tasks     TaskList            `json:"tasks,omitzero"`     // in document order
	Run       *Run                `json:"run,omitempty"`      // the last one, ended or not
	Branches  map[string]Tip      `json:"branches,omitempty"` // last branch of each source
	Green     map[string]string   `json:"green,omitempty"`    // tip of each source's branch that was verified in a clean folder
	Guidance  guidance.Queue      `json:"guidance,omitzero"`
	Questions []ledger.Question   `json:"questions,omitempty"` // open ones
	Answered  []Answered          `json:"settled,omitempty"`   // the last settled ones, for late answers
	Sessions  []Session           `json:"sessions,omitempty"`  // in flight: planned and not ended
	Progress  string              `json:"progress,omitempty"`  // one line on the last finished or blocked task
}

// Tip is a branch of ours and its last commit.
type Tip struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}

// Answered is a question that has its answer.
type Answered struct {
	ID      string           `json:"id"`
	Text    string           `json:"text"` // "retry, Mira"
	At      time.Time        `json:"at"`
	Choice  string           `json:"choice,omitempty"`
	By      string           `json:"by,omitempty"`    // for people; "" where nobody answered
	Actor   string           `json:"actor,omitempty"` // the same by id: names are not unique
	Subject QuestionSubject  `json:"of,omitzero"`
	Along   []string         `json:"along,omitempty"`  // tasks that were put away with it
	Guided  []string         `json:"guided,omitempty"` // guidance that was waiting for its task, or for these
	Before  *ledger.Before   `json:"before,omitempty"` // what an answer changed, where it can be taken back
	Late    *ledger.Question `json:"late,omitempty"`   // an agent's question that expired with its own choice
}

// QuestionSubject is what a settled question was about, as far as somebody who answers
// too late has to know.
type QuestionSubject struct {
	Kind  ledger.QuestionKind `json:"kind,omitempty"`
	Task  string              `json:"task,omitempty"`  // id as written
	Tasks []string            `json:"tasks,omitempty"` // of AskSkip and AskUnticked
}

// Run is work on a source until a stop reason.
type Run struct {
	ID        string            `json:"id"`
	Settings  ledger.Settings   `json:"settings"`
	Hats      *ledger.HatsRead  `json:"hats,omitempty"`     // read anew: the next session is planned by them
	HatsBad   string            `json:"hats_bad,omitempty"` // why those on disk cannot be used
	Check     bool              `json:"check,omitempty"`
	State     ledger.RunState   `json:"state"`
	Wait      ledger.WaitReason `json:"wait,omitempty"`
	Until     time.Time         `json:"until,omitzero"`       // of a wait
	WaitAgent string            `json:"wait_agent,omitempty"` // see AwaitedAgent
	Text      string            `json:"text,omitempty"`       // of a wait
	Signal    string            `json:"signal,omitempty"`
	StopBy    string            `json:"stop_by,omitempty"`
	StopNow   bool              `json:"stop_now,omitempty"`
	Base      ledger.Base       `json:"base,omitzero"`
	Tip       string            `json:"tip,omitempty"` // last commit of the branch
	TipTree   string            `json:"tip_tree,omitempty"`
	Planned   time.Time         `json:"planned"`
	Started   time.Time         `json:"started,omitzero"`
	Ended     *ledger.RunEnded  `json:"ended,omitempty"`
	EndedAt   time.Time         `json:"ended_at,omitzero"`
	Agents    int               `json:"agents"`   // agent sessions planned: the number of the last one
	Commands  int               `json:"commands"` // sessions without an agent planned
	Counted   int               `json:"counted"`  // agent sessions since the run was started or resumed
	Commits   int               `json:"commits"`
	DoneNow   []string          `json:"done_now,omitempty"` // tasks done since the run was started or resumed
	Streak    int               `json:"streak"`             // tasks blocked in a row without a success
	Advisory  []string          `json:"advisory,omitempty"` // verification commands that were red at the start
	Checks    *Checks           `json:"checks,omitempty"`   // baseline or final verification in hand
	Finishing *ledger.RunEnded  `json:"finishing,omitempty"`
	Baseline  []ledger.Result   `json:"baseline,omitempty"`
	Red       *ledger.Verified  `json:"red,omitempty"` // baseline that is being asked about
	Final     *ledger.Verified  `json:"final,omitempty"`
	FinalTip  string            `json:"final_tip,omitempty"` // commit that Final is about
	Next      string            `json:"next,omitempty"`      // /next: folded id
	Name      string            `json:"name,omitempty"`      // of the source
	Source    string            `json:"source,omitempty"`    // trouble with the source's file
	CostUSD   float64           `json:"cost_usd"`
	Unpriced  int               `json:"unpriced"` // agent sessions whose cost is unknown
	Spent     Spent             `json:"spent,omitzero"`
	LastEvent time.Time         `json:"last_event,omitzero"`
}

// Over reports whether the run has ended.
func (r *Run) Over() bool { return r == nil || r.State == ledger.RunOver }

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

// wish is what the source asks for with the task, as far as no person has
// decided otherwise since.
func (t *TaskState) wish() ledger.Mark {
	if t.Task.Mark == "" || t.Task.Mark == t.Lifted {
		return ledger.MarkOpen
	}
	return t.Task.Mark
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
	Repro     string                `json:"repro,omitempty"`     // command that failed on the start tree and has to pass (SPEC 2.3)
	Consensus *Consensus            `json:"consensus,omitempty"` // while its plan is argued about
	Began     time.Time             `json:"began"`
	Fresh     bool                  `json:"fresh,omitempty"` // no session planned yet
	Proof     []string              `json:"proof,omitempty"` // sessions whose evidence the submission names
}

// Consensus is where the argument about a plan stands (SPEC 4.4).
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

// Session is one that was planned and has not ended.
type Session struct {
	ID      string                `json:"id"`
	Planned ledger.SessionPlanned `json:"planned"`
	Task    string                `json:"task,omitempty"` // as written
	Attempt string                `json:"attempt,omitempty"`
	At      time.Time             `json:"at"`
	Cut     bool                  `json:"cut,omitempty"`   // the daemon asked for its end
	Event   *ledger.EventAccepted `json:"event,omitempty"` // accepted
	Owed    bool                  `json:"owed,omitempty"`  // refused once for omitting guidance
	Refused int                   `json:"refused,omitempty"`
	Kept    int                   `json:"kept,omitempty"` // texts in notebooks
}

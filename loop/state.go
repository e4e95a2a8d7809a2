package loop

import (
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
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

package report

import (
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// Facts are the content of one project's digest. All times are in the
// recipient's time zone. Collect fills them; the renderers only read them.
type Facts struct {
	Project  string
	From, To time.Time // the span: after From, up to and including To
	Due      time.Time // when the digest was due; zero if it is on time
	Missed   []string  // days without a digest: "Thu 19 Nov"
	Weekly   bool      // the digest covers a week

	// The time in which work was done in the span; zero if there was none.
	Began, Ended time.Time
	Live         bool           // a run is under way at To
	Runs         []string       // ids: "r14"
	Foretold     string         // what was said of the last run that ended in the span, and what came; "" = nothing was said
	Endings      []Ending       // of the runs that ended in the span, but what a later success settled
	Branch       string         // of the last run; "" without commits
	remote       request.Branch // what was pushed of it
	merge        bot.Button     // merges its request; without a label, nothing is to be merged now
	kept         int            // tasks that it has commits of
	tip          string         // of the branch
	TipRed       bool           // the tip of Branch fails verification
	Red          []string       // lines about what is not green although it does not count (bot.RedEnd)
	Scripted     bool           // the scripted agent had sessions: nothing was really done
	Boundary     int            // boundary level of the last run's sessions; 0 = unknown

	Total, Done, Blocked, Manual, Skipped int // numbers of tasks at To
	Left                                  int // neither done nor skipped
	Since                                 time.Time

	Completed    []string          // ids of the tasks done in the span, in the order of the source
	Proof        []bot.ProofGroup  // Completed by their words, what to look at first; nil if nothing is known of any
	Proofs       ledger.ProofCount // words of Completed
	FirstPass    int               // Completed without a failed attempt, a red verification or a fix round
	Fixes        int               // fix rounds
	Failures     []Failure         // of tasks that are not done
	FailureKinds []Count           // failed sessions and verifications of tasks that are not done

	Sessions []Session // of agents, by start time

	// What was done in lanes, if the project's runs used more than one.
	Lanes  int        // used; 0 for one
	Held   []LaneTime // tasks in them, by the time at which a lane took them
	Checks []LaneTime // verifications of tasks
	Landed []Landing

	Hats     []Count // sessions by hat, in the order of each hat's first session
	Cost     Cost
	Over     []string // by how much the last run, if it ended in the span, went over its budgets, a line each
	Burndown []Point  // tasks left, from Began on

	Waves []WaveRow // of bug reports, that ended in the span

	Requests []RequestResult // open ones, and those that ended in the span, the newest first

	Needs    []Need
	Outside  []Commit  // in the span, by sessions that had read text by strangers
	Reach    bot.Reach // hosts of the sessions that ended in the span
	NewHosts []string  // of them, those that no session reached before
	Guidance []Guided
	Waits    []Span
	Off      []Span

	Strangers int // messages from people who are not paired; only admins see it

	// The number and hash of the project's last ledger entry. A recipient who
	// keeps digests can tell from them that the ledger was truncated or
	// rewritten.
	Seq  int64
	Head string

	doing    string // "#11 builder"
	next     string // next says what happens without an action by a person.
	retry    []string
	commits  int
	canStart bool   // a run could begin something
	verified bool   // the tip of Branch passed its verification
	limited  string // how long a limit holds the run up: "until 04:58"; "" if none does
}

// Ending is the end of a run.
type Ending struct {
	Run  string
	At   time.Time
	How  string // bot.EndedHow
	Text string // why it could not start or what failed; "" for any other end
	Why  ledger.Reason
	Last bool // of the last run, which is over
}

// Session is one session of an agent.
type Session struct {
	ID, Hat    string
	Task       string
	Start, End time.Time // End is Facts.To while the session runs
	Live       bool
	Failed     bool // counts as a failed session
	CutOff     bool // counts as nothing
	Scripted   bool // of the scripted agent
	Lane       int  // in which it was, from 0, if the night had several
}

// RequestResult is how a request to merge came out.
type RequestResult struct {
	Sign string // "" for neither good nor bad
	Text string // "PR 48: green, 3 of 3 checks"
	URL  string
}

// Commit is the commit of a task.
type Commit struct{ Task, Hash string }

// Count is a number of events of one kind.
type Count struct {
	Name string
	N    int
}

// Cost is the spending that the agents report.
type Cost struct {
	USD      float64
	About    int // sessions whose cost is estimated, or computed from their tokens
	Unpriced int // sessions whose cost is unknown
	Sessions int // sessions that have ended
	Running  int // sessions that run; their cost is not known yet
}

// Failure is one failed attempt.
type Failure struct {
	Task    string
	Attempt string // id: "a1"
	Why     string
}

// Point is the number of tasks left from a time on.
type Point struct {
	At   time.Time
	Left int
}

// Need is one thing that only a person can do.
type Need struct {
	Sign      string
	Text      string
	Task      string
	Title     string          // of Task
	Question  ledger.Question // zero without a question
	BlocksRun bool            // the run cannot continue without it
	Holds     string          // what it does to the run, as a sentence: "The work is paused until you resume it"
	Cause     Cause           // of a blocked task
}

// Cause is why a task is blocked, as far as the ledger says it without words of agents.
type Cause string

// Causes of blocked tasks.
const (
	CauseUnknown  Cause = ""
	CauseDecision Cause = "decision" // a session says that it needs a person
	CauseRed      Cause = "red"      // verification fails
	CauseStalled  Cause = "stalled"  // another round would only repeat an earlier one
	CauseLimit    Cause = "limit"    // of the sessions of an attempt
	CauseSilent   Cause = "silent"   // its sessions failed
)

// Guided is one guidance item and its outcome.
type Guided struct {
	Item   guidance.Item
	At     time.Time // when it was sent
	Task   string    // the last task that the guidance was used for
	InSpan bool      // sent in the span
}

// Span is a time in which no agent could work.
type Span struct {
	From, To time.Time
	Why      string // "claude's limit"; "" if nightporter was off
	Open     bool   // still going on at To
}

// Duration returns the length of the span.
func (s Span) Duration() time.Duration { return s.To.Sub(s.From) }

// Quiet reports whether nothing happened that deserves a notification sound.
func (f Facts) Quiet() bool {
	return len(f.Sessions) == 0 && len(f.Needs) == 0 && len(f.Off) == 0 && len(f.Completed) == 0 && !f.notStarted()
}

package report

import (
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Facts are what one project's digest says. Times are in the person's zone.
type Facts struct {
	Project  string
	From, To time.Time // what it looks at: after From, up to To
	Due      time.Time // when it should have come, where it comes late
	Missed   []string  // days that had none: "Thu 19 Nov"
	Weekly   bool      // it is that of a week

	// The work that was done in that time; zero where there was none.
	Began, Ended time.Time
	Live         bool     // a run is under way at To
	ExitReason   string   // why the last run ended, "" while one is under way
	Runs         []string // r14
	Branch       string   // of the last run, where it holds commits
	TipRed       bool     // its tip fails verification
	Advisory     []string // commands that were red on the start commit
	Boundary     int      // level of the last run's sessions; 0 = unknown

	Total, Done, Blocked, Manual, Skipped int // tasks as they stand at To
	Left                                  int // neither done nor put away
	Since                                 time.Time

	Completed    []string // ids of the tasks done in that time, in the order of the source
	FirstPass    int      // of these: without a failed attempt, a red verification or a fix round
	Fixes        int      // fix rounds
	Failures     []Failure
	FailureKinds []Count // sessions and verifications that failed, by kind

	Sessions []Session // of agents, by their start
	Hats     []Count   // sessions by hat, in the order in which they were first at work
	Cost     Cost
	Burndown []Point // tasks left, from Began on

	Needs    []Need
	Guidance []Guided
	Waits    []Span
	Off      []Span

	Strangers int // who wrote and is not let in; for admins

	// The project's last ledger entry, so that a rewritten tail shows (SPEC 8.3).
	Seq  int64
	Head string

	doing   string // "#11 builder"
	next    string // what happens if nobody does anything
	retry   []string
	commits int
}

// Session is one of an agent.
type Session struct {
	ID, Hat    string
	Task       string
	Start, End time.Time // End: To while it is at work
	Live       bool
	Failed     bool // counts as a failed session
	CutOff     bool // counts as nothing
}

// Count is how often something was.
type Count struct {
	Name string
	N    int
}

// Cost is what was spent as far as the agents say.
type Cost struct {
	USD      float64
	Unpriced int // sessions whose cost is unknown
	Sessions int // sessions that have ended
	Running  int // that have not: nobody knows yet what they cost
}

// Failure is an attempt that came to nothing.
type Failure struct {
	Task    string
	Attempt string // a1
	Why     string
}

// Point is how many tasks are left from a time on.
type Point struct {
	At   time.Time
	Left int
}

// Need is one thing that only a person can do.
type Need struct {
	Sign      string
	Text      string
	Task      string
	Question  ledger.Question // zero where there is none to answer
	BlocksRun bool            // nothing goes on without it
}

// Guided is a guidance and what became of it.
type Guided struct {
	Item   guidance.Item
	At     time.Time // when it was sent
	Task   string    // that had it last
	InSpan bool      // sent in that time
}

// Span is a time in which no agent could be at work.
type Span struct {
	From, To time.Time
	Why      string // "claude's limit"; of an off time ""
	Open     bool   // not over yet
}

// Duration is how long it was.
func (s Span) Duration() time.Duration { return s.To.Sub(s.From) }

// Quiet reports whether nothing happened that anybody would have to be told
// with a sound.
func (f Facts) Quiet() bool {
	return len(f.Sessions) == 0 && len(f.Needs) == 0 && len(f.Off) == 0 && len(f.Completed) == 0
}

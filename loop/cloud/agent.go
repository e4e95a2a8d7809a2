package cloud

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Agent is a coding agent that works on a machine of its own and hands in pull
// requests. Poll and Fetch only look. Dispatch and Finish change something, and
// may be called again after a crash has hidden their answer: they look first,
// and have their effect at most once.
//
// Every error is a *ledger.ForgeError. It never contains a token.
type Agent interface {
	// Dispatch gives a job to the agent, or finds the one with the same key.
	Dispatch(ctx context.Context, j Job) (Dispatched, error)

	// Poll returns how far the agent is with a job.
	Poll(ctx context.Context, w Work) (Progress, error)

	// Fetch returns the request of a job as it is now, with its checks.
	Fetch(ctx context.Context, w Work) (Result, error)

	// Finish takes a request one step towards its merge: it ends the draft, else
	// merges the base into a head that is behind it, else merges the request. The
	// result says what the request is after that. A request that is merged already
	// is a success.
	Finish(ctx context.Context, m Merge) (Result, error)
}

// Work names a job as the agent knows it.
type Work struct {
	Issue   int    // of the forge; 0 = none
	Request int    // its pull request; 0 = none yet
	Ref     string // the agent's own name; "" where Issue names it
}

// Job is what an agent is asked to do: a task, or another round at the request
// that it made of one.
type Job struct {
	Key     string      // the same for the same job, whenever it is asked for
	Task    ledger.Task // of the source; only ID is set for a round
	Attempt int         // 1 = the first

	Request int      // to do another round at; 0 = a new job
	Head    string   // the request's commit that has to change
	Cause   Reason   // why: ReasonRed, ReasonConflict or ReasonBroken
	Checks  []string // names of red checks
}

// Dispatched is a job that the agent has.
type Dispatched struct {
	Issue  int
	Ref    string
	Prompt string    // what the agent was told, for the state file
	At     time.Time // by the agent's clock; a session that ends later answers the job
}

// Session is what is known of the agent's latest session with a job.
type Session struct {
	Working bool
	Failed  bool      // it ended with a failure
	Ended   time.Time // zero: it works, or nothing is known
}

// Closing says how an issue was closed.
type Closing string

// Values of Closing.
const (
	StillOpen     Closing = ""
	ClosedDone    Closing = "done"    // as if it were done
	ClosedRefused Closing = "refused" // as not planned, or as a duplicate
)

// Progress is what Poll sees.
type Progress struct {
	Issue    Closing
	Assigned bool            // the agent is assigned to the issue
	Request  *ledger.Request // nil = none yet
	Session  Session
}

// Result is what Fetch and Finish see.
type Result struct {
	Request          ledger.Request
	Checks           []ledger.ForgeCheck // of Request.HeadCommit
	Session          Session
	Approval         []string // names of workflows that run only once a person permits it
	ChangesRequested bool     // by a review that still stands
	Queued           bool     // the forge merges it later
	Refusal          string   // why the forge does not merge it, in its words
}

// Merge asks for a step towards the merge of a request.
type Merge struct {
	Work
	Head string // refused for any other head
}

package ledger

// SessionOutcome is the meaning of a session's end: a row of the table in docs/spec 2.2.
type SessionOutcome string

// Outcomes, in the order of the table.
const (
	EndedEvent    SessionOutcome = "event"    // its event was accepted, whatever the exit code
	EndedSilent   SessionOutcome = "no event" // it ended without an event
	EndedStall    SessionOutcome = "stall"
	EndedCircle   SessionOutcome = "circle" // it was busy without progress, as one that compacts its conversation again and again
	EndedWall     SessionOutcome = "wall limit"
	EndedLimit    SessionOutcome = "limit"    // usage limit
	EndedUnusable SessionOutcome = "unusable" // auth, billing, unknown model, missing, not startable
	EndedNetwork  SessionOutcome = "network"
	EndedCut      SessionOutcome = "cut off" // pause now, stop now, /now, daemon restart, machine sleep
	EndedBudget   SessionOutcome = "budget"  // it had spent what it may; what it wrote is gone on with
	EndedLost     SessionOutcome = "lost"    // it ended without a trace, or was killed for memory
	EndedDisk     SessionOutcome = "disk"
	EndedMachine  SessionOutcome = "machine" // it could not be started for a fault of the machine
	EndedLeak     SessionOutcome = "leak"    // ended: it sent a planted value to a host
	EndedEarly    SessionOutcome = "at once" // without an event within seconds, as others of its agent before it: the agent's trouble
)

// Accounting says how a session's end is counted.
type Accounting string

// Ways to count an end.
const (
	CountsAsSuccess Accounting = "success"
	CountsAsFailed  Accounting = "failed session"
	CountsAsNothing Accounting = "nothing"
)

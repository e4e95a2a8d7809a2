package ledger

// SessionOutcome is what a session's end means: the rows of the table in docs/spec 2.2.
type SessionOutcome string

// Ends, in the order of the table.
const (
	EndedEvent    SessionOutcome = "event"    // its event was accepted, whatever the exit code
	EndedSilent   SessionOutcome = "no event" // it ended without one
	EndedStall    SessionOutcome = "stall"
	EndedWall     SessionOutcome = "wall limit"
	EndedLimit    SessionOutcome = "limit"    // usage or rate limit
	EndedUnusable SessionOutcome = "unusable" // auth, billing, unknown model, missing, not startable
	EndedNetwork  SessionOutcome = "network"
	EndedCut      SessionOutcome = "cut off" // pause now, stop now, /now, budget, daemon restart, machine sleep
	EndedLost     SessionOutcome = "lost"    // without trace, or killed for memory
	EndedDisk     SessionOutcome = "disk"
)

// Accounting is what an end counts as.
type Accounting string

// What an end can count as.
const (
	CountsAsSuccess Accounting = "success"
	CountsAsFailed  Accounting = "failed session"
	CountsAsNothing Accounting = "nothing"
)

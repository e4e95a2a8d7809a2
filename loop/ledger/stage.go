package ledger

// Stage is the current step of an attempt.
type Stage string

// Stages of an attempt.
const (
	StageReady   Stage = "ready"    // the next session can be planned
	StageSession Stage = "session"  // an agent is working
	StageCapture Stage = "takeover" // the session's files are being captured
	StageChecks  Stage = "checks"   // setup and verification commands run
	StageMerge   Stage = "merge"    // the change is being merged onto a tip that moved
	StageCommit  Stage = "commit"
	StageQueued  Stage = "queued" // converged, and waits to be verified with others (docs/spec 2.3)
	StageRoom    Stage = "room"   // its check waits until that of another attempt is over (docs/spec 4.5)
	StageTurn    Stage = "turn"   // converged, and waits until another change is committed (docs/spec 4.5)
	StageHeld    Stage = "held"   // parked, or waiting for an answer
)

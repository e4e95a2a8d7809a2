package ledger

// Stage is what an attempt is doing.
type Stage string

// Stages of an attempt.
const (
	StageReady   Stage = "ready"    // its next session can be planned
	StageSession Stage = "session"  // an agent is at work
	StageCapture Stage = "takeover" // its files are being taken over
	StageChecks  Stage = "checks"   // setup and verification
	StageMerge   Stage = "merge"    // onto a tip that moved
	StageCommit  Stage = "commit"
	StageHeld    Stage = "held" // parked, or waiting for an answer
)

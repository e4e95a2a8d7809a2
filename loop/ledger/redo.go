package ledger

// RedoReason says why the same hat runs again.
type RedoReason string

// Reasons.
const (
	RedoViolation     RedoReason = "violation" // it left what no session may leave
	RedoScope         RedoReason = "out of scope"
	RedoUnchanged     RedoReason = "changed nothing"
	RedoNotReproduced RedoReason = "not reproduced"
	RedoRed           RedoReason = "verification red"
	RedoLimit         RedoReason = "named its limit after work"
	RedoSilent        RedoReason = "ended without an event"
	RedoChecks        RedoReason = "the start's checks fail"
	RedoFewer         RedoReason = "fewer tests run than at the start"
	RedoSecret        RedoReason = "secret found"
	RedoStopped       RedoReason = "stopped while its files were taken over"
	RedoNewFiles      RedoReason = "too many new files"
	RedoBudget        RedoReason = "it met its budget"
	RedoAsked         RedoReason = "its question is answered"
)

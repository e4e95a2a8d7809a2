package ledger

// RedoReason says why the same hat runs again.
type RedoReason string

// Reasons.
const (
	RedoViolation     RedoReason = "violation" // it wrote files that its hat must not write
	RedoScope         RedoReason = "out of scope"
	RedoUnchanged     RedoReason = "changed nothing"
	RedoNotReproduced RedoReason = "not reproduced"
	RedoRed           RedoReason = "verification red"
	RedoSecret        RedoReason = "secret found"
)

package ledger

// RedoReason is why the same hat works once more on the same input.
type RedoReason string

// Reasons.
const (
	RedoViolation     RedoReason = "violation" // wrote what its hat must not
	RedoScope         RedoReason = "out of scope"
	RedoUnchanged     RedoReason = "changed nothing"
	RedoNotReproduced RedoReason = "not reproduced"
	RedoRed           RedoReason = "verification red"
)

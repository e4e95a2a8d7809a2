package ledger

// Fault is the cause of a failure that is outside of what failed: the same thing
// succeeds once the cause is gone, so it is tried again and counts against nobody.
// "" means that what failed is wrong itself, and would fail again.
type Fault string

// Faults. Which errors are one of them says internal/fault.
const (
	FaultDisk    Fault = "disk"    // a file system is full, read-only, or over its quota
	FaultMachine Fault = "machine" // the machine lacks something for now: processes, files, memory, a lock
	FaultLedger  Fault = "ledger"  // the ledger's database is damaged, until a person restores a backup
	// FaultRepository is that the user's repository cannot be used: it is away,
	// unreadable or broken, or somebody has the run's branch.
	FaultRepository Fault = "repository"
)

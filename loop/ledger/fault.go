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
	FaultForge      Fault = "forge" // the remote or its forge is away, or limits how often it is asked
	// FaultRefused is that the remote or its forge refuses what it is asked: a
	// person has to do something. It is tried again after a person's command, at the
	// start of a run and of the daemon, and never by itself.
	FaultRefused Fault = "refused"
)

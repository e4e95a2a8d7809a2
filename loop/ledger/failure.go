package ledger

// FailureKind is how something failed, as far as the output tells.
type FailureKind string

// Kinds of failure.
const (
	FailureAssertion FailureKind = "assertion" // a test ran, and its own assertion failed
	FailureError     FailureKind = "error"     // a test ran, and something other than its assertion ended it
	FailureBuild     FailureKind = "build"     // something could not be built, imported or collected
	FailurePanic     FailureKind = "panic"     // a crash, which ends the tests beside it too
	FailureTimeout   FailureKind = "timeout"   // a test or the whole command ran too long
	FailureLine      FailureKind = "line"      // a line of output that reports a failure
)

// Failure is one thing that failed in a command. Runner, File and Name identify
// it, and are the same in each run of the same failure.
type Failure struct {
	Runner string      `json:"runner,omitempty"` // format of the output: "go test"; "" for a plain line
	File   string      `json:"file,omitempty"`   // file, package or target, as the runner names it
	Name   string      `json:"name"`             // test, or message
	Kind   FailureKind `json:"kind"`
}

// Failures summarises what failed in a red command.
type Failures struct {
	Runners   []string  `json:"runners,omitempty"` // formats that the output has
	Failed    []Failure `json:"failed"`            // sorted
	More      int       `json:"more,omitempty"`    // failures beyond Failed
	Rest      string    `json:"rest,omitempty"`    // hash over those
	Passed    int       `json:"passed"`            // number of passed tests, or of passed packages where no tests are shown; -1 = unknown
	Skipped   int       `json:"skipped"`           // -1 = unknown
	Exit      int       `json:"exit"`
	Build     bool      `json:"build,omitempty"`     // a Failure, in More too, is of kind build
	Truncated bool      `json:"truncated,omitempty"` // the output was cut, so failures may be missing
}

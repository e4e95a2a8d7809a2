package ledger

import (
	"fmt"
	"strings"
)

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

// TestCount is how many tests one runner ran in a command, by its own report. It
// stands for that runner alone, so that what another one prints, or what code
// prints in another one's form, cannot replace it (docs/spec 8.4).
type TestCount struct {
	Runner  string `json:"runner"` // format of the output: "node test"
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed,omitempty"`
	Skipped int    `json:"skipped,omitempty"`
	Reports int    `json:"reports,omitempty"` // how often it reported, if more than once
	Last    int    `json:"last,omitempty"`    // tests that passed by the last of several reports
}

// FewerTests says that a command ran fewer tests of a runner than at an attempt's
// start.
type FewerTests struct {
	Run    string `json:"run"` // the command
	Runner string `json:"runner"`
	Was    int    `json:"was"` // tests that passed at the start
	Ran    int    `json:"ran"` // tests that pass now; 0 also where the runner reports nothing any more
}

// FewerText says how many tests ran, by command: "9 of 12 tests ran: npm test".
func FewerText(fewer []FewerTests) string {
	texts := make([]string, len(fewer))
	for n, f := range fewer {
		texts[n] = f.String()
	}
	return strings.Join(texts, ", ")
}

// String says how many tests ran: "9 of 12 tests ran: npm test".
func (f FewerTests) String() string {
	return fmt.Sprintf("%d of %d tests ran: %s", f.Ran, f.Was, f.Run)
}

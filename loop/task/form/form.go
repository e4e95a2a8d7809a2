// Package form describes one file format of tasks: reading its text, and writing
// statuses and new tasks into it without a change of any other byte.
//
//	form.go   Form, what a format can do
//	edit.go   changes of single spans of a text
//	text.go   what every format requires of a file's bytes
//	cycle.go  tasks that wait for each other
//
// A format is pure: text in, text out. Files, locks and watching belong to package
// loop/task.
package form

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of a file and of its tasks. Larger ones were not written for a night.
const (
	MaxBytes    = 64 << 20
	MaxTasks    = 10_000 // tasks that a run can have
	MaxFindings = 100    // findings of one file that are told
	MaxID       = 100    // characters of an id
	MaxTitle    = 10_000 // characters of a title; where it is shown it is cut
)

// Form is a file format of tasks. Its methods neither keep nor change data, and
// are safe for concurrent use.
type Form interface {
	// Parse reads the tasks. file becomes Snapshot.Path; findings name its last
	// element. Malformed input is a *ledger.InputError with all findings in order
	// of lines, and no task may then be used. Doubtful but readable text gives
	// warnings.
	Parse(file string, data []byte) (ledger.Snapshot, error)
	// Mark returns the text with statuses written into it. It changes only the
	// characters of each task's status, and of a report's claim: where somebody
	// else's is respected, the error is a *ledger.ClaimedError. gone lists the ids that the text does not
	// have; the other tasks are still marked. Where a task's place is ambiguous the
	// error is a *ledger.InputError, and the caller must not write.
	Mark(file string, data []byte, marks []ledger.Marking) (marked []byte, gone []string, err error)
}

// Adder is a Form that new tasks can be written into.
type Adder interface {
	// Add returns the text with tasks added behind those that it has, written as
	// its own are, and the ids that they got, in order. An id that a task brings
	// is kept; an empty one becomes the next free one. Title, Body, Scope,
	// DependsOn, Acceptance, Priority, Complexity and Role are written where the
	// format has a place for them. No other byte changes. An id that exists, or a
	// dependency on a task that neither the text nor tasks has, is a
	// *ledger.InputError.
	Add(file string, data []byte, tasks []ledger.Task) (grown []byte, ids []string, err error)
}

// Counter is a Form whose tasks record how often they were tried.
type Counter interface {
	// Count returns the text with a task's failed attempts and the time of its last
	// one, which is written in full seconds; a zero time is not written. No other
	// byte changes. gone reports that the text lacks the task. A text with no place
	// for them stays as it is.
	Count(file string, data []byte, task string, failures int, tried time.Time) (counted []byte, gone bool, err error)
}

// Recogniser is a Form that tells its files from others.
type Recogniser interface {
	// Recognise returns what in a file shows that it has this form, in words for
	// people ("headings ### Task N:"), or "" for a file of another form. path is
	// slash-separated and relative to the repository.
	Recognise(path string, data []byte) (why string)
}

// Companions is a Form of lists beside which other documents stand, such as a design.
type Companions interface {
	// Beside returns where these documents would be: patterns of path.Match, relative
	// to the repository, in the order in which they are best read. path is
	// slash-separated and relative to the repository.
	Beside(path string) []string
}

// Name returns a source's name: "checkout" for a/checkout.md.
func Name(file string) string {
	base := filepath.Base(file)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}

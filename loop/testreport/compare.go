package testreport

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Difference is what changed between two runs of a command.
type Difference struct {
	New  []ledger.Failure // red: it did not fail before
	Same []ledger.Failure // it failed before too
	Gone []ledger.Failure
	// Fewer is the number of tests that passed before and are missing now: they
	// neither passed nor are among New. Deleted tests count, and so do the ones
	// behind a runner that was made to stop early. 0 = none, or unknown.
	Fewer int
}

// Compare says which failures of a red command are new since it was red before.
// A nil summary is unknown: what it could have had is not excused, so every
// failure of after is new without before, and an unknown after is new itself.
// doc.go states the rules.
func Compare(before, after *ledger.Failures) Difference {
	if after == nil {
		return Difference{New: []ledger.Failure{{Name: "(unknown)", Kind: ledger.FailureLine}}}
	}
	if before == nil {
		return Difference{New: after.Failed}
	}
	var d Difference
	known := map[identity]ledger.FailureKind{}
	for _, f := range before.Failed {
		known[identify(f)] = f.Kind
	}
	for _, f := range after.Failed {
		id := identify(f)
		was, is := known[id]
		delete(known, id)
		if is && !(hides(f.Kind) && !hides(was)) {
			d.Same = append(d.Same, f)
		} else {
			d.New = append(d.New, f)
		}
	}
	for _, f := range before.Failed {
		if _, left := known[identify(f)]; left {
			d.Gone = append(d.Gone, f)
		}
	}
	line := func(format string, args ...any) {
		d.New = append(d.New, ledger.Failure{Name: fmt.Sprintf(format, args...), Kind: ledger.FailureLine})
	}
	if after.More > 0 && (after.More != before.More || after.Rest != before.Rest) {
		line("(%d more)", after.More)
	}
	if after.Truncated && !before.Truncated {
		line("(output cut)")
	}
	if len(d.New) == 0 && len(d.Gone) == 0 && after.Exit != before.Exit {
		line("(exit %d, was %d)", after.Exit, before.Exit)
	}
	if before.Passed > 0 && after.Passed >= 0 {
		d.Fewer = max(before.Passed-after.Passed-len(d.New), 0)
	}
	return d
}

// Fewer returns the runners of a command of which fewer tests passed in after than
// in before. Skipped and missing tests count alike, and so does a runner that
// reports nothing any more. More tests than before, and runners that are new,
// change nothing. Where a runner reported once, the last of several reports counts:
// code under test can print the ones before.
func Fewer(run string, before, after []ledger.TestCount) (fewer []ledger.FewerTests) {
	for _, was := range before {
		ran := 0
		for _, n := range after {
			switch {
			case n.Runner != was.Runner:
			case n.Reports > 1 && was.Reports <= 1:
				ran = n.Last
			default:
				ran = n.Passed
			}
		}
		if ran < was.Passed {
			fewer = append(fewer, ledger.FewerTests{Run: run, Runner: was.Runner, Was: was.Passed, Ran: ran})
		}
	}
	return fewer
}

// hides reports whether a failure of that kind keeps other tests from running,
// so that it is another failure than the assertion of the same test before.
func hides(k ledger.FailureKind) bool {
	return k == ledger.FailureBuild || k == ledger.FailurePanic || k == ledger.FailureTimeout
}

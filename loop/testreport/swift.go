package testreport

import (
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// xctestError matches the line of a failed assertion, which looks like a
// compiler's.
var xctestError = regexp.MustCompile(`^\S+\.swift:\d+: error: \S+\.\S+ : `)

// xctest reads Swift's XCTest. Each suite prints its numbers; those of all tests
// count.
var xctest = runner{name: "xctest", lines: []form{
	{"Test Case '", regexp.MustCompile(`^Test Case '(?:-\[)?([^'\]]+)\]?' failed \(`), func(r *runnerReader, m []string) {
		r.fail("", m[1], ledger.FailureAssertion)
	}},
	{"Test Suite '", regexp.MustCompile(`^Test Suite '(.*)' (?:passed|failed) at `), func(r *runnerReader, m []string) {
		r.section = m[1] == "All tests" || m[1] == "Selected tests"
	}},
	{"Executed ", regexp.MustCompile(`^\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures? \(`), func(r *runnerReader, m []string) {
		if r.section {
			r.total(digits(m[1])-digits(m[2])-r.named, r.named, digits(m[2])) // a test can fail several times
		}
	}},
}}

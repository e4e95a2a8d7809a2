package testreport

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ctest reads the results of CMake's ctest. Its tests are programs, so a failed one
// may hold several failed tests, which the runner in it names.
var ctest = runner{name: "ctest", lines: []form{
	{"***Skipped", regexp.MustCompile(`^\s*\d+/\d+ Test\s+#\d+: .*\*\*\*Skipped`), func(r *runnerReader, _ []string) { r.skipped++ }},
	{"% tests passed", regexp.MustCompile(`^\d+% tests passed, (\d+) tests? failed out of (\d+)$`), func(r *runnerReader, m []string) {
		r.failed, r.passed = digits(m[1]), digits(m[2])-digits(m[1])-r.skipped
	}},
	{"The following tests", regexp.MustCompile(`^The following tests (FAILED|did not run):$`), func(r *runnerReader, m []string) { r.section = m[1] == "FAILED" }},
	{" - ", regexp.MustCompile(`^\t\s*\d+ - (\S.*?) \(([^()]+)\)`), func(r *runnerReader, m []string) {
		if !r.section {
			return
		}
		kind := ledger.FailureError
		switch m[2] {
		case "Failed":
			kind = ledger.FailureAssertion
		case "Timeout":
			kind = ledger.FailureTimeout
		case "Not Run": // its program is missing
			kind = ledger.FailureBuild
		}
		r.fail("", m[1], kind)
	}},
	{"Total Test time", regexp.MustCompile(`^Total Test time \(real\) =`), func(r *runnerReader, _ []string) {
		r.named = r.failed // their list follows
		r.total(r.passed, r.failed, r.skipped)
	}},
}}

// meson reads the results of meson test. A failure stands in the list of results
// and, again, in the summary.
var meson = runner{name: "meson", lines: []form{
	{"/", regexp.MustCompile(`^\s*\d+/\d+ (\S.*?)\s+(FAIL|ERROR|TIMEOUT|INTERRUPT|UNEXPECTEDPASS)\s+[\d.]+s\b`), func(r *runnerReader, m []string) {
		kind := ledger.FailureAssertion
		switch m[2] {
		case "ERROR":
			kind = ledger.FailureError
		case "TIMEOUT", "INTERRUPT":
			kind = ledger.FailureTimeout
		}
		r.fail("", m[1], kind)
	}},
	{"Ok: ", regexp.MustCompile(`^Ok: +(\d+)$`), set(passed)},
	{"Expected Fail: ", regexp.MustCompile(`^Expected Fail: +(\d+)$`), set(passed)},
	{"Fail: ", regexp.MustCompile(`^Fail: +(\d+)$`), set(failed)},
	{"Unexpected Pass: ", regexp.MustCompile(`^Unexpected Pass: +(\d+)$`), set(failed)},
	{"Timeout: ", regexp.MustCompile(`^Timeout: +(\d+)$`), set(failed)},
	{"Skipped: ", regexp.MustCompile(`^Skipped: +(\d+)$`), set(skipped)},
	{"Full log written", regexp.MustCompile(`^Full log written to .*testlog.*\.txt$`), func(r *runnerReader, _ []string) { r.total(r.passed, r.failed, r.skipped) }},
}}

// automake reads the results of make check. They look like those of many scripts,
// so they count only with automake's summary behind them.
var automake = runner{name: "automake", lines: []form{
	{": ", regexp.MustCompile(`^((?:FAIL|ERROR|XPASS): \S.*)$`), func(r *runnerReader, m []string) { r.hold(m[1]) }},
	{"# TOTAL: ", regexp.MustCompile(`^# TOTAL: +(\d+)$`), func(r *runnerReader, _ []string) {
		for _, line := range r.held {
			r.c.explain(line)
			word, name, _ := strings.Cut(line, ": ")
			kind := ledger.FailureAssertion
			if word == "ERROR" {
				kind = ledger.FailureError
			}
			r.fail("", name, kind)
		}
	}},
	{"# PASS: ", regexp.MustCompile(`^# PASS: +(\d+)$`), set(passed)},
	{"# XFAIL: ", regexp.MustCompile(`^# XFAIL: +(\d+)$`), set(passed)},
	{"# FAIL: ", regexp.MustCompile(`^# FAIL: +(\d+)$`), set(failed)},
	{"# XPASS: ", regexp.MustCompile(`^# XPASS: +(\d+)$`), set(failed)},
	{"# SKIP: ", regexp.MustCompile(`^# SKIP: +(\d+)$`), set(skipped)},
	{"# ERROR: ", regexp.MustCompile(`^# ERROR: +(\d+)$`), func(r *runnerReader, m []string) {
		r.total(r.passed, r.failed+digits(m[1]), r.skipped)
	}},
}}

// gtest reads GoogleTest. Where another runner starts its programs and counts
// them, only output of failed programs may be shown, and it counts nothing.
var gtest = runner{
	name: "googletest",
	lines: []form{
		{"[  FAILED  ]", regexp.MustCompile(`^\[  FAILED  \] ([\w/]+\.[\w/]+)(?:, where .*?)?(?: \(\d+ ms\))?$`), func(r *runnerReader, m []string) { r.c.add(r.of.name, "", m[1], ledger.FailureAssertion) }},
		{".c", regexp.MustCompile(`^\S+\.c\w*:\d+: (?:Failure|Skipped)$`), func(*runnerReader, []string) {}}, // of the test that the next result names
		{"[  PASSED  ]", regexp.MustCompile(`^\[  PASSED  \] (\d+) tests?\.$`), set(passed)},
		{"[  SKIPPED ]", regexp.MustCompile(`^\[  SKIPPED \] (\d+) tests?, listed below:$`), set(skipped)},
		{"[  FAILED  ]", regexp.MustCompile(`^\[  FAILED  \] (\d+) tests?, listed below:$`), set(failed)},
	},
	count: func(r *runnerReader) {
		for _, by := range []string{ctest.name, meson.name} {
			if r.c.runners[by] {
				return
			}
		}
		r.c.countShown(r.of.name, r.passed, r.failed, r.skipped)
	},
}

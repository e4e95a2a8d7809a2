package testreport

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

var phpunitCount = regexp.MustCompile(`(Errors|Failures|Skipped|Incomplete): (\d+)`)

// phpunit reads PHPUnit. Its lists of what is skipped, risky or deprecated look
// like those of failures.
var phpunit = runner{name: "phpunit", lines: []form{
	{"There ", regexp.MustCompile(`^There (?:was|were) \d+ (\S.*?)s?:$`), func(r *runnerReader, m []string) {
		kind, ok := map[string]ledger.FailureKind{"error": ledger.FailureError, "failure": ledger.FailureAssertion}[m[1]]
		r.kind, r.section = kind, ok
	}},
	{"::", regexp.MustCompile(`^\d+\) ([\w\\]+::\w.*)$`), func(r *runnerReader, m []string) {
		if r.section {
			r.fail("", m[1], r.kind)
		}
	}},
	{"OK (", regexp.MustCompile(`^OK \((\d+) tests?, \d+ assertions?\)$`), func(r *runnerReader, m []string) { r.total(digits(m[1]), 0, 0) }},
	{"Tests: ", regexp.MustCompile(`^Tests: (\d+), Assertions: \d+(.*)\.$`), func(r *runnerReader, m []string) {
		failed, skipped := 0, 0
		for _, n := range phpunitCount.FindAllStringSubmatch(m[2], -1) {
			if n[1] == "Errors" || n[1] == "Failures" {
				failed += digits(n[2])
			} else {
				skipped += digits(n[2])
			}
		}
		r.total(digits(m[1])-failed-skipped, failed, skipped)
	}},
	{"Parse error", regexp.MustCompile(`^(?:PHP )?Parse error: +(.*) in (\S+) on line \d+$`), func(r *runnerReader, m []string) {
		r.c.add(compiler, m[2], strings.TrimPrefix(m[1], "syntax error, "), ledger.FailureBuild)
	}},
	{"Uncaught ParseError", regexp.MustCompile(`^(?:PHP )?Fatal error: +Uncaught ParseError: (.*) in (\S+):\d+$`), func(r *runnerReader, m []string) {
		r.c.add(compiler, m[2], m[1], ledger.FailureBuild)
	}},
}}

package testreport

import (
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// rspec reads RSpec: the list of failed examples at the end, and of the failures
// before it which are exceptions.
var rspec = runner{name: "rspec", lines: []form{
	{") ", regexp.MustCompile(`^  \d+\) (\S.*)$`), func(r *runnerReader, m []string) { r.test = m[1] }},
	{":", regexp.MustCompile(`^     ((?:[A-Z]\w*::)*[A-Z]\w*(?:Error|Exception)):$`), func(r *runnerReader, _ []string) {
		if r.kinds == nil {
			r.kinds = map[string]ledger.FailureKind{}
		}
		if len(r.kinds) < MaxFailures && r.test != "" {
			r.kinds[r.test] = ledger.FailureError
		}
	}},
	{"An error occurred", regexp.MustCompile(`^An error occurred (?:while loading|in an? .* hook.*?) ?(\S+?)?\.(?: - .*)?$`), func(r *runnerReader, m []string) {
		r.fail(m[1], "(file)", ledger.FailureBuild)
	}},
	{" example", regexp.MustCompile(`^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?$`), func(r *runnerReader, m []string) {
		kinds, failed, loading := r.kinds, digits(m[2]), digits(m[4])
		r.named += failed // their list follows
		r.total(digits(m[1])-failed-digits(m[3]), failed+loading, digits(m[3]))
		r.kinds = kinds
	}},
	{"rspec ", regexp.MustCompile(`^rspec '?(\S+?)(?::\d+|\[[\d:,]+\])'? # (\S.*)$`), func(r *runnerReader, m []string) {
		kind := r.kinds[m[2]]
		if kind == "" {
			kind = ledger.FailureAssertion
		}
		r.c.add(r.of.name, m[1], m[2], kind)
	}},
}}

// minitest reads Ruby's minitest, also as Rails prints it.
var minitest = runner{name: "minitest", lines: []form{
	{":", regexp.MustCompile(`^(?:\s+\d+\) )?(Failure|Error):$`), func(r *runnerReader, m []string) {
		r.section, r.kind = true, ledger.FailureAssertion
		if m[1] == "Error" {
			r.kind = ledger.FailureError
		}
	}},
	{"#", regexp.MustCompile(`^(\S+#\S+?)(?: \[(\S+?):\d+\])?:$`), func(r *runnerReader, m []string) {
		if r.section {
			r.fail(m[2], m[1], r.kind)
			r.section = false
		}
	}},
	{" runs, ", regexp.MustCompile(`^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips$`), func(r *runnerReader, m []string) {
		failed, skipped := digits(m[2])+digits(m[3]), digits(m[4])
		r.total(digits(m[1])-failed-skipped, failed, skipped)
	}},
}}

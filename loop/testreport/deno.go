package testreport

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// denoTest reads deno test: its list of errors, and its list of failures, which
// says the same in short.
var denoTest = runner{name: "deno test", lines: []form{
	{" => ", regexp.MustCompile(`^(\S.*) => (\./\S+?):\d+:\d+$`), func(r *runnerReader, m []string) {
		r.test, r.file = m[1], m[2]
		if !r.section { // the first mention counts
			r.named++
		}
		r.c.add(r.of.name, m[2], m[1], ledger.FailureAssertion)
	}},
	{" FAILURES ", regexp.MustCompile(`^ FAILURES`), func(r *runnerReader, _ []string) { r.section = true }},
	{"error: ", regexp.MustCompile(`^error: (?:\(in promise\) )?(\w+)\b`), func(r *runnerReader, m []string) {
		if r.test != "" && m[1] != "AssertionError" && strings.HasSuffix(m[1], "Error") {
			r.c.add(r.of.name, r.file, r.test, ledger.FailureError)
		}
		r.test = ""
	}},
	{" | ", regexp.MustCompile(`^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed(?: \([^)]*\))?(?: \| (\d+) ignored)?`), func(r *runnerReader, m []string) {
		r.total(digits(m[1]), digits(m[2]), digits(m[3]))
	}},
	{" [ERROR]: ", regexp.MustCompile(`^(TS\d+) \[ERROR\]: (.*)$`), func(r *runnerReader, m []string) {
		r.c.add(tsc, "", m[1]+": "+stableMessage(m[2]), ledger.FailureBuild)
	}},
}}

// bunTest reads bun test. The error of a test stands before its result.
var bunTest = runner{name: "bun test", lines: []form{
	{":", regexp.MustCompile(`^(\S+\.(?:test|spec)\.\w+|\S+_(?:test|spec)\.\w+):$`), func(r *runnerReader, m []string) { r.file, r.kind = m[1], ledger.FailureAssertion }},
	{"error: ", regexp.MustCompile(`^error: (expect\()?`), func(r *runnerReader, m []string) {
		if r.kind = ledger.FailureError; m[1] != "" {
			r.kind = ledger.FailureAssertion
		}
	}},
	{"(fail) ", regexp.MustCompile(`^\(fail\) (\S.*?)(?: \[[\d.]+m?s\])?$`), func(r *runnerReader, m []string) {
		if r.kind == "" {
			r.kind = ledger.FailureAssertion
		}
		r.fail(r.file, m[1], r.kind)
		r.kind = ledger.FailureAssertion
	}},
	{"# Unhandled error", regexp.MustCompile(`^# Unhandled error between tests$`), func(r *runnerReader, _ []string) { r.fail(r.file, "(file)", ledger.FailureBuild) }},
	{" pass", regexp.MustCompile(`^ (\d+) pass$`), set(passed)},
	{" fail", regexp.MustCompile(`^ (\d+) fail$`), set(failed)},
	{" skip", regexp.MustCompile(`^ (\d+) skip$`), set(skipped)},
	{" todo", regexp.MustCompile(`^ (\d+) todo$`), set(skipped)},
	{"Ran ", regexp.MustCompile(`^Ran \d+ tests? across \d+ files?\.`), func(r *runnerReader, _ []string) { r.total(r.passed, r.failed, r.skipped) }},
}}

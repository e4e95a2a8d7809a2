package testreport

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maven reads the results that Maven's surefire and failsafe print.
var maven = runner{name: "maven", lines: []form{
	{"Tests run: ", regexp.MustCompile(`^\[(?:INFO|WARNING|ERROR)\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(, Time elapsed.*)?$`), func(r *runnerReader, m []string) {
		if m[5] != "" {
			return // of a class; the module's follows
		}
		failed, skipped := digits(m[2])+digits(m[3]), digits(m[4])
		r.total(digits(m[1])-failed-skipped, failed, skipped)
	}},
	{" <<< ", regexp.MustCompile(`^\[ERROR\] (\S.*?)\s+(?:-- )?Time elapsed: [\d.,]+ s +<<< (FAILURE|ERROR)!`), func(r *runnerReader, m []string) {
		kind := ledger.FailureAssertion
		if m[2] == "ERROR" {
			kind = ledger.FailureError
		}
		name := m[1]
		if test, class, ok := strings.Cut(name, "("); ok && strings.HasSuffix(class, ")") { // releases before 3: sums(CartTest)
			name = strings.TrimSuffix(class, ")") + "." + test
		}
		r.fail("", name, kind)
	}},
	{"forked VM", regexp.MustCompile(`^\[ERROR\] .*The forked VM terminated`), func(r *runnerReader, _ []string) { r.c.add(r.of.name, "", "(forked VM)", ledger.FailurePanic) }},
	{".java:[", regexp.MustCompile(`^\[ERROR\] (\S+\.(?:java|kt)):\[\d+,\d+\] (?:error: )?(\S.*)$`), func(r *runnerReader, m []string) {
		r.c.add(compiler, m[1], m[2], ledger.FailureBuild)
	}},
}}

// gradle reads what Gradle prints of failed tests and tasks. It prints no number of
// tests that passed, and none at all where all did.
var gradle = runner{name: "gradle", lines: []form{
	{" FAILED", regexp.MustCompile(`^> Task (:\S+) FAILED$`), func(r *runnerReader, m []string) {
		if task := m[1][strings.LastIndexByte(m[1], ':')+1:]; !strings.Contains(strings.ToLower(task), "test") || strings.HasPrefix(task, "compile") {
			r.c.add(r.of.name, "", "(task "+m[1]+")", ledger.FailureLine)
		}
	}},
	{" > ", regexp.MustCompile(`^([\w.$]+(?: > .+?)?) > (.+) FAILED$`), func(r *runnerReader, m []string) {
		r.fail("", m[1]+" > "+m[2], ledger.FailureAssertion)
	}},
	{" completed, ", regexp.MustCompile(`^(\d+) tests? completed, (\d+) failed`), func(r *runnerReader, m []string) {
		r.c.unnamed(r.of.name, digits(m[2]), r.named)
		r.named = 0
	}},
}}

package testreport

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// runner is a test runner whose output is read line by line, by the forms of its
// lines.
type runner struct {
	name  string
	lines []form
	// count counts the tests where the output has no line that ends its counts.
	count func(*runnerReader)
}

// form is one form of a line, and what is done with one.
type form struct {
	has  string // a cheap test: a line without it has another form
	form *regexp.Regexp
	do   func(r *runnerReader, m []string)
}

// runners are the test runners that are read so.
var runners = []runner{
	ctest, meson, automake, gtest,
	maven, gradle, dotnet, xctest,
	phpunit, rspec, minitest,
	denoTest, bunTest,
}

// runnerFormats are the rows of the table of formats for runners.
func runnerFormats() []format {
	var all []format
	for _, r := range runners {
		all = append(all, format{name: r.name, open: func(c *collector) reader { return &runnerReader{c: c, of: r} }})
	}
	return all
}

// runnerReader reads the output of one runner. What the lines of a report say
// together is kept here until it is complete.
type runnerReader struct {
	c  *collector
	of runner

	file, test string             // what the next lines are about
	kind       ledger.FailureKind // that the next failures have
	section    bool               // of the failures
	held       []string           // lines that are the runner's only if its report follows
	kinds      map[string]ledger.FailureKind

	named                   int
	passed, failed, skipped int
}

// read implements reader. A line that is held belongs to no format yet.
func (r *runnerReader) read(line string) bool {
	held := len(r.held)
	for _, f := range r.of.lines {
		if !strings.Contains(line, f.has) {
			continue
		}
		if m := f.form.FindStringSubmatch(line); m != nil {
			f.do(r, m)
			return len(r.held) == held
		}
	}
	return false
}

func (r *runnerReader) end() {
	if r.of.count != nil {
		r.of.count(r)
	}
}

// fail adds a failure.
func (r *runnerReader) fail(file, name string, kind ledger.FailureKind) {
	r.named++
	r.c.add(r.of.name, file, name, kind)
}

// total adds one report, and the failures that it counts and does not name.
func (r *runnerReader) total(passed, failed, skipped int) {
	r.c.runners[r.of.name] = true
	r.c.pass(max(passed, 0))
	r.c.skip(skipped)
	r.c.count(r.of.name, max(passed, 0), failed, skipped)
	r.c.unnamed(r.of.name, failed, r.named)
	r.passed, r.failed, r.skipped, r.named = 0, 0, 0, 0
	r.file, r.test, r.section, r.held, r.kinds = "", "", false, nil, nil
}

// hold keeps a line until the runner's report says that it is the runner's.
func (r *runnerReader) hold(line string) {
	if len(r.held) < MaxFailures {
		r.held = append(r.held, line)
	}
}

// digits returns a number that a form has found, 0 for none and for a number that
// is too large.
func digits(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n > 1<<30 {
		return 0
	}
	return n
}

// set returns an action that keeps a number.
func set(where func(*runnerReader) *int) func(*runnerReader, []string) {
	return func(r *runnerReader, m []string) { *where(r) += digits(m[1]) }
}

func passed(r *runnerReader) *int  { return &r.passed }
func failed(r *runnerReader) *int  { return &r.failed }
func skipped(r *runnerReader) *int { return &r.skipped }

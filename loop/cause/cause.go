package cause

import "strings"

// form finds the cause in lines of an output that begin at line n. It returns
// "" if no failure that it knows begins there.
type form func(lines []string, n int) string

// forms are tried in this order, each on all lines: what a test runner names
// outranks a compiler's error, because passing tests print errors too. The first
// failure is the cause of the following ones, so the first line that matches
// counts.
var forms = []form{
	toolchain, // whose failure makes all others
	goTest, pytest, unittest, cargoTest, jest, vitest, tap, nodeSpec, mocha, pytestSummary, pytestEmpty, goPanic,
	typeScript, rust, compiler, eslint, npm,
}

// Line returns the line of a failed command's output that says why the command
// failed, in at most MaxLine characters. It returns "" if the output has no
// visible character.
//
// It looks for a failed test, then for the first error of a compiler, a linter
// or a package manager, then for the last exception that nothing caught, a
// failed test without a message, a printed patch, and the last line that reads
// like an error. If there is none, it returns
// the last line that is not a mere statement of failure.
func Line(output string) string {
	lines := split(output)
	for _, f := range forms {
		for n := range lines {
			if s := f(lines, n); s != "" {
				return short(s)
			}
		}
	}
	for _, find := range []func([]string) string{uncaught, result, changes, complaint, last} {
		if s := find(lines); s != "" {
			return short(s)
		}
	}
	return ""
}

// WithoutSummary returns a failed command's output without the lines at its end that
// never say why: that something failed, counts, stack frames. An output of nothing else
// is returned as it is.
func WithoutSummary(output string) string {
	lines := strings.Split(output, "\n")
	for n := len(lines); n > 0; n-- {
		if line := strings.TrimRight(lines[n-1], " \t\r"); line != "" && !noise.MatchString(line) {
			return strings.Join(lines[:n], "\n")
		}
	}
	return output
}

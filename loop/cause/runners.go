package cause

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// named puts the name of a test in front of what its failure says.
func named(name, text string) string {
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	switch {
	case name == "":
		return text
	case text == "":
		return name
	}
	return name + ": " + text
}

// indent returns the number of white space characters in front of a line.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// next returns the index of the first line from n on that is not blank, or
// len(lines).
func next(lines []string, n int) int {
	for n < len(lines) && strings.TrimSpace(lines[n]) == "" {
		n++
	}
	return n
}

var assertionName = regexp.MustCompile(`^(?:AssertionError|AssertionFailedError|Error: AssertionError)(?: \[\w+\])?(?:: |$)`)

// assertion returns the text of an exception without the name that all failed
// assertions share. A text that ends with a colon goes on in the next lines.
func assertion(lines []string, n int) string {
	if n >= len(lines) {
		return ""
	}
	text := strings.TrimSpace(lines[n])
	text = assertionName.ReplaceAllString(text, "")
	for k := 0; k < 2 && strings.HasSuffix(text, ":"); k++ {
		n = next(lines, n+1)
		if n >= len(lines) || frame.MatchString(lines[n]) {
			break
		}
		text += " " + strings.TrimSpace(lines[n])
	}
	return text
}

var (
	goFailed  = regexp.MustCompile(`^(\s*)--- FAIL: (\S+?)(?::? ([^(].*))?(?: \(.*)?$`)
	goMessage = regexp.MustCompile(`^\s+\S+\.go:\d+: ?(.*)$`)
	goStep    = regexp.MustCompile(`^\s*(?:--- |=== (?:RUN|PAUSE|CONT|NAME) |FAIL\b|ok\s|panic: )`)
	goRun     = regexp.MustCompile(`^=== (?:RUN|NAME|CONT)\s+(\S+)`)
)

// goTest finds a failed test of package testing, of nested ones the innermost:
// "TestSum/small: Sum(1, 2) = 0, want 3".
func goTest(lines []string, n int) string {
	m := goFailed.FindStringSubmatch(lines[n])
	if m == nil {
		return ""
	}
	for n+1 < len(lines) {
		inner := goFailed.FindStringSubmatch(lines[n+1])
		if inner == nil || len(inner[1]) <= len(m[1]) {
			break
		}
		m, n = inner, n+1
	}
	name := m[2]
	if m[3] != "" { // scripts that print as go test does put the message there
		return named(name, m[3])
	}
	if n+1 < len(lines) && strings.HasPrefix(lines[n+1], "panic: ") {
		return named(name, goPanic(lines, n+1))
	}
	if text := goSaid(lines, n+1); text != "" {
		return named(name, text)
	}
	for k := n - 1; k >= 0; k-- { // -v prints messages before the result
		if r := goRun.FindStringSubmatch(lines[k]); r != nil && r[1] == name {
			return named(name, goSaid(lines, k+1))
		}
	}
	return named(name, "")
}

// goSaid returns the message of a test that failed, from line n to the next step
// of the runner. Logs look like errors there: the first message that reads like
// one counts, otherwise the last.
func goSaid(lines []string, n int) string {
	said := ""
	for ; n < len(lines) && !goStep.MatchString(lines[n]); n++ {
		m := goMessage.FindStringSubmatch(lines[n])
		if m == nil {
			continue
		}
		said = m[1]
		if said == "" {
			said = testify(lines, n+1)
		}
		if complains.MatchString(said) {
			return said
		}
	}
	return said
}

var (
	testifyError = regexp.MustCompile(`^\s+Error:\s+(.+)$`)
	testifyValue = regexp.MustCompile(`^\s+((?:expected|actual)\s*:.*)$`)
)

// testify returns the message of an assertion that prints labelled fields.
func testify(lines []string, n int) string {
	var parts []string
	for ; n < len(lines) && !goStep.MatchString(lines[n]); n++ {
		if m := testifyError.FindStringSubmatch(lines[n]); m != nil {
			parts = append(parts, m[1])
		} else if m := testifyValue.FindStringSubmatch(lines[n]); m != nil && len(parts) > 0 {
			parts = append(parts, m[1])
		}
	}
	return strings.Join(parts, " ")
}

var goLate = regexp.MustCompile(`^\t\t(\S+) \(`)

// goPanic finds a panic, and the test that took too long.
func goPanic(lines []string, n int) string {
	if !strings.HasPrefix(lines[n], "panic: ") && !strings.HasPrefix(lines[n], "fatal error: ") {
		return ""
	}
	text := lines[n]
	for _, note := range []string{" [recovered, repanicked]", " [recovered]"} {
		text = strings.TrimSuffix(text, note)
	}
	if n+2 < len(lines) && strings.Contains(text, "test timed out") {
		if m := goLate.FindStringSubmatch(lines[n+2]); m != nil {
			return named(m[1], text)
		}
	}
	return text
}

var (
	pytestHeader  = regexp.MustCompile(`^_{3,} (?:ERROR (?:collecting|at \w+ of) )?(\S.*?) _{3,}$`)
	pytestError   = regexp.MustCompile(`^E\s{2,}(\S.*)$`)
	pytestResult  = regexp.MustCompile(`^(?:FAILED|ERROR) (\S+)(?: - (.+))?$`)
	pytestSection = regexp.MustCompile(`^={3,} .* ={3,}$`)
)

// pytest finds the exception of the first failed test. Of a chain of exceptions
// the last one failed the test.
func pytest(lines []string, n int) string {
	m := pytestError.FindStringSubmatch(lines[n])
	if m == nil {
		return ""
	}
	name := ""
	for k := n; k >= 0; k-- {
		if h := pytestHeader.FindStringSubmatch(lines[k]); h != nil {
			name = h[1]
			break
		}
	}
	at := n
	for k := n + 1; k < len(lines) && !pytestHeader.MatchString(lines[k]) && !pytestSection.MatchString(lines[k]); k++ {
		if pytestError.MatchString(lines[k]) && !pytestError.MatchString(lines[k-1]) {
			at = k
		}
	}
	text := pytestError.FindStringSubmatch(lines[at])[1]
	return named(name, assertionName.ReplaceAllString(text, ""))
}

// pytestSummary finds a line of the summary, for outputs without tracebacks.
func pytestSummary(lines []string, n int) string {
	m := pytestResult.FindStringSubmatch(lines[n])
	if m == nil || !strings.Contains(m[1], ".py") {
		return ""
	}
	_, name, ok := strings.Cut(m[1], "::")
	if !ok {
		name = m[1]
	}
	return named(name, m[2])
}

var pytestNone = regexp.MustCompile(`^(?:=+ )?(no tests ran) in `)

// pytestEmpty finds a run of pytest without a test, which fails.
func pytestEmpty(lines []string, n int) string {
	if m := pytestNone.FindStringSubmatch(lines[n]); m != nil {
		return m[1]
	}
	return ""
}

var unittestFailed = regexp.MustCompile(`^(?:FAIL|ERROR): (\S+)`)

// unittest finds a failed test of Python's unittest.
func unittest(lines []string, n int) string {
	m := unittestFailed.FindStringSubmatch(lines[n])
	if m == nil || n+1 >= len(lines) || !strings.HasPrefix(lines[n+1], "-----") {
		return ""
	}
	for k := n + 2; k < len(lines) && !strings.HasPrefix(lines[k], "=====") && !strings.HasPrefix(lines[k], "-----"); k++ {
		if exception.MatchString(lines[k]) {
			return named(m[1], assertion(lines, k))
		}
	}
	return named(m[1], "")
}

var (
	rustPanic = regexp.MustCompile(`^thread '([^']+)' (?:\(\d+\) )?panicked at (.+?):?$`)
	rustSide  = regexp.MustCompile(`^\s+(?:left|right): `)
)

// cargoTest finds a panic of a Rust test.
func cargoTest(lines []string, n int) string {
	m := rustPanic.FindStringSubmatch(lines[n])
	if m == nil {
		return ""
	}
	name, text := m[1], m[2]
	if name == "main" {
		name = ""
	}
	if strings.HasPrefix(text, "'") { // older releases have the message in the same line
		return named(name, text)
	}
	if k := n + 1; k < len(lines) && strings.TrimSpace(lines[k]) != "" {
		text = lines[k]
		for k++; k < len(lines) && rustSide.MatchString(lines[k]); k++ {
			text += ", " + strings.TrimSpace(lines[k])
		}
	}
	return named(name, text)
}

var (
	jestFailed = regexp.MustCompile(`^\s+● (.+)$`)
	jestValue  = regexp.MustCompile(`^\s+((?:Expected|Received)\b[^:]*: .+)$`)
)

// jest finds a failed test or suite of jest: "basket › sums: Expected: 3,
// Received: -1".
func jest(lines []string, n int) string {
	m := jestFailed.FindStringSubmatch(lines[n])
	if m == nil || m[1] == "Console" {
		return ""
	}
	k := next(lines, n+1)
	if k >= len(lines) {
		return named(m[1], "")
	}
	text := assertion(lines, k)
	if m[1] == "Test suite failed to run" {
		return text
	}
	var values []string
	for ; k < len(lines) && !frame.MatchString(lines[k]) && !jestFailed.MatchString(lines[k]); k++ {
		if v := jestValue.FindStringSubmatch(lines[k]); v != nil {
			values = append(values, v[1])
		}
	}
	if len(values) > 0 {
		text = strings.Join(values, ", ")
	}
	return named(m[1], text)
}

var vitestFailed = regexp.MustCompile(`^ FAIL  (\S.*)$`)

// vitest finds a failed test or suite of vitest.
func vitest(lines []string, n int) string {
	m := vitestFailed.FindStringSubmatch(lines[n])
	if m == nil {
		return ""
	}
	k := n + 1
	for k < len(lines) && vitestFailed.MatchString(lines[k]) { // several tests with one error
		k++
	}
	_, name, ok := strings.Cut(m[1], " > ")
	if !ok { // a file that could not be loaded
		return assertion(lines, k)
	}
	return named(name, assertion(lines, k))
}

var (
	tapFailed = regexp.MustCompile(`^\s*not ok \d+(?: -)? ?(.*)$`)
	tapError  = regexp.MustCompile(`^\s*(?:error|message): (.*)$`)
	tapSub    = regexp.MustCompile(`^\d+ subtests? failed$`)
)

// tap finds a failed test in the Test Anything Protocol. A test that only
// reports that its subtests or its process failed says nothing.
func tap(lines []string, n int) string {
	m := tapFailed.FindStringSubmatch(lines[n])
	if m == nil || strings.Contains(m[1], "# TODO") || strings.Contains(m[1], "# SKIP") {
		return ""
	}
	for k := n + 1; k < len(lines) && k < n+20 && strings.TrimSpace(lines[k]) != "..." && !tapFailed.MatchString(lines[k]); k++ {
		e := tapError.FindStringSubmatch(lines[k])
		if e == nil {
			continue
		}
		text := strings.Trim(e[1], `'"`)
		if strings.HasPrefix(text, "|") || strings.HasPrefix(text, ">") {
			text = ""
			for at := k + 1; at < len(lines) && (strings.TrimSpace(lines[at]) == "" || indent(lines[at]) > indent(lines[k])); at++ {
				text = strings.TrimSpace(text + " " + strings.TrimSpace(lines[at]))
			}
		}
		if text == "test failed" || tapSub.MatchString(text) {
			return ""
		}
		return named(m[1], text)
	}
	return named(m[1], "")
}

var nodeFailed = regexp.MustCompile(`^\s*✖ (.+?) \([\d.]+m?s\)$`)

// nodeSpec finds a failed test in the spec and dot reporters of node. The test
// stands in the list of results and, with its error, below it.
func nodeSpec(lines []string, n int) string {
	m := nodeFailed.FindStringSubmatch(lines[n])
	if m == nil {
		return ""
	}
	k := next(lines, n+1)
	if k >= len(lines) || !exception.MatchString(strings.TrimSpace(lines[k])) {
		return ""
	}
	return named(m[1], assertion(lines, k))
}

var (
	mochaCount  = regexp.MustCompile(`^\s+\d+ failing$`)
	mochaFailed = regexp.MustCompile(`^\s+1\) (.+)$`)
)

// mocha finds the first failed test below mocha's counts.
func mocha(lines []string, n int) string {
	if !mochaCount.MatchString(lines[n]) {
		return ""
	}
	k := next(lines, n+1)
	if k >= len(lines) {
		return ""
	}
	m := mochaFailed.FindStringSubmatch(lines[k])
	if m == nil {
		return ""
	}
	name := m[1]
	for k++; k < len(lines) && strings.TrimSpace(lines[k]) != ""; k++ {
		name += " " + strings.TrimSpace(lines[k])
	}
	return named(strings.TrimSuffix(name, ":"), assertion(lines, next(lines, k)))
}

var failedResult = regexp.MustCompile(`^(?:test (\S+) \.\.\. FAILED|\s*[✕✗×✖] (.*[^:\s])|(?:FAIL|ERROR): (\S+) \(.*\))$`)

var tookTime = regexp.MustCompile(` \(?\d+(?:\.\d+)? ?m?s\)?$`)

// result returns the name of the first failed test in a list of results. Its
// message is missing, or in no form that is known.
func result(lines []string) string {
	for _, line := range lines {
		if m := failedResult.FindStringSubmatch(line); m != nil && !noise.MatchString(line) {
			return tookTime.ReplaceAllString(m[1]+m[2]+m[3], "")
		}
	}
	return ""
}

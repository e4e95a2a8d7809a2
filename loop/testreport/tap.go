package testreport

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const tapRunner = "tap"

// tapReader reads TAP 12 to 14, and the dialects of node:test, vitest and
// mocha. A failed test without a failed subtest is a leaf; only leaves are
// reported.
type tapReader struct {
	c      *collector
	parent []tapLevel // open subtests, by indentation
	last   *tapTest   // the failed test whose diagnostics follow
	yaml   int        // indentation of the open diagnostics; -1 = none
	load   bool       // the comments since the last test say that a file cannot be loaded
	failed []tapTest
	passed int
	seen   bool
	plan   tapPlan
	counts []ledger.TestCount // of each plan
	doubt  bool               // a plan does not fit its results, so that nothing is counted
}

// tapPlan is what one plan of the outermost level announces and what came.
type tapPlan struct {
	ahead   int // tests that it announced before the first result; 0 = none
	results int
	tests   ledger.TestCount
}

type tapLevel struct {
	indent int
	name   string
}

type tapTest struct {
	path, name, file string
	indent           int
	kind             ledger.FailureKind
	parent           bool // it says that it failed by its subtests
	own              bool // it says that it failed by itself
	whole            bool // it stands for a file that could not be run
}

var (
	tapResult    = regexp.MustCompile(`^(\s*)(not ok|ok)\b\s*\d*\s*(?:- )?(.*)$`)
	tapDirective = regexp.MustCompile(`(?i)\s+# (todo|skip|time)\b.*$`)
	tapAnnounces = regexp.MustCompile(`^1\.\.(\d+)\b`)
	tapValue     = regexp.MustCompile(`^\s*(location|at|failureType|code|name|error|message|exitCode|file): ?['"]?(.*?)['"]?$`)
)

func (t *tapReader) read(line string) bool {
	body := strings.TrimLeft(line, " ")
	depth := len(line) - len(body)
	if t.last != nil && t.yaml >= 0 && depth >= t.yaml && body != "..." {
		t.diagnostic(body)
		return true
	}
	if t.last != nil && t.yaml < 0 && depth > t.last.indent && strings.Contains(body, ": ") && errorLine.MatchString(body) {
		if !isAssertion(body) {
			t.last.kind = ledger.FailureError
		}
		t.last = nil
		return true
	}
	switch {
	case strings.HasPrefix(body, "TAP version "):
		t.seen = true
		if depth == 0 {
			t.endPlan()
		}
		return true
	case depth == 0 && t.seen && strings.HasPrefix(body, "1.."):
		if m := tapAnnounces.FindStringSubmatch(body); m != nil {
			t.announced(m[1])
		}
		return true
	case strings.HasPrefix(body, "ok ") || strings.HasPrefix(body, "not ok"):
		m := tapResult.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[3], "\t") {
			return false
		}
		t.result(depth, m[2] == "not ok", m[3])
		return t.seen
	case strings.HasPrefix(body, "# Subtest: "):
		t.seen = true
		t.open(depth, body[len("# Subtest: "):])
		return true
	case strings.HasPrefix(body, "Bail out!"):
		t.c.add(tapRunner, "", stableMessage(body), ledger.FailureError)
		return true
	case body == "---" && t.last != nil && depth > t.last.indent:
		t.yaml = depth
		return true
	case body == "...":
		t.yaml, t.last = -1, nil
		return t.seen
	case strings.HasPrefix(body, "# ") && t.seen:
		t.load = t.load || cannotLoad(body)
		return true
	}
	return false
}

// announced reads a plan, which stands before its results or behind them.
func (t *tapReader) announced(number string) {
	n, err := strconv.Atoi(number)
	switch p := &t.plan; {
	case err != nil || p.ahead > 0 || p.results > 0 && p.results != n:
		t.doubt = true
	case p.results == 0:
		p.ahead = n
	default:
		p.ahead = n
		t.endPlan()
	}
}

// endPlan counts the tests of a plan.
func (t *tapReader) endPlan() {
	t.doubt = t.doubt || t.plan.results != t.plan.ahead
	t.counts = append(t.counts, t.plan.tests)
	t.plan = tapPlan{}
}

// open notes the subtest that the deeper lines belong to.
func (t *tapReader) open(depth int, name string) {
	t.leave(depth)
	t.parent = append(t.parent, tapLevel{depth, tapName(name)})
}

func (t *tapReader) leave(depth int) {
	for len(t.parent) > 0 && t.parent[len(t.parent)-1].indent >= depth {
		t.parent = t.parent[:len(t.parent)-1]
	}
}

func tapName(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), " {")
	return strings.ReplaceAll(s, `\#`, "#")
}

func (t *tapReader) result(depth int, failed bool, text string) {
	t.last, t.yaml = nil, -1
	opens := strings.HasSuffix(text, " {")
	text = strings.TrimSuffix(text, " {")
	directive := ""
	for m := tapDirective.FindStringSubmatchIndex(text); m != nil; m = tapDirective.FindStringSubmatchIndex(text) {
		if d := strings.ToLower(text[m[2]:m[3]]); d != "time" {
			directive = d
		}
		text = text[:m[0]]
	}
	name := tapName(text)
	t.leave(depth)
	path := ""
	for _, p := range t.parent {
		path += p.name + " > "
	}
	if opens {
		t.open(depth, name)
	}
	if t.seen {
		t.c.runners[tapRunner] = true
	}
	load := t.load
	t.load = false
	if depth == 0 {
		t.plan.results++
	}
	switch {
	case directive == "skip":
		t.plan.tests.Skipped++
	case directive != "" || opens:
	case failed:
		t.plan.tests.Failed++
	case depth > 0 || !isScript(name): // a file that ends without a test is reported as one that passed
		t.plan.tests.Passed++
	}
	switch {
	case directive == "skip":
		t.c.skip(1)
	case directive != "": // a failure that is expected
	case !failed:
		if t.seen && !opens {
			t.passed++
		}
	case len(t.failed) <= MaxFailures:
		if name == "" {
			name = "(without a name)"
		}
		test := tapTest{path: path + name, name: name, indent: depth, kind: ledger.FailureAssertion}
		if load && isScript(name) {
			test.kind, test.whole = ledger.FailureBuild, true
		}
		t.failed = append(t.failed, test)
		t.last = &t.failed[len(t.failed)-1]
	}
}

// diagnostic reads a line of the YAML below a failed test.
func (t *tapReader) diagnostic(body string) {
	m := tapValue.FindStringSubmatch(body)
	if m == nil {
		return
	}
	l := t.last
	switch key, value := m[1], m[2]; key {
	case "location", "at", "file":
		if l.file == "" {
			l.file, _ = cutPosition(value)
		}
	case "failureType":
		switch value {
		case "subtestsFailed":
			l.parent = true
		case "testTimeoutFailure":
			l.kind, l.own = ledger.FailureTimeout, true
		case "hookFailed", "cancelledByParent", "uncaughtException", "unhandledRejection", "multipleCallbackInvocations":
			l.kind, l.own = ledger.FailureError, true
		}
	case "code":
		if value == "ERR_ASSERTION" {
			l.kind = ledger.FailureAssertion
		} else if l.kind == ledger.FailureAssertion && value == "ERR_TEST_FAILURE" {
			l.kind = ledger.FailureError // until a name says that it is an assertion
		}
	case "name":
		if isAssertion(value) {
			l.kind = ledger.FailureAssertion
		} else if l.kind == ledger.FailureAssertion {
			l.kind = ledger.FailureError
		}
	case "error", "message":
		if strings.HasPrefix(value, "Test timed out") {
			l.kind = ledger.FailureTimeout
		}
	case "exitCode":
		l.whole = true
		if l.kind != ledger.FailureBuild {
			l.kind = ledger.FailureError
		}
	}
}

func (t *tapReader) end() {
	parents := map[string]bool{}
	for _, f := range t.failed {
		for n := 0; ; n += len(" > ") {
			k := strings.Index(f.path[n:], " > ")
			if k < 0 {
				break
			}
			n += k
			parents[f.file+"\x00"+f.path[:n]] = true
			parents["\x00"+f.path[:n]] = true
		}
	}
	for _, f := range t.failed {
		if f.parent || !f.own && parents[f.file+"\x00"+f.path] {
			continue
		}
		name := f.path
		if f.whole && isScript(f.name) {
			f.file, name = f.name, "(file)"
		}
		t.c.add(tapRunner, f.file, name, f.kind)
	}
	if t.passed > 0 {
		t.c.pass(t.passed)
	}
	t.endPlan()
	if t.doubt || !t.seen {
		return
	}
	for _, n := range t.counts {
		t.c.countShown(tapRunner, n.Passed, n.Failed, n.Skipped)
	}
}

// cutPosition cuts ":LINE:COLUMN" off a path.
func cutPosition(s string) (path, rest string) {
	for range 2 {
		n := strings.LastIndexByte(s, ':')
		if n < 0 {
			break
		}
		if _, err := strconv.Atoi(s[n+1:]); err != nil {
			break
		}
		s, rest = s[:n], s[n:]+rest
	}
	return s, rest
}

// isScript reports whether a name is the path of a JavaScript or TypeScript
// file: node:test reports a file that ended without a result under its path.
func isScript(name string) bool {
	for _, ext := range []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}

// cannotLoad reports whether a line of node's says that a module cannot be
// loaded, as opposed to a failure of what the module does.
func cannotLoad(line string) bool {
	for _, sign := range []string{"SyntaxError: ", "ERR_MODULE_NOT_FOUND", "Cannot find module ", "Cannot find package ", "ERR_UNKNOWN_FILE_EXTENSION", "does not provide an export named", "ERR_PACKAGE_PATH_NOT_EXPORTED"} {
		if strings.Contains(line, sign) {
			return true
		}
	}
	return false
}

// isAssertion reports whether an exception's name, or an error's first line, is
// that of a failed assertion.
func isAssertion(text string) bool {
	head, _, _ := strings.Cut(text, ":")
	return strings.Contains(head, "Assertion") || strings.Contains(head, "ERR_ASSERTION") ||
		strings.HasPrefix(text, "expect(") || strings.HasPrefix(text, "Error: expect(") || strings.HasPrefix(text, "assert")
}

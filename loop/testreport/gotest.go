package testreport

import (
	"encoding/json"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const (
	goTest  = "go test"
	goBuild = "go build"
	goVet   = "go vet"
)

// goReader reads go test, plain, with -v and with -json, and what go build and
// go vet print in front of it. The name of a package follows its tests.
type goReader struct {
	c       *collector
	tests   map[string][]goFailure // of packages whose end is still to come; "" in plain output
	build   map[string]bool        // packages that -json says were not built
	crash   ledger.FailureKind     // panic or timeout of the package in hand; "" = none
	running bool                   // inside of the list of running tests after a timeout
	blamed  bool                   // the crash has its test
	section string                 // goBuild or goVet below a header "# package"
	verbose bool                   // single passed tests are shown
	units   int                    // packages that passed
	shown   bool                   // tests are shown as they begin, so that each of them is counted
	passed  int                    // tests that are shown
	failed  int
	skipped int
}

type goFailure struct {
	name string
	kind ledger.FailureKind
}

var (
	goFail     = regexp.MustCompile(`--- FAIL: ((?:Test|Fuzz|Example|Benchmark)\S*)(?: \(|$)`)
	goSum      = regexp.MustCompile(`^=== FAIL: (\S+) ((?:Test|Fuzz|Example|Benchmark)\S*) \(`) // gotestsum
	goPackage  = regexp.MustCompile(`FAIL\t(\S+)(?:\t\d+\.\d+s\b| \[(build|setup) failed\]|$)`)
	goRunning  = regexp.MustCompile(`^\t\t((?:Test|Fuzz|Example|Benchmark)\S*) \(`)
	goFrame    = regexp.MustCompile(`\.((?:Test|Fuzz|Benchmark|Example)\w*)(?:\.func[\w.]*)?(?:\(| in goroutine)`)
	goMessage  = regexp.MustCompile(`^(?:vet: )?(\S+\.(?:go|s|c|h|cc|cpp|mod)):\d+(?::\d+)?: (.+)$`)
	goProgress = regexp.MustCompile(`^go: (?:downloading|finding|found|extracting|warning|added|upgraded|downgraded|removed|creating|to add|trying)\b`)
)

func (g *goReader) read(line string) bool {
	if strings.HasPrefix(line, "{") && strings.Contains(line, `"Action":"`) && g.event(line) {
		return true
	}
	if g.section != "" {
		if m := goMessage.FindStringSubmatch(line); m != nil {
			kind := ledger.FailureBuild
			if g.section == goVet {
				kind = ledger.FailureLine
			}
			g.c.add(g.section, strings.TrimPrefix(m[1], "./"), stableMessage(m[2]), kind)
			return true
		}
		if !strings.HasPrefix(line, "#") && indent(line) == 0 {
			g.section = ""
		}
	}
	switch {
	case strings.HasPrefix(line, "# ["):
		g.section = goVet
		return true
	case strings.HasPrefix(line, "# ") && strings.ContainsAny(line, "./"):
		g.section = goBuild
		return false // another runner's comment may look like this
	case strings.HasPrefix(line, "go: "):
		if !goProgress.MatchString(line) {
			g.c.add(goBuild, "", stableMessage(line[4:]), ledger.FailureBuild)
		}
		return true
	case strings.HasPrefix(line, "=== FAIL: "):
		if m := goSum.FindStringSubmatch(line); m != nil {
			g.fail("", m[2], ledger.FailureAssertion)
		}
		return true
	case strings.HasPrefix(line, "panic: test timed out after "):
		g.crash, g.running, g.blamed = ledger.FailureTimeout, true, false
		return true
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
		if g.crash == "" {
			g.crash, g.blamed = ledger.FailurePanic, false
			if open := g.tests[""]; len(open) > 0 {
				open[len(open)-1].kind, g.blamed = ledger.FailurePanic, true
			}
		}
		return g.crash != ""
	}
	if g.crash != "" && !g.blamed || g.running {
		g.blame(line)
	}
	if strings.Contains(line, "--- ") {
		if m := goFail.FindStringSubmatch(line); m != nil {
			g.fail("", m[1], ledger.FailureAssertion)
			g.failed++
			return true
		}
		switch line := strings.TrimLeft(line, " "); {
		case strings.HasPrefix(line, "--- PASS: "):
			g.verbose = true
			g.passed++
			g.c.pass(1)
			return true
		case strings.HasPrefix(line, "--- SKIP: "):
			g.skipped++
			g.c.skip(1)
			return true
		}
	}
	if strings.Contains(line, "FAIL\t") {
		if m := goPackage.FindStringSubmatch(line); m != nil {
			g.endPackage(m[1], m[2] != "", "")
			return true
		}
	}
	if strings.HasPrefix(line, "ok  \t") {
		g.units++
		g.c.runners[goTest] = true
		return true
	}
	run := strings.HasPrefix(line, "=== RUN ")
	g.shown = g.shown || run
	return run
}

// blame finds the test that a crash happened in.
func (g *goReader) blame(line string) {
	if g.running {
		if m := goRunning.FindStringSubmatch(line); m != nil {
			g.fail("", m[1], ledger.FailureTimeout)
			g.blamed = true
		} else if line == "" {
			g.running = false
		}
		return
	}
	if g.crash == ledger.FailurePanic {
		if m := goFrame.FindStringSubmatch(line); m != nil {
			g.fail("", m[1], ledger.FailurePanic)
			g.blamed = true
		}
	}
}

func (g *goReader) fail(pkg, name string, kind ledger.FailureKind) {
	if g.tests == nil {
		g.tests = map[string][]goFailure{}
	}
	if len(g.tests[pkg]) <= MaxFailures {
		g.tests[pkg] = append(g.tests[pkg], goFailure{name, kind})
	}
}

// endPackage reports a package that failed, with the tests that are waiting for
// its name: the innermost ones, because a parent fails with its subtests.
func (g *goReader) endPackage(pkg string, unbuilt bool, key string) {
	tests := g.tests[key]
	delete(g.tests, key)
	crash := g.crash
	g.crash, g.running, g.blamed, g.section = "", false, false, ""
	if unbuilt {
		g.c.add(goTest, pkg, "(build)", ledger.FailureBuild)
	}
	parent := map[string]bool{}
	for _, t := range tests {
		for n := range len(t.name) {
			if t.name[n] == '/' {
				parent[t.name[:n]] = true
			}
		}
	}
	for _, t := range tests {
		if !parent[t.name] {
			g.c.add(goTest, pkg, t.name, t.kind)
		}
	}
	switch {
	case unbuilt || len(tests) > 0:
	case crash != "":
		g.c.add(goTest, pkg, "(package)", crash)
	default: // a TestMain, an exit, a race outside of a test
		g.c.add(goTest, pkg, "(package)", ledger.FailureError)
	}
}

// event reads a line of -json (go doc test2json).
func (g *goReader) event(line string) bool {
	var e struct{ Action, Package, ImportPath, Test, Output, FailedBuild string }
	if json.Unmarshal([]byte(line), &e) != nil || e.Package == "" && e.ImportPath == "" {
		return false
	}
	switch e.Action {
	case "build-output":
		g.read(strings.TrimRight(e.Output, "\n"))
	case "build-fail":
		pkg, _, _ := strings.Cut(e.ImportPath, " ")
		g.c.add(goTest, pkg, "(build)", ledger.FailureBuild)
	case "pass":
		if e.Test != "" {
			g.verbose, g.shown = true, true
			g.passed++
			g.c.pass(1)
		}
	case "skip":
		if e.Test != "" {
			g.shown = true
			g.skipped++
			g.c.skip(1)
		}
	case "output":
		g.output(e.Package, e.Test, e.Output)
	case "fail":
		if e.Test != "" {
			g.fail(e.Package, e.Test, ledger.FailureAssertion)
			g.shown = true
			g.failed++
			return true
		}
		g.endPackage(e.Package, e.FailedBuild != "" || g.build[e.Package], e.Package)
	}
	return true
}

// output looks in a package's output for what -json has no field for.
func (g *goReader) output(pkg, test, text string) {
	switch {
	case strings.HasPrefix(text, "panic: test timed out after "):
		g.fail(pkg, orPackage(test), ledger.FailureTimeout)
	case strings.HasPrefix(text, "panic: "), strings.HasPrefix(text, "fatal error: "):
		g.fail(pkg, orPackage(test), ledger.FailurePanic)
	case test == "" && (strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]")):
		if g.build == nil {
			g.build = map[string]bool{}
		}
		g.build[pkg] = true
	}
}

func orPackage(test string) string {
	if test == "" {
		return "(package)"
	}
	return test
}

func (g *goReader) end() {
	for key := range g.tests {
		g.endPackage(key, false, key) // the output ends in the middle of a package
	}
	if !g.verbose && g.units > 0 {
		g.c.pass(g.units)
	}
	if g.shown {
		g.c.countShown(goTest, g.passed, g.failed, g.skipped)
	}
}

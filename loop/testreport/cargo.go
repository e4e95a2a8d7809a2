package testreport

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const (
	cargo = "cargo test"
	rustc = "rustc"
)

// cargoReader reads cargo test, with and without -q, and the errors of rustc.
type cargoReader struct {
	c       *collector
	target  string
	failed  map[string]ledger.FailureKind // tests of the target
	test    string                        // whose output is shown
	panicks bool                          // the next line is the message of a panic
	list    bool                          // inside of the list "failures:"
	message string                        // of rustc, whose place is in the next line
	fresh   bool                          // the target is named, and its tests are still to come
	counts  []ledger.TestCount            // of each target
	begun   int                           // tests of the target that are to report; -1 = none
	doubt   bool                          // a report does not fit what was begun, so that nothing is counted
	died    bool                          // "test failed" was said and the end of a process may follow
}

var (
	cargoTarget = regexp.MustCompile(`^\s+(?:Running (?:unittests )?(\S+) \(|Doc-tests (\S+)$)`)
	cargoFailed = regexp.MustCompile(`^(?:test )?(\S.*?) (?:\.\.\.|---) FAILED$`)
	cargoOutput = regexp.MustCompile(`^---- (.+) stdout ----$`)
	cargoResult = regexp.MustCompile(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored(?:; (\d+) measured)?`)
	cargoBegin  = regexp.MustCompile(`^running (\d+) tests?$`)
	cargoBuild  = regexp.MustCompile("^error: could not compile `([^`]+)`(?: \\(([^)]*)\\))?")
	cargoSignal = regexp.MustCompile("^  process didn't exit successfully: .*\\((.*)\\)$")
	cargoTotal  = regexp.MustCompile(`^error: \d+ targets? failed:$`)
	cargoLine   = regexp.MustCompile(` \(line \d+\)$`)
	cargoMode   = regexp.MustCompile(` - should panic$`)
	rustError   = regexp.MustCompile(`^error(?:\[(E\d+)\])?: (.+)$`)
	rustPlace   = regexp.MustCompile(`^\s*--> (.+?):\d+:\d+$`)
	rustPanics  = regexp.MustCompile("^(?:called `|index out of bounds|attempt to |not implemented|not yet implemented|internal error: entered unreachable|explicit panic|already (?:mutably )?borrowed|range |slice index|byte index|divide by zero|removal index|capacity overflow)")
)

func (g *cargoReader) read(line string) bool {
	if g.message != "" {
		message := g.message
		g.message = ""
		file := ""
		if m := rustPlace.FindStringSubmatch(line); m != nil {
			file = m[1]
		}
		g.c.add(rustc, file, stableMessage(message), ledger.FailureBuild)
		if file != "" {
			return true
		}
	}
	if g.panicks {
		g.panicks = false
		if rustPanics.MatchString(line) {
			g.failed[g.test] = ledger.FailureError
		} else {
			g.failed[g.test] = ledger.FailureAssertion
		}
		return true
	}
	switch {
	case strings.HasPrefix(line, "error"):
		return g.fault(line)
	case strings.HasSuffix(line, " FAILED"):
		if m := cargoFailed.FindStringSubmatch(line); m != nil {
			g.fail(m[1])
			return true
		}
	case strings.HasPrefix(line, "---- "):
		if m := cargoOutput.FindStringSubmatch(line); m != nil {
			g.test = g.fail(m[1])
			return true
		}
	case strings.HasPrefix(line, "test result: "):
		if m := cargoResult.FindStringSubmatch(line); m != nil {
			g.result(m)
			return true
		}
	case strings.HasPrefix(line, "running ") && strings.HasSuffix(strings.TrimSuffix(line, "s"), " test"):
		g.flush()
		if m := cargoBegin.FindStringSubmatch(line); m != nil {
			g.begun, _ = strconv.Atoi(m[1])
		}
		if !g.fresh { // cargo test -q names no target
			g.target = ""
		}
		g.fresh = false
		return true
	case line == "failures:":
		g.test, g.list = "", true
		return true
	case g.list && strings.HasPrefix(line, "    ") && indent(line) == 4 && !strings.HasPrefix(line[4:], "at "):
		g.fail(line[4:])
		return true
	case strings.HasPrefix(line, " "):
		if m := matchIf(strings.Contains(line, "Running ") || strings.Contains(line, "Doc-tests "), cargoTarget, line); m != nil {
			g.flush()
			g.target, g.died, g.fresh = m[1], false, true
			if m[2] != "" {
				g.target = "doc " + m[2]
			}
			return true
		}
		if g.died {
			if m := cargoSignal.FindStringSubmatch(line); m != nil {
				g.c.add(cargo, g.target, "(process) "+m[1], ledger.FailurePanic)
				return true
			}
		}
	}
	if g.test == "" {
		return false
	}
	g.list = false
	switch {
	case strings.HasPrefix(line, "thread '") && strings.Contains(line, " panicked at "):
		g.panicks = true
	case strings.HasPrefix(line, "note: test did not panic"):
		g.failed[g.test] = ledger.FailureAssertion
	case strings.HasPrefix(line, "Couldn't compile the test"):
		g.failed[g.test] = ledger.FailureBuild
	}
	return true
}

// fail notes a failed test, and returns its stable name.
func (g *cargoReader) fail(name string) string {
	name = cargoMode.ReplaceAllString(cargoLine.ReplaceAllString(name, ""), "")
	if g.failed == nil {
		g.failed = map[string]ledger.FailureKind{}
	}
	if _, is := g.failed[name]; !is && len(g.failed) <= MaxFailures {
		g.failed[name] = ledger.FailureError
	}
	return name
}

// fault reads a line of cargo or rustc that begins with "error".
func (g *cargoReader) fault(line string) bool {
	if m := cargoBuild.FindStringSubmatch(line); m != nil {
		name := strings.TrimSpace(m[1] + " " + m[2])
		g.c.add(cargo, name, "(build)", ledger.FailureBuild)
		return true
	}
	if strings.HasPrefix(line, "error: test failed, to rerun") || strings.HasPrefix(line, "error: doctest failed, to rerun") || cargoTotal.MatchString(line) {
		g.died = true
		return true
	}
	m := rustError.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if g.test != "" && m[1] == "" {
		return true // printed by a test
	}
	if m[1] == "" && !strings.Contains(m[2], "`") {
		return false // perhaps another program's
	}
	g.message = strings.TrimSpace(m[1] + " " + m[2])
	return true
}

func (g *cargoReader) result(m []string) {
	g.c.runners[cargo] = true
	passed, _ := strconv.Atoi(m[1])
	failed, _ := strconv.Atoi(m[2])
	ignored, _ := strconv.Atoi(m[3])
	g.c.pass(passed)
	g.c.skip(ignored)
	measured, _ := strconv.Atoi(m[4])
	g.doubt = g.doubt || g.begun != passed+failed+ignored+measured
	g.begun = -1
	g.counts = append(g.counts, ledger.TestCount{Passed: passed, Failed: failed, Skipped: ignored})
	g.c.unnamed(cargo, failed, len(g.failed))
	g.flush()
}

func (g *cargoReader) flush() {
	for name, kind := range g.failed {
		g.c.add(cargo, g.target, name, kind)
	}
	g.failed, g.test, g.list, g.panicks = nil, "", false, false
}

func (g *cargoReader) end() {
	if g.message != "" {
		g.c.add(rustc, "", stableMessage(g.message), ledger.FailureBuild)
	}
	g.flush()
	if g.doubt {
		return
	}
	for _, n := range g.counts {
		g.c.countPart(cargo, n.Passed, n.Failed, n.Skipped)
	}
}

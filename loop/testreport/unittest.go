package testreport

import (
	"path"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const unittest = "unittest"

// unittestReader reads Python's unittest, and Django's tests, which print the
// same.
type unittestReader struct {
	c       *collector
	ruler   bool // the line before was a ruler of "="
	open    bool // inside of a failure's traceback
	f       unittestFailure
	module  string
	named   int
	ran     int
	counted bool
}

type unittestFailure struct {
	file, name string
	kind       ledger.FailureKind
}

var (
	unittestHead  = regexp.MustCompile(`^(FAIL|ERROR): (\S+) \(([\w.<>]+)\)(?: (.+))?$`)
	unittestFrame = regexp.MustCompile(`^  File "([^"]+)", line \d+`)
	unittestRan   = regexp.MustCompile(`^Ran (\d+) tests? in `)
	unittestCount = regexp.MustCompile(`(failures|errors|skipped|unexpected successes)=(\d+)`)
)

func (u *unittestReader) read(line string) bool {
	ruler := u.ruler
	u.ruler = len(line) >= 70 && line[0] == '=' && strings.Trim(line, "=") == ""
	if u.ruler {
		u.flush()
		return true
	}
	if ruler {
		if m := unittestHead.FindStringSubmatch(line); m != nil {
			u.begin(m)
			return true
		}
	}
	if m := matchIf(strings.HasPrefix(line, "Ran "), unittestRan, line); m != nil {
		u.flush()
		u.ran, _ = strconv.Atoi(m[1])
		u.counted = true
		return true
	}
	if u.counted && (strings.HasPrefix(line, "FAILED (") || strings.HasPrefix(line, "OK")) {
		u.count(line)
		return true
	}
	if !u.open {
		return false
	}
	if m := matchIf(strings.HasPrefix(line, "  File "), unittestFrame, line); m != nil && strings.TrimSuffix(path.Base(m[1]), ".py") == u.module {
		u.f.file = m[1]
	}
	return true
}

func (u *unittestReader) begin(m []string) {
	kind := ledger.FailureAssertion
	if m[1] == "ERROR" {
		kind = ledger.FailureError
	}
	parts := strings.Split(strings.TrimSuffix(m[3], "."+m[2]), ".") // Python 3.11 repeats the method
	name := m[2]
	module := parts[0]
	if len(parts) > 1 {
		name = parts[len(parts)-1] + "." + m[2]
		module = strings.Join(parts[:len(parts)-1], ".")
	}
	if strings.HasSuffix(m[3], "_FailedTest."+m[2]) || strings.HasSuffix(m[3], "_FailedTest") {
		name, module, kind = "(file)", m[2], ledger.FailureBuild
	}
	if m[4] != "" {
		name += " " + m[4]
	}
	u.open, u.module, u.named = true, module[strings.LastIndexByte(module, '.')+1:], u.named+1
	u.f = unittestFailure{file: module, name: name, kind: kind}
}

func (u *unittestReader) flush() {
	if u.open {
		u.c.add(unittest, u.f.file, u.f.name, u.f.kind)
	}
	u.open = false
}

func (u *unittestReader) count(line string) {
	u.c.runners[unittest] = true
	failed, skipped := 0, 0
	for _, m := range unittestCount.FindAllStringSubmatch(line, -1) {
		k, err := strconv.Atoi(m[2])
		switch {
		case err != nil:
		case m[1] == "skipped":
			skipped = k
		default:
			failed += k
		}
	}
	u.c.skip(skipped)
	passed := max(u.ran-failed-skipped, 0) // too few where several subtests of one test failed
	u.c.pass(passed)
	u.c.count(unittest, passed, max(u.ran-skipped-passed, 0), skipped)
	u.c.unnamed(unittest, failed, u.named)
	u.counted, u.named = false, 0
}

func (u *unittestReader) end() { u.flush() }

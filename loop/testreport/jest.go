package testreport

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const jest = "jest"

// jestReader reads jest's blocks "● suite › test" below "FAIL file".
type jestReader struct {
	c     *collector
	file  string // "" outside of a failed file
	line  string // that named the file
	name  string // the failed test whose error follows
	named map[string]bool
}

var (
	jestFile  = regexp.MustCompile(`^ ?FAIL  ?([^ \t:|].*?)(?: \([\d.]+ m?s\))?$`) // with colours the label is wider
	jestCount = regexp.MustCompile(`(\d+) (failed|passed|skipped)`)
)

func (j *jestReader) read(line string) bool {
	switch {
	case strings.HasPrefix(line, "FAIL "), strings.HasPrefix(line, " FAIL "):
		if m := jestFile.FindStringSubmatch(line); m != nil && !strings.Contains(m[1], " > ") && !strings.HasSuffix(m[1], " ]") {
			j.flush(ledger.FailureError)
			j.file, j.line = m[1], line
		}
		return false
	case strings.HasPrefix(line, "PASS "), strings.HasPrefix(line, " PASS "), strings.HasPrefix(line, "Test Suites: "):
		j.flush(ledger.FailureError)
		j.file = ""
		return false
	case strings.HasPrefix(line, "Tests: ") && strings.HasSuffix(line, " total"):
		j.count(line)
		return true
	case strings.HasPrefix(line, "Jest: "): // a threshold of coverage
		j.c.add(jest, "", stableMessage(line[6:]), ledger.FailureError)
		return true
	case j.file == "":
		return false
	case strings.HasPrefix(line, "  ● "):
		j.flush(ledger.FailureError)
		switch name := line[len("  ● "):]; name {
		case "Console", "Cannot log after tests are done. Did you forget to wait for something async in your test?":
		default:
			j.name = name
		}
		return true
	}
	if j.name != "" && strings.TrimSpace(line) != "" {
		j.flush(jestKind(strings.TrimSpace(line)))
	}
	return indent(line) > 0
}

func jestKind(text string) ledger.FailureKind {
	switch {
	case isAssertion(text):
		return ledger.FailureAssertion
	case strings.Contains(text, "Exceeded timeout of "):
		return ledger.FailureTimeout
	}
	return ledger.FailureError
}

func (j *jestReader) flush(kind ledger.FailureKind) {
	if j.name == "" {
		return
	}
	j.c.explain(j.line)
	name := strings.ReplaceAll(j.name, " › ", " > ")
	j.name = ""
	if name == "Test suite failed to run" {
		j.c.add(jest, j.file, "(file)", ledger.FailureBuild)
		return
	}
	if j.named == nil {
		j.named = map[string]bool{}
	}
	if len(j.named) <= MaxFailures {
		j.named[j.file+"\x00"+name] = true
	}
	j.c.add(jest, j.file, name, kind)
}

func (j *jestReader) count(line string) {
	j.c.runners[jest] = true
	var passed, failed, skipped int
	for _, m := range jestCount.FindAllStringSubmatch(line, -1) {
		k, err := strconv.Atoi(m[1])
		switch {
		case err != nil:
		case m[2] == "passed":
			passed = k
			j.c.pass(k)
		case m[2] == "skipped":
			skipped = k
			j.c.skip(k)
		case m[2] == "failed":
			failed = k
			j.c.unnamed(jest, k, len(j.named))
			j.named = nil // workspaces: the next jest counts anew
		}
	}
	j.c.count(jest, passed, failed, skipped)
}

func (j *jestReader) end() { j.flush(ledger.FailureError) }

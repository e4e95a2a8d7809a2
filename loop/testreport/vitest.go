package testreport

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const vitest = "vitest"

// vitestReader reads vitest's blocks " FAIL  file > suite > test".
type vitestReader struct {
	c     *collector
	open  []vitestName // failures whose error follows: several may share one
	named int
	late  bool // after "Unhandled Errors"
}

type vitestName struct{ file, name string }

var (
	vitestFail  = regexp.MustCompile(`^ ?FAIL  (\S.*)$`)
	vitestWhole = regexp.MustCompile(`^(\S.*?) \[ .* \]$`)
	vitestCount = regexp.MustCompile(`^ +Tests  +(.*) \(\d+\)$`)
	vitestRuler = regexp.MustCompile(`^⎯+ (Unhandled Errors|Failed Suites|Failed Tests)`)
)

func (v *vitestReader) read(line string) bool {
	if strings.Contains(line, "FAIL  ") {
		if m := vitestFail.FindStringSubmatch(line); m != nil {
			return v.fail(m[1])
		}
	}
	if strings.HasPrefix(line, "⎯") {
		if m := vitestRuler.FindStringSubmatch(line); m != nil {
			v.late = m[1] == "Unhandled Errors"
		}
		return true
	}
	if m := matchIf(strings.HasPrefix(line, " ") && strings.Contains(line, " Tests "), vitestCount, line); m != nil {
		v.count(m[1])
		return true
	}
	if len(v.open) > 0 && line != "" {
		v.flush(vitestKind(line))
		return true
	}
	if v.late && errorLine.MatchString(line) {
		v.c.add(vitest, "", "(unhandled) "+stableMessage(line), ledger.FailureError)
		return true
	}
	return false
}

func (v *vitestReader) fail(text string) bool {
	if m := vitestWhole.FindStringSubmatch(text); m != nil {
		v.open = append(v.open, vitestName{m[1], ""})
		return true
	}
	file, name, ok := strings.Cut(text, " > ")
	if !ok {
		return false
	}
	v.named++
	v.open = append(v.open, vitestName{file, name})
	return true
}

func vitestKind(text string) ledger.FailureKind {
	switch {
	case isAssertion(text), strings.HasPrefix(text, "Error: Snapshot "):
		return ledger.FailureAssertion
	case strings.HasPrefix(text, "Error: Test timed out"), strings.HasPrefix(text, "Error: Hook timed out"):
		return ledger.FailureTimeout
	}
	return ledger.FailureError
}

func (v *vitestReader) flush(kind ledger.FailureKind) {
	for _, f := range v.open {
		if f.name == "" {
			v.c.add(vitest, f.file, "(file)", ledger.FailureBuild)
		} else {
			v.c.add(vitest, f.file, f.name, kind)
		}
	}
	v.open = v.open[:0]
}

func (v *vitestReader) count(text string) {
	v.c.runners[vitest] = true
	v.late = false
	var passed, failed, skipped int
	for _, m := range jestCount.FindAllStringSubmatch(text, -1) {
		k, err := strconv.Atoi(m[1])
		switch {
		case err != nil:
		case m[2] == "passed":
			passed = k
			v.c.pass(k)
		case m[2] == "skipped":
			skipped = k
			v.c.skip(k)
		case m[2] == "failed":
			failed = k
			v.c.unnamed(vitest, k, v.named)
			v.named = 0
		}
	}
	v.c.count(vitest, passed, failed, skipped)
}

func (v *vitestReader) end() { v.flush(ledger.FailureError) }

package testreport

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const mocha = "mocha"

// mochaReader reads the list of failures at the end of mocha's output.
type mochaReader struct {
	c     *collector
	count int      // failures that the list says it has; 0 outside of a list
	named int      // failures of the list so far
	title []string // of the failure in hand, suite by suite
	whole bool     // the title is complete
	kind  ledger.FailureKind
	file  string
}

var (
	mochaFailing = regexp.MustCompile(`^ +(\d+) failing$`)
	mochaPassing = regexp.MustCompile(`^ +(\d+) (passing|pending)(?: \(.*\))?$`)
	mochaEntry   = regexp.MustCompile(`^ +\d+\) (.+)$`)
	mochaIn      = regexp.MustCompile(`\(([^()\s]+\.[cm]?[jt]sx?)\)$`)
	mochaFrame   = regexp.MustCompile(`^ +at (?:.*\()?([^()\s]+\.[cm]?[jt]sx?):\d+:\d+\)?$`)
)

func (m *mochaReader) read(line string) bool {
	head := strings.HasPrefix(line, " ")
	if f := matchIf(head && strings.HasSuffix(line, " failing"), mochaFailing, line); f != nil {
		m.finish()
		m.count, _ = strconv.Atoi(f[1])
		m.named = 0
		m.c.runners[mocha] = true
		m.more(ledger.TestCount{Failed: m.count})
		return true
	}
	if f := matchIf(head && (strings.Contains(line, " passing") || strings.Contains(line, " pending")), mochaPassing, line); f != nil {
		m.finish()
		k, err := strconv.Atoi(f[1])
		switch {
		case err != nil:
		case f[2] == "passing":
			m.c.pass(k)
			m.c.count(mocha, k, 0, 0)
		default:
			m.c.skip(k)
			m.more(ledger.TestCount{Skipped: k})
		}
		return true
	}
	if strings.HasPrefix(line, " Exception during run: ") {
		m.c.add(mocha, "", stableMessage(line[len(" Exception during run: "):]), ledger.FailureBuild)
		return true
	}
	if m.count == 0 {
		return false
	}
	if f := mochaEntry.FindStringSubmatch(line); f != nil && m.named < m.count {
		m.flush()
		m.named++
		m.title, m.whole, m.kind, m.file = []string{strings.TrimSuffix(f[1], ":")}, strings.HasSuffix(f[1], ":"), "", ""
		return true
	}
	m.within(line)
	return true
}

// more adds to the report that the number of passing tests began.
func (m *mochaReader) more(n ledger.TestCount) {
	if m.c.counts[mocha] != nil {
		m.c.countPart(mocha, 0, n.Failed, n.Skipped)
	}
}

func (m *mochaReader) within(line string) {
	text := strings.TrimSpace(line)
	switch {
	case m.title == nil || text == "":
	case !m.whole:
		m.title, m.whole = append(m.title, strings.TrimSuffix(text, ":")), strings.HasSuffix(text, ":")
		m.whole = m.whole || len(m.title) > 50
	case m.kind == "":
		switch {
		case isAssertion(text):
			m.kind = ledger.FailureAssertion
		case strings.HasPrefix(text, "Error: Timeout of "):
			m.kind = ledger.FailureTimeout
			if f := mochaIn.FindStringSubmatch(text); f != nil {
				m.file = f[1]
			}
		default:
			m.kind = ledger.FailureError
		}
	case m.file == "":
		if f := mochaFrame.FindStringSubmatch(line); f != nil && !strings.HasPrefix(f[1], "node:") && !strings.Contains(f[1], "node_modules") {
			m.file = f[1]
		}
	}
}

func (m *mochaReader) flush() {
	if m.title == nil {
		return
	}
	if m.kind == "" {
		m.kind = ledger.FailureError
	}
	m.c.add(mocha, m.file, strings.Join(m.title, " > "), m.kind)
	m.title = nil
}

// finish ends a list.
func (m *mochaReader) finish() {
	m.flush()
	if m.count > 0 {
		m.c.unnamed(mocha, m.count, m.named)
	}
	m.count = 0
}

func (m *mochaReader) end() { m.finish() }

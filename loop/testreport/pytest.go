package testreport

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const pytest = "pytest"

// pytestReader reads pytest's short summary. How a test failed is taken from its
// traceback, because the summary cuts its lines. Without a summary (-rN) the
// tracebacks' headers name the tests.
type pytestReader struct {
	c       *collector
	section string
	head    string            // header of the traceback in hand
	kinds   map[string]headed // by header
	order   []string          // headers
	named   int
	verbose map[string]bool // tests that -v shows as failed
	summary bool
}

// headed is what a traceback tells of its test.
type headed struct {
	file string
	kind ledger.FailureKind
	fix  bool // an error of a fixture or of the collection
}

var (
	pytestSection = regexp.MustCompile(`^=+ (.+?) =+$`)
	pytestHead    = regexp.MustCompile(`^_{2,} (.+?) _{2,}$`)
	pytestWhere   = regexp.MustCompile(`^(\S+\.py):\d+: (\w+)$`)
	pytestResult  = regexp.MustCompile(`^(\S+\.py::.+?) (?:FAILED|ERROR)(?: +\[ *\d+%\])?$`)
	pytestCount   = regexp.MustCompile(`(\d+) (failed|passed|skipped|errors?)\b`)
	pytestTotal   = regexp.MustCompile(`^(?:=+ )?(?:\d+ \w+, )*\d+ \w+(?: in |,).*\bin [\d.]+s\b.*$|^(?:=+ )?\d+ \w+ in [\d.]+s\b.*$`)
)

func (p *pytestReader) read(line string) bool {
	if strings.HasPrefix(line, "=") || strings.Contains(line, " in ") && pytestTotal.MatchString(line) {
		if m := pytestSection.FindStringSubmatch(line); m != nil || !strings.HasPrefix(line, "=") {
			p.begin(line, m)
			return true
		}
	}
	switch {
	case strings.HasPrefix(line, "FAILED "), strings.HasPrefix(line, "ERROR "):
		if p.item(line) {
			return true
		}
	case strings.HasPrefix(line, "ImportError while loading conftest "):
		p.c.add(pytest, "conftest.py", "(file)", ledger.FailureBuild)
		return true
	case strings.HasPrefix(line, "INTERNALERROR> "):
		if text := line[len("INTERNALERROR> "):]; errorLine.MatchString(text) {
			p.c.add(pytest, "", "INTERNALERROR "+stableMessage(text), ledger.FailurePanic)
		}
		return true
	case strings.HasSuffix(line, "%]"), strings.HasSuffix(line, " FAILED"), strings.HasSuffix(line, " ERROR"):
		if m := pytestResult.FindStringSubmatch(line); m != nil && len(p.verbose) <= MaxFailures {
			if p.verbose == nil {
				p.verbose = map[string]bool{}
			}
			p.verbose[m[1]] = true
			return true
		}
	}
	if p.section != "FAILURES" && p.section != "ERRORS" {
		return false
	}
	p.traceback(line)
	return true
}

// begin starts a section, or reads the counts of the last line.
func (p *pytestReader) begin(line string, m []string) {
	if m != nil {
		switch m[1] {
		case "FAILURES", "ERRORS", "short test summary info", "warnings summary", "PASSES", "test session starts":
			p.section, p.head = m[1], ""
			return
		}
	}
	if !pytestTotal.MatchString(line) {
		return
	}
	p.section = ""
	var passed, failed, skipped, errors int
	for _, m := range pytestCount.FindAllStringSubmatch(line, -1) {
		k, err := strconv.Atoi(m[1])
		switch {
		case err != nil:
		case m[2] == "passed":
			passed = k
			p.c.pass(k)
		case m[2] == "skipped":
			skipped = k
			p.c.skip(k)
		case m[2] == "failed":
			failed = k
		default: // of the collection or of a fixture, beside the result of a test
			errors = k
		}
	}
	p.c.runners[pytest] = true
	p.c.count(pytest, passed, failed, skipped)
	p.finish(failed + errors)
}

// item reads "FAILED path::test - message" of the summary.
func (p *pytestReader) item(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	id, message := cutMessage(rest)
	file, name, test := strings.Cut(id, "::")
	if !strings.HasSuffix(file, ".py") && !(p.section == "short test summary info" && word == "ERROR" && strings.ContainsAny(file, "./")) {
		return false
	}
	p.named++
	p.summary = true
	if !test {
		p.c.add(pytest, file, "(file)", ledger.FailureBuild)
		return true
	}
	kind := ledger.FailureError
	if h, is := p.kinds[headerOf(name)]; is && word == "FAILED" {
		kind = h.kind
	} else if word == "FAILED" && pytestAsserts(message) {
		kind = ledger.FailureAssertion
	}
	p.c.add(pytest, file, name, kind)
	return true
}

// cutMessage cuts " - message" off a test's id, whose parameters may hold " - "
// as well.
func cutMessage(s string) (id, message string) {
	if n := strings.IndexByte(s, '['); n >= 0 && (!strings.Contains(s, " - ") || n < strings.Index(s, " - ")) {
		if k := strings.Index(s[n:], "] - "); k >= 0 {
			return s[:n+k+1], s[n+k+4:]
		}
		if strings.HasSuffix(s, "]") {
			return s, ""
		}
	}
	id, message, _ = strings.Cut(s, " - ")
	return id, message
}

// pytestAsserts reads the message of a summary, which may be cut to "Asser...".
func pytestAsserts(message string) bool {
	message = strings.TrimSuffix(message, "...")
	for _, begin := range []string{"assert ", "AssertionError", "Failed: "} {
		if message != "" && (strings.HasPrefix(message, begin) || strings.HasPrefix(begin, message)) {
			return true
		}
	}
	return false
}

// headerOf is the header of a test's traceback.
func headerOf(name string) string {
	head, params, found := strings.Cut(name, "[")
	head = strings.ReplaceAll(head, "::", ".")
	if found {
		return head + "[" + params
	}
	return head
}

func (p *pytestReader) traceback(line string) {
	if strings.HasPrefix(line, "__") {
		if m := pytestHead.FindStringSubmatch(line); m != nil && len(p.kinds) <= MaxFailures {
			p.head = m[1]
			if _, is := p.kinds[p.head]; !is {
				p.kinds[p.head] = headed{kind: ledger.FailureError, fix: strings.HasPrefix(p.head, "ERROR ")}
				p.order = append(p.order, p.head)
			}
			return
		}
	}
	if p.head == "" {
		return
	}
	h := p.kinds[p.head]
	switch {
	case strings.HasPrefix(line, "E  "):
		if text := strings.TrimSpace(line[1:]); pytestAsserts(text) && len(text) >= len("assert ") {
			h.kind = ledger.FailureAssertion
		}
	default:
		m := matchIf(strings.Contains(line, ".py:"), pytestWhere, line)
		if m == nil {
			return
		}
		if h.file == "" {
			h.file = m[1]
		}
		if m[2] == "AssertionError" || m[2] == "Failed" {
			h.kind = ledger.FailureAssertion
		} else {
			h.kind = ledger.FailureError // of the innermost frame
		}
	}
	p.kinds[p.head] = h
}

// finish reports what the summary left out, at the end of one pytest.
func (p *pytestReader) finish(failed int) {
	if !p.summary {
		for _, head := range p.order {
			p.named++
			p.headless(head, p.kinds[head])
		}
		if len(p.order) == 0 {
			for id := range p.verbose {
				file, name, _ := strings.Cut(id, "::")
				p.named++
				p.c.add(pytest, file, name, ledger.FailureError)
			}
		}
	}
	p.c.unnamed(pytest, failed, p.named)
	*p = pytestReader{c: p.c, kinds: map[string]headed{}}
}

func (p *pytestReader) headless(head string, h headed) {
	if file, is := strings.CutPrefix(head, "ERROR collecting "); is {
		p.c.add(pytest, file, "(file)", ledger.FailureBuild)
		return
	}
	if h.fix {
		for _, begin := range []string{"ERROR at setup of ", "ERROR at teardown of "} {
			head = strings.TrimPrefix(head, begin)
		}
	}
	name, params, found := strings.Cut(head, "[")
	name = strings.ReplaceAll(name, ".", "::")
	if found {
		name += "[" + params
	}
	p.c.add(pytest, h.file, name, h.kind)
}

func (p *pytestReader) end() { p.finish(0) }

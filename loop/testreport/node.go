package testreport

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const nodeTest = "node test"

// nodeReader reads the reporters spec and dot of node:test. The tree shows a
// test's path, and the list of failing tests at the end its file: the two are
// joined by the order of tests with the same name.
type nodeReader struct {
	c       *collector
	open    []tapLevel
	leaves  []nodeLeaf
	listed  []nodeLeaf
	list    bool // inside of the list of failing tests
	dot     bool // it is the one of the reporter dot, which names no files
	at      bool // the next mark is one of the list
	load    bool
	file    string // of the next test in the list
	last    *nodeLeaf
	marks   []string // lines with a mark
	counted bool     // the counts of the end were there, so this is node:test
	files   int      // files since the last counts that passed as a whole
	report  *ledger.TestCount
}

type nodeLeaf struct {
	name, path, file string
	kind             ledger.FailureKind
	parent, used     bool
}

var (
	nodeMark  = regexp.MustCompile(`^(\s*)([✖▶⚠]) (.+?)(?: \([\d.]+ms\))?( # .*)?$`)
	nodeCount = regexp.MustCompile(`^ℹ (tests|pass|fail|cancelled|skipped) (\d+)$`)
	nodeFile  = regexp.MustCompile(`^✔ (.+?)(?: \([\d.]+ms\))?$`)
	nodeAt    = regexp.MustCompile(`^test at (.+):\d+:\d+$`)
)

func (n *nodeReader) read(line string) bool {
	switch {
	case strings.HasPrefix(line, "✖ failing tests:"), line == "Failed tests:":
		n.list, n.counted, n.last, n.dot, n.at = true, true, nil, line == "Failed tests:", false
		return true
	case strings.HasPrefix(line, "ℹ "):
		m := nodeCount.FindStringSubmatch(line)
		if m == nil {
			return false
		}
		n.counted, n.list = true, false
		k, err := strconv.Atoi(m[2])
		if err == nil {
			n.count(m[1], k)
		}
		return true
	case n.list && strings.HasPrefix(line, "test at "):
		if m := nodeAt.FindStringSubmatch(line); m != nil {
			n.file, n.last, n.at = m[1], nil, true
			return true
		}
	}
	mark := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(mark, "✖ ") && !strings.HasPrefix(mark, "▶ ") && !strings.HasPrefix(mark, "⚠ ") {
		return n.other(line)
	}
	if m := nodeMark.FindStringSubmatch(line); m != nil {
		if m[1] == "" && len(n.marks) <= MaxFailures {
			n.marks = append(n.marks, line)
		}
		return n.mark(len(m[1]), m[2], m[3], m[4])
	}
	return n.other(line)
}

// count reads one of the counts at the end. A file that ends without a test is
// reported as a test that passed: it counts as none.
func (n *nodeReader) count(what string, k int) {
	switch {
	case what == "pass":
		n.c.pass(k)
		n.c.runners[nodeTest] = true
		n.endReport()
		n.report, n.files = &ledger.TestCount{Passed: max(k-n.files, 0)}, 0
	case what == "skipped":
		n.c.skip(k)
		if n.report != nil {
			n.report.Skipped = k
		}
	case what == "fail" && n.report != nil:
		n.report.Failed = k
	}
}

func (n *nodeReader) endReport() {
	if r := n.report; r != nil {
		n.c.count(nodeTest, r.Passed, r.Failed, r.Skipped)
	}
}

// other reads a line without a mark of failure.
func (n *nodeReader) other(line string) bool {
	if strings.HasPrefix(line, "✔ ") {
		if m := nodeFile.FindStringSubmatch(line); m != nil && isScript(m[1]) {
			n.files++
		}
		n.list = false
		n.load = false
		n.last = nil
		return false
	}
	n.load = n.load || cannotLoad(line)
	if n.last != nil && line != "" {
		n.because(strings.TrimSpace(line))
		n.last = nil
	}
	return n.list && indent(line) > 0
}

func (n *nodeReader) mark(depth int, mark, name, directive string) bool {
	n.last = nil
	if mark == "▶" || !n.dot && !n.at {
		n.list = false // the tree of the next node --test
	}
	n.at = false
	if !n.list {
		for len(n.open) > 0 && n.open[len(n.open)-1].indent > depth {
			n.open = n.open[:len(n.open)-1]
		}
	}
	top := len(n.open) - 1
	if top >= 0 && n.open[top].indent == depth && !n.list {
		same := n.open[top].name == name
		n.open = n.open[:top]
		if same {
			return false // the end of a suite
		}
	}
	switch {
	case mark == "▶":
		if !n.list {
			n.open = append(n.open, tapLevel{depth, name})
		}
		return false
	case mark == "⚠", strings.Contains(directive, "TODO"), strings.Contains(directive, "SKIP"), len(n.leaves) > MaxFailures, len(n.listed) > MaxFailures:
		return false
	}
	leaf := nodeLeaf{name: name, path: name, kind: ledger.FailureError}
	if n.list {
		leaf.file = n.file
		n.file = ""
		n.listed = append(n.listed, leaf)
		n.last = &n.listed[len(n.listed)-1]
		return true
	}
	for k := len(n.open) - 1; k >= 0; k-- {
		leaf.path = n.open[k].name + " > " + leaf.path
	}
	if n.load && isScript(name) {
		leaf.kind = ledger.FailureBuild
	}
	n.load = false
	n.leaves = append(n.leaves, leaf)
	n.last = &n.leaves[len(n.leaves)-1]
	return false
}

// because reads the first line of a failed test's error.
func (n *nodeReader) because(text string) {
	switch {
	case n.last.kind == ledger.FailureBuild:
	case isAssertion(text):
		n.last.kind = ledger.FailureAssertion
	case strings.HasPrefix(text, "'test timed out after"):
		n.last.kind = ledger.FailureTimeout
	case strings.HasSuffix(text, "subtest failed'"), strings.HasSuffix(text, "subtests failed'"):
		n.last.parent = true
	}
}

func (n *nodeReader) end() {
	n.endReport()
	if !n.counted {
		return // another program's marks; the format "tool" reads them
	}
	for _, line := range n.marks {
		n.c.explain(line)
	}
	byName := map[string][]*nodeLeaf{}
	for k := range n.leaves {
		l := &n.leaves[k]
		byName[l.name] = append(byName[l.name], l)
	}
	for _, f := range n.listed {
		same := byName[f.name]
		if len(same) == 0 {
			n.fails(f)
			continue
		}
		l := same[0]
		byName[f.name] = same[1:]
		l.used, l.file = true, f.file
		if gravity(f.kind) > gravity(l.kind) || l.kind == ledger.FailureError {
			l.kind = f.kind
		}
		l.parent = l.parent || f.parent
		n.fails(*l)
	}
	for _, l := range n.leaves {
		if !l.used {
			n.fails(l)
		}
	}
}

func (n *nodeReader) fails(l nodeLeaf) {
	if l.parent {
		return
	}
	if isScript(l.name) && (l.file == "" || strings.HasSuffix(l.name, l.file) || strings.HasSuffix(l.file, l.name)) {
		l.file, l.path = l.name, "(file)"
	}
	n.c.add(nodeTest, l.file, l.path, l.kind)
}

package testreport

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// MaxFailures is the number of failures that a Report holds. The ones beyond
// it make the report truncated.
const MaxFailures = 50_000

// Report says what a command's output shows.
type Report struct {
	Runners   []string           // formats that the output has, sorted
	Failed    []ledger.Failure   // each once, sorted
	Passed    int                // -1 = unknown
	Skipped   int                // -1 = unknown
	Ran       []ledger.TestCount // tests by runner, sorted; a runner whose tests are not counted is missing
	Exit      int
	Build     bool // one of Failed is of kind build
	Truncated bool // the output was cut, or had more than MaxFailures
}

// Ended is how the command ended, and where it ran.
type Ended struct {
	Exit    int
	Stopped string   // why it was ended from outside: "wall", "stall"; "" if it ended by itself
	Dirs    []string // absolute paths of its folders, which Parse removes from names
}

// Parse reads the output of a red command. A command that prints nothing
// readable has one failure all the same, so the result is never empty.
func Parse(output string, end Ended) Report {
	clean := newCleaner(end.Dirs)
	c := collect(output, clean)
	if end.Stopped != "" {
		c.add("", "", "(ended from outside: "+end.Stopped+")", ledger.FailureTimeout)
	}
	if !c.named() {
		rest := &lastResort{seen: map[string]bool{}}
		for text := range clean.lines(output) {
			rest.read(text)
		}
		rest.report(c)
	}
	return c.report(end.Exit)
}

// Count reads the output of a command, green or red, and returns how many tests
// ran in it, by runner (doc.go).
func Count(output string) []ledger.TestCount {
	return collect(output, newCleaner(nil)).report(0).Ran
}

// collect reads an output in all formats.
func collect(output string, clean cleaner) *collector {
	c := &collector{failed: map[identity]ledger.FailureKind{}, runners: map[string]bool{}, passed: -1, skipped: -1, counts: map[string]*ledger.TestCount{}}
	readers := make([]reader, len(formats))
	for n, f := range formats {
		readers[n] = f.open(c)
	}
	for text := range clean.lines(output) {
		claimed := false
		for n, r := range readers {
			claimed = !(claimed && formats[n].weak) && r.read(text) || claimed
		}
		c.truncated = c.truncated || strings.HasPrefix(text, cutMark)
	}
	for _, r := range readers {
		r.end()
	}
	return c
}

// named reports whether a runner names a failure.
func (c *collector) named() bool {
	for f := range c.failed {
		if f.runner != "" {
			return true
		}
	}
	return false
}

// cutMark begins the line that package agent writes where output is missing.
const cutMark = "[nightporter: "

// identity is what makes two failures the same.
type identity struct{ runner, file, name string }

func identify(f ledger.Failure) identity { return identity{f.Runner, f.File, f.Name} }

// collector gathers what the formats find.
type collector struct {
	failed          map[identity]ledger.FailureKind
	runners         map[string]bool
	passed, skipped int
	truncated       bool
	counts          map[string]*ledger.TestCount // by runner
	explained       map[string]bool              // lines that a format reads into a named failure later on
}

// add records a failure. Of two kinds for one failure the graver one stays.
func (c *collector) add(runner, file, name string, kind ledger.FailureKind) {
	f := identity{runner, strings.TrimPrefix(stableName(file), "./"), stableName(name)}
	if f.name == "" {
		return
	}
	if runner != "" {
		c.runners[runner] = true
	}
	have, is := c.failed[f]
	if !is && len(c.failed) >= MaxFailures {
		c.truncated = true
		return
	}
	if !is || gravity(kind) > gravity(have) {
		c.failed[f] = kind
	}
}

// unnamed adds the failures that a runner counts and does not name, so that a
// new one among them is not overlooked.
func (c *collector) unnamed(runner string, counted, named int) {
	for n := named; n < min(counted, named+1000); n++ {
		c.add(runner, "", fmt.Sprintf("(unnamed failure %d)", n-named+1), ledger.FailureError)
	}
}

// explain keeps the format "tool" from reporting a line as well.
func (c *collector) explain(line string) {
	if c.explained == nil {
		c.explained = map[string]bool{}
	}
	if len(c.explained) < MaxFailures {
		c.explained[line] = true
	}
}

func (c *collector) pass(n int) { c.passed = max(c.passed, 0) + n }
func (c *collector) skip(n int) { c.skipped = max(c.skipped, 0) + n }

// count adds one report of a runner to its tests.
func (c *collector) count(runner string, passed, failed, skipped int) {
	if n := c.counts[runner]; n != nil {
		n.Reports, n.Last = max(n.Reports, 1)+1, passed
	}
	c.countPart(runner, passed, failed, skipped)
}

// countPart adds tests to a runner that reports in parts by its nature.
func (c *collector) countPart(runner string, passed, failed, skipped int) {
	n := c.counts[runner]
	if n == nil {
		n = &ledger.TestCount{Runner: runner}
		c.counts[runner] = n
	}
	n.Passed, n.Failed, n.Skipped = n.Passed+passed, n.Failed+failed, n.Skipped+skipped
}

// countShown adds tests that were counted by the lines that show them. They are
// unknown where lines are missing.
func (c *collector) countShown(runner string, passed, failed, skipped int) {
	if !c.truncated && passed+failed+skipped > 0 {
		c.count(runner, passed, failed, skipped)
	}
}

// gravity orders kinds by how much else they can hide.
func gravity(k ledger.FailureKind) int {
	return slices.Index([]ledger.FailureKind{
		ledger.FailureLine, ledger.FailureAssertion, ledger.FailureError, ledger.FailureTimeout, ledger.FailureBuild, ledger.FailurePanic,
	}, k)
}

func (c *collector) report(exit int) Report {
	r := Report{Passed: c.passed, Skipped: c.skipped, Exit: exit, Truncated: c.truncated}
	for runner := range c.runners {
		r.Runners = append(r.Runners, runner)
	}
	slices.Sort(r.Runners)
	for f, kind := range c.failed {
		r.Failed = append(r.Failed, ledger.Failure{Runner: f.runner, File: f.file, Name: f.name, Kind: kind})
		r.Build = r.Build || kind == ledger.FailureBuild
	}
	slices.SortFunc(r.Failed, inOrder)
	for _, n := range c.counts {
		r.Ran = append(r.Ran, *n)
	}
	slices.SortFunc(r.Ran, func(a, b ledger.TestCount) int { return cmp.Compare(a.Runner, b.Runner) })
	return r
}

// inOrder puts failures that a runner names before plain lines.
func inOrder(a, b ledger.Failure) int {
	return cmp.Or(plain(a)-plain(b), cmp.Compare(a.File, b.File), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Runner, b.Runner))
}

func plain(f ledger.Failure) int {
	if f.Runner == "" {
		return 1
	}
	return 0
}

// Summary returns the report as the ledger keeps it: at most limit failures,
// with the number of the others and a hash over them.
func (r Report) Summary(limit int) ledger.Failures {
	kept := r.Failed[:min(max(limit, 0), len(r.Failed))]
	s := ledger.Failures{
		Runners: slices.Clone(r.Runners), Failed: slices.Clone(kept), More: len(r.Failed) - len(kept),
		Passed: r.Passed, Skipped: r.Skipped, Exit: r.Exit, Build: r.Build, Truncated: r.Truncated,
	}
	if s.More == 0 {
		return s
	}
	h := sha256.New()
	for _, f := range r.Failed[len(kept):] {
		fmt.Fprintf(h, "%q %q %q\n", f.Runner, f.File, f.Name)
	}
	s.Rest = hex.EncodeToString(h.Sum(nil)[:16])
	return s
}

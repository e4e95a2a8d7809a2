package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
)

// event is one line of go test -json (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// summary prints the events of a go test and counts them.
type summary struct {
	w        io.Writer
	packages map[string]*pkg
	tests    int                 // that passed or failed, subtests included
	tested   map[string]bool     // packages with tests
	skips    map[string][]string // tests by reason
	broken   []string            // failed packages
	failed   bool
}

// pkg gathers the output of a package until it is known whether it failed.
type pkg struct {
	output []string         // of no test
	tests  map[string]*test // subtests included
	order  []string
}

type test struct {
	output []string
	over   bool   // its verdict is printed
	action string // how it ended, "" while it runs
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, packages: map[string]*pkg{}, skips: map[string][]string{}, tested: map[string]bool{}}
}

// read takes the events of a go test to their end.
func (s *summary) read(r io.Reader) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				s.print(line) // of go itself
			} else {
				s.take(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) print(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(s.w, line) // standard output: there is nowhere to say that it is gone
	}
}

func (s *summary) take(e event) {
	if e.Action == "build-output" {
		s.print(e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &pkg{tests: map[string]*test{}}
		s.packages[e.Package] = p
	}
	if e.Test == "" {
		switch e.Action {
		case "output":
			p.output = append(p.output, e.Output)
		case "pass", "skip", "fail":
			s.end(e.Package, p, e.Action)
			delete(s.packages, e.Package) // another group may have it, too
		}
		return
	}
	t := p.tests[e.Test]
	if t == nil {
		t = &test{}
		p.tests[e.Test] = t
		p.order = append(p.order, e.Test)
	}
	switch e.Action {
	case "output":
		// The stacks of a test binary that dies follow the verdict of a test that
		// has nothing to do with them.
		if t.over && !isProgress(e.Output) {
			p.output = append(p.output, e.Output)
			return
		}
		t.over = t.over || isVerdict(e.Output)
		t.output = append(t.output, e.Output)
	case "pass", "fail", "skip":
		t.action = e.Action
	}
}

// end prints a package: its closing line, and all that is to be known of a
// failure before it.
func (s *summary) end(name string, p *pkg, action string) {
	if len(p.tests) > 0 {
		s.tested[name] = true
	}
	for _, name := range p.order {
		switch t := p.tests[name]; t.action {
		case "skip":
			why := reason(t.output)
			s.skips[why] = append(s.skips[why], name)
		default:
			s.tests++
		}
	}
	if action == "fail" {
		s.failed = true
		s.broken = append(s.broken, name)
		// A parent's line first, as go test has it.
		for _, name := range p.order {
			if t := p.tests[name]; t.action != "pass" && t.action != "skip" {
				s.print(slices.DeleteFunc(t.output, isProgress)...)
			}
		}
		s.print(p.output...)
		return
	}
	for _, line := range p.output {
		if strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") || strings.HasPrefix(line, "\t") {
			s.print(line)
		}
	}
}

// isProgress reports whether a line only says which test is at work.
func isProgress(line string) bool {
	for _, begin := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

// isVerdict reports whether a line says that a test passed or was skipped. What
// follows a failure is printed with it.
func isVerdict(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, "--- PASS: ") || strings.HasPrefix(line, "--- SKIP: ")
}

var position = regexp.MustCompile(`^\s*[\w.]+\.go:\d+: `)

// reason returns what a skipped test said last.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		if at := position.FindString(line); at != "" {
			return strings.TrimPrefix(strings.TrimSpace(line[len(at):]), "SKIPPED: ")
		}
	}
	return "no reason given"
}

// line says how it went: time, counts, and what was skipped, and why.
func (s *summary) line(took time.Duration) string {
	how := "passed"
	if s.failed {
		how = "FAILED"
	}
	text := fmt.Sprintf("tests %s in %v: %d tests in %d packages", how, took.Round(time.Second), s.tests, len(s.tested))
	if len(s.broken) > 0 {
		text += "; failed: " + strings.Join(s.broken, ", ")
	}
	var reasons []string
	n := 0
	for why, names := range s.skips {
		n += len(names)
		reasons = append(reasons, some(names)+" ("+why+")")
	}
	slices.Sort(reasons)
	if n == 0 {
		return text + "; none skipped"
	}
	return fmt.Sprintf("%s; %d skipped: %s", text, n, strings.Join(reasons, ", "))
}

// some names the first two.
func some(names []string) string {
	slices.Sort(names)
	if len(names) > 2 {
		return fmt.Sprintf("%s, %s and %d more", names[0], names[1], len(names)-2)
	}
	return strings.Join(names, ", ")
}

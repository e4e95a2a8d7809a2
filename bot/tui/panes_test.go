package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/loop/ledger"
)

// askPanes carries out the requests that the screen has begun, and returns them.
func (s *testScreen) askPanes() []string {
	var out []string
	s.asked = nil
	for _, p := range s.panes {
		if p.busy {
			s.askForPane(paneLookMsg{p.kind, p.gen})
		}
	}
	for _, q := range s.asked {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", q.Kind, q.Task, q.Seen)))
	}
	return out
}

// TestPanesAsked: a screen asks for the panes that it has room for, of the task that
// is chosen, and for no others.
func TestPanesAsked(t *testing.T) {
	n := newTestNight().advanceTo("#7 builder")
	s := newTestScreen(t, 80, 24).show(n.scene(), n.Now)
	want := func(when string, all ...string) {
		t.Helper()
		if got := s.askPanes(); !slices.Equal(got, all) {
			t.Errorf("%s: asks %q, want %q", when, got, all)
		}
	}
	want("80 × 24")
	s.take(tea.WindowSizeMsg{Width: 200, Height: 35})
	want("too low")
	s.take(tea.WindowSizeMsg{Width: 120, Height: 36})
	want("two columns", "output", "plan")
	s.pressKeys("v")
	want("the other detail", "output", "diff")
	s.take(tea.WindowSizeMsg{Width: 160, Height: 36})
	want("three columns", "output", "plan", "diff")
	s.fill(nightPanes(n))
	want("once they are there", "output  output 12", "plan  plan 8", "diff  diff 12")
	s.pressKeys("down", "down")
	want("of a chosen task", "output 8", "plan 8", "diff 8")
	if !slices.Contains(s.looks, "left output") {
		t.Errorf("the requests before are not cancelled: %q", s.looks)
	}
	s.take(sceneMsg{gen: s.lookGen, err: fmt.Errorf("%w: refused", ErrOffline)})
	want("away")
	s.show(n.scene(), n.Now)
	want("back", "output 8", "plan 8", "diff 8")

	// What is asked for again after an error, and results of earlier requests.
	p := s.pane(PaneOutput)
	before := p.pane.Title
	if cmd := s.applyPane(paneMsg{kind: PaneOutput, gen: p.gen - 1, pane: Pane{Title: "late"}}); cmd != nil || p.pane.Title != before {
		t.Error("a late result counts")
	}
	if cmd := s.applyPane(paneMsg{kind: PaneOutput, gen: p.gen, err: errors.New("no view pane")}); cmd == nil || !strings.Contains(s.frame(), "○ no view pane") {
		t.Errorf("no error is shown, or it is not tried again:\n%s", s.frame())
	}
	if cmd := s.applyPane(paneMsg{kind: PaneOutput, gen: p.gen, err: fmt.Errorf("%w: refused", ErrOffline)}); cmd == nil || !p.busy {
		t.Error("a lost request is not made again")
	}
	s.applyPane(paneMsg{kind: PaneOutput, gen: p.gen, pane: Pane{Version: "8", Title: "#8"}})
	s.applyPane(paneMsg{kind: PaneOutput, gen: p.gen, pane: Pane{Version: "8", Same: true}})
	if p.pane.Title != "#8" {
		t.Errorf("an answer without news changes %+v", p.pane)
	}
}

// TestPanesScroll: the output follows until somebody reads on in it, stays where it is
// then, whatever comes, and follows again at its end. Other panes stay where they are.
func TestPanesScroll(t *testing.T) {
	n := newTestNight().advanceTo("#7 builder")
	s := newTestScreen(t, 160, 40).show(n.scene(), n.Now)
	numbered := func(upTo int) Pane {
		p := Pane{Title: "#7 builder"}
		for n := range upTo {
			p.Add(LineText, fmt.Sprintf("line %d.", n+1))
		}
		return p
	}
	give := func(kind PaneKind, p Pane) {
		p.Version = fmt.Sprint(len(p.Lines))
		s.applyPane(paneMsg{kind: kind, gen: s.pane(kind).gen, pane: p})
	}
	shows := func(when string, yes string, no ...string) {
		t.Helper()
		f := s.frame()
		for _, part := range no {
			if strings.Contains(f, part) {
				t.Errorf("%s: %q in\n%s", when, part, f)
			}
		}
		wantLines(t, f, yes)
	}
	give(PaneOutput, numbered(100))
	shows("follows", "line 100.", "line 1.")
	give(PaneOutput, numbered(200))
	shows("follows on", "line 200.", "line 100.")
	s.pressKeys("<")
	shows("at the top", "line 1.", "line 200.")
	wantLines(t, s.frame(), "of 200 · held, End goes on")
	give(PaneOutput, numbered(300))
	shows("held", "line 1.", "line 300.")
	s.pressKeys("pgdown", "J", "K")
	shows("a page on", "line 31.", "line 1.", "line 300.")
	s.pressKeys(">")
	shows("follows again", "line 300.", "held")
	s.pressKeys("K")
	give(PaneOutput, numbered(400))
	shows("one line up", "line 299.", "line 300.", "line 400.")
	s.pressKeys("J")
	shows("and down", "line 400.", "held")

	give(PanePlan, numbered(90))
	s.pressKeys("w", "G")
	shows("the plan's end", "line 90.")
	wantLines(t, s.frame(), "› plan #7 builder", "of 90 ─")
	give(PanePlan, numbered(91))
	shows("it stays", "line 90.", "line 91.")
	s.pressKeys("v") // the diff comes first, and has the keys
	wantLines(t, s.frame(), "› diff")
	s.pressKeys("w", "w")
	wantLines(t, s.frame(), "› output")
	s.take(tea.WindowSizeMsg{Width: 80, Height: 24}).pressKeys("v", "w", "G")
	if strings.Contains(s.frame(), "output") {
		t.Error(s.frame())
	}
}

// TestPaneLimits: a pane says how much it leaves out, and a long output has its end.
func TestPaneLimits(t *testing.T) {
	var all []PaneLine
	for n := range 5000 {
		all = append(all, PaneLine{LineAdded, fmt.Sprintf("+ line %d", n+1)})
	}
	var p Pane
	p.AddAll(all)
	if len(p.Lines) != maxPaneLines || p.Note != "3000 lines left out here" {
		t.Errorf("%d lines, %q", len(p.Lines), p.Note)
	}
	p = Pane{}
	p.AddAll(slices.Repeat([]PaneLine{{LineText, strings.Repeat("漢\n", 10_000)}}, 1000))
	if p.bytes > maxPaneBytes+4*maxPaneLine || len(p.Lines) == 1000 {
		t.Errorf("%d bytes", p.bytes)
	}
	p = Pane{}
	for _, l := range all {
		p.Add(l.Kind, l.Text)
	}
	if p.KeepLast(); len(p.Lines) != MaxOutputLines || p.Lines[MaxOutputLines-1].Text != "+ line 5000" {
		t.Errorf("%d lines", len(p.Lines))
	}
}

// TestPlanOf: the plan of a task is whole, without what is redacted, and followed by
// what the list says of it.
func TestPlanOf(t *testing.T) {
	n := newTestNight().advanceTo("#7 builder")
	task, _ := n.State.Project.Find("Task 7")
	task.Plan = []byte(`{"summary":"` + strings.Repeat("word ", 400) + `the end","steps":["Use hunter2","Stop"]}`)
	task.Task.Body, task.Task.Scope, task.Task.DependsOn, task.Task.Acceptance = "    - Move it\n\n      - all of it\n", "order/**", []string{"Task 6"}, []string{"it moved"}
	redact := func(text string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") }
	var got []string
	for _, l := range PlanOf(n.State, task, redact).Lines {
		got = append(got, strings.TrimSpace(string(l.Kind)+" "+strings.TrimPrefix(l.Text, strings.Repeat("word ", 400))))
	}
	want := []string{"the end", "1 Use [secret]", "2 Stop", "head the task as it is written", "- Move it", "", "- all of it", "place scope order/**", "place needs #6", "place accepted when it moved"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	task.Plan, task.Task = nil, ledger.Task{ID: "Task 7", Title: "Bare"}
	if task.Attempt != nil {
		task.Attempt = nil
	}
	if p := PlanOf(n.State, task, redact); p.Title != "#7 Bare" || p.Note != "no plan yet, and the list says no more of it" {
		t.Errorf("%+v", p)
	}
}

package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
)

var berlin = time.FixedZone("CET", 3600)

// evening is the start of the scripted night: Thu 19 Nov 2026, 23:10:02.
var evening = time.Date(2026, 11, 19, 23, 10, 2, 0, berlin)

// testNight is the night of project shop, up to the point that a test examines.
type testNight struct {
	*scenario.Night
	keys int
}

func newTestNight() *testNight {
	n := &testNight{Night: scenario.New("shop", evening)}
	n.Cost = 0.27
	n.Acts["Task 4 planner"] = []scenario.Act{{Type: "question.asked", Data: `{"text":"May an address be a PO box? The carriers differ.","options":["Yes, letters only","No"],"choice":"No"}`, Took: time.Minute, Cost: 0.1}}
	blocked := scenario.Act{Type: "task.blocked", Data: `{"reason":"The plan says \"refund the order\" and \"refund the line\"; can't tell which.","tried":"by line: TestRefundOrder fails","needs":"which of them"}`, Took: time.Minute, Cost: 0.3}
	n.Acts["Task 8 planner"] = []scenario.Act{blocked, blocked}
	set := n.Settings()
	set.OnBlocked = ledger.OnBlockedContinue
	titles := []string{"Extract price rules", "Sum the basket", "Price list", "Address form", "Carriers", "Delivery dates", "Move orders to the new API", "Refund flow", "Order emails", "Retry payments", "Admin order list", "Pay page"}
	var tasks []ledger.Task
	for i, title := range titles {
		switch i + 1 {
		case 10:
			tasks = append(tasks, scenario.Task(10, title, "Task 8"))
		case 12:
			tasks = append(tasks, scenario.Task(12, title, "Task 6", "Task 7"))
		default:
			tasks = append(tasks, scenario.Task(i+1, title))
		}
	}
	n.Start(set, n.Base("r1"), tasks...)
	return n
}

func (n *testNight) give(body loop.InputBody) {
	n.keys++
	if a := n.Do(loop.Input{Key: fmt.Sprintf("k%d", n.keys), Actor: "console", Name: "Mira", Body: body}); !a.OK {
		panic(a.Text)
	}
}

// advanceTo continues until the work in progress is as given, such as "#7
// builder".
func (n *testNight) advanceTo(doing string) *testNight {
	n.Until(func() bool { return bot.Doing(n.State) == doing })
	if got := bot.Doing(n.State); got != doing {
		panic("in hand is " + got)
	}
	return n
}

func (n *testNight) scene() Scene {
	s := SceneOf(n.State, n.Now)
	s.Version, s.Projects, s.Offset = "1", []string{"shop"}, 3600
	s.Events = Lines(bot.Log("shop", "", n.Records(""), n.Now))
	var seen report.Sessions
	for _, r := range n.Records("") {
		e, err := r.Entry()
		if err != nil {
			panic(err)
		}
		seen.Apply(e)
	}
	for _, x := range seen.In(n.State) {
		s.Add(x.Hat, x.Start, x.End)
	}
	return s
}

// testScreen is a model with a record of its requests.
type testScreen struct {
	model
	t     *testing.T
	sends []sent
	asked []PaneRequest
	looks []string // arguments of Look: project, seen, patient
	left  bool     // the screen asked to end
}

func newTestScreen(t *testing.T, width, height int) *testScreen {
	s := &testScreen{t: t}
	n := 0
	s.model = model{
		opt:        Options{Now: func() time.Time { return s.model.now }, Key: func() string { n++; return fmt.Sprintf("key%d", n) }},
		cancelLook: func() { s.looks = append(s.looks, "left") },
		now:        evening,
		panes:      newPanes(), detail: PanePlan, focus: PaneOutput,
		cancelPane: func(kind PaneKind) { s.looks = append(s.looks, "left "+string(kind)) },
	}
	s.requestPane = func(q PaneRequest, gen int) tea.Cmd {
		s.asked = append(s.asked, q)
		return nil
	}
	s.requestScene = func(project, seen string, patient bool, gen int) tea.Cmd {
		s.looks = append(s.looks, fmt.Sprintf("%s %q %v %d", project, seen, patient, gen))
		return nil
	}
	s.send = func(x sent) tea.Cmd {
		s.sends = append(s.sends, x)
		return nil
	}
	s.take(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

func (s *testScreen) take(msg tea.Msg) *testScreen {
	next, cmd := s.Update(msg)
	s.model = next.(model)
	if x, is := msg.(sceneMsg); cmd == nil || is && x.err == nil {
		return s // no message, or the timer of the next Look
	}
	if _, quit := cmd().(tea.QuitMsg); quit {
		s.left = true
	}
	return s
}

func (s *testScreen) show(c Scene, now time.Time) *testScreen {
	s.now = now
	return s.take(sceneMsg{gen: s.lookGen, scene: c})
}

// fill gives the panes that were asked for their contents.
func (s *testScreen) fill(all map[PaneKind]Pane) *testScreen {
	for kind, content := range all {
		p := s.model.pane(kind)
		if p.busy {
			content.Version = fmt.Sprintf("%s %d", kind, len(content.Lines))
			next, _ := s.Update(paneMsg{kind: kind, gen: p.gen, pane: content})
			s.model = next.(model)
		}
	}
	return s
}

// nightPanes returns the panes of a night at work.
func nightPanes(n *testNight) map[PaneKind]Pane {
	var output, plan, diff Pane
	output.Title = "#7 builder"
	output.Add(LineHead, SessionHead(n.Now.Add(-time.Minute), "Task 7", "planner", n.Now))
	output.Add(LineText, "The old code has three callers. I plan an adapter first, so that each of them can move on its own, and the old module goes last.")
	output.Add(LineAction, "hat emit plan.complete   Accepted plan.complete: r1-27 plan.complete")
	output.Add(LineHead, SessionHead(n.Now, "Task 7", "builder", n.Now))
	output.Add(LineText, "I'll look at the old code first.")
	output.Add(LineAction, "Read legacy/orders.go")
	output.Add(LineAction, "Edit order/adapter.go")
	output.Add(LineAction, "go test ./order/...   ✗ failed: exit 1  --- FAIL: TestTotal: want 1200, got 1000")
	output.Add(LineText, "The rounding is the adapter's:\n- cents are cut\n- the old code rounded half up")
	output.Add(LineAction, "go test ./order/...   ok shop/order 1.9s")
	for _, t := range n.State.Project.Tasks.All() {
		if t.Task.ID == "Task 7" {
			task := *t
			task.Plan = []byte(`{"summary":"An adapter around the old orders, then the callers one by one.","steps":["Add order/adapter.go with the new interface","Move the three callers","Remove legacy/orders.go"]}`)
			task.Task.Body, task.Task.Scope = "- Move orders to the new API.\n- The old names stay until all callers are moved.", "order/** legacy/**"
			plan = PlanOf(n.State, task, strings.TrimSpace)
		}
	}
	diff.Title = "#7, attempt 1 so far"
	diff.AddAll([]PaneLine{
		{LinePlace, "2 files +3 −2"}, {LineHead, "order/adapter.go  +2 −1"}, {LinePlace, "@ line 12  func total(o Order) int"},
		{LineText, "  for _, l := range o.Lines {"}, {LineRemoved, "-     sum += l.Price"}, {LineAdded, "+     sum += l.Price * l.Count"}, {LineAdded, "+     sum -= l.Rebate"}, {LineText, "  }"},
		{LineHead, "order/adapter_test.go  test +1 −1"}, {LinePlace, "@ line 40"}, {LineRemoved, "- want := 1000"}, {LineAdded, "+ want := 1200 // half cents are rounded up, as the old orders did; see the price list in docs/prices.md"},
	})
	return map[PaneKind]Pane{PaneOutput: output, PanePlan: plan, PaneDiff: diff}
}

// pressKeys presses keys: names of special keys, or single characters.
func (s *testScreen) pressKeys(keys ...string) *testScreen {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace, "left": tea.KeyLeft, "home": tea.KeyHome, "pgdown": tea.KeyPgDown}
	for _, k := range keys {
		switch code, ok := special[k]; {
		case ok:
			s.take(tea.KeyPressMsg{Code: code})
		case k == "ctrl+c":
			s.take(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
		default:
			for _, r := range k {
				s.take(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
	}
	return s
}

func (s *testScreen) answer(text string, ok bool) *testScreen {
	s.t.Helper()
	if s.sent == nil {
		s.t.Fatal("nothing is on its way")
	}
	return s.take(answerMsg{sent: *s.sent, answer: Answer{OK: ok, Text: text}})
}

// frame returns the screen. It fails the test if a line is wider than the
// screen, or if there are too many.
func (s *testScreen) frame() string {
	s.t.Helper()
	text := s.draw()
	lines := strings.Split(text, "\n")
	if len(lines) > s.height {
		s.t.Errorf("%d lines on a screen of %d:\n%s", len(lines), s.height, text)
	}
	for _, line := range lines {
		if bot.Width(line) > s.width || !utf8.ValidString(line) {
			s.t.Errorf("%d columns on a screen of %d: %q", bot.Width(line), s.width, line)
		}
	}
	for n, line := range lines {
		lines[n] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

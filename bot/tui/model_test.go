package tui

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
)

func wantLines(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in\n%s", p, text)
		}
	}
}

func workingScreen(t *testing.T) *testScreen {
	n := newTestNight().advanceTo("#7 builder")
	return newTestScreen(t, 80, 24).show(n.scene(), n.Now)
}

// TestKeys checks the line that each key sends, and that only y ends a run.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		keys []string
		line string // "" = no line
		open bool
	}{
		{[]string{"p"}, "/pause", false},
		{[]string{"r"}, "/resume", false},
		{[]string{"s", "y"}, "/stop", false},
		{[]string{"s", "n"}, "", false},
		{[]string{"s", "esc"}, "", false},
		{[]string{"s", "s"}, "", false},
		{[]string{"l"}, "/log", true},
		{[]string{"d"}, "/diff", true},
		{[]string{"down", "l"}, "/log 7", true},
		{[]string{"down", "down", "d"}, "/diff 8", true},
		{[]string{"j", "k", "enter"}, "/task 6", true},
		{[]string{"down", "esc", "l"}, "/log", true},
		{[]string{"enter"}, "/task 7", true}, // the active task
		{[]string{"up", "up", "enter"}, "/task 6", true},
		{[]string{"a", "b"}, "q1 b", false},
		{[]string{"a", "c"}, "q1 skip", false},
		{[]string{"a", "z"}, "", false},
		{[]string{"a", "esc", "p"}, "/pause", false},
		{[]string{"g", "Keep it", "enter"}, "/guidance Keep it", false},
		{[]string{"g", "p s q", "enter"}, "/guidance p s q", false},
		{[]string{"g", "  ", "enter"}, "", false},
		{[]string{"g", "Keep", "esc"}, "", false},
		{[]string{"/", "queue", "enter"}, "/queue", false},
		{[]string{"g", "Q1 a", "enter"}, "Q1 a", false},
		{[]string{"g", "q9 a", "enter"}, "q9 a", false}, // the question does not exist; the daemon says so
		{[]string{"g", " g1 drop", "enter"}, "g1 drop", false},
		{[]string{"g", "shop: /stop", "enter"}, "shop: /stop", false},
		{[]string{"g", "stop q1 a", "enter"}, "/guidance stop q1 a", false},
		{[]string{"g", "ab", "backspace", "left", "x", "enter"}, "/guidance xa", false},
	} {
		s := workingScreen(t).pressKeys(c.keys...)
		got := ""
		if len(s.sends) > 0 {
			got = s.sends[0].Text
		}
		if got != c.line || len(s.sends) > 1 || got != "" && (s.sends[0].asPage != c.open || s.sends[0].Project != "shop" || s.sends[0].Key == "") {
			t.Errorf("%v: sends %+v, want %q", c.keys, s.sends, c.line)
		}
		if s.left {
			t.Errorf("%v: it ends", c.keys)
		}
	}
}

// TestKeysIdle: keys that need a run or a task report that there is none.
func TestKeysIdle(t *testing.T) {
	n := newTestNight().advanceTo("#11 builder")
	n.Until(nil)
	for keys, note := range map[string]string{"s": "○ no run is under way", "enter": "○ no task is chosen; ↓ ↑ choose one"} {
		s := newTestScreen(t, 80, 24).show(n.scene(), n.Now).pressKeys(keys)
		wantLines(t, s.frame(), note)
		if len(s.sends) > 0 || s.mode != modeCommand {
			t.Errorf("%s: sends %+v", keys, s.sends)
		}
	}
	s := newTestScreen(t, 80, 24).show(n.scene(), n.Now).pressKeys("down", "enter")
	if len(s.sends) != 1 || s.sends[0].Text != "/task 1" || !s.sends[0].asPage {
		t.Errorf("%+v", s.sends)
	}
}

// TestTimeline: sessions appear at their time within the run so far, in half
// blocks. The shortest stays visible, and an active one grows until the daemon
// stops responding.
func TestTimeline(t *testing.T) {
	at := func(min int) time.Time { return evening.Add(time.Duration(min) * time.Minute) }
	run := func(add func(c *Scene)) *testScreen {
		c := Scene{Project: "shop", Run: "r1", Sign: "●", Word: "at work", Began: evening}
		add(&c)
		return newTestScreen(t, 80, 24).show(c, at(10))
	}
	lines := func(s *testScreen, width, rows int) string { return strings.Join(s.renderLanes(width, rows), "|") }
	s := run(func(c *Scene) {
		c.Add("planner", at(0), at(1))
		c.Add("builder", at(1), at(5))
		c.Add("planner", at(5), at(5).Add(time.Second))
		c.Add("builder", at(6), time.Time{})
	})
	if got := lines(s, 29, 9); got != " planner ██        ▌| builder   ████████  ████████" {
		t.Errorf("%q", got)
	}
	s.now = at(20)
	s.take(tickMsg{})
	if got := lines(s, 29, 9); got != " planner █    ▌| builder  ████ ██████████████" {
		t.Errorf("%q", got)
	}
	s.take(sceneMsg{gen: s.lookGen, err: ErrOffline})
	s.now = at(40)
	grown := lines(s, 29, 9)
	s.now = at(20)
	if got := lines(s, 29, 9); got != grown {
		t.Errorf("it grows while nobody answers: %q, then %q", got, grown)
	}
	if got := lines(s, 29, 1); got != "   and 2 more" {
		t.Errorf("%q", got)
	}
	// Sessions outside of the run, and sessions without a length, are drawn
	// without error.
	s = run(func(c *Scene) {
		c.Add("", at(-90), at(-80))
		c.Add("", at(90), at(80))
		c.Add("", at(1), at(0))
	})
	if got := lines(s, 10, 9); bot.Width(got) > 10 || !strings.Contains(got, "▌") {
		t.Errorf("%q", got)
	}
	s.now = evening
	lines(s, 10, 9)
	// Thousands of sessions give few bars, with the same total length.
	s = run(func(c *Scene) {
		for n := range 6000 {
			c.Add("builder", evening.Add(time.Duration(n)*100*time.Millisecond), evening.Add(time.Duration(n)*100*time.Millisecond+90*time.Millisecond))
		}
	})
	if n := len(s.scene.Hats[0].Bars); n > 3*timelineParts {
		t.Errorf("%d bars", n)
	}
	if got := lines(s, 29, 9); got != " builder "+strings.Repeat("█", 20) {
		t.Errorf("%q", got)
	}
}

// TestRightColumn: with little room the hats disappear first, then finished
// tasks become one line. A high screen shows everything.
func TestRightColumn(t *testing.T) {
	n := newTestNight().advanceTo("#7 builder")
	c := n.scene()
	for height, has := range map[int][3]bool{12: {false, false, true}, 16: {true, false, true}, 24: {true, true, true}, 60: {true, true, true}} {
		text := newTestScreen(t, 80, height).show(c, n.Now).frame()
		if got := [3]bool{strings.Contains(text, "─ hats ─"), strings.Contains(text, "#1  Extract"), strings.Contains(text, "#7  Move")}; got != has {
			t.Errorf("%d lines: hats, #1, #7 %v, want %v:\n%s", height, got, has, text)
		}
	}
	if text := newTestScreen(t, 71, 24).show(c, n.Now).frame(); strings.Contains(text, "─ hats") || !strings.Contains(text, "─ tasks 5/12") {
		t.Error(text)
	}
}

// TestFrame: horizontal rules join the line between the columns.
func TestFrame(t *testing.T) {
	n := newTestNight().advanceTo("#7 builder")
	c := n.scene()
	c.Tasks = c.Tasks[:4] // as many as the lines of the left column's first two parts
	c.Guidance = []Item{{Sign: "○", ID: "g1", Text: "Keep it", Where: "queued"}}
	c.Questions = nil
	c.Current.Output = []string{"a line"}
	text := newTestScreen(t, 80, 24).show(c, n.Now).frame()
	wantLines(t, text, "─┬─ tasks", "─┼─ hats", "─┤", "─┴─")
}

// TestOutput: an agent's output is shown clean and gives way first when there
// is little room.
func TestOutput(t *testing.T) {
	n := newTestNight().advanceTo("#7 builder")
	c := n.scene()
	var printed []string
	for k := range 40 {
		printed = append(printed, fmt.Sprintf("\x1b[31mline %d\x1b[0m\u202e", k))
	}
	c.Current.SetOutput(append(printed, "\x1b[2K", " \t "), n.Now.Add(-time.Hour))
	if len(c.Current.Output) != MaxOutput || c.Current.Output[MaxOutput-1] != "line 39" || !c.Current.Event.Equal(n.State.Project.Run.LastEvent) {
		t.Errorf("%q at %v", c.Current.Output, c.Current.Event)
	}
	for height, lines := range map[int]int{12: 0, 24: 2, 40: 4, 80: 8} {
		text := newTestScreen(t, 80, height).show(c, n.Now).frame()
		if got := strings.Count(text, "  > line 3"); got != lines {
			t.Errorf("%d lines of output on %d, want %d:\n%s", got, height, lines, text)
		}
	}
}

// TestQuit: q leaves unless it is typed as a letter; ctrl+c always leaves.
func TestQuit(t *testing.T) {
	for keys, left := range map[string]bool{"q": true, "g q": false, "? q": false, "? q q": true, "a q": false, "ctrl+c": true, "g ctrl+c": true, "a ctrl+c": true} {
		if s := workingScreen(t).pressKeys(strings.Fields(keys)...); s.left != left || len(s.sends) > 0 {
			t.Errorf("%s: left %v, sent %v", keys, s.left, s.sends)
		}
	}
}

// TestRedraw: ctrl+l draws the screen anew, whatever is open, and changes nothing.
func TestRedraw(t *testing.T) {
	for _, keys := range []string{"", "g", "g Keep", "?", "a", "s"} {
		s := workingScreen(t).pressKeys(strings.Fields(keys)...)
		before := s.frame()
		next, cmd := s.Update(tea.KeyPressMsg{Code: 'l', Mod: tea.ModCtrl})
		if cmd == nil || cmd() != tea.ClearScreen() {
			t.Errorf("%s: the screen is not cleared", keys)
		}
		if s.model = next.(model); s.frame() != before {
			t.Errorf("%s: it now shows\n%s", keys, s.frame())
		}
	}
}

// TestAnswers: the response to a line is shown, and the words of a refused line
// return to the input line.
func TestAnswers(t *testing.T) {
	s := workingScreen(t).pressKeys("g", "@bulder Keep it", "enter").answer("✗ Not queued: no hat @bulder", false)
	wantLines(t, s.frame(), "✗ Not queued: no hat @bulder", "> @bulder Keep it_")
	s.pressKeys("enter").answer("○ g1 queued → next session\nfor #7", true)
	wantLines(t, s.frame(), "○ g1 queued", "for #7", "g guidance")

	s.pressKeys("l").answer("shop r1: 3 sessions\n"+strings.Repeat("a line\n", 50)+"the last", true)
	wantLines(t, s.frame(), "─ /log ─", "22 of 52")
	if strings.Contains(s.frame(), "the last") {
		t.Error("the end is in sight at the beginning")
	}
	s.pressKeys("pgdown", "pgdown", "pgdown", "down")
	wantLines(t, s.frame(), "the last", "52 of 52")
	s.take(tea.WindowSizeMsg{Width: 40, Height: 60})
	wantLines(t, s.frame(), "shop r1: 3 sessions", "the last", "all")
	s.pressKeys("q")
	wantLines(t, s.frame(), "g guidance")

	// A person who is typing is not interrupted.
	s.pressKeys("d", "g", "half a w").answer("shop r1: 1 file +1 −0\n@@\n+x\n+y\n+z", true)
	wantLines(t, s.frame(), "> half a w_", "shop r1: 1 file +1 −0")

	// Only one line at a time awaits a response.
	s = workingScreen(t).pressKeys("p", "g", "more", "enter")
	wantLines(t, s.frame(), "wait: /pause is on its way", "> more_")
	if len(s.sends) != 1 {
		t.Error(s.sends)
	}
	// A response to a line that is no longer awaited is ignored.
	s.take(answerMsg{sent: sent{Line: Line{Key: "other"}}, answer: Answer{OK: true, Text: "stray"}})
	if strings.Contains(s.frame(), "stray") {
		t.Error(s.frame())
	}
}

// TestRetry: a line without a response is sent once more, and then again by the
// person, each time with the same key.
func TestRetry(t *testing.T) {
	s := workingScreen(t).pressKeys("g", "Keep it", "enter")
	nobody := fmt.Errorf("%w: refused", ErrOffline)
	s.take(answerMsg{sent: *s.sent, err: nobody})
	wantLines(t, s.frame(), "↻ not answered, sent once more: /guidance Keep it")
	if len(s.sends) != 2 || s.sends[0].Key != s.sends[1].Key || s.sends[0].Line != s.sends[1].Line {
		t.Fatalf("%+v", s.sends)
	}
	s.take(answerMsg{sent: *s.sent, err: nobody})
	wantLines(t, s.frame(), "! unknown: nightporter did not answer", "> Keep it_")
	if len(s.sends) != 2 {
		t.Fatalf("sent by itself again: %+v", s.sends)
	}
	s.pressKeys("enter")
	if len(s.sends) != 3 || s.sends[2].Key != s.sends[0].Key {
		t.Errorf("another key for the same words: %+v", s.sends)
	}
	s.take(answerMsg{sent: *s.sent, err: nobody}).take(answerMsg{sent: *s.sent, err: nobody})
	s.pressKeys("x", "enter")
	if last := s.sends[len(s.sends)-1]; last.Text != "/guidance Keep itx" || last.Key == s.sends[0].Key {
		t.Errorf("the old key for other words: %+v", last)
	}
	// After an error response the line is not sent again.
	s = workingScreen(t).pressKeys("g", "Keep it", "enter")
	s.take(answerMsg{sent: *s.sent, err: errors.New("nightporter failed")})
	wantLines(t, s.frame(), "✗ nightporter failed", "> Keep it_")
	if len(s.sends) != 1 {
		t.Error(s.sends)
	}
}

// TestOffline: the screen shows at once, with the time, that the daemon does
// not respond, and keeps trying.
func TestOffline(t *testing.T) {
	s := workingScreen(t)
	s.looks = nil
	s.now = s.now.Add(time.Minute)
	since := s.now.In(berlin).Format(time.TimeOnly)
	s.take(sceneMsg{gen: s.lookGen, err: fmt.Errorf("%w: refused", ErrOffline)})
	wantLines(t, s.frame(), "! nightporter is away since "+since, "#7 Move orders")
	s.now = s.now.Add(time.Minute)
	s.take(sceneMsg{gen: s.lookGen, err: ErrOffline})
	wantLines(t, s.frame(), "away since "+since)
	if !slices.Equal(s.looks, []string{`shop "" true 0`, `shop "" true 0`}) {
		t.Errorf("looked %q", s.looks)
	}
	n := newTestNight().advanceTo("#8 planner")
	s.show(n.scene(), s.now)
	wantLines(t, s.frame(), "✓ nightporter is back, was away since "+since, "#8 Refund flow")
	if strings.Contains(s.frame(), "! nightporter") {
		t.Error(s.frame())
	}
	s.take(lookMsg{s.lookGen})
	if got := s.looks[len(s.looks)-1]; got != `shop "1" false 0` {
		t.Errorf("looked %q", got)
	}
	// Any other error ends the screen and is reported.
	if s.take(sceneMsg{gen: s.lookGen, err: errors.New("different versions")}); !s.left || s.err == nil {
		t.Error("it goes on")
	}
}

// TestOtherProject: switching the project cancels the current Look and ignores
// its result.
func TestOtherProject(t *testing.T) {
	s := workingScreen(t)
	s.scene.Projects = []string{"blog", "shop"}
	old := s.lookGen
	s.looks = nil
	s.pressKeys("tab")
	if !slices.Equal(s.looks, []string{"left", fmt.Sprintf(`blog "" false %d`, s.lookGen)}) {
		t.Errorf("looked %q", s.looks)
	}
	wantLines(t, s.frame(), "─ blog ", "looking at blog")
	n := newTestNight()
	s.take(sceneMsg{gen: old, scene: n.scene()}).take(sceneMsg{gen: old, err: errors.New("cancelled")})
	wantLines(t, s.frame(), "─ blog ")
	if s.left {
		t.Error("it ends")
	}
	s.pressKeys("p")
	if s.sends[0].Project != "blog" {
		t.Errorf("paused %q", s.sends[0].Project)
	}
}

// TestQuestions: an option that needs words asks for them, and a settled
// question is closed.
func TestQuestions(t *testing.T) {
	n := newTestNight().advanceTo("#9 builder")
	s := newTestScreen(t, 80, 24).show(n.scene(), n.Now).pressKeys("a", "tab")
	wantLines(t, s.frame(), "2 of 2", "■ shop #8 blocked", "Tried: by line", "a Retry  b Skip  c Guide  d Why  esc")
	s.pressKeys("c")
	wantLines(t, s.frame(), "> q2 guide _")
	s.pressKeys("By line", "enter")
	if s.sends[0].Text != "q2 guide By line" {
		t.Errorf("%+v", s.sends)
	}
	// Skipping the task raises another question, which the next letter must not
	// answer.
	s.answer("✓ #8 again", true).pressKeys("a", "tab")
	n.give(loop.AnswerQuestion{Question: "q2", Choice: "skip"})
	sends := len(s.sends)
	wantLines(t, s.show(n.scene(), n.Now).frame(), "○ q2 is settled", "g guidance", "? shop #8 skipped")
	if s.pressKeys("b"); len(s.sends) != sends {
		t.Errorf("sent %+v", s.sends)
	}
	n.give(loop.AnswerQuestion{Question: "q1", Choice: "a"})
	n.give(loop.AnswerQuestion{Question: "q3", Choice: "wait"})
	s.show(n.scene(), n.Now)
	if s.pressKeys("a"); s.mode != modeCommand {
		t.Error("there is nothing to answer")
	}
}

// TestAnswerToSettledQuestion: an answer typed while its question is settled
// stays an answer. The daemon says that it is too late, and no session receives
// it as guidance.
func TestAnswerToSettledQuestion(t *testing.T) {
	n := newTestNight().advanceTo("#9 builder")
	s := newTestScreen(t, 80, 24).show(n.scene(), n.Now).pressKeys("a", "tab", "c", "By ")
	n.give(loop.AnswerQuestion{Question: "q2", Choice: "retry"})
	s.show(n.scene(), n.Now).pressKeys("line", "enter")
	if s.sends[0].Text != "q2 guide By line" {
		t.Errorf("%+v", s.sends)
	}
	s.answer("✗ q2 is settled", false).pressKeys("enter")
	if last := s.sends[len(s.sends)-1]; last.Text != "q2 guide By line" {
		t.Errorf("%+v", last)
	}
	// The same, typed by hand after another question was shown.
	s = newTestScreen(t, 80, 24).show(n.scene(), n.Now).pressKeys("g", "q2 skip")
	wantLines(t, s.frame(), "─ answer ─", "> q2 skip_")
	s.pressKeys("enter").answer("✗ q2 is settled: retry, Mira", false)
	if len(s.sends) != 1 || s.sends[0].Text != "q2 skip" {
		t.Errorf("%+v", s.sends)
	}
	wantLines(t, s.frame(), "✗ q2 is settled: retry, Mira", "> q2 skip_")
}

// TestPaste: a pasted log is drawn without delay, with its end visible.
func TestPaste(t *testing.T) {
	s := workingScreen(t).pressKeys("g").take(tea.PasteMsg{Content: strings.Repeat("x", 70_000) + " the end"})
	wantLines(t, s.frame(), "x the end_")
}

// TestHostile: no text in a scene breaks the frame.
func TestHostile(t *testing.T) {
	bad := "\x1b[2J\x1b]0;x\x07<b>" + strings.Repeat("漢字é́́́́́́ ", 3000) + "\n\r\t\u202e"
	n := newTestNight()
	tasks := n.State.Project.Tasks.Slice()
	tasks[0].Task.Title, tasks[1].Task.ID = bad, bad
	n.State.Project.Tasks = loop.NewTaskList(tasks...)
	n.advanceTo("#3 planner")
	n.give(loop.Guide{Text: "x" + strings.ToValidUTF8(bad[:1200], "")})
	n.State.Project.Run.Source = bad
	c := n.scene()
	wild := Pane{Title: bot.Clean(bad)}
	for _, kind := range []LineKind{LineText, LineAction, LineAdded, LineRemoved, LineHead, LinePlace} {
		wild.Add(kind, bad+"\n"+strings.Repeat(" ", 300)+"- x\n12. "+strings.Repeat("é́́́́́́", 400))
	}
	for _, size := range [][2]int{{40, 12}, {41, 13}, {72, 12}, {80, 24}, {120, 36}, {160, 37}, {200, 60}, {1, 1}, {39, 12}, {500, 200}} {
		for _, keys := range [][]string{nil, {"v", "w", "G"}, {"<", "J"}, {"a"}, {"?"}, {"g", "wörter 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字"}, {"s"}, {"down"}} {
			s := newTestScreen(t, size[0], size[1]).show(c, n.Now).fill(map[PaneKind]Pane{PaneOutput: wild, PanePlan: wild, PaneDiff: wild})
			s.frame()
			s.pressKeys(keys...)
			if text := s.frame(); strings.ContainsAny(text, "\x1b\x07\r\t\u202e") {
				t.Errorf("%v %v: control characters:\n%q", size, keys, text)
			}
		}
	}
}

var colorCode = regexp.MustCompile(`\x1b\[[0-9]+m`)

// TestColor: colours change no text, and NO_COLOR disables them.
func TestColor(t *testing.T) {
	for _, s := range []*testScreen{workingScreen(t), largeScreen(t)} {
		checkColor(t, s)
	}
}

func largeScreen(t *testing.T) *testScreen {
	n := newTestNight().advanceTo("#7 builder")
	return newTestScreen(t, 200, 60).show(n.scene(), n.Now).fill(nightPanes(n))
}

func checkColor(t *testing.T, s *testScreen) {
	t.Helper()
	text := s.draw()
	s.opt.Color = true
	coloured := s.draw()
	if coloured == text || !strings.Contains(coloured, bot.ColorSign(bot.SignNow)) {
		t.Errorf("no colour:\n%q", coloured)
	}
	if coloured = colorCode.ReplaceAllString(coloured, ""); coloured != text {
		t.Errorf("colour changes the text:\n%s\n%s", coloured, text)
	}
}

// TestOtherProjectPanes: nothing of a project is shown below the name of another one.
func TestOtherProjectPanes(t *testing.T) {
	s := largeScreen(t)
	s.scene.Projects = []string{"shop", "till"}
	wantLines(t, s.frame(), "Read legacy/orders.go")
	s.pressKeys("tab")
	s.show(Scene{Project: "till", Projects: s.scene.Projects, Sign: "○", Word: "idle"}, s.now)
	if f := s.frame(); strings.Contains(f, "orders") || strings.Contains(f, "#7") {
		t.Error(f)
	}
	s.fill(map[PaneKind]Pane{PaneOutput: {Title: "#1 planner"}})
	wantLines(t, s.frame(), "output #1 planner")
}

// TestResizeWithoutSignal: a size that differs from the screen's is announced at
// the next tick, and the screen's own size is not, since a message redraws it.
func TestResizeWithoutSignal(t *testing.T) {
	s := newTestScreen(t, 80, 24)
	if s.checkSize() != nil {
		t.Error("without Size there is nothing to announce")
	}
	width, height := 80, 24
	s.opt.Size = func() (int, int) { return width, height }
	if s.checkSize() != nil {
		t.Error("the same size is announced")
	}
	width = 0
	if s.checkSize() != nil {
		t.Error("no size is announced")
	}
	width = 120
	cmd := s.checkSize()
	if cmd == nil {
		t.Fatal("another size is not announced")
	}
	if s.take(cmd()); s.width != 120 || s.height != 24 {
		t.Errorf("%d × %d", s.width, s.height)
	}
}

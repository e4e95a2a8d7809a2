package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
)

func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in\n%s", p, text)
		}
	}
}

func working(t *testing.T) *screen {
	n := newFixture().at("#7 builder")
	return newScreen(t, 80, 24).show(n.scene(), n.Now)
}

// TestKeys: what each key sends, and that only y stops.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		keys []string
		line string // "" = nothing is sent
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
		{[]string{"enter"}, "/task 7", true}, // that in hand
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
		{[]string{"g", "q9 a", "enter"}, "q9 a", false}, // never asked: nightporter says so
		{[]string{"g", " g1 drop", "enter"}, "g1 drop", false},
		{[]string{"g", "shop: /stop", "enter"}, "shop: /stop", false},
		{[]string{"g", "stop q1 a", "enter"}, "/guidance stop q1 a", false},
		{[]string{"g", "ab", "backspace", "left", "x", "enter"}, "/guidance xa", false},
	} {
		s := working(t).keysOf(c.keys...)
		got := ""
		if len(s.sends) > 0 {
			got = s.sends[0].Text
		}
		if got != c.line || len(s.sends) > 1 || got != "" && (s.sends[0].open != c.open || s.sends[0].Project != "shop" || s.sends[0].Key == "") {
			t.Errorf("%v: sends %+v, want %q", c.keys, s.sends, c.line)
		}
		if s.left {
			t.Errorf("%v: it ends", c.keys)
		}
	}
}

// TestKeysIdle: keys that are for a run or a task say so where there is none.
func TestKeysIdle(t *testing.T) {
	n := newFixture().at("#11 builder")
	n.Until(nil)
	for keys, note := range map[string]string{"s": "○ no run is under way", "enter": "○ no task is chosen; ↓ ↑ choose one"} {
		s := newScreen(t, 80, 24).show(n.scene(), n.Now).keysOf(keys)
		want(t, s.frame(), note)
		if len(s.sends) > 0 || s.mode != looking {
			t.Errorf("%s: sends %+v", keys, s.sends)
		}
	}
	s := newScreen(t, 80, 24).show(n.scene(), n.Now).keysOf("down", "enter")
	if len(s.sends) != 1 || s.sends[0].Text != "/task 1" || !s.sends[0].open {
		t.Errorf("%+v", s.sends)
	}
}

// TestLanes: sessions stand where they were in the run so far, by half blocks;
// the shortest is to be seen, and what is at work grows until nobody answers.
func TestLanes(t *testing.T) {
	at := func(min int) time.Time { return evening.Add(time.Duration(min) * time.Minute) }
	run := func(add func(c *Scene)) *screen {
		c := Scene{Project: "shop", Run: "r1", Sign: "●", Word: "at work", Began: evening}
		add(&c)
		return newScreen(t, 80, 24).show(c, at(10))
	}
	lines := func(s *screen, width, rows int) string { return strings.Join(s.lanes(width, rows), "|") }
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
	s.take(sceneMsg{gen: s.gen, err: ErrAway})
	s.now = at(40)
	grown := lines(s, 29, 9)
	s.now = at(20)
	if got := lines(s, 29, 9); got != grown {
		t.Errorf("it grows while nobody answers: %q, then %q", got, grown)
	}
	if got := lines(s, 29, 1); got != "   and 2 more" {
		t.Errorf("%q", got)
	}
	// Out of the run, or of no length, breaks nothing.
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
	// A thousand sessions are no thousand bars, and as much is at work.
	s = run(func(c *Scene) {
		for n := range 6000 {
			c.Add("builder", evening.Add(time.Duration(n)*100*time.Millisecond), evening.Add(time.Duration(n)*100*time.Millisecond+90*time.Millisecond))
		}
	})
	if n := len(s.scene.Hats[0].Bars); n > 3*finest {
		t.Errorf("%d bars", n)
	}
	if got := lines(s, 29, 9); got != " builder "+strings.Repeat("█", 20) {
		t.Errorf("%q", got)
	}
}

// TestRightColumn: where there is too little room the hats go first, then the
// tasks that are done become one line; and a tall screen lists all there is.
func TestRightColumn(t *testing.T) {
	n := newFixture().at("#7 builder")
	c := n.scene()
	for height, has := range map[int][3]bool{12: {false, false, true}, 16: {true, false, true}, 24: {true, true, true}, 60: {true, true, true}} {
		text := newScreen(t, 80, height).show(c, n.Now).frame()
		if got := [3]bool{strings.Contains(text, "─ hats ─"), strings.Contains(text, "#1  Extract"), strings.Contains(text, "#7  Move")}; got != has {
			t.Errorf("%d lines: hats, #1, #7 %v, want %v:\n%s", height, got, has, text)
		}
	}
	if text := newScreen(t, 71, 24).show(c, n.Now).frame(); strings.Contains(text, "─ hats") || !strings.Contains(text, "─ tasks 5/12") {
		t.Error(text)
	}
}

// TestFrame: rules that meet at the line between the columns go on.
func TestFrame(t *testing.T) {
	n := newFixture().at("#7 builder")
	c := n.scene()
	c.Tasks = c.Tasks[:4] // as many as there are lines in the left column's first two parts
	c.Guidance = []Item{{Sign: "○", ID: "g1", Text: "Keep it", Where: "queued"}}
	c.Questions = nil
	c.Hand.Output = []string{"a line"}
	text := newScreen(t, 80, 24).show(c, n.Now).frame()
	want(t, text, "─┬─ tasks", "─┼─ hats", "─┤", "─┴─")
}

// TestOutput: what an agent printed is harmless, and less of it where there is
// less room; nothing else gives way to it.
func TestOutput(t *testing.T) {
	n := newFixture().at("#7 builder")
	c := n.scene()
	var printed []string
	for k := range 40 {
		printed = append(printed, fmt.Sprintf("\x1b[31mline %d\x1b[0m\u202e", k))
	}
	c.Hand.Shows(append(printed, "\x1b[2K", " \t "), n.Now.Add(-time.Hour))
	if len(c.Hand.Output) != MaxOutput || c.Hand.Output[MaxOutput-1] != "line 39" || !c.Hand.Event.Equal(n.State.Project.Run.LastEvent) {
		t.Errorf("%q at %v", c.Hand.Output, c.Hand.Event)
	}
	for height, lines := range map[int]int{12: 0, 24: 2, 40: 4, 80: 8} {
		text := newScreen(t, 80, height).show(c, n.Now).frame()
		if got := strings.Count(text, "  > line 3"); got != lines {
			t.Errorf("%d lines of output on %d, want %d:\n%s", got, height, lines, text)
		}
	}
}

// TestLeave: q leaves, but not while it is a letter; ctrl+c always.
func TestLeave(t *testing.T) {
	for keys, left := range map[string]bool{"q": true, "g q": false, "? q": false, "? q q": true, "a q": false, "ctrl+c": true, "g ctrl+c": true, "a ctrl+c": true} {
		if s := working(t).keysOf(strings.Fields(keys)...); s.left != left || len(s.sends) > 0 {
			t.Errorf("%s: left %v, sent %v", keys, s.left, s.sends)
		}
	}
}

// TestAnswers: what an answer shows, and that words which were not taken come
// back into the box.
func TestAnswers(t *testing.T) {
	s := working(t).keysOf("g", "@bulder Keep it", "enter").answer("✗ Not queued: no hat @bulder", false)
	want(t, s.frame(), "✗ Not queued: no hat @bulder", "> @bulder Keep it_")
	s.keysOf("enter").answer("○ g1 queued → next session\nfor #7", true)
	want(t, s.frame(), "○ g1 queued", "for #7", "g guidance")

	s.keysOf("l").answer("shop r1: 3 sessions\n"+strings.Repeat("a line\n", 50)+"the last", true)
	want(t, s.frame(), "─ /log ─", "22 of 52")
	if strings.Contains(s.frame(), "the last") {
		t.Error("the end is in sight at the beginning")
	}
	s.keysOf("pgdown", "pgdown", "pgdown", "down")
	want(t, s.frame(), "the last", "52 of 52")
	s.take(tea.WindowSizeMsg{Width: 40, Height: 60})
	want(t, s.frame(), "shop r1: 3 sessions", "the last", "all")
	s.keysOf("q")
	want(t, s.frame(), "g guidance")

	// Somebody who types meanwhile is not interrupted.
	s.keysOf("d", "g", "half a w").answer("shop r1: 1 file +1 −0\n@@\n+x\n+y\n+z", true)
	want(t, s.frame(), "> half a w_", "shop r1: 1 file +1 −0")

	// One line at a time.
	s = working(t).keysOf("p", "g", "more", "enter")
	want(t, s.frame(), "wait: /pause is on its way", "> more_")
	if len(s.sends) != 1 {
		t.Error(s.sends)
	}
	// An answer to what is not on its way any more is nobody's.
	s.take(answerMsg{sent: sent{Line: Line{Key: "other"}}, answer: Answer{OK: true, Text: "stray"}})
	if strings.Contains(s.frame(), "stray") {
		t.Error(s.frame())
	}
}

// TestResend: a line that nobody answered is sent once more with its key, and
// then by the person, still with its key: it is done once.
func TestResend(t *testing.T) {
	s := working(t).keysOf("g", "Keep it", "enter")
	nobody := fmt.Errorf("%w: refused", ErrAway)
	s.take(answerMsg{sent: *s.sent, err: nobody})
	want(t, s.frame(), "↻ not answered, sent once more: /guidance Keep it")
	if len(s.sends) != 2 || s.sends[0].Key != s.sends[1].Key || s.sends[0].Line != s.sends[1].Line {
		t.Fatalf("%+v", s.sends)
	}
	s.take(answerMsg{sent: *s.sent, err: nobody})
	want(t, s.frame(), "! unknown: nightporter did not answer", "> Keep it_")
	if len(s.sends) != 2 {
		t.Fatalf("sent by itself again: %+v", s.sends)
	}
	s.keysOf("enter")
	if len(s.sends) != 3 || s.sends[2].Key != s.sends[0].Key {
		t.Errorf("another key for the same words: %+v", s.sends)
	}
	s.take(answerMsg{sent: *s.sent, err: nobody}).take(answerMsg{sent: *s.sent, err: nobody})
	s.keysOf("x", "enter")
	if last := s.sends[len(s.sends)-1]; last.Text != "/guidance Keep itx" || last.Key == s.sends[0].Key {
		t.Errorf("the old key for other words: %+v", last)
	}
	// A fault is no reason to send it again.
	s = working(t).keysOf("g", "Keep it", "enter")
	s.take(answerMsg{sent: *s.sent, err: errors.New("nightporter failed")})
	want(t, s.frame(), "✗ nightporter failed", "> Keep it_")
	if len(s.sends) != 1 {
		t.Error(s.sends)
	}
}

// TestAway: that nobody answers is said with the time, at once, and looked for
// patiently until somebody does.
func TestAway(t *testing.T) {
	s := working(t)
	s.looks = nil
	s.now = s.now.Add(time.Minute)
	since := s.now.In(berlin).Format(time.TimeOnly)
	s.take(sceneMsg{gen: s.gen, err: fmt.Errorf("%w: refused", ErrAway)})
	want(t, s.frame(), "! nightporter is away since "+since, "#7 Move orders")
	s.now = s.now.Add(time.Minute)
	s.take(sceneMsg{gen: s.gen, err: ErrAway})
	want(t, s.frame(), "away since "+since)
	if !slices.Equal(s.looks, []string{`shop "" true 0`, `shop "" true 0`}) {
		t.Errorf("looked %q", s.looks)
	}
	n := newFixture().at("#8 planner")
	s.show(n.scene(), s.now)
	want(t, s.frame(), "✓ nightporter is back, was away since "+since, "#8 Refund flow")
	if strings.Contains(s.frame(), "! nightporter") {
		t.Error(s.frame())
	}
	s.take(lookMsg{s.gen})
	if got := s.looks[len(s.looks)-1]; got != `shop "1" false 0` {
		t.Errorf("looked %q", got)
	}
	// Whatever else is wrong ends it, and is said.
	if s.take(sceneMsg{gen: s.gen, err: errors.New("different versions")}); !s.left || s.err == nil {
		t.Error("it goes on")
	}
}

// TestOtherProject: the look in hand is left, and what still comes of it is
// not shown.
func TestOtherProject(t *testing.T) {
	s := working(t)
	s.scene.Projects = []string{"blog", "shop"}
	old := s.gen
	s.looks = nil
	s.keysOf("tab")
	if !slices.Equal(s.looks, []string{"left", fmt.Sprintf(`blog "" false %d`, s.gen)}) {
		t.Errorf("looked %q", s.looks)
	}
	want(t, s.frame(), "─ blog ", "looking at blog")
	n := newFixture()
	s.take(sceneMsg{gen: old, scene: n.scene()}).take(sceneMsg{gen: old, err: errors.New("cancelled")})
	want(t, s.frame(), "─ blog ")
	if s.left {
		t.Error("it ends")
	}
	s.keysOf("p")
	if s.sends[0].Project != "blog" {
		t.Errorf("paused %q", s.sends[0].Project)
	}
}

// TestQuestions: the words of an answer that needs them are asked for, and a
// question that is settled meanwhile is left.
func TestQuestions(t *testing.T) {
	n := newFixture().at("#9 builder")
	s := newScreen(t, 80, 24).show(n.scene(), n.Now).keysOf("a", "tab")
	want(t, s.frame(), "2 of 2", "■ shop #8 blocked", "Tried: by line", "a Retry  b Skip  c Guide  esc")
	s.keysOf("c")
	want(t, s.frame(), "> q2 guide _")
	s.keysOf("By line", "enter")
	if s.sends[0].Text != "q2 guide By line" {
		t.Errorf("%+v", s.sends)
	}
	// Skipping it raises another question: a letter must not answer that one.
	s.answer("✓ #8 again", true).keysOf("a", "tab")
	n.input(loop.AnswerQuestion{Question: "q2", Choice: "skip"})
	sends := len(s.sends)
	want(t, s.show(n.scene(), n.Now).frame(), "○ q2 is settled", "g guidance", "? shop #8 skipped")
	if s.keysOf("b"); len(s.sends) != sends {
		t.Errorf("sent %+v", s.sends)
	}
	n.input(loop.AnswerQuestion{Question: "q1", Choice: "a"})
	n.input(loop.AnswerQuestion{Question: "q3", Choice: "wait"})
	s.show(n.scene(), n.Now)
	if s.keysOf("a"); s.mode != looking {
		t.Error("there is nothing to answer")
	}
}

// TestAnswerWhileSettled: an answer that is typed while its question is settled stays
// one: nightporter says that it is too late, and no session gets it as words.
func TestAnswerWhileSettled(t *testing.T) {
	n := newFixture().at("#9 builder")
	s := newScreen(t, 80, 24).show(n.scene(), n.Now).keysOf("a", "tab", "c", "By ")
	n.input(loop.AnswerQuestion{Question: "q2", Choice: "retry"})
	s.show(n.scene(), n.Now).keysOf("line", "enter")
	if s.sends[0].Text != "q2 guide By line" {
		t.Errorf("%+v", s.sends)
	}
	s.answer("✗ q2 is settled", false).keysOf("enter")
	if last := s.sends[len(s.sends)-1]; last.Text != "q2 guide By line" {
		t.Errorf("%+v", last)
	}
	// The same typed by hand, after another question was looked at.
	s = newScreen(t, 80, 24).show(n.scene(), n.Now).keysOf("g", "q2 skip")
	want(t, s.frame(), "─ answer ─", "> q2 skip_")
	s.keysOf("enter").answer("✗ q2 is settled: retry, Mira", false)
	if len(s.sends) != 1 || s.sends[0].Text != "q2 skip" {
		t.Errorf("%+v", s.sends)
	}
	want(t, s.frame(), "✗ q2 is settled: retry, Mira", "> q2 skip_")
}

// TestPaste: a whole log that is pasted is drawn at once, with its end in
// sight.
func TestPaste(t *testing.T) {
	s := working(t).keysOf("g").take(tea.PasteMsg{Content: strings.Repeat("x", 70_000) + " the end"})
	want(t, s.frame(), "x the end_")
}

// TestHostile: nothing that is said in a scene breaks the frame.
func TestHostile(t *testing.T) {
	bad := "\x1b[2J\x1b]0;x\x07<b>" + strings.Repeat("漢字é́́́́́́ ", 3000) + "\n\r\t\u202e"
	n := newFixture()
	tasks := n.State.Project.Tasks.Slice()
	tasks[0].Task.Title, tasks[1].Task.ID = bad, bad
	n.State.Project.Tasks = loop.NewTaskList(tasks...)
	n.at("#3 planner")
	n.input(loop.Guide{Text: "x" + strings.ToValidUTF8(bad[:1200], "")})
	n.State.Project.Run.Source = bad
	c := n.scene()
	for _, size := range [][2]int{{40, 12}, {41, 13}, {72, 12}, {80, 24}, {200, 60}, {1, 1}, {39, 12}, {500, 200}} {
		for _, keys := range [][]string{nil, {"a"}, {"?"}, {"g", "wörter 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字"}, {"s"}, {"down"}} {
			s := newScreen(t, size[0], size[1]).show(c, n.Now).keysOf(keys...)
			if text := s.frame(); strings.ContainsAny(text, "\x1b\x07\r\t\u202e") {
				t.Errorf("%v %v: control characters:\n%q", size, keys, text)
			}
		}
	}
}

// TestColor: colour adds nothing to what is read, and NO_COLOR has none.
func TestColor(t *testing.T) {
	s := working(t)
	text := s.draw()
	s.opt.Color = true
	coloured := s.draw()
	if coloured == text || !strings.Contains(coloured, cyan+"●"+plain) {
		t.Errorf("no colour:\n%q", coloured)
	}
	for _, code := range []string{plain, dim, red, green, yellow, cyan} {
		coloured = strings.ReplaceAll(coloured, code, "")
	}
	if coloured != text {
		t.Errorf("colour changes the text:\n%s\n%s", coloured, text)
	}
}

package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestScreens shows the screens of a night at the smallest size, a usual one
// and two large ones.
func TestScreens(t *testing.T) {
	working := func() *testNight {
		n := newTestNight().advanceTo("#4 planner")
		n.give(loop.Guide{Text: "!sticky No new dependencies"})
		n.advanceTo("#7 planner")
		n.give(loop.Guide{Text: "Wrap the existing code, don't replace it"})
		n.advanceTo("#7 builder")
		n.give(loop.Guide{Text: "#9 Plain text mails, no HTML"})
		return n
	}
	late := func() *testNight { return working().advanceTo("#11 builder") }
	for name, draw := range map[string]func(s *testScreen){
		"looking": func(*testScreen) {},
		"working": func(s *testScreen) {
			n := working()
			c, now := n.scene(), n.Now.Add(8*time.Minute+4*time.Second)
			c.Current.Agent = "claude fast"
			c.Current.SetOutput([]string{"I'll look at the old code first.", "Read legacy/orders.go", "Edit order/adapter.go", "go test ./order/...   ok shop/order 1.9s"}, now.Add(-41*time.Second))
			s.show(c, now).fill(nightPanes(n))
		},
		"lanes": func(s *testScreen) {
			n := working()
			c := n.scene()
			c.Current.Beside = []string{"#8 builder", "#9 verify", "#10 reviewer", "#11 commit"}
			s.show(c, n.Now.Add(8*time.Minute))
		},
		"hostile": func(s *testScreen) {
			n := newTestNight().advanceTo("#3 planner")
			bad := "\x1b[2J\x1b]0;x\x07<b>\u202eevil\u202c " + strings.Repeat("漢字é́́́́́́ ", 450) + "\n\r\t"
			tasks := n.State.Project.Tasks.Slice()
			tasks[0].Task.Title, tasks[1].Task.ID = bad, bad
			n.State.Project.Tasks = loop.NewTaskList(tasks...)
			c := n.scene()
			c.Current.SetOutput([]string{bad, "\x1b[1A\x1b[2K", "\u200f\u202e100% done\x9b31m", "\xff\xfe│ ┤ ● fake", strings.Repeat("x", 10_000)}, n.Now)
			c.Add(bad, n.Now.Add(-time.Hour), n.Now.Add(time.Hour))
			var wild Pane
			wild.Title = bot.Clean(bad)
			for _, kind := range []LineKind{LineText, LineAction, LineAdded, LineHead, LinePlace} {
				wild.Add(kind, bad+"\n\x1b[1A\x1b[2K\n\u200f\u202e100% done\x9b31m\n\xff\xfe│ ┤ ● fake\n─ tasks ─────\n+"+strings.Repeat("x", 10_000))
			}
			s.show(c, n.Now).fill(map[PaneKind]Pane{PaneOutput: wild, PanePlan: wild, PaneDiff: wild})
		},
		"asks": func(s *testScreen) {
			n := late()
			s.show(n.scene(), n.Now.Add(time.Minute)).pressKeys("down", "down", "v").fill(nightPanes(n))
		},
		"question": func(s *testScreen) {
			n := late()
			s.show(n.scene(), n.Now.Add(time.Minute)).pressKeys("a")
		},
		"paused": func(s *testScreen) {
			n := working()
			n.give(loop.Pause{})
			n.Until(func() bool { return n.State.Project.Run.State == ledger.RunPaused })
			s.show(n.scene(), n.Now.Add(time.Hour)).pressKeys("p").answer("‖ shop is paused already", true)
		},
		"typing": func(s *testScreen) {
			n := working()
			s.show(n.scene(), n.Now).pressKeys("g", "Keep the old names, all of them, also in the tests")
		},
		"ending": func(s *testScreen) {
			n := working()
			s.show(n.scene(), n.Now).pressKeys("s")
		},
		"away": func(s *testScreen) {
			n := working()
			s.show(n.scene(), n.Now)
			s.now = n.Now.Add(12 * time.Second)
			s.take(sceneMsg{gen: s.lookGen, err: fmt.Errorf("%w: refused", ErrOffline)})
			s.now = s.now.Add(30 * time.Second)
		},
		"ended": func(s *testScreen) {
			n := late()
			n.Until(nil)
			s.show(n.scene(), n.Now.Add(time.Hour)).fill(nightPanes(n))
		},
		"many": func(s *testScreen) { // 500 tasks
			n := working()
			c := n.scene()
			for i := 13; i <= 500; i++ {
				c.Tasks = append(c.Tasks, Task{ID: fmt.Sprintf("#%d", i), Arg: fmt.Sprint(i), Sign: "○", Title: "Another task of the list", Word: "ready"})
			}
			c.Total, c.Left = 500, 495
			s.show(c, n.Now).fill(nightPanes(n))
		},
		"none": func(s *testScreen) {
			s.show(Scene{Offset: 3600, Sign: "○", Word: "no project yet", Remarks: []string{"Begin with: nightporter run"}}, evening)
		},
		"help": func(s *testScreen) { s.show(working().scene(), evening).pressKeys("?") },
	} {
		sizes := [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 60}}
		if name == "working" || name == "hostile" {
			sizes = append(sizes, [2]int{40, 50}, [2]int{80, 50}, [2]int{72, 14})
		}
		cases := map[string]string{}
		for _, size := range sizes {
			s := newTestScreen(t, size[0], size[1])
			draw(s)
			cases[fmt.Sprintf("%03d × %d", size[0], size[1])] = s.frame()
		}
		golden.Sections(t, name, cases)
	}
}

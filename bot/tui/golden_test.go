package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestScreens are the screens of a night, at the smallest size, at a usual one
// and at a large one.
func TestScreens(t *testing.T) {
	working := func() *fixture {
		n := newFixture().at("#4 planner")
		n.input(loop.Guide{Text: "!sticky No new dependencies"})
		n.at("#7 planner")
		n.input(loop.Guide{Text: "Wrap the existing code, don't replace it"})
		n.at("#7 builder")
		n.input(loop.Guide{Text: "#9 Plain text mails, no HTML"})
		return n
	}
	late := func() *fixture { return working().at("#11 builder") }
	for name, draw := range map[string]func(s *screen){
		"looking": func(*screen) {},
		"working": func(s *screen) {
			n := working()
			c, now := n.scene(), n.Now.Add(8*time.Minute+4*time.Second)
			c.Hand.Agent = "claude fast"
			c.Hand.Shows([]string{"I'll look at the old code first.", "Read legacy/orders.go", "Edit order/adapter.go", "go test ./order/...   ok shop/order 1.9s"}, now.Add(-41*time.Second))
			s.show(c, now)
		},
		"hostile": func(s *screen) {
			n := newFixture().at("#3 planner")
			bad := "\x1b[2J\x1b]0;x\x07<b>\u202eevil\u202c " + strings.Repeat("漢字é́́́́́́ ", 450) + "\n\r\t"
			tasks := n.State.Project.Tasks.Slice()
			tasks[0].Task.Title, tasks[1].Task.ID = bad, bad
			n.State.Project.Tasks = loop.NewTaskList(tasks...)
			c := n.scene()
			c.Hand.Shows([]string{bad, "\x1b[1A\x1b[2K", "\u200f\u202e100% done\x9b31m", "\xff\xfe│ ┤ ● fake", strings.Repeat("x", 10_000)}, n.Now)
			c.Add(bad, n.Now.Add(-time.Hour), n.Now.Add(time.Hour))
			s.show(c, n.Now)
		},
		"asks": func(s *screen) {
			n := late()
			s.show(n.scene(), n.Now.Add(time.Minute)).keysOf("down", "down")
		},
		"question": func(s *screen) {
			n := late()
			s.show(n.scene(), n.Now.Add(time.Minute)).keysOf("a")
		},
		"paused": func(s *screen) {
			n := working()
			n.input(loop.Pause{})
			n.Until(func() bool { return n.State.Project.Run.State == ledger.RunPaused })
			s.show(n.scene(), n.Now.Add(time.Hour)).keysOf("p").answer("‖ shop is paused already", true)
		},
		"typing": func(s *screen) {
			n := working()
			s.show(n.scene(), n.Now).keysOf("g", "Keep the old names, all of them, also in the tests")
		},
		"ending": func(s *screen) {
			n := working()
			s.show(n.scene(), n.Now).keysOf("s")
		},
		"away": func(s *screen) {
			n := working()
			s.show(n.scene(), n.Now)
			s.now = n.Now.Add(12 * time.Second)
			s.take(sceneMsg{gen: s.gen, err: fmt.Errorf("%w: refused", ErrAway)})
			s.now = s.now.Add(30 * time.Second)
		},
		"ended": func(s *screen) {
			n := late()
			n.Until(nil)
			s.show(n.scene(), n.Now.Add(time.Hour))
		},
		"none": func(s *screen) {
			s.show(Scene{Sign: "○", Word: "no project yet", Says: []string{"Begin with: nightporter run"}}, evening)
		},
		"help": func(s *screen) { s.show(working().scene(), evening).keysOf("?") },
	} {
		sizes := [][2]int{{40, 12}, {80, 24}, {200, 60}}
		if name == "working" || name == "hostile" {
			sizes = append(sizes, [2]int{40, 50}, [2]int{80, 50}, [2]int{72, 14})
		}
		cases := map[string]string{}
		for _, size := range sizes {
			s := newScreen(t, size[0], size[1])
			draw(s)
			cases[fmt.Sprintf("%03d × %d", size[0], size[1])] = s.frame()
		}
		golden.Sections(t, name, cases)
	}
}

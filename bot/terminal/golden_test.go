package terminal

import (
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
)

// TestScreens are the screens of a night, at the smallest size, at a usual one
// and at a large one.
func TestScreens(t *testing.T) {
	working := func() *story {
		n := newStory().at("#4 planner")
		n.input(loop.Guide{Text: "!sticky No new dependencies"})
		n.at("#7 planner")
		n.input(loop.Guide{Text: "Wrap the existing code, don't replace it"})
		n.at("#7 builder")
		n.input(loop.Guide{Text: "#9 Plain text mails, no HTML"})
		return n
	}
	late := func() *story { return working().at("#11 builder") }
	for name, draw := range map[string]func(s *screen){
		"looking": func(*screen) {},
		"working": func(s *screen) {
			n := working()
			s.show(n.scene(), n.Now.Add(8*time.Minute+4*time.Second))
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
			n.Until(func() bool { return n.State.Project.Run.State == loop.RunPaused })
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
		for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 60}} {
			name := fmt.Sprintf("%s_%dx%d", name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				s := newScreen(t, size[0], size[1])
				draw(s)
				golden(t, name, s.frame())
			})
		}
	}
}

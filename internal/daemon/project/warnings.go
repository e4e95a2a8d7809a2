package project

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Warnings are what people have to know of a project, or of all of them,
// besides its state: settings that were not reloaded, a start that was missed.
// They are of this process, and gone with what they are about. The zero value
// is ready for use.
type Warnings struct {
	mu sync.Mutex
	by map[string]map[About]string // by project, "" for all of them
}

// About is what a warning is about. It sorts as warnings are shown.
type About string

// What warnings are about.
const (
	AboutConfig  About = "1 config"  // settings not reloaded
	AboutProject About = "2 project" // cannot be worked on
	AboutStart   About = "3 start"   // could not be started, or was missed
	AboutUnbuilt About = "4 unbuilt" // settings without an effect
	AboutThread  About = "7 thread"  // a chat of its own that went, closed or moved
)

// AboutChat is about a platform that is out of reach, by its place in the
// table of platforms.
func AboutChat(place int) About { return About(fmt.Sprintf("5 chat %03d", place)) }

// Warn puts a line in the place of the one about the same thing; "" takes it
// away. It reports whether that one was anothew.
func (w *Warnings) Warn(project string, about About, line string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by[project][about] == line {
		return false
	}
	if line == "" {
		delete(w.by[project], about)
		return true
	}
	if w.by == nil {
		w.by = map[string]map[About]string{}
	}
	if w.by[project] == nil {
		w.by[project] = map[About]string{}
	}
	w.by[project][about] = line
	return true
}

// WarningsOf returns the lines about a project and about the house.
func (w *Warnings) WarningsOf(project string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, where := range []string{"", project} {
		for _, about := range slices.Sorted(maps.Keys(w.by[where])) {
			lines = append(lines, w.by[where][about])
		}
		if project == "" {
			break
		}
	}
	return lines
}

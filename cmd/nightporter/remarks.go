package main

import (
	"maps"
	"slices"
	"sync"
)

// warnings are what people have to know of a project, or of all of them,
// besides its state: settings that were not reloaded, a start that was missed.
// They are of this process, and gone with what they are about. The zero value
// is ready for use.
type warnings struct {
	mu sync.Mutex
	by map[string]map[string]string // project ("" for the house), what it is about: a line
}

// Kinds of remarks, in the order in which they are shown.
const (
	remarkConfig  = "1 config"  // settings not reloaded
	remarkProject = "2 project" // cannot be worked on
	remarkStart   = "3 start"   // could not be started, or was missed
	remarkUnbuilt = "4 unbuilt" // settings without an effect
	remarkChat    = "5 chat"    // Telegram is out of reach
	remarkSlack   = "6 slack"   // Slack is
	remarkThread  = "7 thread"  // a chat of its own that went, closed or moved
)

// set puts a line in the place of the one about the same thing; "" takes it
// away. It reports whether that one was another.
func (r *warnings) set(project, about, line string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by[project][about] == line {
		return false
	}
	if line == "" {
		delete(r.by[project], about)
		return true
	}
	if r.by == nil {
		r.by = map[string]map[string]string{}
	}
	if r.by[project] == nil {
		r.by[project] = map[string]string{}
	}
	r.by[project][about] = line
	return true
}

// of returns the lines about a project and about the house.
func (r *warnings) of(project string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, where := range []string{"", project} {
		for _, about := range slices.Sorted(maps.Keys(r.by[where])) {
			lines = append(lines, r.by[where][about])
		}
		if project == "" {
			break
		}
	}
	return lines
}

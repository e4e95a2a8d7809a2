package project

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Warnings holds lines of text about a project, or about all of them, that its
// state does not contain: settings that were not reloaded, a start that was
// missed. They exist in memory only, and each is removed when its cause ends.
// The zero value is ready for use; all methods are safe for concurrent use.
type Warnings struct {
	mu sync.Mutex
	by map[string]map[About]string // by project; "" = all projects
}

// About identifies the subject of a warning. Warnings are shown in its order.
type About string

// Subjects of warnings.
const (
	AboutLedger  About = "0 ledger"  // nothing can be saved
	AboutChain   About = "0 altered" // entries are not those that were written
	AboutConfig  About = "1 config"  // settings not reloaded
	AboutProject About = "2 project" // the project cannot be worked on
	AboutSource  About = "2 source"  // the project's source cannot be read
	AboutStart   About = "3 start"   // a start failed or was missed
	AboutUnbuilt About = "4 unbuilt" // settings without effect
	AboutDisk    About = "6 disk"    // the disk fills up
	AboutState   About = "5 state"   // the state folder is on a network file system
	AboutBugs    About = "6 bugs"    // bug reports that sites post are not taken
	AboutThread  About = "7 thread"  // a thread that was deleted, closed or moved
	AboutCloud   About = "9 cloud"   // its cloud agent needs a person
	AboutSleep   About = "8 sleep"   // the machine may go to sleep while a run works
)

// AboutChat returns the subject of an unreachable platform, by its index in the
// table of platforms.
func AboutChat(place int) About { return About(fmt.Sprintf("5 chat %03d", place)) }

// Warn replaces the project's line about a subject; "" removes it. It reports
// whether the line changed.
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

// WarningsOf returns the lines about all projects, then those about the given
// project. A project that cannot be worked on is not also said to have a source that
// cannot be read: the one is often the reason of the other.
func (w *Warnings) WarningsOf(project string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, where := range []string{"", project} {
		for _, about := range slices.Sorted(maps.Keys(w.by[where])) {
			if about != AboutSource || w.by[where][AboutProject] == "" {
				lines = append(lines, w.by[where][about])
			}
		}
		if project == "" {
			break
		}
	}
	return lines
}

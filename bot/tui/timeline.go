package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// Lane holds one hat's sessions, in the order of their start.
type Lane struct {
	Hat  string `json:"hat"`
	Bars []Bar  `json:"bars"`
}

// Bar is a session of an agent, or several sessions too close to draw
// separately.
type Bar struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to,omitzero"` // zero while it is active
}

// timelineParts is the resolution of the timeline: the number of parts of a run
// that the widest screen can distinguish.
const timelineParts = 256

// Add adds a session to its hat's lane. Lanes are sorted by their first
// session. A zero to means that the session is active.
func (c *Scene) Add(hat string, from, to time.Time) {
	hat = bot.Cut(bot.Clean(hat), 16)
	n := slices.IndexFunc(c.Hats, func(l Lane) bool { return l.Hat == hat })
	if n < 0 {
		n = len(c.Hats)
		c.Hats = append(c.Hats, Lane{Hat: hat})
	}
	l := &c.Hats[n]
	// A session too close to the previous one extends its bar, so that a run of
	// thousands of sessions has few bars.
	if k := len(l.Bars) - 1; k >= 0 && !l.Bars[k].To.IsZero() && from.Sub(l.Bars[k].To) < from.Sub(c.Began)/timelineParts && !to.IsZero() {
		if to.After(l.Bars[k].To) {
			l.Bars[k].To = to
		}
		return
	}
	l.Bars = append(l.Bars, Bar{From: from, To: to})
}

// timelineEnd returns the end of the timeline: the end of the run, else the
// current time, or the time of the latest scene while the daemon does not
// respond.
func (m model) timelineEnd() time.Time {
	switch {
	case !m.scene.Ended.IsZero():
		return m.scene.Ended
	case !m.offlineSince.IsZero():
		return m.offlineSince
	}
	return m.now
}

// renderLanes returns a line for each hat with its sessions over the run so
// far, in half blocks. Every session is visible, however short.
func (m model) renderLanes(width, rows int) []string {
	names := 0
	for _, l := range m.scene.Hats {
		names = max(names, min(bot.Width(l.Hat), width/3))
	}
	room := width - names - 2
	var out []string
	for n, l := range m.scene.Hats {
		if left := len(m.scene.Hats) - n; n == rows-1 && left > 1 {
			return append(out, fmt.Sprintf("   and %d more", left))
		}
		name := bot.Pad(bot.Cut(l.Hat, names), names, 0)
		out = append(out, strings.TrimRight(" "+name+" "+renderBars(l.Bars, m.scene.Began, m.timelineEnd(), room), " "))
	}
	return out
}

// renderBars draws the sessions between began and until on a line of that
// width.
func renderBars(all []Bar, began, until time.Time, width int) string {
	halves := make([]bool, 2*max(width, 1))
	span := until.Sub(began)
	at := func(t time.Time) int {
		if span <= 0 {
			return 0
		}
		x := math.Round(float64(t.Sub(began)) / float64(span) * float64(len(halves)))
		return int(min(max(x, 0), float64(len(halves))))
	}
	for _, b := range all {
		to := b.To
		if to.IsZero() {
			to = until
		}
		first := min(at(b.From), len(halves)-1)
		for n := first; n < max(at(to), first+1); n++ {
			halves[n] = true
		}
	}
	var line strings.Builder
	for pair := range slices.Chunk(halves, 2) {
		line.WriteString(map[[2]bool]string{{true, true}: "█", {true, false}: "▌", {false, true}: "▐", {}: " "}[[2]bool(pair)])
	}
	return line.String()
}

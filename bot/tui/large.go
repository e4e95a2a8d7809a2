package tui

import (
	"fmt"

	"github.com/nightporter/nightporter/bot"
)

// large reports whether the screen has room for panes.
func (m model) large() bool { return m.width >= largeWidth && m.height >= largeHeight }

// column is a column of a large screen.
type column struct {
	width int
	lines []string
}

// largeColumns lays out a large screen: what is at work and its output; the plan and
// the diff, below it or in a column of their own; all tasks and what is around them.
func (m model) largeColumns(rows int) []column {
	right := min(max(m.width*2/5, 44), 48)
	if m.width >= threeColumns {
		right = min(max(m.width/4, 44), 64)
	}
	left := m.width - right - 1
	details := m.visiblePanes()[1:]
	middle := 0
	if m.width >= threeColumns {
		middle = (left - 1) / 2
		left -= middle + 1
	}
	work := m.workSections(left)
	rest := rows
	for _, s := range work {
		rest -= 1 + len(s.lines)
	}
	out := []column{{width: left}}
	if middle > 0 {
		work = append(work, m.paneSection(PaneOutput, left, rest-1))
		all := []section{m.paneSection(details[0], middle-1, rows*6/10), m.paneSection(details[1], middle-1, rows/4)}
		out = append(out, column{middle, layOut(indent(all...), middle, rows)})
	} else {
		half := rest * 55 / 100
		work = append(work, m.paneSection(PaneOutput, left, half-1), m.paneSection(details[0], left, rest-half-1))
	}
	out[0].lines = layOut(work, left, rows)
	return append(out, column{right, layOut(m.overview(right, rows), right, rows)})
}

// indent keeps sections away from the line at their left.
func indent(all ...section) []section {
	shift := func(lines []string) []string {
		out := make([]string, len(lines))
		for n, line := range lines {
			out[n] = " " + line
		}
		return out
	}
	for n, s := range all {
		all[n].lines = shift(s.lines)
		if s.fit != nil {
			all[n].fit = func(rows int) []string { return shift(s.fit(rows)) }
		}
	}
	return all
}

// workSections are what needs a person and what is at work.
func (m model) workSections(width int) []section {
	var all []section
	for _, s := range []section{{title: "needs you", lines: m.questions(width)}, {title: "now", lines: m.currentWork(width, 0, false)}} {
		if more := len(s.lines) - workLines; more > 0 {
			s.lines = append(s.lines[:workLines-1:workLines-1], fmt.Sprintf("  and %d more", more+1))
		}
		if s.minLines = len(s.lines); s.minLines > 0 {
			all = append(all, s)
		}
	}
	return all
}

// workLines limits each of workSections, so that the panes keep their room.
const workLines = 6

// overview is the column of the run as a whole.
func (m model) overview(width, rows int) []section {
	all := []section{m.taskSection(width, min(len(m.scene.Tasks), rows/3))}
	all = append(all, indent(section{title: "guidance", lines: m.guidance(width - 1), minLines: min(len(m.scene.Guidance), 5)})...)
	if len(m.scene.Hats) > 0 {
		hats := m.hatSection(width)
		hats.minLines = min(len(hats.lines), 6)
		all = append(all, hats)
	}
	return append(all, indent(section{title: "last", lines: m.latestEvents(width - 1), minLines: min(len(m.scene.Events), rows/5), keepTail: true})...)
}

// paintLine returns a line of a pane in its colour, which says nothing that its first
// character does not say.
func (m model) paintLine(l PaneLine, width int) string {
	if !m.opt.Color {
		return l.Text
	}
	switch l.Kind {
	case LineHead:
		return bot.Strong(l.Text)
	case LineAdded:
		return bot.Green(l.Text)
	case LineRemoved:
		return bot.Red(l.Text)
	case LinePlace:
		return bot.Dim(l.Text)
	}
	return l.Text
}

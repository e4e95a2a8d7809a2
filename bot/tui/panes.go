package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
)

// PaneRequest asks for a pane of a project. An empty Task means the one at work, and
// an empty Seen any content.
type PaneRequest struct {
	Project string
	Kind    PaneKind
	Task    string
	Seen    string
}

// paneView is a pane on the screen. Its content follows the task that is chosen.
// Drawing records the size, which scrolling needs.
type paneView struct {
	kind   PaneKind
	gen    int    // generation of requests; results of earlier ones are dropped
	busy   bool   // a request, or the pause before the next one, is under way
	target string // the project and task that it is asked for
	shown  string // the target of its content

	pane   Pane
	loaded bool
	failed string // why the latest request has no content

	held        *Pane // the output that is being read, while newer output is not shown
	top         int   // first line on the screen, unless the newest output is shown
	rows, total int   // lines on the screen, and in all, as drawn last
	drawn       paneDrawing
}

// paneDrawing is a content, wrapped. parts has what became of each line: of an output
// that grows, most stay the same, and to wrap them is most of what drawing costs.
type paneDrawing struct {
	version string
	width   int
	lines   []PaneLine
	parts   map[PaneLine][]PaneLine
}

func newPanes() []*paneView {
	return []*paneView{{kind: PaneOutput}, {kind: PanePlan}, {kind: PaneDiff}}
}

// Messages about panes.
type (
	paneMsg struct {
		kind PaneKind
		gen  int
		pane Pane
		err  error
	}
	paneLookMsg struct {
		kind PaneKind
		gen  int
	}
)

// Pauses before a pane is asked for.
const (
	choosePause = 150 * time.Millisecond // while somebody goes through the tasks
	failedPause = 5 * time.Second
	lostPause   = time.Second
)

func (m model) pane(kind PaneKind) *paneView {
	return m.panes[slices.IndexFunc(m.panes, func(p *paneView) bool { return p.kind == kind })]
}

// visiblePanes returns the panes that the screen has room for, the first one of two
// details first.
func (m model) visiblePanes() []PaneKind {
	switch {
	case !m.large() || m.scene.Project == "":
		return nil
	case m.width < threeColumns:
		return []PaneKind{PaneOutput, m.detail}
	case m.detail == PaneDiff:
		return []PaneKind{PaneOutput, PaneDiff, PanePlan}
	}
	return []PaneKind{PaneOutput, PanePlan, PaneDiff}
}

// focusedPane returns the pane that keys scroll, "" if there is none.
func (m model) focusedPane() PaneKind {
	all := m.visiblePanes()
	if slices.Contains(all, m.focus) || len(all) == 0 {
		return m.focus
	}
	return all[0]
}

// lookAtPanes begins to ask for the panes that are visible, and stops asking for
// others. A daemon that does not respond is left to Look.
func (m model) lookAtPanes() tea.Cmd {
	visible := m.visiblePanes()
	target := m.scene.Project + "\n" + m.chosenArg()
	var all []tea.Cmd
	for _, p := range m.panes {
		wanted := slices.Contains(visible, p.kind) && m.loaded && m.offlineSince.IsZero()
		if p.busy && (!wanted || p.target != target) {
			p.busy = false
			p.gen++
			m.cancelPane(p.kind)
		}
		if !wanted || p.busy {
			continue
		}
		pause := time.Duration(0)
		if p.target != "" && p.target != target {
			pause = choosePause
		}
		if project, _, _ := strings.Cut(p.shown, "\n"); project != m.scene.Project {
			p.loaded, p.held = false, nil
		}
		p.busy, p.target = true, target
		all = append(all, p.lookAfter(pause))
	}
	return tea.Batch(all...)
}

// lookAfter asks for the pane after a pause.
func (p *paneView) lookAfter(pause time.Duration) tea.Cmd {
	next := paneLookMsg{p.kind, p.gen}
	if pause == 0 {
		return func() tea.Msg { return next }
	}
	return tea.Tick(pause, func(time.Time) tea.Msg { return next })
}

// askForPane requests the content of a pane.
func (m model) askForPane(msg paneLookMsg) tea.Cmd {
	p := m.pane(msg.kind)
	if msg.gen != p.gen {
		return nil
	}
	project, task, _ := strings.Cut(p.target, "\n")
	q := PaneRequest{Project: project, Kind: p.kind, Task: task}
	if p.shown == p.target {
		q.Seen = p.pane.Version
	}
	return m.requestPane(q, p.gen)
}

// applyPane handles the content of a pane, and asks for the next one.
func (m model) applyPane(msg paneMsg) tea.Cmd {
	p := m.pane(msg.kind)
	switch {
	case msg.gen != p.gen || errors.Is(msg.err, context.Canceled):
		return nil
	case errors.Is(msg.err, ErrOffline):
		return p.lookAfter(lostPause)
	case msg.err != nil:
		p.failed = bot.Clean(msg.err.Error())
		return p.lookAfter(failedPause)
	}
	p.failed = ""
	if !msg.pane.Same {
		if p.shown != p.target {
			p.held, p.top = nil, 0
		}
		p.pane, p.loaded, p.shown = msg.pane, true, p.target
	}
	return p.lookAfter(redrawPause)
}

// scroll handles a key that moves a pane. It returns false for any other key.
func (p *paneView) scroll(key string) bool {
	if p.drawn.width > 0 { // there may be more since it was drawn
		p.total = len(p.wrapped(p.drawn.width))
	}
	last := max(p.total-p.rows, 0)
	top := p.top
	if p.follows() {
		top = last
	}
	page := max(p.rows-1, 1)
	switch key {
	case "pgup", "b":
		top -= page
	case "pgdown", "space":
		top += page
	case "K", "shift+up":
		top--
	case "J", "shift+down":
		top++
	case "home", "<":
		top = 0
	case "end", ">", "G":
		top = last
	default:
		return false
	}
	p.top = min(max(top, 0), last)
	if p.kind == PaneOutput {
		switch {
		case p.top >= last:
			p.held = nil
		case p.held == nil:
			held := p.pane
			p.held = &held
		}
	}
	return true
}

// follows reports whether the newest lines are shown whatever comes.
func (p *paneView) follows() bool { return p.kind == PaneOutput && p.held == nil }

// wrapped returns the lines of the pane for a width.
func (p *paneView) wrapped(width int) []PaneLine {
	show := p.pane
	if p.held != nil {
		show = *p.held
	}
	switch {
	case !p.loaded && p.failed == "":
		show = Pane{Note: "looking"}
	case p.failed != "":
		show = Pane{Note: p.failed}
	}
	version := fmt.Sprint(show.Version, show.Note)
	if p.drawn.version == version && p.drawn.width == width {
		return p.drawn.lines
	}
	now := paneDrawing{version: version, width: width, parts: make(map[PaneLine][]PaneLine, len(show.Lines))}
	if show.Note != "" {
		now.lines = p.hang(PaneLine{LinePlace, show.Note}, bot.SignLater+" ", "  ", width)
	}
	for _, l := range show.Lines {
		parts, known := now.parts[l]
		if !known && p.drawn.width == width {
			parts, known = p.drawn.parts[l]
		}
		if !known {
			parts = p.wrapLine(l, width)
		}
		now.parts[l] = parts
		now.lines = append(now.lines, parts...)
	}
	p.drawn = now
	return now.lines
}

// wrapLine wraps a line behind the sign of its kind.
func (p *paneView) wrapLine(l PaneLine, width int) []PaneLine {
	switch l.Kind {
	case LineHead:
		return p.hang(l, "— ", "  ", width)
	case LineAction:
		return p.hang(l, "› ", "  ", width)
	case LineAdded:
		l.Text = strings.TrimPrefix(strings.TrimPrefix(l.Text, "+"), " ")
		return p.hang(l, "+ ", "+›", width)
	case LineRemoved:
		l.Text = strings.TrimPrefix(strings.TrimPrefix(l.Text, "-"), " ")
		return p.hang(l, "- ", "-›", width)
	}
	if p.kind == PaneDiff { // the column of signs
		l.Text = strings.TrimPrefix(l.Text, "  ")
	}
	return p.hang(l, "  ", "  ", width)
}

// hang wraps a line behind first, and what follows below behind rest.
func (p *paneView) hang(l PaneLine, first, rest string, width int) []PaneLine {
	text := l.Text
	if l.Kind == LineText && p.kind != PaneDiff && bot.Width(text) > width-2 {
		hang := hangOf(text, width)
		first, text = first+text[:hang], text[hang:]
		rest += strings.Repeat(" ", hang)
	}
	var out []PaneLine
	for n, part := range bot.Wrap(text, max(width-bot.Width(first), 1)) {
		if n > 0 {
			first = rest
		}
		out = append(out, PaneLine{l.Kind, first + part})
	}
	return out
}

// listMark matches the indentation of a line and the mark of an item of a list.
var listMark = regexp.MustCompile(`^ *(?:[-*] |[0-9]{1,3}[.)]? )?`)

// hangOf returns how far the further lines of a wrapped one are indented, in bytes
// that are columns.
func hangOf(text string, width int) int {
	if hang := len(listMark.FindString(text)); hang <= width/3 {
		return hang
	}
	return 0
}

// lines returns what is visible of the pane in so many rows.
func (p *paneView) lines(width, rows int) []PaneLine {
	all := p.wrapped(width)
	p.rows, p.total = rows, len(all)
	last := max(len(all)-rows, 0)
	if p.top = min(p.top, last); p.follows() {
		return all[last:]
	}
	return all[p.top:min(p.top+rows, len(all))]
}

// place says which part of the pane is visible, at the right of its title.
func (p *paneView) place(rows int) string {
	if p.total <= rows || p.follows() {
		return ""
	}
	at := fmt.Sprintf("%d–%d of %d", p.top+1, min(p.top+rows, p.total), p.total)
	if p.held != nil {
		at += " · held, End goes on"
	}
	return at
}

// paneSection returns a pane as a section of at least least lines.
func (m model) paneSection(kind PaneKind, width, least int) section {
	p := m.pane(kind)
	title := string(kind)
	if p.pane.Title != "" && p.loaded {
		title += " " + p.pane.Title
	}
	if len(m.visiblePanes()) > 1 && m.focusedPane() == kind {
		title = "› " + title
	}
	return section{
		title: title, lines: make([]string, max(len(p.wrapped(width)), 1)), minLines: least,
		fit: func(rows int) []string {
			var out []string
			for _, l := range p.lines(width, rows) {
				out = append(out, m.paintLine(l, width))
			}
			return out
		},
		place: p.place,
	}
}

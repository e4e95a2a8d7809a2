package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/width"
)

// Sizes of the screen.
const (
	minWidth, minHeight = 40, 12
	twoColumns          = 72 // width from which the tasks have a right column
	roomyHeight         = 20 // height from which all sections fit

	largeWidth, largeHeight = 120, 36 // size from which there are panes
	threeColumns            = 160     // width from which plan and diff have a column
	noteLines               = 3       // maximum height of a response below the sections
)

// View implements tea.Model.
func (m model) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	return v
}

// draw renders the screen as text: exactly as many lines as its height, none
// wider than its width.
func (m model) draw() string {
	if m.width == 0 || m.height == 0 { // before the first size message
		return ""
	}
	var lines []string
	switch {
	case m.width < minWidth || m.height < minHeight:
		lines = bot.Wrap(fmt.Sprintf("%s %d×%d is too small: %d×%d at least. q quits.", bot.SignLook, m.width, m.height, minWidth, minHeight), m.width)
	case m.mode == modePage:
		lines = m.page.draw(m.width, m.height)
	default:
		lines = m.screen()
	}
	lines = lines[:min(len(lines), m.height)]
	for n, line := range lines {
		line, _ = width.Split(bot.AsWritten(line), m.width) // a safeguard for the frame
		lines[n] = m.paint(line)
	}
	return strings.Join(lines, "\n")
}

// screen returns the header, the sections in one or two columns, and the
// footer.
func (m model) screen() []string {
	head, foot := m.header(), m.footer()
	if m.mode == modeAnswer && m.height < roomyHeight {
		head = head[:1] // omits the second line, so that the question has more room
	}
	rows := m.height - len(head) - len(foot)
	var body []string
	switch {
	case m.mode == modeAnswer:
		body = padRows(m.questionLines(rows), rows)
	case m.large() && m.scene.Project != "":
		columns := m.largeColumns(rows)
		body = columns[0].lines
		at := columns[0].width
		for _, c := range columns[1:] {
			for n := range rows {
				body[n] = joinColumns(body[n], c.lines[n], at, n == 0)
			}
			foot[len(foot)-2] = closeColumnLine(foot[len(foot)-2], at)
			at += 1 + c.width
		}
	case m.width >= twoColumns && m.scene.Project != "":
		right := min(m.width*2/5, 60)
		left := m.width - right - 1
		a := layOut(m.sections(left, rows, false), left, rows)
		b := layOut(m.rightColumn(right, rows), right, rows)
		for n := range rows {
			body = append(body, joinColumns(a[n], b[n], left, n == 0))
		}
		foot[len(foot)-2] = closeColumnLine(foot[len(foot)-2], left)
	default:
		body = layOut(m.sections(m.width, rows, true), m.width, rows)
	}
	return append(append(head, body...), foot...)
}

// closeColumnLine closes the line between the columns at the bottom.
func closeColumnLine(line string, at int) string {
	r := []rune(line)
	if at < len(r) && r[at] == '─' {
		r[at] = '┴'
	}
	return string(r)
}

// joinColumns puts two columns side by side. Rules of both sides meet in the
// line between them; top marks the first row, where that line begins.
func joinColumns(a, b string, width int, top bool) string {
	between := "│"
	switch left, right := strings.HasSuffix(bot.Pad(a, width, 0), "─"), strings.HasPrefix(b, "─"); {
	case left && right && top:
		between = "┬"
	case left && right:
		between = "┼"
	case left:
		between = "┤"
	case right:
		between = "├"
	}
	return bot.Pad(a, width, 0) + between + strings.TrimRight(b, " ")
}

// horizontalRule returns a horizontal line with a title on each side.
func horizontalRule(left, right string, width int) string {
	if left != "" {
		left = " " + left + " "
	}
	if right != "" {
		right = " " + right + " ─"
	}
	left = "─" + bot.Cut(left, max(width-bot.Width(right)-2, 0))
	return left + strings.Repeat("─", max(width-bot.Width(left)-bot.Width(right), 0)) + right
}

// header returns the project, the run, its state and the time.
func (m model) header() []string {
	c := m.scene
	title := strings.TrimSpace(bot.Clean(c.Project) + " " + c.Run)
	if c.Plan != "" {
		title += " · " + c.Plan
	}
	if title == "" {
		title = "nightporter"
	}
	format := time.TimeOnly
	if m.width >= twoColumns {
		format = "Mon 2 Jan 15:04:05"
	}
	lines := []string{horizontalRule(title, m.now.In(m.zone()).Format(format), m.width)}
	switch {
	case !m.offlineSince.IsZero():
		lines = append(lines,
			bot.SignLook+" nightporter is away since "+m.offlineSince.In(m.zone()).Format(time.TimeOnly),
			"  shown is what was before · tries again")
	case !m.loaded:
		lines = append(lines, bot.SignLater+" looking", "")
	case c.Sign == "":
		lines = append(lines, bot.SignLater+" looking at "+bot.Clean(c.Project), "")
	case c.Project == "":
		lines = append(lines, c.Sign+" "+c.Word, "")
	default:
		lines = append(lines, m.statusLine(), m.counts())
	}
	return lines
}

// statusLine returns "● at work · 6/12 done · 2 h 48 · $6.42".
func (m model) statusLine() string {
	c := m.scene
	facts := []string{c.Sign + " " + c.Word, fmt.Sprintf("%d/%d done", c.Done, c.Total)}
	if !c.Began.IsZero() {
		end := m.now
		if !c.Ended.IsZero() {
			end = c.Ended
		}
		facts = append(facts, bot.Took(max(end.Sub(c.Began), 0)))
	}
	return joinFacts(append(facts, c.Cost), m.width)
}

// joinFacts joins facts and omits those that do not fit completely: a truncated
// number would mislead.
func joinFacts(facts []string, width int) string {
	line := bot.Cut(facts[0], width)
	for _, f := range facts[1:] {
		if next := line + " · " + f; f != "" && bot.Width(next) <= width {
			line = next
		}
	}
	return line
}

// counts returns "left 6 · blocked 0 · needs you 0".
func (m model) counts() string {
	c := m.scene
	return fmt.Sprintf("  left %d · blocked %d · needs you %d", c.Left, c.Blocked, c.Needs)
}

// footer returns the latest response, and the input line or the keys.
func (m model) footer() []string {
	var lines []string
	for line := range strings.SplitSeq(m.note, "\n") {
		if line = bot.Clean(line); line != "" {
			lines = append(lines, bot.Wrap(line, m.width)...)
		}
	}
	most := noteLines
	if m.height < roomyHeight {
		most = 2
	}
	if len(lines) > most {
		lines = append(lines[:most-1], bot.Cut(strings.Join(lines[most-1:], " "), m.width))
	}
	switch {
	case m.mode == modeInput:
		name := "guidance"
		switch line := strings.TrimSpace(m.input.text()); {
		case strings.HasPrefix(line, "/"):
			name = "command"
		case bot.IsCommand(line):
			name = "answer"
		}
		return append(lines, horizontalRule(name, "enter sends · esc", m.width), "> "+m.input.view(m.width-2))
	case m.mode == modeConfirmEnd:
		after := "this step"
		if h := m.scene.Current; h != nil {
			after = h.Task + " " + h.Doing
		}
		return append(lines, horizontalRule("", "", m.width), fmt.Sprintf("%s y ends %s after %s · n", bot.SignAsk, m.scene.Run, after))
	case m.mode == modeAnswer:
		return append(lines, horizontalRule("", "", m.width), m.choicesLine())
	case m.sent != nil && len(lines) == 0:
		lines = []string{bot.SignLater + " " + bot.Cut(bot.Clean(m.sent.Text), m.width-12) + " is sent"}
	}
	return append(lines, horizontalRule("", "", m.width), m.keys())
}

// keys lists as many keys as fit, the currently useful ones first.
func (m model) keys() string {
	var keys []string
	if len(m.scene.Questions) > 0 {
		keys = append(keys, "a answer")
	}
	if m.scene.Paused {
		keys = append(keys, "r resume")
	}
	if m.scene.Project != "" {
		keys = append(keys, "g guidance")
	}
	if !m.idle() {
		if !m.scene.Paused {
			keys = append(keys, "p pause")
		}
		keys = append(keys, "s stop")
	}
	if m.scene.Run != "" {
		keys = append(keys, "↵ task", "l log", "d diff")
	}
	if len(m.visiblePanes()) > 0 {
		keys = append(keys, "v plan/diff", "w pane", "PgUp PgDn scroll")
	}
	if len(m.scene.Projects) > 1 {
		keys = append(keys, "tab project")
	}
	always := "? help  q quit"
	if m.width < twoColumns {
		always = "?  q"
	}
	line := ""
	for _, k := range keys {
		if next := line + k + "  "; bot.Width(next+always) <= m.width {
			line = next
		}
	}
	return line + always
}

func padRows(lines []string, rows int) []string {
	for len(lines) < rows {
		lines = append(lines, "")
	}
	return lines[:max(rows, 0)]
}

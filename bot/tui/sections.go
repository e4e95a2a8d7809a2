package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// section is a part of the screen below a rule.
type section struct {
	title    string
	lines    []string
	minLines int                     // minimum of lines; with less room the section is left out
	noRule   bool                    // has no rule above it
	fit      func(rows int) []string // renders the lines for a given height, if they depend on it
	place    func(rows int) string   // which part is shown, at the right of the title
	keepTail bool                    // keeps its last lines when cut, not its first
	optional bool                    // shown only if all other sections are complete
}

// sections returns the parts of the screen from top to bottom. With little
// room, the lower ones disappear first. On a low screen only the tasks have a
// rule, because signs identify the other parts.
func (m model) sections(width, rows int, withTasks bool) []section {
	bare := rows < roomyHeight/2
	var all []section
	if lines := m.questions(width); len(lines) > 0 {
		all = append(all, section{title: "needs you", lines: lines, minLines: 1, noRule: bare})
	}
	if m.scene.Project == "" {
		return append(all, section{lines: m.remarks(width), minLines: 1, noRule: true})
	}
	now := section{title: "now", lines: m.currentWork(width, rows/8, bare), minLines: 2, noRule: bare}
	if c := m.scene.Current; c != nil && len(c.Beside) > 0 {
		now.minLines = 3
	}
	all = append(all, now)
	if withTasks {
		hats := m.hatSection(width)
		hats.optional = true
		all = append(all, m.taskSection(width, 2), hats)
	}
	return append(all,
		section{title: "guidance", lines: m.guidance(width), minLines: 1, noRule: bare && withTasks},
		section{title: "last", lines: m.latestEvents(width), minLines: 1, keepTail: true})
}

// rightColumn returns the right column: the tasks, and the hats below them if
// enough room for tasks remains.
func (m model) rightColumn(width, rows int) []section {
	all := []section{m.taskSection(width, min(6, rows-1))}
	if len(m.scene.Hats) > 0 {
		all = append(all, m.hatSection(width))
	}
	return all
}

func (m model) taskSection(width, least int) section {
	return section{
		title: m.tasksTitle(), lines: m.tasks(width, len(m.scene.Tasks)), minLines: least,
		fit: func(rows int) []string { return m.tasks(width, rows) },
	}
}

func (m model) hatSection(width int) section {
	return section{
		title: "hats", lines: m.renderLanes(width, len(m.scene.Hats)), minLines: 4,
		fit: func(rows int) []string { return m.renderLanes(width, rows) },
	}
}

// layOut distributes the rows. Each section first gets its rule and its
// minimum, in order; the remaining rows go to sections with more lines.
func layOut(all []section, width, rows int) []string {
	given := make([]int, len(all))
	left := rows
	give := func(n, need int) {
		head := 1
		if all[n].noRule {
			head = 0
		}
		if need > 0 && left >= need+head {
			given[n] = need
			left -= need + head
		}
	}
	for n, s := range all {
		if !s.optional {
			give(n, min(max(s.minLines, 1), max(len(s.lines), 1)))
		}
	}
	for n, s := range all {
		if more := min(len(s.lines)-given[n], left); given[n] > 0 && more > 0 {
			given[n] += more
			left -= more
		}
	}
	for n, s := range all {
		if s.optional {
			give(n, len(s.lines))
		}
	}
	var out []string
	for n, s := range all {
		if given[n] == 0 {
			continue
		}
		lines := s.lines
		if s.fit != nil {
			lines = s.fit(given[n])
		}
		if over := len(lines) - given[n]; over > 0 && s.keepTail {
			lines = lines[over:]
		}
		right := ""
		if s.place != nil {
			right = s.place(given[n])
		}
		if !s.noRule {
			out = append(out, horizontalRule(s.title, right, width))
		}
		out = append(out, padRows(slices.Clone(lines[:min(len(lines), given[n])]), given[n])...)
	}
	return padRows(out, rows)
}

// questions returns a line for each open question.
func (m model) questions(width int) []string {
	var out []string
	for _, q := range m.scene.Questions {
		if len(q.Lines) > 0 {
			out = append(out, bot.Cut(q.Lines[0], width))
		}
	}
	return out
}

// titleBehind returns the title of a task at work beside the first one, to stand behind
// what is done for it. beside begins with its id.
func (m model) titleBehind(beside string) string {
	id, _, _ := strings.Cut(beside, " ")
	for _, t := range m.scene.Tasks {
		if t.ID == id && t.Title != "" {
			return " · " + t.Title
		}
	}
	return ""
}

// currentWork returns the lines about the work in progress, with at most output
// lines of its output. bare says that there is little room.
func (m model) currentWork(width, output int, bare bool) []string {
	h := m.scene.Current
	var out []string
	if h != nil {
		out = append(out, bot.Cut(h.Sign+" "+h.Task+" "+h.Title, width), m.workLine(width))
		if bare && len(h.Beside) > 0 {
			out = append(out, bot.Cut(bot.SignNow+" "+strings.Join(h.Beside, " · "), width))
		} else {
			for _, beside := range h.Beside {
				out = append(out, bot.Cut(bot.SignNow+" "+beside+m.titleBehind(beside), width))
			}
		}
		if !h.Event.IsZero() {
			facts := []string{"  last event " + elapsed(m.now.Sub(h.Event)) + " ago"}
			if h.Stall != "" {
				facts = append(facts, "silent limit "+h.Stall)
			}
			out = append(out, joinFacts(facts, width))
		}
	}
	if out = append(out, m.remarks(width)...); len(out) == 0 {
		out = append(out, bot.SignLater+" nothing is in hand")
	}
	if h != nil {
		for _, line := range h.Output[max(len(h.Output)-output, 0):] {
			out = append(out, bot.Cut("  > "+line, width))
		}
	}
	return out
}

// workLine returns "builder · claude fast · 8:04 · attempt 1". With little room
// it omits the agent before the time.
func (m model) workLine(width int) string {
	h := m.scene.Current
	var facts []string
	if !h.Since.IsZero() {
		facts = append(facts, elapsed(m.now.Sub(h.Since)))
	}
	if h.Attempt > 0 {
		facts = append(facts, fmt.Sprintf("attempt %d", h.Attempt))
	}
	if h.Agent != "" {
		line := strings.Join(slices.Concat([]string{"  " + h.Doing, h.Agent}, facts), " · ")
		if bot.Width(line) <= width {
			return line
		}
	}
	return joinFacts(append(append([]string{"  " + h.Doing}, facts...), h.Agent), width)
}

// remarks returns the scene's remarks, wrapped.
func (m model) remarks(width int) []string {
	var out []string
	for _, text := range m.scene.Remarks {
		out = append(out, bot.Wrap(bot.Clean(text), width)...)
	}
	return out
}

// elapsed formats a duration as "8:04" or "2:08:04".
func elapsed(d time.Duration) string {
	s := max(int(d.Seconds()), 0)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

func (m model) tasksTitle() string { return fmt.Sprintf("tasks %d/%d", m.scene.Done, m.scene.Total) }

// tasks lists all tasks if there is room. With less room, finished tasks become
// one line, and with even less only tasks near the active one are shown.
func (m model) tasks(width, rows int) []string {
	all := m.scene.Tasks
	if len(all) == 0 {
		return []string{bot.SignLater + " no tasks are known"}
	}
	ids := 0
	for _, t := range all {
		ids = max(ids, min(bot.Width(t.ID), width/3))
	}
	line := func(t Task) string {
		mark := " "
		if t.Arg == m.chosen {
			mark = "›"
		}
		head := mark + t.Sign + " " + bot.Pad(bot.Cut(t.ID, ids), ids, 0) + " "
		title := bot.Cut(t.Title, max(width-bot.Width(head)-bot.Width(t.Word)-1, 8))
		return bot.Pad(head+title, width-bot.Width(t.Word), 1) + t.Word
	}
	if len(all) <= rows {
		var out []string
		for _, t := range all {
			out = append(out, line(t))
		}
		return out
	}
	var done []string
	var rest []Task
	for _, t := range all {
		if t.Done && t.Arg != m.chosen {
			done = append(done, t.ID)
			continue
		}
		rest = append(rest, t)
	}
	var out []string
	if len(done) > 0 && rows > 1 {
		out = append(out, bot.Cut(fmt.Sprintf(" %s %d done: %s", bot.SignDone, len(done), bot.Ranges(done)), width))
	}
	room := max(rows-len(out), 1)
	from := 0
	for n, t := range rest {
		if t.Arg == m.chosen || m.chosen == "" && t.Sign == bot.SignNow {
			from = n - room/2
		}
	}
	more := len(rest) > room
	if more && room > 2 {
		room-- // for the line about the finished tasks
	}
	from = min(max(from, 0), max(len(rest)-room, 0))
	shown := rest[from:min(from+room, len(rest))]
	for _, t := range shown {
		out = append(out, line(t))
	}
	if more && rows > 3 {
		out = append(out, fmt.Sprintf("   and %d more", len(rest)-len(shown)))
	}
	return out
}

// guidance returns a line for each item.
func (m model) guidance(width int) []string {
	var out []string
	for _, i := range m.scene.Guidance {
		head := i.Sign + " " + i.ID + " "
		words := bot.Cut(i.Text, max(width-bot.Width(head)-bot.Width(i.Where)-2, 8))
		out = append(out, bot.Pad(head+words, width-bot.Width(i.Where), 2)+i.Where)
	}
	if len(out) == 0 {
		out = append(out, bot.SignLater+" none; g gives some")
	}
	return out
}

// latestEvents returns the latest events, the newest at the bottom.
func (m model) latestEvents(width int) []string {
	var out []string
	for _, line := range m.scene.Events {
		out = append(out, bot.Cut(line, width))
	}
	if len(out) == 0 {
		out = append(out, bot.SignLater+" nothing yet")
	}
	return out
}

// questionLines returns the question that is being answered. With little room
// it is cut in the middle: its first line, the options and the default remain.
func (m model) questionLines(rows int) []string {
	q := m.question()
	title := "needs you"
	if n := len(m.scene.Questions); n > 1 {
		at := slices.IndexFunc(m.scene.Questions, func(other Question) bool { return other.ID == q.ID })
		title = fmt.Sprintf("needs you, %d of %d · tab", at+1, n)
	}
	var out []string
	for _, line := range q.Lines {
		if words, ok := strings.CutPrefix(line, quotePrefix); ok {
			for _, part := range bot.Wrap(words, m.width-bot.Width(quotePrefix)) {
				out = append(out, quotePrefix+part)
			}
			continue
		}
		out = append(out, bot.Wrap(line, m.width)...)
	}
	if over := len(out) - (rows - 1); over > 0 && rows > 4 {
		out = slices.Concat(out[:2], []string{"…"}, out[3+over:])
	}
	return append([]string{horizontalRule(title, "", m.width)}, out...)
}

// choicesLine returns "a Retry  b Skip  c Guide  esc". Options written by the
// agent appear by letter only, because their text is in the question.
func (m model) choicesLine() string {
	var parts []string
	for n, c := range m.question().Choices {
		letter := string(rune('a' + n))
		if !strings.EqualFold(letter, c.Label) {
			letter += " " + c.Label
		}
		parts = append(parts, letter)
	}
	return strings.Join(append(parts, "esc"), "  ")
}

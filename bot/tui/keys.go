package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
)

// handleKey handles a key.
func (m model) handleKey(k tea.KeyPressMsg) (model, tea.Cmd) {
	switch k.String() { // in every mode
	case "ctrl+c": // leaves the screen and ends no run
		return m, tea.Quit
	case "ctrl+l": // something else wrote to the terminal, or it changed its size there and back
		return m, tea.ClearScreen
	}
	switch m.mode {
	case modeInput:
		return m.handleInputKey(k)
	case modeAnswer:
		return m.handleAnswerKey(k)
	case modeConfirmEnd:
		return m.handleConfirmKey(k)
	case modePage:
		if k.String() == "q" || k.String() == "esc" || k.String() == "enter" {
			m.mode = modeCommand
			return m, nil
		}
		m.page.key(k, m.width, m.height)
		return m, nil
	}
	return m.handleCommandKey(k)
}

func (m model) handleCommandKey(k tea.KeyPressMsg) (model, tea.Cmd) {
	switch k.String() {
	case "q":
		return m, tea.Quit
	case "g":
		m.mode, m.input, m.note = modeInput, newInput(""), ""
	case "/":
		m.mode, m.input, m.note = modeInput, newInput("/"), ""
	case "p":
		return m.sendLine(sent{Line: Line{Text: "/pause"}})
	case "r":
		return m.sendLine(sent{Line: Line{Text: "/resume"}})
	case "s":
		if m.idle() {
			m.note = bot.SignLater + " no run is under way"
			return m, nil
		}
		m.mode, m.note = modeConfirmEnd, ""
	case "l":
		return m.sendLine(sent{Line: Line{Text: strings.TrimSpace("/log " + m.chosenArg())}, asPage: true})
	case "d":
		return m.sendLine(sent{Line: Line{Text: strings.TrimSpace("/diff " + m.chosenArg())}, asPage: true})
	case "enter":
		arg := cmp.Or(m.chosenArg(), m.activeTask())
		if arg == "" {
			m.note = bot.SignLater + " no task is chosen; ↓ ↑ choose one"
			return m, nil
		}
		return m.sendLine(sent{Line: Line{Text: "/task " + arg}, asPage: true})
	case "a":
		if len(m.scene.Questions) == 0 {
			m.note = bot.SignLater + " no question is open"
			return m, nil
		}
		m.mode, m.questionID, m.note = modeAnswer, m.scene.Questions[0].ID, ""
	case "?":
		m.page, m.mode = newPage("keys", help), modePage
	case "tab":
		return m.otherProject(1)
	case "shift+tab":
		return m.otherProject(-1)
	case "down", "j":
		m.moveSelection(1)
	case "up", "k":
		m.moveSelection(-1)
	case "esc":
		m.chosen, m.note = "", ""
	default:
		m.handlePaneKey(k.String())
	}
	return m, nil
}

// handlePaneKey handles a key of a large screen.
func (m *model) handlePaneKey(key string) {
	all := m.visiblePanes()
	if len(all) == 0 {
		return
	}
	switch key {
	case "v":
		other := map[PaneKind]PaneKind{PanePlan: PaneDiff, PaneDiff: PanePlan}[m.detail]
		if m.focusedPane() == m.detail {
			m.focus = other
		}
		m.detail = other
	case "w":
		at := slices.Index(all, m.focusedPane())
		m.focus = all[(at+1)%len(all)]
	default:
		m.pane(m.focusedPane()).scroll(key)
	}
}

// help describes every key, within the width of the narrowest screen.
const help = `g    guidance; enter sends it
/    any command: /queue, /retry 8, …
a    answer a question, by its letter
p    pause after this session; r resumes
s    stop the run; asks first
l    log of the chosen task, or the run
d    diff of the chosen task, or the run
↓↑   choose a task, ↵ shows it
tab  another project
q    quits; nightporter goes on
^L   draws the screen anew
On a large screen also:
v    plan or diff
w    another pane; PgUp, PgDn scroll it
End  newest output again`

func (m model) handleInputKey(k tea.KeyPressMsg) (model, tea.Cmd) {
	switch k.String() {
	case "esc":
		m.mode, m.input, m.note = modeCommand, newInput(""), ""
		return m, nil
	case "enter":
		words := m.input.text()
		if strings.TrimSpace(words) == "" {
			m.mode = modeCommand
			return m, nil
		}
		m.mode, m.input = modeCommand, newInput("")
		return m.sendLine(sent{Line: Line{Text: parseInput(words)}, restore: words})
	}
	was := m.input.text()
	m.input.update(k)
	if m.input.text() != was {
		m.failed = nil // an edited line is a new line
	}
	return m, nil
}

// parseInput turns typed words into a line: a command or an answer stays as it
// is, any other text becomes guidance, as in every chat.
func parseInput(words string) string {
	if line := strings.TrimSpace(words); bot.IsCommand(line) {
		return line
	}
	return "/guidance " + strings.TrimSpace(words)
}

func (m model) handleAnswerKey(k tea.KeyPressMsg) (model, tea.Cmd) {
	q := m.question()
	key := k.String()
	switch key {
	case "esc":
		m.mode = modeCommand
		return m, nil
	case "tab", "down":
		m.questionID = m.otherQuestion(1)
		return m, nil
	case "shift+tab", "up":
		m.questionID = m.otherQuestion(-1)
		return m, nil
	}
	if len(key) != 1 || key[0] < 'a' || int(key[0]-'a') >= len(q.Choices) {
		return m, nil
	}
	c := q.Choices[key[0]-'a']
	if c.Words {
		m.mode, m.input = modeInput, newInput(c.Line+" ")
		return m, nil
	}
	m.mode = modeCommand
	return m.sendLine(sent{Line: Line{Text: c.Line}, asPage: strings.HasPrefix(c.Line, "/plan")})
}

// otherQuestion returns the id of the question by places after the shown one.
func (m model) otherQuestion(by int) string {
	all := m.scene.Questions
	for n, q := range all {
		if q.ID == m.questionID {
			return all[(n+by+len(all))%len(all)].ID
		}
	}
	return m.questionID
}

func (m model) handleConfirmKey(k tea.KeyPressMsg) (model, tea.Cmd) {
	m.mode = modeCommand
	if k.String() == "y" {
		return m.sendLine(sent{Line: Line{Text: "/stop"}})
	}
	m.note = bot.SignLater + " not stopped"
	return m, nil
}

// otherProject switches to the next or the previous project.
func (m model) otherProject(by int) (model, tea.Cmd) {
	all := m.scene.Projects
	if len(all) < 2 {
		return m, nil
	}
	at := 0
	for n, name := range all {
		if name == m.scene.Project {
			at = n
		}
	}
	m.cancelLook()
	m.lookGen++
	m.scene = Scene{Project: all[(at+by+len(all))%len(all)], Projects: all, Zone: m.scene.Zone, Offset: m.scene.Offset}
	m.chosen, m.note = "", ""
	return m, m.look()
}

// moveSelection moves the selection in the list of tasks.
func (m *model) moveSelection(by int) {
	if len(m.scene.Tasks) == 0 {
		return
	}
	at := -1
	for n, t := range m.scene.Tasks {
		if t.Arg == m.chosen {
			at = n
		}
	}
	switch {
	case at >= 0:
		at = min(max(at+by, 0), len(m.scene.Tasks)-1)
	case m.chosen == "" && m.activeTask() != "": // starts at the active task
		m.chosen = m.activeTask()
		return
	default:
		at = 0
	}
	m.chosen = m.scene.Tasks[at].Arg
}

// activeTask returns the active task as an argument of a command, or "".
func (m model) activeTask() string {
	for _, t := range m.scene.Tasks {
		if t.Sign == bot.SignNow {
			return t.Arg
		}
	}
	return ""
}

// chosenArg returns the selected task as an argument of a command; "" if none
// is selected or the task no longer exists.
func (m model) chosenArg() string {
	for _, t := range m.scene.Tasks {
		if t.Arg == m.chosen {
			return t.Arg
		}
	}
	return ""
}

package tui

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
)

// ErrOffline means that the daemon did not respond. The line may have taken
// effect; sending it again with the same key is safe.
var ErrOffline = errors.New("nightporter does not answer")

// Client is the connection to the daemon.
type Client interface {
	// Look returns the project's scene once it differs from the one that seen
	// names, or after a time limit. project "" means the active one. With
	// patient, Look retries for a while when the daemon does not respond.
	Look(ctx context.Context, project, seen string, patient bool) (Scene, error)
	// Send executes a line and returns the response for its sender.
	Send(ctx context.Context, line Line) (Answer, error)
}

// Line is a typed line, or the line of a key press. Two lines with the same Key
// are the same line.
type Line struct{ Key, Project, Text string }

// Answer is the daemon's response to a line.
type Answer struct {
	OK   bool
	Text string
}

// Options configure the screen.
type Options struct {
	Project string         // the first project; "" = the active one
	Color   bool           // use colours
	Zone    *time.Location // for scenes without a zone; nil = local
	Now     func() time.Time
	Key     func() string // returns a new key for each line
}

// mode decides how keys are interpreted.
type mode int

const (
	looking mode = iota // keys are commands
	typing              // keys go into the input line
	asking              // letters answer the question
	ending              // y ends the run
	reading             // a text is open
)

// model is the state of the screen. Update and View are pure except for the
// commands that they return.
type model struct {
	opt    Options
	porter func(project, seen string, patient bool, gen int) tea.Cmd
	send   func(sent) tea.Cmd
	leave  func() // cancels the current Look

	width, height int
	now           time.Time

	scene  Scene
	loaded bool      // a scene has been received
	gen    int       // generation of Look calls; results of earlier ones are dropped
	away   time.Time // since when the daemon has not responded; zero while it does

	mode   mode
	input  input
	sent   *sent  // the line that awaits its response
	failed *sent  // the line without a response, until the person edits it
	note   string // the response to a line, or an error
	chosen string // id of the selected task, "" for none
	asked  string // id of the shown question; a letter must never answer another one
	page   page

	err error // the error with which the screen ends
}

// sent is a line that was sent.
type sent struct {
	Line
	again bool   // it has been sent a second time
	open  bool   // show the response as a page
	back  string // text to restore to the input line after a failure; "" for a key press
}

// Messages in addition to those of the terminal.
type (
	tickMsg  time.Time
	sceneMsg struct {
		gen   int
		scene Scene
		err   error
	}
	lookMsg   struct{ gen int }
	answerMsg struct {
		sent   sent
		answer Answer
		err    error
	}
)

// Init starts the first Look.
func (m model) Init() tea.Cmd { return tea.Batch(m.look(), tick()) }

func (m model) look() tea.Cmd {
	project := m.scene.Project
	if !m.loaded {
		project = m.opt.Project
	}
	if !m.away.IsZero() { // a daemon that is back should respond at once
		return m.porter(project, "", true, m.gen)
	}
	return m.porter(project, m.scene.Seen, false, m.gen)
}

// tick updates the clock and the elapsed times.
func tick() tea.Cmd { return tea.Every(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// rest is the pause between a change and the next Look, so that fast work is
// not requested and drawn more often than people can read.
const rest = 100 * time.Millisecond

// Update handles a message.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		m.now = m.opt.Now()
		return m, tick()
	case sceneMsg:
		return m.seen(msg)
	case lookMsg:
		if msg.gen == m.gen {
			return m, m.look()
		}
	case answerMsg:
		return m.answered(msg)
	case tea.PasteMsg:
		if m.mode == typing {
			m.input.update(msg)
			m.failed = nil
		}
	case tea.KeyPressMsg:
		return m.press(msg)
	}
	return m, nil
}

// seen handles the result of a Look, and starts the next one.
func (m model) seen(msg sceneMsg) (tea.Model, tea.Cmd) {
	if msg.gen != m.gen { // the project has been switched
		return m, nil
	}
	m.now = m.opt.Now()
	switch {
	case errors.Is(msg.err, context.Canceled):
		return m, nil
	case errors.Is(msg.err, ErrOffline):
		if m.away.IsZero() {
			m.away = m.now
		}
		return m, m.look()
	case msg.err != nil:
		m.err = msg.err
		return m, tea.Quit
	}
	if !m.away.IsZero() {
		m.note = bot.SignDone + " nightporter is back, was away since " + m.away.In(m.zone()).Format(time.TimeOnly)
		m.away = time.Time{}
	}
	m.scene, m.loaded = msg.scene, true
	if m.mode == asking && m.question().ID == "" {
		m.mode, m.note = looking, bot.SignLater+" "+m.asked+" is settled"
	}
	if m.mode == ending && m.idle() {
		m.mode = looking
	}
	gen := m.gen
	return m, tea.Tick(rest, func(time.Time) tea.Msg { return lookMsg{gen} })
}

// question returns the shown question, or an empty one if it has been settled.
func (m model) question() Question {
	for _, q := range m.scene.Questions {
		if q.ID == m.asked {
			return q
		}
	}
	return Question{}
}

// idle reports whether no run is active.
func (m model) idle() bool { return m.scene.Run == "" || !m.scene.Ended.IsZero() }

// answered handles the response to a line. A line without a response is sent
// once more; its key ensures that it takes effect once.
func (m model) answered(msg answerMsg) (tea.Model, tea.Cmd) {
	s := msg.sent
	if m.sent == nil || m.sent.Key != s.Key {
		return m, nil
	}
	if msg.err != nil && errors.Is(msg.err, ErrOffline) && !s.again {
		s.again = true
		m.sent = &s
		m.note = bot.SignAgain + " not answered, sent once more: " + bot.Clean(s.Text)
		return m, m.send(s)
	}
	m.sent = nil
	switch {
	case errors.Is(msg.err, ErrOffline):
		m.note = bot.SignLook + " unknown: nightporter did not answer. Enter sends it again; it is done once."
		m.failed = &s
		m.giveBack(s)
	case msg.err != nil:
		m.note = bot.SignFailed + " " + bot.Clean(msg.err.Error())
		m.giveBack(s)
	case !msg.answer.OK:
		m.note = msg.answer.Text
		m.giveBack(s)
	case s.open || strings.Count(msg.answer.Text, "\n") >= noteLines:
		m.note = ""
		if m.mode == looking || m.mode == reading {
			m.page, m.mode = newPage(s.Text, msg.answer.Text), reading
		} else { // a person is typing
			m.note = firstLine(msg.answer.Text)
		}
	default:
		m.note = msg.answer.Text
	}
	return m, nil
}

// giveBack restores the text of a failed line to the input line, unless the
// person has typed another one.
func (m *model) giveBack(s sent) {
	if s.back != "" && (m.mode == looking || m.mode == typing && m.input.text() == "") {
		m.input, m.mode = newInput(s.back), typing
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// say sends a line.
func (m model) say(s sent) (tea.Model, tea.Cmd) {
	if m.sent != nil {
		m.note = bot.SignLater + " wait: " + bot.Clean(m.sent.Text) + " is on its way"
		m.giveBack(s)
		return m, nil
	}
	if m.failed != nil && m.failed.Text == s.Text && m.failed.Project == m.scene.Project {
		s.Key = m.failed.Key
	} else {
		s.Key = m.opt.Key()
	}
	s.Project = m.scene.Project
	m.failed, m.sent = nil, &s
	m.note = ""
	return m, m.send(s)
}

func (m model) zone() *time.Location {
	if m.scene.Zone != "" {
		if z, err := time.LoadLocation(m.scene.Zone); err == nil {
			return z
		}
	}
	if m.opt.Zone != nil {
		return m.opt.Zone
	}
	return time.Local
}

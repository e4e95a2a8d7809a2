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
	// Look returns the project's scene once it differs from the scene named
	// seen, or after a time limit. An empty project means the active one. With
	// patient, Look retries for a while when the daemon does not respond.
	Look(ctx context.Context, project, seen string, patient bool) (Scene, error)
	// Pane returns a pane once it differs from the one named Seen, or after a
	// time limit.
	Pane(ctx context.Context, q PaneRequest) (Pane, error)
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
	Project string // the first project; "" = the active one
	Color   bool   // use colours
	Now     func() time.Time
	Key     func() string // returns a new key for each line
	// Size returns the terminal's current size; nil = it is only known from
	// signals. Some connections and containers deliver none.
	Size func() (width, height int)
}

// mode decides how keys are interpreted.
type mode int

const (
	modeCommand    mode = iota // keys are commands
	modeInput                  // keys go into the input line
	modeAnswer                 // letters answer the question
	modeConfirmEnd             // y ends the run
	modePage                   // a text is open
)

// model is the state of the screen. Update and View are pure except for the
// commands that they return.
type model struct {
	opt          Options
	requestScene func(project, seen string, patient bool, gen int) tea.Cmd
	send         func(sent) tea.Cmd
	cancelLook   func() // cancels the current Look
	requestPane  func(q PaneRequest, gen int) tea.Cmd
	cancelPane   func(kind PaneKind)

	width, height int
	now           time.Time

	scene        Scene
	loaded       bool      // a scene has been received
	lookGen      int       // generation of Look calls; results of earlier ones are dropped
	offlineSince time.Time // since when the daemon has not responded; zero while it does

	mode       mode
	input      input
	sent       *sent  // the line that awaits its response
	failed     *sent  // the line without a response, until the person edits it
	note       string // the response to a line, or an error
	chosen     string // id of the selected task, "" for none
	questionID string // id of the shown question; a letter must never answer another one
	page       page
	panes      []*paneView // of a large screen
	detail     PaneKind    // the plan or the diff: which is shown, or shown first
	focus      PaneKind    // the pane that keys scroll, if it is visible

	err error // the error with which the screen ends
}

// sent is a line that was sent.
type sent struct {
	Line
	retried bool   // it has been sent a second time
	asPage  bool   // show the response as a page
	restore string // text to restore to the input line after a failure; "" for a key press
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
	if !m.offlineSince.IsZero() { // a daemon that is back should respond at once
		return m.requestScene(project, "", true, m.lookGen)
	}
	return m.requestScene(project, m.scene.Version, false, m.lookGen)
}

// tick updates the clock and the elapsed times.
func tick() tea.Cmd { return tea.Every(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// checkSize reports a size that no signal announced. The message resizes the
// terminal's buffer, too, which redraws everything: it is sent for a new size
// only.
func (m model) checkSize() tea.Cmd {
	if m.opt.Size == nil {
		return nil
	}
	w, h := m.opt.Size()
	if w <= 0 || h <= 0 || w == m.width && h == m.height {
		return nil
	}
	return func() tea.Msg { return tea.WindowSizeMsg{Width: w, Height: h} }
}

// redrawPause is the pause between a change and the next Look, so that fast
// work is not requested and drawn more often than people can read.
const redrawPause = 100 * time.Millisecond

// Update handles a message.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := m.update(msg)
	return next, tea.Batch(cmd, next.lookAtPanes())
}

func (m model) update(msg tea.Msg) (model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		m.now = m.opt.Now()
		return m, tea.Batch(tick(), m.checkSize())
	case sceneMsg:
		return m.applyScene(msg)
	case lookMsg:
		if msg.gen == m.lookGen {
			return m, m.look()
		}
	case paneLookMsg:
		return m, m.askForPane(msg)
	case paneMsg:
		return m, m.applyPane(msg)
	case answerMsg:
		return m.applyAnswer(msg)
	case tea.PasteMsg:
		if m.mode == modeInput {
			m.input.update(msg)
			m.failed = nil
		}
	case tea.KeyPressMsg:
		return m.handleKey(msg)
	}
	return m, nil
}

// applyScene handles the result of a Look, and starts the next one.
func (m model) applyScene(msg sceneMsg) (model, tea.Cmd) {
	if msg.gen != m.lookGen { // the project has been switched
		return m, nil
	}
	m.now = m.opt.Now()
	switch {
	case errors.Is(msg.err, context.Canceled):
		return m, nil
	case errors.Is(msg.err, ErrOffline):
		if m.offlineSince.IsZero() {
			m.offlineSince = m.now
		}
		return m, m.look()
	case msg.err != nil:
		m.err = msg.err
		return m, tea.Quit
	}
	if !m.offlineSince.IsZero() {
		m.note = bot.SignDone + " nightporter is back, was away since " + m.offlineSince.In(m.zone()).Format(time.TimeOnly)
		m.offlineSince = time.Time{}
	}
	m.scene, m.loaded = msg.scene, true
	if m.mode == modeAnswer && m.question().ID == "" {
		m.mode, m.note = modeCommand, bot.SignLater+" "+m.questionID+" is settled"
	}
	if m.mode == modeConfirmEnd && m.idle() {
		m.mode = modeCommand
	}
	gen := m.lookGen
	return m, tea.Tick(redrawPause, func(time.Time) tea.Msg { return lookMsg{gen} })
}

// question returns the shown question, or an empty one if it has been settled.
func (m model) question() Question {
	for _, q := range m.scene.Questions {
		if q.ID == m.questionID {
			return q
		}
	}
	return Question{}
}

// idle reports whether no run is active.
func (m model) idle() bool { return m.scene.Run == "" || !m.scene.Ended.IsZero() }

// applyAnswer handles the response to a line. A line without a response is sent
// once more; its key ensures that it takes effect once.
func (m model) applyAnswer(msg answerMsg) (model, tea.Cmd) {
	s := msg.sent
	if m.sent == nil || m.sent.Key != s.Key {
		return m, nil
	}
	if msg.err != nil && errors.Is(msg.err, ErrOffline) && !s.retried {
		s.retried = true
		m.sent = &s
		m.note = bot.SignAgain + " not answered, sent once more: " + bot.Clean(s.Text)
		return m, m.send(s)
	}
	m.sent = nil
	switch {
	case errors.Is(msg.err, ErrOffline):
		m.note = bot.SignLook + " unknown: nightporter did not answer. Enter sends it again; it is done once."
		m.failed = &s
		m.restoreInput(s)
	case msg.err != nil:
		m.note = bot.SignFailed + " " + bot.Clean(msg.err.Error())
		m.restoreInput(s)
	case !msg.answer.OK:
		m.note = msg.answer.Text
		m.restoreInput(s)
	case s.asPage || strings.Count(msg.answer.Text, "\n") >= noteLines:
		m.note = ""
		if m.mode == modeCommand || m.mode == modePage {
			m.page, m.mode = newPage(s.Text, msg.answer.Text), modePage
		} else { // a person is typing
			m.note = firstLine(msg.answer.Text)
		}
	default:
		m.note = msg.answer.Text
	}
	return m, nil
}

// restoreInput restores the text of a failed line to the input line, unless the
// person has typed another one.
func (m *model) restoreInput(s sent) {
	if s.restore != "" && (m.mode == modeCommand || m.mode == modeInput && m.input.text() == "") {
		m.input, m.mode = newInput(s.restore), modeInput
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// sendLine sends a line.
func (m model) sendLine(s sent) (model, tea.Cmd) {
	if m.sent != nil {
		m.note = bot.SignLater + " wait: " + bot.Clean(m.sent.Text) + " is on its way"
		m.restoreInput(s)
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

// zone returns the zone of the scene, in which its log is written.
func (m model) zone() *time.Location {
	if m.scene.Zone != "" {
		if z, err := time.LoadLocation(m.scene.Zone); err == nil {
			return z
		}
	}
	if m.loaded {
		return time.FixedZone("", m.scene.Offset)
	}
	return m.now.Location()
}

package tui

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
)

// ErrAway says that nobody answered: what was asked may or may not have been
// done, and the same with the same key is safe.
var ErrAway = errors.New("nightporter does not answer")

// Porter is the nightporter that is watched.
type Porter interface {
	// Look returns the project's scene as soon as it is another one than seen
	// names, or after a while. project "" is the one that is at work. patient
	// keeps trying for a while where nobody answers, else the first try counts.
	Look(ctx context.Context, project, seen string, patient bool) (Scene, error)
	// Send does what a line asks for and returns what its sender is told.
	Send(ctx context.Context, line Line) (Answer, error)
}

// Line is something that was typed, or a key stands for. The same key is the
// same line.
type Line struct{ Key, Project, Text string }

// Answer is what the sender of a line is told.
type Answer struct {
	OK   bool
	Text string
}

// Options say how the screen looks.
type Options struct {
	Project string         // to begin with; "" = the one that is at work
	Color   bool           // without it nothing is set in colour
	Zone    *time.Location // where the scene names none; nil = local
	Now     func() time.Time
	Key     func() string // a new one for every line
}

// mode is what keys are for.
type mode int

const (
	looking mode = iota // a key is a command
	typing              // keys go into the box
	asking              // letters answer the question
	ending              // y ends the run
	reading             // a text is open
)

// model is the screen. Update and View are pure but for the commands that
// they return.
type model struct {
	opt    Options
	porter func(project, seen string, patient bool, gen int) tea.Cmd
	send   func(sent) tea.Cmd
	leave  func() // of the look in hand

	width, height int
	now           time.Time

	scene  Scene
	loaded bool      // a scene was seen
	gen    int       // of the look: those of a project that was left do not count
	away   time.Time // since when nobody answers, zero while somebody does

	mode   mode
	input  input
	sent   *sent  // the line in hand
	failed *sent  // the line that was not answered, for as long as it is not changed
	note   string // what was answered, or is wrong
	chosen string // task, "" for none
	asked  string // id of the question that is shown: letters must never answer another one
	page   page

	err error // that it ends with
}

// sent is a line on its way.
type sent struct {
	Line
	again bool   // nobody answered it once
	open  bool   // its answer is for reading
	back  string // what goes back into the box where it was not done, "" for a key
}

// Messages besides those of the terminal.
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

// Init looks for the first time.
func (m model) Init() tea.Cmd { return tea.Batch(m.look(), tick()) }

func (m model) look() tea.Cmd {
	project := m.scene.Project
	if !m.loaded {
		project = m.opt.Project
	}
	if !m.away.IsZero() { // whoever answers again has to do it at once
		return m.porter(project, "", true, m.gen)
	}
	return m.porter(project, m.scene.Seen, false, m.gen)
}

// tick is for what goes on with the time alone: the clock and how long
// something takes.
func tick() tea.Cmd { return tea.Every(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// rest is how long the screen leaves the daemon alone after a change: work
// that moves fast must not be drawn, and asked for, more often than anybody
// can read.
const rest = 100 * time.Millisecond

// Update takes a message in.
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

// seen takes a scene in, or that there was none, and looks again.
func (m model) seen(msg sceneMsg) (tea.Model, tea.Cmd) {
	if msg.gen != m.gen { // of a project that was left
		return m, nil
	}
	m.now = m.opt.Now()
	switch {
	case errors.Is(msg.err, context.Canceled):
		return m, nil
	case errors.Is(msg.err, ErrAway):
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

// question is the one that is shown, an empty one where it is settled by now.
func (m model) question() Question {
	for _, q := range m.scene.Questions {
		if q.ID == m.asked {
			return q
		}
	}
	return Question{}
}

// idle reports whether no run is under way.
func (m model) idle() bool { return m.scene.Run == "" || !m.scene.Ended.IsZero() }

// answered takes in what became of a line. One that nobody answered is sent
// once more, with its own key: it is done once, however often it arrives.
func (m model) answered(msg answerMsg) (tea.Model, tea.Cmd) {
	s := msg.sent
	if m.sent == nil || m.sent.Key != s.Key {
		return m, nil
	}
	if msg.err != nil && errors.Is(msg.err, ErrAway) && !s.again {
		s.again = true
		m.sent = &s
		m.note = bot.SignAgain + " not answered, sent once more: " + bot.Clean(s.Text)
		return m, m.send(s)
	}
	m.sent = nil
	switch {
	case errors.Is(msg.err, ErrAway):
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
		} else { // somebody types meanwhile
			m.note = firstLine(msg.answer.Text)
		}
	default:
		m.note = msg.answer.Text
	}
	return m, nil
}

// giveBack puts what was typed into the box again, where nothing else stands
// there by now: words are never lost.
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

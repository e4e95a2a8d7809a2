package bot

import (
	"strings"

	"github.com/nightporter/nightporter/loop"
)

// Signs, one meaning each, always followed by the word. None of them can turn
// into a coloured emoji.
const (
	SignDone    = "✓" // finished well
	SignFailed  = "✗" // finished badly, or refused
	SignBlocked = "■" // stands until a person decides
	SignAsk     = "?" // needs an answer
	SignLook    = "!" // settles itself, or says how
	SignNow     = "●" // at work
	SignLater   = "○" // ready, queued, idle
	SignPaused  = "‖" // held by a person
	SignAway    = "–" // put away
	SignAgain   = "↻" // the same once more
)

// Signs lists them all.
const Signs = SignDone + SignFailed + SignBlocked + SignAsk + SignLook + SignNow + SignLater + SignPaused + SignAway + SignAgain

// Limits of a message's form.
const (
	FirstWidth = 38 // columns of the first line
	LabelWidth = 14 // columns of a button
	quoteWidth = 72 // two lines of a phone

	MaxPicture = 300_000 // bytes
	MaxAlt     = 2000    // characters of a picture in words
)

// LineKind is how a line is set.
type LineKind string

// Kinds of line.
const (
	Plain LineKind = ""
	Quote LineKind = "quote" // what people, agents and programs said
	Pre   LineKind = "pre"   // columns count: log, diff, tables
	Head  LineKind = "head"  // over a few lines of a longer message
)

// Line is one line of a message. Its text is clean.
type Line struct {
	Kind LineKind `json:"kind,omitempty"`
	Text string   `json:"text"`
}

// Button is the next thing to do, with what a person can type instead. A
// press and its twin are the same input.
type Button struct {
	Label   string `json:"label"`
	Command string `json:"twin"`
}

// Message is what people are shown, for any platform.
type Message struct {
	Key     string   `json:"key"` // names the kind of message: "status.running"
	Lines   []Line   `json:"lines"`
	Buttons []Button `json:"buttons,omitempty"`
	// Cause is the key of the input whose accepted answer this is, "" for any
	// other message. Who shows ledger entries as they come can leave it out.
	Cause string `json:"cause,omitempty"`
	// Project and About are what a reply to the message, or a press of its
	// buttons, is for: a project's name and a task's id as written.
	Project string `json:"project,omitempty"`
	About   string `json:"about,omitempty"`
	// Picture is a PNG of at most MaxPicture bytes above the text, which says
	// all that it shows: a platform that does not take it shows the text alone.
	Picture []byte `json:"picture,omitempty"`
	// Alt is the picture in words, at most MaxAlt characters, for who does not
	// see it: a platform takes it with the picture, a terminal prints it.
	Alt string `json:"alt,omitempty"`

	// Refused reports that a command was not carried out: a shell ends with exit
	// code 1, and a chat sends the reply again where it may have got lost. It is
	// about the command, not the message, so the outbox does not keep it.
	Refused bool `json:"-"`

	cut bool // the first line was cut, and stands whole in the second
}

// newMessage begins a message. A first line that is too long is cut, and
// stands whole in the second, so that nothing is lost.
func newMessage(key, first string) Message {
	first = Clean(first)
	m := Message{Key: key, Lines: []Line{{Text: Cut(first, FirstWidth)}}}
	if m.cut = m.Lines[0].Text != first; m.cut {
		m.Lines = append(m.Lines, Line{Text: first})
	}
	return m
}

// refusal begins the reply to a command that was not carried out.
func refusal(key, first string) Message {
	m := newMessage(key, first)
	m.Refused = true
	return m
}

// First is the message in one line of at most FirstWidth columns.
func (m Message) First() string {
	if len(m.Lines) == 0 {
		return ""
	}
	return m.Lines[0].Text
}

func (m *Message) add(text string) {
	if text = Clean(text); text != "" {
		m.Lines = append(m.Lines, Line{Text: text})
	}
}

// quote adds what somebody said, at most two lines of a phone.
func (m *Message) quote(text string) {
	if text = Clean(text); text != "" {
		m.Lines = append(m.Lines, Line{Kind: Quote, Text: Cut(text, quoteWidth)})
	}
}

func (m *Message) pre(text string) {
	m.Lines = append(m.Lines, Line{Kind: Pre, Text: CleanPre(text)})
}

func (m *Message) button(label, twin string) {
	m.Buttons = append(m.Buttons, Button{Label: Cut(Clean(label), LabelWidth), Command: Clean(twin)})
}

// exact adds a button whose twin repeats somebody's words to the letter: they
// are done with as they came, whatever a message may show of them.
func (m *Message) exact(label, twin string) {
	m.Buttons = append(m.Buttons, Button{Label: Cut(Clean(label), LabelWidth), Command: twin})
}

// Text is the message for a terminal of the given width in columns, 0 for one
// without. Buttons become their typed twins; a picture stands below in words.
// It ends without a newline.
func (m Message) Text(width int) string {
	var out []string
	lines := m.Lines
	if m.cut { // a terminal has room for it
		lines = lines[1:]
	}
	for _, l := range lines {
		switch l.Kind {
		case Quote:
			for _, part := range Wrap(l.Text, max(width-2, 0)) {
				out = append(out, "┃ "+part)
			}
		case Pre:
			out = append(out, l.Text)
		default:
			out = append(out, Wrap(l.Text, width)...)
		}
	}
	if twins := m.Twins(); twins != "" {
		out = append(out, Wrap(twins, width)...)
	}
	if alt := Clean(m.Alt); alt != "" {
		out = append(append(out, ""), Wrap(alt, width)...)
	}
	return strings.Join(out, "\n")
}

// Twins are the typed twins of the buttons: "q5 retry · q5 skip".
func (m Message) Twins() string {
	twins := make([]string, len(m.Buttons))
	for i, b := range m.Buttons {
		twins[i] = Clean(b.Command)
	}
	return strings.Join(twins, " · ")
}

// FromAnswer is what the sender of an input is told. A refusal always bears
// its sign. cause is the input's key.
func FromAnswer(kind string, a loop.Answer, cause string) Message {
	text := strings.TrimSpace(a.Text)
	if text == "" {
		text = "done"
		if !a.OK {
			text = "not done"
		}
	}
	first, rest, _ := strings.Cut(text, "\n")
	if !signed(first) {
		first = strings.TrimSpace(answerSign(kind, a.OK) + " " + first)
	}
	m := newMessage("answer."+kind, first)
	for line := range strings.SplitSeq(rest, "\n") {
		m.add(line)
	}
	if m.Refused = !a.OK; a.OK {
		m.Cause = cause
	}
	return m
}

// answerSign is the sign of an answer whose text has none.
func answerSign(kind string, ok bool) string {
	if !ok {
		return SignFailed
	}
	switch kind {
	case "pause":
		return SignPaused
	case "resume":
		return SignNow
	case "drop_guidance", "skip":
		return SignAway
	case "answer":
		return SignDone
	case "redo_plan":
		return SignAgain
	case "now", "offer_run", "late":
		return SignAsk
	}
	return SignLater
}

func signed(line string) bool {
	for _, sign := range Signs {
		if strings.HasPrefix(strings.TrimSpace(line), string(sign)) {
			return true
		}
	}
	return false
}

package bot

import (
	"strings"

	"github.com/nightporter/nightporter/internal/width"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Signs of a state. Each has one meaning and stands in front of a word with the
// same meaning. No platform can draw one of them as a coloured emoji.
const (
	SignDone    = "✓" // finished well
	SignFailed  = "✗" // failed, or refused
	SignBlocked = "■" // blocked until a person decides
	SignAsk     = "?" // needs an answer
	SignLook    = "!" // needs attention: it resolves itself, or the message says what to do
	SignNow     = "●" // at work
	SignLater   = "○" // ready, queued, idle
	SignPaused  = "‖" // held by a person
	SignAway    = "–" // skipped, expired or parked
	SignAgain   = "↻" // sent again
)

// Signs holds all signs, one character each.
const Signs = SignDone + SignFailed + SignBlocked + SignAsk + SignLook + SignNow + SignLater + SignPaused + SignAway + SignAgain

// Limits of a message.
const (
	FirstWidth = 38 // maximum width of a first line, in columns
	LabelWidth = 14 // columns of a button
	quoteWidth = 72 // columns of a quote in passing: two lines on a phone

	MaxPicture = 300_000 // bytes
	MaxAlt     = 2000    // maximum length of Message.Alt, in characters
)

// LineKind says how a platform formats a line.
type LineKind string

// Kinds of line.
const (
	Plain LineKind = ""
	Quote LineKind = "quote" // words of a person, an agent or a program
	Pre   LineKind = "pre"   // preformatted text: log, diff, table
	Head  LineKind = "head"  // heading of a few lines in a longer message
)

// Line is one line of a message. Its text has passed CleanLine, or CleanPre in a
// line of kind Pre.
type Line struct {
	Kind LineKind `json:"kind,omitempty"`
	Text string   `json:"text"`
	// Pending marks a line that is true only until one of the message's buttons
	// has been pressed.
	Pending bool `json:"pending,omitempty"`
	// Rest marks a second line that goes on with the first, which was too wide.
	Rest bool `json:"rest,omitempty"`
}

// Button offers a next step. Command is its twin, the line that a person can
// type instead: a press and the typed twin are the same input.
type Button struct {
	Label   string `json:"label"`
	Command string `json:"twin"`
	// Placeholder stands at the end of Command for a text that the person has to
	// type: "WORDS". It is "" for a complete command.
	Placeholder string `json:"placeholder,omitempty"`
}

// Prefix returns the command without its placeholder. The text that a person
// types completes it.
func (b Button) Prefix() string {
	return strings.TrimRight(strings.TrimSuffix(b.Command, b.Placeholder), " ")
}

// Message is a text for people, independent of the platform that shows it.
type Message struct {
	Key     string   `json:"key"` // names the kind of message: "status.running"
	Lines   []Line   `json:"lines"`
	Buttons []Button `json:"buttons,omitempty"`
	// Cause is the key of the input that the core accepted with this answer, ""
	// for any other message. A terminal that prints ledger entries as they come
	// omits the answer if it has printed the entries of that input.
	Cause string `json:"cause,omitempty"`
	// Project is a project's name and About a task's id as written. A reply to
	// the message, or a press of its buttons, applies to them.
	Project string `json:"project,omitempty"`
	About   string `json:"about,omitempty"`
	// Look is the line that a reply to a look answers, "" for any other message. Of
	// replies to one line that wait for a chat, only the last is sent.
	Look string `json:"look,omitempty"`
	// Run is the id of the run that the message announces, where its key in the outbox
	// does not say so: its buttons end with that run.
	Run string `json:"run,omitempty"`
	// Picture is a PNG of at most MaxPicture bytes, shown above the text. The
	// text says everything that the picture shows, or a button gets it in another
	// form, so a platform that refuses the picture shows the text alone.
	Picture []byte `json:"picture,omitempty"`
	// Drawing is what Picture is to show, where it is drawn when the message is
	// delivered; nil for none. The text stands alone if it cannot be drawn.
	Drawing *Drawing `json:"drawing,omitempty"`
	// PictureName is the picture's name as a file, in ASCII and without folders;
	// "" for one that is named after Key.
	PictureName string `json:"picture_name,omitempty"`
	// Alt describes the picture in at most MaxAlt characters, for people who do
	// not see it. A platform gets it with the picture; a terminal prints it.
	Alt string `json:"alt,omitempty"`
	// Document is a file that the text is about, nil for none. A message with one
	// has no picture.
	Document *Document `json:"document,omitempty"`

	// Refused reports that a command was not carried out. A shell then ends with
	// exit code 1; a chat sends the reply again if it may have been lost. The
	// outbox does not keep the field: it describes the command, not the message.
	Refused bool `json:"-"`

	// Also are further messages of the same reply, such as the digests of the other
	// projects.
	Also []Message `json:"-"`

	full    string // the first line with its rest, "" if it has none
	columns int    // of preformatted lines that are wrapped; 0 = a phone's
}

// Document is a file of a message.
type Document struct {
	Name string `json:"name"` // in ASCII, without folders
	Data []byte `json:"data"`
}

// newMessage begins a message. A first line wider than FirstWidth goes on in the
// second line, so that nothing is lost and nothing stands there twice.
func newMessage(key, first string) Message {
	first = WithoutMarks(first)
	m := Message{Key: key, Lines: FirstLines(first)}
	if len(m.Lines) > 1 {
		m.full = CleanLine(first)
	}
	return m
}

// FirstLines returns a text as the first line of a message, of at most FirstWidth
// columns, and a second one with its rest, if there is any. It breaks where a thought
// ends, else between words, else within a word, with "…" on both sides. JoinFirst
// joins the two again.
func FirstLines(text string) []Line {
	text = CleanLine(text)
	if Width(text) <= FirstWidth {
		return []Line{{Text: text}}
	}
	const shortest, shortestThought = FirstWidth / 4, FirstWidth / 2 // columns before the break
	word, thought := 0, 0
	for at, r := range text {
		if Width(text[:at]) > FirstWidth {
			break
		}
		if r != ' ' || Width(text[:at]) < shortest {
			continue
		}
		word = at
		if Width(text[:at]) >= shortestThought && endsThought(text, at) {
			thought = at
		}
	}
	if thought > 0 {
		word = thought
	}
	if word == 0 { // one long word
		head, tail := width.Split(text, FirstWidth-1)
		return []Line{{Text: head + "…"}, {Text: "…" + tail, Rest: true}}
	}
	return []Line{{Text: strings.TrimRight(text[:word], ",;")}, {Text: strings.TrimPrefix(strings.TrimSpace(text[word:]), "· "), Rest: true}}
}

// endsThought reports whether a thought ends before the space at a position.
func endsThought(text string, at int) bool {
	return strings.ContainsRune(".;,", rune(text[at-1])) || strings.HasPrefix(text[at:], " (") || strings.HasPrefix(text[at:], " · ")
}

// JoinFirst returns a first line with its rest in the second.
func JoinFirst(first, rest string) string {
	if head, cut := strings.CutSuffix(first, "…"); cut && strings.HasPrefix(rest, "…") {
		return head + strings.TrimPrefix(rest, "…")
	}
	return first + " " + rest
}

// refusal begins the reply to a command that was not carried out.
func refusal(key, first string) Message {
	m := newMessage(key, first)
	m.Refused = true
	return m
}

// First returns the first line, which sums up the message in at most FirstWidth
// columns; "" for a message without lines.
func (m Message) First() string {
	if len(m.Lines) == 0 {
		return ""
	}
	return m.Lines[0].Text
}

func (m *Message) add(text string) {
	if text = CleanLine(WithoutMarks(text)); text != "" {
		m.Lines = append(m.Lines, Line{Text: text})
	}
}

// pending adds a line that holds until a button of the message was pressed.
func (m *Message) pending(text string) {
	m.Lines = append(m.Lines, Line{Text: text, Pending: true})
}

// quote adds text by a person, an agent or a program on which nobody decides, cut to
// quoteWidth columns. whole adds what somebody does.
func (m *Message) quote(text string) {
	if text = Clean(WithoutMarks(text)); text != "" {
		m.Lines = append(m.Lines, Line{Kind: Quote, Text: Cut(text, quoteWidth)})
	}
}

func (m *Message) pre(text string) {
	m.Lines = append(m.Lines, Line{Kind: Pre, Text: CleanPre(text)})
}

func (m *Message) button(label, twin string) {
	m.addButton(Button{Label: label, Command: twin})
}

func (m *Message) addButton(b Button) {
	b.Label, b.Command = Cut(Clean(b.Label), LabelWidth), Clean(b.Command)
	m.Buttons = append(m.Buttons, b)
}

// textButton returns a button whose command needs a text, for which placeholder
// stands. Its label ends with "…".
func textButton(label, prefix, placeholder string) Button {
	return Button{Label: label + "…", Command: prefix + " " + placeholder, Placeholder: placeholder}
}

// exact adds a button whose command repeats a person's words unchanged. button
// would clean them, so that a press would send other words than the person
// typed.
func (m *Message) exact(label, twin string) {
	m.Buttons = append(m.Buttons, Button{Label: Cut(Clean(label), LabelWidth), Command: twin})
}

// Text renders the message for a terminal of width columns; with width 0 no
// line is wrapped. The twins of the buttons follow the lines, and Alt follows
// the twins. The result ends without a newline.
func (m Message) Text(width int) string {
	var out []string
	lines := m.Lines
	if m.full != "" && len(lines) > 1 { // a terminal has room for it
		lines = append([]Line{{Text: m.full}}, lines[2:]...)
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
	return AsWritten(strings.Join(out, "\n"))
}

// Twins returns the commands of all buttons in one line: "q5 retry · q5 skip".
func (m Message) Twins() string {
	twins := make([]string, len(m.Buttons))
	for i, b := range m.Buttons {
		twins[i] = Clean(b.Command)
	}
	return strings.Join(twins, " · ")
}

// FromAnswer renders the core's answer for the sender of an input. kind is the
// input's kind, cause its key. A text that begins with no sign gets one:
// SignFailed for a refusal, otherwise the sign of the kind.
func FromAnswer(kind string, a ledger.Answer, cause string) Message {
	text := strings.TrimSpace(a.Text)
	if text == "" {
		text = "done"
		if !a.OK {
			text = "not done"
		}
	}
	first, rest, _ := strings.Cut(text, "\n")
	if a.Code == ledger.CodeSettled { // it ends with what was answered, and names no command
		first = Foreign(first)
	}
	if !signed(first) {
		first = strings.TrimSpace(answerSign(kind, a) + " " + first)
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

// answerSign returns the sign of an answer whose text has none.
func answerSign(kind string, a ledger.Answer) string {
	switch {
	case a.Code == ledger.CodeSeveral:
		return SignAsk
	case !a.OK:
		return SignFailed
	case a.Code == ledger.CodeAsked:
		return SignAsk
	}
	switch kind {
	case "pause":
		return SignPaused
	case "resume":
		return SignNow
	case "drop_guidance", "skip", "erase":
		return SignAway
	case "answer":
		return SignDone
	case "redo_plan":
		return SignAgain
	case "now":
		if a.Code == ledger.CodeQueued { // nothing was at work: the words wait
			return SignLater
		}
		return SignNow
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

// firstLine builds a first line of at most FirstWidth columns. It shortens the
// project's name first: the chat usually shows which project is meant.
func firstLine(sign, project, rest, tail string) string {
	project, rest = CleanLine(project), CleanLine(rest)
	if over := Width(sign+" "+project+" "+rest+tail) - FirstWidth; over > 0 {
		project = Cut(project, max(Width(project)-over, 4))
	}
	rest = Cut(rest, FirstWidth-Width(sign+" "+project+" "+tail))
	return sign + " " + project + " " + rest + tail
}

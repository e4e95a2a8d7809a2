package slack

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
)

// Limits of messages. Slack rejects a message whose blocks hold more than about
// 13,200 characters in total, although each block is within its own limit.
const (
	maxShown   = 10_000 // characters of all lines
	maxPre     = 25     // lines of a message with preformatted text, beside its quotes
	maxPreText = 3500   // characters of a message with preformatted text
	maxContext = 1900
	maxCaption = 2000 // characters of the text above a file
	maxNotice  = 200
	maxLabel   = 70 // Slack's limit is 75
	perRow     = 3  // Slack's limit is 25
	maxButtons = 25
)

// Shown is a message as Slack takes it. Slack interprets no markup in its blocks:
// every text is of a type that has none.
type Shown struct {
	Text    string // text of the notification, and the whole message if Slack rejects the blocks
	Blocks  []slack.Block
	File    *File // text too long for a message, posted in its thread; the other fields are its caption
	Picture *File // shown above the text, which contains everything that the picture shows
}

// File is a file to upload.
type File struct {
	Name string
	Data []byte
	Alt  string // alternative text of a picture, else ""
}

// Render renders m for Slack: the first line bold, text of others as quotes,
// the last line as context, buttons below. mentions are the ids of the users to
// mention, so that Slack notifies them. quotes is the command that m replies
// to, if there is no message to reply to.
//
// Render is pure. The blocks are valid whatever the lines contain.
func Render(m bot.Message, mentions []string, quotes string) Shown {
	total, open, pre, shown := length(m), 0, false, m
	for _, l := range m.Lines {
		if l.Kind != bot.Quote {
			open++
		}
		pre = pre || l.Kind == bot.Pre
	}
	s := Shown{}
	switch {
	case m.Document != nil:
		s.File = &File{Name: m.Document.Name, Data: m.Document.Data}
		if total > maxPreText {
			shown = fileCaption(m)
		}
	case total > maxShown || pre && (total > maxPreText || open > maxPre):
		s.File = documentFile(m)
		shown = fileCaption(m)
	}
	s.Text, s.Blocks = compose(shown, mentions, quotes)
	if len(m.Picture) > 0 && len(m.Picture) <= bot.MaxPicture {
		s.Picture = &File{Name: cmp.Or(m.PictureName, m.Key+".png"), Data: m.Picture, Alt: cutRunes(cmp.Or(bot.Clean(m.Alt), bot.Clean(m.First())), bot.MaxAlt)}
	}
	return s
}

// renderOne renders m without a file, for an edit. Of a text that is too long, it shows
// the beginning.
func renderOne(m bot.Message) Shown {
	if length(m) > maxShown {
		m = m.Shorten(false, maxShown, func(m bot.Message) bool { return length(m) <= maxShown })
	}
	s := Shown{}
	s.Text, s.Blocks = compose(m, nil, "")
	return s
}

// compose builds the blocks of a message, and the text of its notification.
func compose(m bot.Message, mentions []string, quotes string) (text string, blocks []slack.Block) {
	lines := cleanLines(m)
	var first []slack.RichTextSectionElement
	for _, who := range mentions {
		text += "<@" + who + "> "
		first = append(first, slack.NewRichTextSectionUserElement(who, nil), plainText(" "))
	}
	text += escape.Replace(ownTextPlain(lines[0].Text))
	first = append(first, ownText(lines[0].Text, true)...)
	blocks = append(blocks, slack.NewRichTextBlock(blockID(m.Key), slack.NewRichTextSection(first...)))

	lines = lines[1:]
	var last string
	if n := len(lines); n > 0 && lines[n-1].Kind == bot.Plain && utf8.RuneCountInString(ownTextPlain(lines[n-1].Text)) <= maxContext {
		last, lines = lines[n-1].Text, lines[:n-1]
	}
	var body []slack.RichTextElement
	if quotes = bot.Clean(quotes); quotes != "" {
		body = append(body, &slack.RichTextQuote{Type: slack.RTEQuote, Elements: []slack.RichTextSectionElement{plainText(quotes)}})
	}
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && elementKind(lines[n]) == elementKind(lines[0]) {
			n++
		}
		body = append(body, composeRun(lines[:n]))
		lines = lines[n:]
	}
	if len(body) > 0 {
		blocks = append(blocks, slack.NewRichTextBlock("", body...))
	}
	if last != "" {
		blocks = append(blocks, slack.NewContextBlock("", slack.NewTextBlockObject(slack.PlainTextType, ownTextPlain(last), false, false)))
	}
	return text, append(blocks, buttonBlocks(m)...)
}

// cleanLines returns the lines of a message without control characters or line
// breaks, at least one.
func cleanLines(m bot.Message) []bot.Line {
	var out []bot.Line
	for _, l := range m.Lines {
		switch {
		case l.Kind == bot.Pre && m.Key == bot.KeyHelp:
			l.Text = withoutSlashes(bot.CleanPre(l.Text))
		case l.Kind == bot.Pre || l.Kind == bot.Quote:
			l.Text = bot.CleanPre(l.Text)
		default:
			l.Text = bot.CleanLine(l.Text)
		}
		if l.Text != "" || l.Kind == bot.Pre {
			l.Text = cutRunes(l.Text, maxShown)
			out = append(out, l)
		}
	}
	if len(out) == 0 || out[0].Text == "" {
		out = append([]bot.Line{{Text: "…"}}, out...) // Slack rejects empty messages
	}
	out[0].Kind = bot.Plain
	return out
}

// elementKind returns the kind of element that a line belongs to. A heading is
// shown as a bold line among plain lines.
func elementKind(l bot.Line) bot.LineKind {
	if l.Kind == bot.Head {
		return bot.Plain
	}
	return l.Kind
}

// composeRun builds one element from adjacent lines of a kind.
func composeRun(lines []bot.Line) slack.RichTextElement {
	var elements []slack.RichTextSectionElement
	for n, l := range lines {
		if n > 0 {
			elements = append(elements, plainText("\n"))
		}
		if elementKind(l) == bot.Plain {
			elements = append(elements, ownText(l.Text, l.Kind == bot.Head)...)
		} else if l.Text != "" {
			elements = append(elements, plainText(l.Text))
		}
	}
	switch lines[0].Kind {
	case bot.Quote:
		return &slack.RichTextQuote{Type: slack.RTEQuote, Elements: elements}
	case bot.Pre:
		var text strings.Builder // a single text element: Slack's clients put space between several
		for n, l := range lines {
			if n > 0 {
				text.WriteByte('\n')
			}
			text.WriteString(l.Text)
		}
		if text.Len() == 0 {
			text.WriteByte(' ')
		}
		return &slack.RichTextPreformatted{Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{plainText(text.String())}}
	}
	return slack.NewRichTextSection(elements...)
}

func plainText(s string) *slack.RichTextSectionTextElement {
	return slack.NewRichTextSectionTextElement(s, nil)
}

var (
	// escape escapes the text of the notification, the only text in which Slack
	// parses markup.
	escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

	domain = regexp.MustCompile(`[\p{L}\p{N}_-]\.[\p{L}\p{N}_-]*\p{L}{2}`)
)

// ownText formats text that nightporter wrote: commands as people type them in
// Slack, and file names, branches and addresses as code.
func ownText(line string, bold bool) []slack.RichTextSectionElement {
	var out []slack.RichTextSectionElement
	var text strings.Builder
	style := func(code bool) *slack.RichTextSectionTextStyle {
		if !bold && !code {
			return nil
		}
		return &slack.RichTextSectionTextStyle{Bold: bold, Code: code}
	}
	flush := func() {
		if text.Len() > 0 {
			out = append(out, slack.NewRichTextSectionTextElement(text.String(), style(false)))
			text.Reset()
		}
	}
	for i, word := range strings.Split(line, " ") {
		if i > 0 {
			text.WriteByte(' ')
		}
		head, core, tail, command := bot.CommandIn(word)
		if !command && !namesFile(core) {
			text.WriteString(bot.AsWritten(word))
			continue
		}
		typed := bot.AsWritten(core)
		if command {
			typed = commandAsTyped(core)
		}
		text.WriteString(head)
		flush()
		out = append(out, slack.NewRichTextSectionTextElement(typed, style(true)))
		text.WriteString(tail)
	}
	flush()
	return out
}

// ownTextPlain is ownText without formatting.
func ownTextPlain(line string) string {
	all := strings.Split(line, " ")
	for i, word := range all {
		if head, core, tail, command := bot.CommandIn(word); command {
			all[i] = head + commandAsTyped(core) + tail
		}
	}
	return bot.AsWritten(strings.Join(all, " "))
}

// commandAsTyped converts one of our commands to the form that people type in
// Slack: "/task_8" becomes "/porter task 8".
func commandAsTyped(command string) string {
	return Command + " " + strings.ReplaceAll(command[1:], "_", " ")
}

// withoutSlashes removes the slash from each of our commands in a table of commands, of
// which the line below says what precedes them: "/porter help now".
func withoutSlashes(line string) string {
	all := strings.Split(line, " ")
	for i, word := range all {
		if head, core, tail, command := bot.CommandIn(word); command {
			all[i] = head + core[1:] + tail
		}
	}
	return strings.Join(all, " ")
}

// namesFile reports whether a word is a path, a branch, a file or an address.
func namesFile(s string) bool {
	return strings.Contains(s, "://") || strings.Count(s, "/") >= 2 ||
		strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/") || domain.MatchString(s)
}

// buttonBlocks returns the blocks of a message's buttons.
func buttonBlocks(m bot.Message) []slack.Block {
	var blocks []slack.Block
	var row []slack.BlockElement
	for n, button := range m.Buttons[:min(len(m.Buttons), maxButtons)] {
		label := cutRunes(bot.Cut(bot.Clean(button.Label), bot.LabelWidth), maxLabel)
		if label == "" {
			label = "…" // Slack rejects empty labels
		}
		e := slack.NewButtonBlockElement("b"+string(rune('a'+n)), Data(m, n), slack.NewTextBlockObject(slack.PlainTextType, label, false, false))
		if stopsSession(button.Command) {
			e.Style = slack.StyleDanger
		}
		if row = append(row, e); len(row) == perRow {
			blocks, row = append(blocks, slack.NewActionBlock("", row...)), nil
		}
	}
	if len(row) > 0 {
		blocks = append(blocks, slack.NewActionBlock("", row...))
	}
	return blocks
}

// blockID converts a message's key to the id of its first block.
func blockID(key string) string {
	const most = 255
	return cutRunes(bot.Clean(key), most)
}

// cutRunes shortens s to at most most characters.
func cutRunes(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:most-1]), " ") + "…"
}

// documentFile returns a message as a file, with commands as people type them in Slack.
func documentFile(m bot.Message) *File {
	file := &File{Name: m.FileName()}
	m.Lines = slices.Clone(m.Lines)
	for n, l := range m.Lines {
		if l.Kind == bot.Plain || l.Kind == bot.Head {
			m.Lines[n].Text = ownTextPlain(l.Text)
		}
	}
	file.Data = m.File()
	return file
}

// fileCaption returns m for the text above a file that has all of it.
func fileCaption(m bot.Message) bot.Message {
	return m.Shorten(true, maxCaption, func(m bot.Message) bool { return length(m) <= maxCaption })
}

// length returns the number of characters of all lines.
func length(m bot.Message) int {
	total := 0
	for _, l := range m.Lines {
		total += utf8.RuneCountInString(l.Text) + 1
	}
	return total
}

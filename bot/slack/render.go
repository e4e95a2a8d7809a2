package slack

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
)

// Limits of what is shown. The platform refuses a message whose blocks hold
// more than about 13,200 characters, and none says so beforehand.
const (
	maxShown   = 10_000 // characters of all lines
	maxPre     = 25     // lines, with columns that count among them (PHONE 2)
	maxPreText = 3500   // characters of such a message
	maxContext = 1900
	maxCaption = 250
	maxNotice  = 200
	maxLabel   = 70 // the platform's is 75
	perRow     = 3  // PHONE 1.5; the platform's is 25
	maxButtons = 25
)

// Shown is a message as the platform takes it. Nothing in it is read as the
// platform's markup: every text is one of a form that is not.
type Shown struct {
	Text    string // what a notification shows, and all there is where blocks are refused
	Blocks  []slack.Block
	File    *File // what is too long for a conversation, in the thread below it; the rest is its caption
	Picture *File // stands above the text, which says all that it shows
}

// File is one that is brought to the platform.
type File struct {
	Name string
	Data []byte
	Alt  string // a picture in words, "" for any other
}

// Render is a message for Slack: the first line bold, what others said as a
// quote, the last line as context, buttons below. rings are the ids of those
// whom it names, so that it makes a sound; quotes is the command that it
// answers, where there is no message to hang it on. It is pure, and whatever
// the lines hold, the frame is whole (PHONE 2).
func Render(m bot.Message, rings []string, quotes string) Shown {
	total, pre, shown := 0, false, m
	for _, l := range m.Lines {
		total += utf8.RuneCountInString(l.Text) + 1
		pre = pre || l.Kind == bot.Pre
	}
	s := Shown{}
	if total > maxShown || pre && (total > maxPreText || len(m.Lines) > maxPre) {
		s.File = documentFile(m)
		shown = fileCaption(m)
	}
	s.Text, s.Blocks = compose(shown, rings, quotes)
	if len(m.Picture) > 0 && len(m.Picture) <= bot.MaxPicture {
		s.Picture = &File{Name: m.Key + ".png", Data: m.Picture, Alt: cutRunes(cmp.Or(bot.Clean(m.Alt), bot.Clean(m.First())), bot.MaxAlt)}
	}
	return s
}

// renderOne renders a message without a file, for what takes the place of another:
// where it is too long, its end is left out.
func renderOne(m bot.Message) Shown {
	total := 0
	for i, l := range m.Lines {
		if total += utf8.RuneCountInString(l.Text) + 1; total > maxShown {
			m.Lines = append(m.Lines[:max(i, 1):max(i, 1)], bot.Line{Text: "…"})
			break
		}
	}
	s := Shown{}
	s.Text, s.Blocks = compose(m, nil, "")
	return s
}

// compose sets the blocks of a message.
func compose(m bot.Message, rings []string, quotes string) (text string, blocks []slack.Block) {
	lines := cleanLines(m)
	var first []slack.RichTextSectionElement
	for _, who := range rings {
		text += "<@" + who + "> "
		first = append(first, slack.NewRichTextSectionUserElement(who, nil), plainText(" "))
	}
	text += escape.Replace(ownTextPlain(lines[0].Text))
	first = append(first, ownText(lines[0].Text, true)...)
	blocks = append(blocks, slack.NewRichTextBlock(blockID(m.Key), slack.NewRichTextSection(first...)))

	lines = lines[1:]
	var last string
	if n := len(lines); n > 0 && lines[n-1].Kind == bot.Plain {
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
		blocks = append(blocks, slack.NewContextBlock("", slack.NewTextBlockObject(slack.PlainTextType, cutRunes(ownTextPlain(last), maxContext), false, false)))
	}
	return text, append(blocks, buttonBlocks(m)...)
}

// cleanLines are the lines of a message, at least one, each of them one.
func cleanLines(m bot.Message) []bot.Line {
	var out []bot.Line
	for _, l := range m.Lines {
		if l.Kind == bot.Pre {
			l.Text = bot.CleanPre(l.Text)
		} else {
			l.Text = bot.Clean(l.Text)
		}
		if l.Text != "" || l.Kind == bot.Pre {
			l.Text = cutRunes(l.Text, maxShown)
			out = append(out, l)
		}
	}
	if len(out) == 0 || out[0].Text == "" {
		out = append([]bot.Line{{Text: "…"}}, out...) // the platform takes no empty ones
	}
	out[0].Kind = bot.Plain
	return out
}

// elementKind is the kind of element that a line is part of: a heading is a bold line
// among others.
func elementKind(l bot.Line) bot.LineKind {
	if l.Kind == bot.Head {
		return bot.Plain
	}
	return l.Kind
}

// composeRun sets lines of a kind of element that follow each other.
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
		var text strings.Builder // renderOne element: the platform's clients part others
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
	// escape is for the one text that the platform reads as markup.
	escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

	ownCommand = regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_]*$`)
	domain     = regexp.MustCompile(`[\p{L}\p{N}_-]\.[\p{L}\p{N}_-]*\p{L}{2}`)
)

// ownText sets what nightporter itself says: our commands as they are typed
// here, names of files, branches and addresses as code.
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
		head, core, tail := trimPunctuation(word)
		typed, command := commandAsTyped(core)
		if !command && !namesFile(core) {
			text.WriteString(word)
			continue
		}
		text.WriteString(head)
		flush()
		out = append(out, slack.NewRichTextSectionTextElement(typed, style(true)))
		text.WriteString(tail)
	}
	flush()
	return out
}

// ownTextPlain is a line as plain text, with our commands as they are typed here.
func ownTextPlain(line string) string {
	all := strings.Split(line, " ")
	for i, word := range all {
		head, core, tail := trimPunctuation(word)
		core, _ = commandAsTyped(core)
		all[i] = head + core + tail
	}
	return strings.Join(all, " ")
}

// trimPunctuation takes the punctuation off a word.
func trimPunctuation(word string) (head, core, tail string) {
	core = strings.TrimLeft(word, `("'[`)
	head = word[:len(word)-len(core)]
	core = strings.TrimRight(core, `.,:;!?)]"'`)
	return head, core, word[len(head)+len(core):]
}

// commandAsTyped is one of our commands as people type it here: "/task_8" is
// "/porter task 8".
func commandAsTyped(word string) (string, bool) {
	if !ownCommand.MatchString(word) {
		return word, false
	}
	_, err := bot.Parse(word)
	var unknown *bot.UnknownError
	if errors.As(err, &unknown) {
		return word, false
	}
	return Command + " " + strings.ReplaceAll(word[1:], "_", " "), true
}

// namesFile reports whether a word is a path, a branch, a file or an address.
func namesFile(s string) bool {
	return strings.Contains(s, "://") || strings.Count(s, "/") >= 2 ||
		strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/") || domain.MatchString(s)
}

// buttonBlocks are a message's buttons.
func buttonBlocks(m bot.Message) []slack.Block {
	var blocks []slack.Block
	var row []slack.BlockElement
	for n, button := range m.Buttons[:min(len(m.Buttons), maxButtons)] {
		label := cutRunes(bot.Cut(bot.Clean(button.Label), bot.LabelWidth), maxLabel)
		if label == "" {
			label = "…" // the platform takes no empty ones
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

// blockID is a message's key as the id of its first block.
func blockID(key string) string {
	const most = 255
	return cutRunes(bot.Clean(key), most)
}

// cutRunes shortens a text to so many characters.
func cutRunes(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:most-1]), " ") + "…"
}

// documentFile is a message as a file.
func documentFile(m bot.Message) *File { return &File{Name: m.FileName(), Data: m.File()} }

// fileCaption is a message's first two lines, without those that belong into a
// file, and its buttons.
func fileCaption(m bot.Message) bot.Message {
	short := m
	short.Lines = nil
	for _, l := range m.Lines {
		if len(short.Lines) == 2 {
			break
		}
		if l.Kind != bot.Pre {
			l.Text = cutRunes(bot.Clean(l.Text), maxCaption)
			short.Lines = append(short.Lines, l)
		}
	}
	return short
}

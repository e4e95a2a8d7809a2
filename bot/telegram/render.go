package telegram

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// Limits of messages, in UTF-16 units after parsing. Telegram's own limits are
// 4096 and 1024; the difference allows for units that Telegram counts in
// another way.
const (
	maxUnits     = 3500
	maxCaption   = 1000
	maxPreLines  = 25 // lines of a message with preformatted text, beside its quotes
	maxOpenQuote = 72 // columns of a quote that is shown unfolded
)

// Rendered is a message as Telegram takes it.
type Rendered struct {
	HTML string
	Text string // the message without markup, in case Telegram rejects the HTML
	File *File  // file of the message, with HTML and Text as its caption; nil = none
}

// File is a text that is too long for a message.
type File struct {
	Name string
	Data []byte
}

// Render renders m as Telegram HTML. A message that is too long is a file that has all
// of it, with its beginning, its last line and its buttons as the caption. Folded
// quotes do not count as lines.
//
// Render is pure. Whatever the lines contain, the markup is complete, and no
// quoted text becomes a link, mention or command.
func Render(m bot.Message) Rendered {
	lines := renderLines(m)
	open, pre := 0, false
	for _, l := range lines {
		if l.kind != bot.Quote {
			open++
		}
		pre = pre || l.kind == bot.Pre
	}
	long := unitsOf(lines) > maxUnits || pre && open > maxPreLines
	var p Rendered
	switch {
	case m.Document != nil:
		p = captionOf(m)
		p.File = &File{Name: m.Document.Name, Data: m.Document.Data}
	case long:
		p = shortened(m, true, maxCaption)
		p.File = &File{Name: m.FileName(), Data: m.File()}
	default:
		p = compose(lines)
	}
	return p
}

// captionOf renders m as the caption of a file or picture. If it does not fit, it
// shows the beginning of m.
func captionOf(m bot.Message) Rendered {
	if p, fits := asCaption(m); fits {
		return p
	}
	return shortened(m, true, maxCaption)
}

// asCaption renders m as one caption. It returns false if m is too long.
func asCaption(m bot.Message) (Rendered, bool) {
	lines := renderLines(m)
	return compose(lines), unitsOf(lines) <= maxCaption
}

// renderEdit renders m for the edit of a message without a file. Of a text that is too
// long, it shows the beginning.
func renderEdit(m bot.Message) Rendered {
	lines := renderLines(m)
	if unitsOf(lines) <= maxUnits {
		return compose(lines)
	}
	return shortened(m, false, maxUnits)
}

func shortened(m bot.Message, inFile bool, most int) Rendered {
	return compose(renderLines(m.Shorten(inFile, most, func(m bot.Message) bool { return unitsOf(renderLines(m)) <= most })))
}

// unitsOf returns the length of lines in UTF-16 units, as plain text.
func unitsOf(lines []line) int {
	total := 0
	for _, l := range lines {
		if total += l.units + 1; l.kind == bot.Quote {
			total += 2 // the mark of a quote in the plain text
		}
	}
	return total
}

// line is a rendered line.
type line struct {
	kind  bot.LineKind
	html  string
	text  string
	units int
	width int // visible columns
}

// renderLines cleans and renders all lines.
func renderLines(m bot.Message) []line {
	var out []line
	for i, l := range m.Lines {
		text := cleanLine(l)
		r := line{kind: l.Kind, width: bot.Width(text)}
		switch l.Kind {
		case bot.Quote:
			r.text = defuse(text)
			r.html = escape.Replace(r.text)
		case bot.Pre:
			r.text, r.html = defuse(text), escape.Replace(text)
		case bot.Head:
			r.kind = bot.Plain
			r.text = defuse(text)
			r.html = "<b>" + escape.Replace(r.text) + "</b>"
		default:
			r.kind = bot.Plain
			first := i == 0
			r.html, r.text = renderOwnText(text, !first)
			if first && text != "" {
				// Telegram does not nest code within bold.
				r.html = "<b>" + r.html + "</b>"
			}
		}
		r.units = utf16Units(r.text)
		out = append(out, r)
	}
	if len(out) == 0 || strings.TrimSpace(joinTexts(out)) == "" {
		return []line{{html: "…", text: "…", units: 1}} // Telegram rejects empty messages
	}
	return out
}

func joinTexts(lines []line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return strings.Join(texts, "\n")
}

// cleanLine removes line breaks and control characters.
func cleanLine(l bot.Line) string {
	if l.Kind == bot.Pre || l.Kind == bot.Quote {
		return bot.CleanPre(l.Text)
	}
	return bot.CleanLine(l.Text)
}

// splitLine splits s into pieces of at most most UTF-16 units, at a space if the
// last quarter has one.
func splitLine(s string, most int) []string {
	var out []string
	for utf16Units(s) > most {
		n, at, space := 0, 0, -1
		for i, r := range s {
			if n += utf16Units(string(r)); n > most {
				at = i
				break
			}
			if r == ' ' && n > most*3/4 {
				space = i
			}
		}
		rest := at
		if space >= 0 {
			at, rest = space, space+1
		}
		out = append(out, s[:at])
		s = s[rest:]
	}
	return append(out, s)
}

// compose joins lines. Adjacent lines of a kind share a block.
func compose(lines []line) Rendered {
	var html, text []string
	for len(lines) > 0 {
		n, width := 1, lines[0].width
		for n < len(lines) && lines[n].kind == lines[0].kind {
			width += lines[n].width
			n++
		}
		var block []string
		for _, l := range lines[:n] {
			block = append(block, l.html)
			if l.kind == bot.Quote {
				l.text = "┃ " + l.text
			}
			text = append(text, l.text)
		}
		body := strings.Join(block, "\n")
		switch {
		case lines[0].kind == bot.Quote && (n > 2 || width > maxOpenQuote):
			body = "<blockquote expandable>" + body + "</blockquote>"
		case lines[0].kind == bot.Quote:
			body = "<blockquote>" + body + "</blockquote>"
		case lines[0].kind == bot.Pre:
			body = "<pre>" + body + "</pre>"
		}
		html = append(html, body)
		lines = lines[n:]
	}
	return Rendered{HTML: strings.Join(html, "\n"), Text: strings.Join(text, "\n")}
}

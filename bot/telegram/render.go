package telegram

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// Limits of messages, in UTF-16 units after parsing. Telegram's own limits are
// 4096 and 1024; the difference allows for units that Telegram counts in
// another way.
const (
	maxPartUnits   = 3500
	maxPreLines    = 25 // lines of a message with preformatted text
	maxLineUnits   = maxPartUnits / 2
	maxCaptionLine = 250 // each of the two caption lines; joiners can double it
	maxOpenQuote   = 72  // columns of a quote that is shown unfolded
)

// Part is one message as Telegram takes it.
type Part struct {
	HTML string
	Text string // the message without markup, in case Telegram rejects the HTML
	File *File  // file of the message, with HTML and Text as its caption; nil = none
}

// File is a text that is too long for a message.
type File struct {
	Name string
	Data []byte
}

// Render renders m as Telegram HTML. The result has one part, or several cut at
// line ends if the text is too long, or a file with a caption of two lines if
// the text is long and preformatted.
//
// Render is pure. Whatever the lines contain, the markup is complete, and no
// quoted text becomes a link, mention or command.
func Render(m bot.Message) []Part {
	if m.Document != nil {
		return []Part{attachmentPart(m)}
	}
	lines := renderLines(m)
	total, pre := -1, false
	for _, l := range lines {
		total += l.units + 1
		pre = pre || l.kind == bot.Pre
	}
	if pre && (total > maxPartUnits || len(lines) > maxPreLines) {
		return []Part{documentPart(m)}
	}
	return packParts(lines)
}

// renderOne renders m as a single part, for edits and captions. Text that is too
// long is cut.
func renderOne(m bot.Message) Part {
	all := packParts(renderLines(m))
	p := all[0]
	if len(all) > 1 {
		p.HTML += "\n…"
		p.Text += "\n…"
	}
	return p
}

// line is a rendered line.
type line struct {
	kind  bot.LineKind
	html  string
	text  string
	units int
	width int // visible columns
}

// renderLines cleans and renders all lines, and splits those that are too long.
func renderLines(m bot.Message) []line {
	var out []line
	for i, l := range m.Lines {
		for j, piece := range splitLine(cleanLine(l), maxLineUnits) {
			r := line{kind: l.Kind, width: bot.Width(piece)}
			switch l.Kind {
			case bot.Quote:
				r.text = defuse(piece)
				r.html = escape.Replace(r.text)
			case bot.Pre:
				r.text, r.html = defuse(piece), escape.Replace(piece)
			case bot.Head:
				r.kind = bot.Plain
				r.text = defuse(piece)
				r.html = "<b>" + escape.Replace(r.text) + "</b>"
			default:
				r.kind = bot.Plain
				first := i == 0 && j == 0
				r.html, r.text = renderOwnText(piece, !first)
				if first && piece != "" {
					// Telegram does not nest code within bold.
					r.html = "<b>" + r.html + "</b>"
				}
			}
			r.units = utf16Units(r.text)
			out = append(out, r)
		}
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
	if l.Kind == bot.Pre {
		return bot.CleanPre(l.Text)
	}
	return bot.Clean(l.Text)
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

// packParts distributes lines over as few parts as possible.
func packParts(lines []line) []Part {
	var out []Part
	for len(lines) > 0 {
		n, total := 0, 0
		for n < len(lines) && (n == 0 || total+lines[n].units+1 <= maxPartUnits) {
			total += lines[n].units + 1
			n++
		}
		if strings.TrimSpace(joinTexts(lines[:n])) != "" { // Telegram rejects empty messages
			out = append(out, composePart(lines[:n]))
		}
		lines = lines[n:]
	}
	return out
}

// composePart joins lines into one part. Adjacent lines of a kind share a block.
func composePart(lines []line) Part {
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
	return Part{HTML: strings.Join(html, "\n"), Text: strings.Join(text, "\n")}
}

// attachmentPart renders the file that m brings, with m's text as its caption. Of a
// text that is too long for a caption the first lines are shown: the file has all
// of it.
func attachmentPart(m bot.Message) Part {
	p, fits := asPhotoCaption(m)
	if !fits {
		p = composePart(renderLines(fileCaption(m)))
	}
	p.File = &File{Name: m.Document.Name, Data: m.Document.Data}
	return p
}

// documentPart renders m as a file with its first two lines as the caption.
func documentPart(m bot.Message) Part {
	p := composePart(renderLines(fileCaption(m)))
	p.File = &File{Name: m.FileName(), Data: m.File()}
	return p
}

// fileCaption returns m's first two lines, without preformatted ones: those
// belong in the file.
func fileCaption(m bot.Message) bot.Message {
	short := bot.Message{Key: m.Key}
	for _, l := range m.Lines {
		if len(short.Lines) == 2 {
			break
		}
		if l.Kind == bot.Pre {
			continue
		}
		l.Text = cleanLine(l)
		if all := splitLine(l.Text, maxCaptionLine); len(all) > 1 {
			l.Text = all[0] + "…"
		}
		short.Lines = append(short.Lines, l)
	}
	return short
}

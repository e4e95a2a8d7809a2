package telegram

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// Limits of what is sent, in UTF-16 units after parsing (PHONE 2). The
// platform's own are 4096 and 1024; the room between is for what it counts
// otherwise than we do.
const (
	maxPartUnits   = 3500
	maxPreLines    = 25 // lines, with columns that count among them
	maxLineUnits   = maxPartUnits / 2
	maxCaptionLine = 250 // of one of the two lines, which joiners can double
	maxOpenQuote   = 72  // columns of a quote that is not folded
)

// Part is one message of the platform.
type Part struct {
	HTML string
	Text string // the same without formatting, for when the platform refuses the HTML
	File *File  // HTML and Text are its caption
}

// File is what is too long for a chat.
type File struct {
	Name string
	Data []byte
}

// Render is a message as Telegram HTML: mostly one part; several where its
// text is too long for one, cut at line ends; a file with a caption of two
// lines where columns count. It is pure, and whatever the lines hold, the
// frame is whole and nothing foreign can be tapped (PHONE 2).
func Render(m bot.Message) []Part {
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

// renderOne renders a message as a single part, for what cannot become several: the
// end is left out where it is too long.
func renderOne(m bot.Message) Part {
	all := packParts(renderLines(m))
	p := all[0]
	if len(all) > 1 {
		p.HTML += "\n…"
		p.Text += "\n…"
	}
	return p
}

// conn is a rendered line.
type line struct {
	kind  bot.LineKind
	html  string
	text  string
	units int
	width int // columns as they are seen
}

// renderLines cleans and renders all lines. One that is too long becomes several.
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
					// Code cannot stand within bold.
					r.html = "<b>" + r.html + "</b>"
				}
			}
			r.units = utf16Units(r.text)
			out = append(out, r)
		}
	}
	if len(out) == 0 || strings.TrimSpace(joinTexts(out)) == "" {
		return []line{{html: "…", text: "…", units: 1}} // the platform takes no empty ones
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

// cleanLine makes sure that a line is one, whatever it was made from.
func cleanLine(l bot.Line) string {
	if l.Kind == bot.Pre {
		return bot.CleanPre(l.Text)
	}
	return bot.Clean(l.Text)
}

// splitLine cuts a line into parts of at most so many UTF-16 units, at a space
// where there is one in the last quarter.
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

// packParts joins lines into as many messages as are needed.
func packParts(lines []line) []Part {
	var out []Part
	for len(lines) > 0 {
		n, total := 0, 0
		for n < len(lines) && (n == 0 || total+lines[n].units+1 <= maxPartUnits) {
			total += lines[n].units + 1
			n++
		}
		if strings.TrimSpace(joinTexts(lines[:n])) != "" { // the platform takes no empty ones
			out = append(out, composePart(lines[:n]))
		}
		lines = lines[n:]
	}
	return out
}

// composePart sets lines of one message. Lines of a kind that follow each other
// share one block.
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

// documentPart is a message as a file, with its first two lines as the caption.
func documentPart(m bot.Message) Part {
	p := composePart(renderLines(fileCaption(m)))
	p.File = &File{Name: m.FileName(), Data: m.File()}
	return p
}

// fileCaption is a message's first two lines, without those that belong into a
// file.
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

package telegram

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// Limits of what is sent, in UTF-16 units after parsing (PHONE 2). The
// platform's own are 4096 and 1024; the room between is for what it counts
// otherwise than we do.
const (
	maxUnits   = 3500
	maxPre     = 25 // lines, with columns that count among them
	maxLine    = maxUnits / 2
	maxCaption = 250 // of one of the two lines, which joiners can double
	quoteShown = 72  // columns of a quote that is not folded
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
	lines := render(m)
	total, pre := -1, false
	for _, l := range lines {
		total += l.units + 1
		pre = pre || l.kind == bot.Pre
	}
	if pre && (total > maxUnits || len(lines) > maxPre) {
		return []Part{document(m)}
	}
	return parts(lines)
}

// one renders a message as a single part, for what cannot become several: the
// end is left out where it is too long.
func one(m bot.Message) Part {
	all := parts(render(m))
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
	width int // columns as they are seen
}

// render cleans and renders all lines. One that is too long becomes several.
func render(m bot.Message) []line {
	var out []line
	for i, l := range m.Lines {
		for j, piece := range pieces(tidy(l), maxLine) {
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
				r.html, r.text = plain(piece, !first)
				if first && piece != "" {
					// Code cannot stand within bold.
					r.html = "<b>" + r.html + "</b>"
				}
			}
			r.units = units(r.text)
			out = append(out, r)
		}
	}
	if len(out) == 0 || strings.TrimSpace(joined(out)) == "" {
		return []line{{html: "…", text: "…", units: 1}} // the platform takes no empty ones
	}
	return out
}

func joined(lines []line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return strings.Join(texts, "\n")
}

// tidy makes sure that a line is one, whatever it was made from.
func tidy(l bot.Line) string {
	if l.Kind == bot.Pre {
		return bot.CleanPre(l.Text)
	}
	return bot.Clean(l.Text)
}

// pieces cuts a line into parts of at most so many UTF-16 units, at a space
// where there is one in the last quarter.
func pieces(s string, most int) []string {
	var out []string
	for units(s) > most {
		n, at, space := 0, 0, -1
		for i, r := range s {
			if n += units(string(r)); n > most {
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

// parts joins lines into as many messages as are needed.
func parts(lines []line) []Part {
	var out []Part
	for len(lines) > 0 {
		n, total := 0, 0
		for n < len(lines) && (n == 0 || total+lines[n].units+1 <= maxUnits) {
			total += lines[n].units + 1
			n++
		}
		if strings.TrimSpace(joined(lines[:n])) != "" { // the platform takes no empty ones
			out = append(out, compose(lines[:n]))
		}
		lines = lines[n:]
	}
	return out
}

// compose sets lines of one message. Lines of a kind that follow each other
// share one block.
func compose(lines []line) Part {
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
		case lines[0].kind == bot.Quote && (n > 2 || width > quoteShown):
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

// document is a message as a file, with its first two lines as the caption.
func document(m bot.Message) Part {
	p := compose(render(caption(m)))
	p.File = &File{Name: m.FileName(), Data: m.File()}
	return p
}

// caption is a message's first two lines, without those that belong into a
// file.
func caption(m bot.Message) bot.Message {
	short := bot.Message{Key: m.Key}
	for _, l := range m.Lines {
		if len(short.Lines) == 2 {
			break
		}
		if l.Kind == bot.Pre {
			continue
		}
		l.Text = tidy(l)
		if all := pieces(l.Text, maxCaption); len(all) > 1 {
			l.Text = all[0] + "…"
		}
		short.Lines = append(short.Lines, l)
	}
	return short
}

package tui

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// page is a text that is open for reading.
type page struct {
	title string
	lines []string
	top   int
}

func newPage(title, text string) page {
	return page{title: bot.Clean(title), lines: bot.CleanLines(text)}
}

// wrapped is the text in a width. Columns are kept: what is too long goes on
// in the next line.
func (p page) wrapped(width int) []string {
	var out []string
	for _, l := range p.lines {
		out = append(out, bot.Wrap(l, width)...)
	}
	return out
}

// room is how many lines of a page a screen of this height has.
func room(height int) int { return max(height-2, 1) }

// key moves within the page.
func (p *page) key(key string, width, height int) {
	n := room(height)
	last := max(len(p.wrapped(width))-n, 0)
	switch key {
	case "down", "j":
		p.top++
	case "up", "k":
		p.top--
	case "space", " ", "pgdown", "f":
		p.top += n
	case "pgup", "b":
		p.top -= n
	case "home", "<":
		p.top = 0
	case "end", ">", "G":
		p.top = last
	}
	p.top = min(max(p.top, 0), last)
}

// view is the page on a screen.
func (p page) view(width, height int) []string {
	lines := p.wrapped(width)
	n := room(height)
	top := min(p.top, max(len(lines)-n, 0)) // the screen may have grown
	out := []string{rule(p.title, "", width)}
	for i := range n {
		line := ""
		if top+i < len(lines) {
			line = lines[top+i]
		}
		out = append(out, line)
	}
	where := "all"
	if len(lines) > n {
		where = strings.Join([]string{itoa(min(top+n, len(lines))), "of", itoa(len(lines))}, " ")
	}
	return append(out, rule("q back  ↓ ↑ space", where, width))
}

package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
)

// page is a text that is open for reading.
type page struct {
	title string
	lines []string
	view  viewport.Model
}

func newPage(title, text string) page {
	p := page{title: bot.Clean(title), lines: bot.CleanLines(text), view: viewport.New()}
	p.view.KeyMap.Left, p.view.KeyMap.Right = key.NewBinding(), key.NewBinding() // lines are wrapped, so there is no horizontal scrolling
	return p
}

// wrap wraps the text for a screen of this size. Characters keep their columns:
// the rest of a long line continues on the next line.
func (p *page) wrap(width, height int) {
	var wrapped []string
	for _, l := range p.lines {
		wrapped = append(wrapped, bot.Wrap(l, width)...)
	}
	p.view.SetWidth(width)
	p.view.SetHeight(max(height-2, 1)) // a rule above and one below
	p.view.SetContentLines(wrapped)
}

// key handles a key that scrolls the page.
func (p *page) key(k tea.KeyPressMsg, width, height int) {
	p.wrap(width, height)
	switch k.String() {
	case "home", "<":
		p.view.GotoTop()
	case "end", ">", "G":
		p.view.GotoBottom()
	default:
		p.view, _ = p.view.Update(k)
	}
}

// draw renders the page for a screen of this size.
func (p page) draw(width, height int) []string {
	p.wrap(width, height)
	where := "all"
	if n := p.view.TotalLineCount(); n > p.view.Height() {
		where = fmt.Sprintf("%d of %d", p.view.YOffset()+p.view.VisibleLineCount(), n)
	}
	out := []string{horizontalRule(p.title, "", width)}
	out = append(out, strings.Split(p.view.View(), "\n")...)
	return append(out, horizontalRule("q back  ↓ ↑ space", where, width))
}

package acceptance

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

// Measures of the picture of a chat, in pixels.
const (
	phoneWidth = 390.0
	bubbleMost = 330.0
	margin     = 12.0
	inset      = 12.0
	textSize   = 15.0
	lineHeight = 20.0
	buttonHigh = 36.0
	charWidth  = 7.7 // of a sans serif at this size, estimated generously
)

// svg is a picture being drawn; y is the vertical position reached.
type svg struct {
	strings.Builder
	y float64
}

// phoneSVG draws recorded messages as a phone shows them, in the order and with
// the lines of the transcript. The viewer's browser chooses between light and
// dark. pinned is the text above the chat, "" for none.
func phoneSVG(title, pinned string, messages []far.Message, zone *time.Location) []byte {
	p := &svg{}
	top := 52.0
	if pinned != "" {
		top = 86
	}
	body := svg{y: top + margin}
	for _, m := range messages {
		body.message(m, zone)
	}
	high := body.y + margin/2
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`+"\n", phoneWidth, high, phoneWidth, high)
	p.WriteString(`<style>
text { font: 15px -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; fill: #14181f; white-space: pre }
.bold { font-weight: 600 } .small { font-size: 12px; fill: #6b7480 } .title { font-weight: 600; font-size: 16px }
.back { fill: #dfe6ee } .bar { fill: #f7f9fb } .theirs { fill: #fff } .mine { fill: #e2f6cf } .rule { fill: #4b86c8 } .quote { fill: #eaf1f9 }
.button { fill: #c9d6e3 } .label { fill: #1d4f86; text-anchor: middle; font-weight: 500 } .end { text-anchor: end }
@media (prefers-color-scheme: dark) {
text { fill: #e8ecf1 } .small { fill: #8d99a8 } .back { fill: #0f1620 } .bar { fill: #1a2532 } .theirs { fill: #1d2a38 } .mine { fill: #2b5278 }
.rule { fill: #5fa2e8 } .quote { fill: #243547 } .button { fill: #24364a } .label { fill: #a9cdf3 }
}
</style>
`)
	fmt.Fprintf(p, `<clipPath id="phone"><rect width="%.0f" height="%.0f" rx="22"/></clipPath><g clip-path="url(#phone)">`+"\n", phoneWidth, high)
	p.rect("back", 0, 0, phoneWidth, high, 0)
	p.rect("bar", 0, 0, phoneWidth, top, 0)
	p.text("title", margin+4, 32, title)
	if pinned != "" {
		p.rect("rule", margin+4, 54, 3, 24, 1.5)
		p.text("small", margin+14, 71, "Pinned  "+pinned)
	}
	p.WriteString(body.String())
	p.WriteString("</g></svg>\n")
	return []byte(p.String())
}

func (p *svg) rect(class string, x, y, w, h, r float64) {
	fmt.Fprintf(p, `<rect class="%s" x="%.0f" y="%.1f" width="%.0f" height="%.1f" rx="%.1f"/>`+"\n", class, x, y, w, h, r)
}

func (p *svg) text(class string, x, y float64, s string) {
	var safe strings.Builder
	if err := xml.EscapeText(&safe, []byte(s)); err != nil {
		return // a Builder returns no errors
	}
	fmt.Fprintf(p, `<text class="%s" x="%.0f" y="%.1f">%s</text>`+"\n", class, x, y, safe.String())
}

// message draws one message with its buttons.
func (p *svg) message(m far.Message, zone *time.Location) {
	lines := m.Lines()
	wide := 0.0
	for n, l := range lines {
		w := float64(len([]rune(l))) * charWidth
		if n == 0 && m.Bot {
			w *= 1.08
		}
		wide = max(wide, w)
	}
	width := min(max(wide+2*inset, 120), bubbleMost)
	if len(m.Buttons) > 0 {
		width = bubbleMost
	}
	x, class := margin, "theirs"
	if !m.Bot {
		x, class = phoneWidth-margin-width, "mine"
	}
	high := float64(len(lines))*lineHeight + 2*inset + 6
	p.rect(class, x, p.y, width, high, 14)
	y := p.y + inset + textSize
	for n, l := range lines {
		style := "plain"
		if n == 0 && m.Bot {
			style = "bold"
		}
		words, quoted := strings.CutPrefix(l, "┃ ")
		at := x + inset
		if quoted {
			p.rect("quote", at, y-textSize, width-2*inset, lineHeight+0.5, 0)
			p.rect("rule", at, y-textSize, 3, lineHeight+0.5, 0)
			at += 10
		}
		p.text(style, at, y, words)
		y += lineHeight
	}
	mark := m.Date.In(zone).Format("15:04")
	if m.Edits > 0 {
		mark = "edited " + mark
	}
	p.text("small end", x+width-inset+2, p.y+high-8, mark)
	p.y += high + 4
	for _, row := range m.Buttons {
		each := (width - 4*float64(len(row)-1)) / float64(len(row))
		for i, b := range row {
			left := x + float64(i)*(each+4)
			p.rect("button", left, p.y, each, buttonHigh, 9)
			p.text("label", left+each/2, p.y+23, b.Text)
		}
		p.y += buttonHigh + 4
	}
	p.y += 6
}

package report

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// drawTimeline draws the sessions by hat.
func (p *picture) drawTimeline() {
	p.drawHeading("Sessions by hat")
	p.drawLegend()
	p.y += 60
	p.top = p.y + p.labelsHeight()
	bottom := p.top + p.rowsHeight()
	for n := range p.rows {
		p.fillBox(left, p.top+float64(n)*(p.rowH+p.gap), right-left, p.rowH, 8, p.panel)
	}
	for _, t := range p.axis.ticks() {
		x := p.axis.x(t.at)
		p.drawLine(x, p.top, x, bottom, 2, p.grid)
	}
	p.drawWaits(bottom)
	others := 0
	for n, r := range p.rows {
		y := p.top + float64(n)*(p.rowH+p.gap)
		col, own := p.hatColor(r.name, others)
		if !own {
			others++
		}
		s := style{normalText, false}
		count := fmt.Sprint(r.n)
		p.drawText(count, left-16, y+p.rowH/2+10, 1, s, p.faint)
		most := left - 16 - margin - p.textWidth(count, s) - 14
		name := p.shrinkToFit(r.name, most, s, 22)
		p.drawText(p.truncate(r.name, most, name), margin, y+p.rowH/2+10, 0, name, p.soft)
		p.drawBars(r, y, col)
	}
	p.y = bottom + 36
	p.drawTickLabels()
	p.y += 14
}

// drawTickLabels writes the times below the rows. It omits a label that would
// overlap the one before.
func (p *picture) drawTickLabels() {
	s := style{smallText, false}
	last := margin
	for _, t := range p.axis.ticks() {
		w := p.textWidth(t.text, s)
		x := min(p.axis.x(t.at)-w/2, right-w)
		if x < last+14 {
			continue
		}
		p.drawText(t.text, x, p.y, 0, s, p.faint)
		last = x + w
	}
}

// drawLegend explains the bars of failed and cut-off sessions, if there are any.
func (p *picture) drawLegend() {
	failed, cut := false, false
	for _, s := range p.Sessions {
		failed, cut = failed || s.Failed, cut || s.CutOff
	}
	x, s := right, style{smallText, false}
	if cut {
		x -= p.textWidth("cut off", s)
		p.drawText("cut off", x, p.y+34, 0, s, p.soft)
		x -= 34
		p.drawOutline(x, p.y+14, 22, 22, p.soft)
		x -= 26
	}
	if failed {
		x -= p.textWidth("failed", s)
		p.drawText("failed", x, p.y+34, 0, s, p.soft)
		x -= 34
		p.fillBox(x, p.y+14, 22, 22, 4, p.red)
	}
}

// drawBars draws one hat's sessions. Each bar has a minimum width, so that short
// sessions stay visible.
func (p *picture) drawBars(r row, y float64, col color.Color) {
	pad := 6.0
	for _, s := range r.sessions {
		p.drawSession(s, y+pad, p.rowH-2*pad, col)
	}
}

// drawSession draws the bar of one session.
func (p *picture) drawSession(s Session, y, h float64, col color.Color) {
	x0, w := p.barOf(LaneTime{From: s.Start, To: s.End})
	switch {
	case s.Failed:
		p.fillBox(x0, y, w, h, 6, p.red)
	case s.CutOff:
		p.drawOutline(x0, y, w, h, col)
	default:
		p.fillBox(x0, y, w, h, 6, col)
	}
}

func (p *picture) drawOutline(x, y, w, h float64, col color.Color) {
	p.SetColor(col)
	p.SetLineWidth(3)
	p.DrawRoundedRectangle(x+1.5, y+1.5, max(w-3, 1), h-3, min(5, max(w-3, 1)/2))
	p.Stroke()
}

// drawWaits shades the times in which no agent could work and labels them above
// the rows.
func (p *picture) drawWaits(bottom float64) {
	y := p.y + 18
	s := style{smallText, false}
	last := margin
	band := func(x Span, text string) {
		x0, x1 := p.axis.x(x.From), p.axis.x(x.To)
		x1 = max(x1, x0+4)
		p.SetColor(p.waitFill)
		p.DrawRectangle(x0, p.top-6, x1-x0, bottom-p.top+12)
		p.Fill()
		w := p.textWidth(text, s)
		at := min(max((x0+x1)/2-w/2, left), right-w)
		if at < last+16 {
			return // no room; the message has it as well
		}
		p.drawText(text, at, y, 0, s, p.amber)
		p.drawLine((x0+x1)/2, y+8, (x0+x1)/2, p.top-6, 2, p.amber)
		last = at + w
	}
	for _, x := range sortSpans(p.Waits, p.Off) {
		if x.Why == "" {
			band(x, "off "+bot.Took(x.Duration()))
			continue
		}
		band(x, strings.TrimPrefix(x.Why, "the ")+" "+bot.Took(x.Duration()))
	}
}

// drawGuidance draws a dashed line through both charts at each time at which
// somebody sent guidance, with the item's id above the rows.
func (p *picture) drawGuidance(bottom float64) {
	s := style{smallText, true}
	y := p.top - 18
	rows := p.top + p.rowsHeight()
	type flag struct {
		x    float64
		text string
		n    int
	}
	const closest = 12.0
	drawn := -closest
	var flags []flag
	for _, g := range p.Guidance {
		if !g.InSpan || g.At.After(p.axis.to) {
			continue
		}
		x := p.axis.x(g.At)
		if x >= drawn+closest {
			p.drawLine(x, p.top-8, x, rows+6, 3, p.pink, 9, 7)
			p.drawLine(x, bottom-p.burndownHeight(), x, bottom, 3, p.pink, 9, 7) // interrupted between the charts, so that the times there stay legible
			drawn = x
		}
		id := bot.Cut(bot.Clean(g.Item.ID), 8)
		if n := len(flags) - 1; n >= 0 && x < flags[n].x+p.textWidth(flags[n].text, s)+20 {
			flags[n].n++
			flags[n].text = fmt.Sprintf("%s + %d", strings.Fields(flags[n].text)[0], flags[n].n)
			continue
		}
		flags = append(flags, flag{x: x, text: id})
	}
	for _, f := range flags {
		w := p.textWidth(f.text, s)
		x := min(max(f.x-w/2, left), right-w)
		p.drawText(f.text, x, y, 0, s, p.pink)
	}
}

func sortSpans(all ...[]Span) []Span {
	var out []Span
	for _, list := range all {
		for _, s := range list {
			at := 0
			for at < len(out) && !out[at].From.After(s.From) {
				at++
			}
			out = append(out[:at], append([]Span{s}, out[at:]...)...)
		}
	}
	return out
}

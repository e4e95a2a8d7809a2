package report

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// timeline draws the sessions by hat.
func (p *picture) timeline() {
	p.heading("Sessions by hat")
	p.legend()
	p.y += 60
	p.top = p.y + p.lanes()
	bottom := p.top + float64(len(p.rows))*(p.rowH+p.gap) - p.gap
	for n := range p.rows {
		p.box(left, p.top+float64(n)*(p.rowH+p.gap), right-left, p.rowH, 8, p.panel)
	}
	for _, t := range p.axis.ticks() {
		x := p.axis.x(t.at)
		p.line(x, p.top, x, bottom, 2, p.grid)
	}
	p.bands(bottom)
	others := 0
	for n, r := range p.rows {
		y := p.top + float64(n)*(p.rowH+p.gap)
		col, own := p.hat(r.name, others)
		if !own {
			others++
		}
		s := style{normal, false}
		count := fmt.Sprint(r.n)
		p.print(count, left-16, y+p.rowH/2+10, 1, s, p.faint)
		most := left - 16 - margin - p.width(count, s) - 14
		name := p.shrunk(r.name, most, s, 22)
		p.print(p.cut(r.name, most, name), margin, y+p.rowH/2+10, 0, name, p.soft)
		p.bars(r, y, col)
	}
	p.y = bottom + 36
	p.times()
	p.y += 14
}

// times writes the clock below the rows; the labels keep to the picture and
// apart.
func (p *picture) times() {
	s := style{small, false}
	last := margin
	for _, t := range p.axis.ticks() {
		w := p.width(t.text, s)
		x := min(p.axis.x(t.at)-w/2, right-w)
		if x < last+14 {
			continue
		}
		p.print(t.text, x, p.y, 0, s, p.faint)
		last = x + w
	}
}

func (p *picture) heading(text string) {
	p.print(text, margin, p.y+36, 0, style{34, true}, p.text)
}

// legend tells the bars apart that are not whole.
func (p *picture) legend() {
	failed, cut := false, false
	for _, s := range p.Sessions {
		failed, cut = failed || s.Failed, cut || s.CutOff
	}
	x, s := right, style{small, false}
	if cut {
		x -= p.width("cut off", s)
		p.print("cut off", x, p.y+34, 0, s, p.soft)
		x -= 34
		p.hollow(x, p.y+14, 22, 22, p.soft)
		x -= 26
	}
	if failed {
		x -= p.width("failed", s)
		p.print("failed", x, p.y+34, 0, s, p.soft)
		x -= 34
		p.box(x, p.y+14, 22, 22, 4, p.red)
	}
}

// bars draws one hat's sessions. However many there are, each is to be seen.
func (p *picture) bars(r row, y float64, col color.Color) {
	pad := 6.0
	for _, s := range r.sessions {
		x0, x1 := p.axis.x(s.Start), p.axis.x(s.End)
		w := max(x1-x0-1.5, 4)
		x0 = min(x0, right-w)
		switch {
		case s.Failed:
			p.box(x0, y+pad, w, p.rowH-2*pad, 6, p.red)
		case s.CutOff:
			p.hollow(x0, y+pad, w, p.rowH-2*pad, col)
		default:
			p.box(x0, y+pad, w, p.rowH-2*pad, 6, col)
		}
	}
}

func (p *picture) hollow(x, y, w, h float64, col color.Color) {
	p.SetColor(col)
	p.SetLineWidth(3)
	p.DrawRoundedRectangle(x+1.5, y+1.5, max(w-3, 1), h-3, min(5, max(w-3, 1)/2))
	p.Stroke()
}

// bands are the times in which no agent could be at work, with their names in
// the upper lane.
func (p *picture) bands(bottom float64) {
	y := p.y + 18
	s := style{small, false}
	last := margin
	band := func(x Span, text string) {
		x0, x1 := p.axis.x(x.From), p.axis.x(x.To)
		x1 = max(x1, x0+4)
		p.SetColor(p.band)
		p.DrawRectangle(x0, p.top-6, x1-x0, bottom-p.top+12)
		p.Fill()
		w := p.width(text, s)
		at := min(max((x0+x1)/2-w/2, left), right-w)
		if at < last+16 {
			return // the text says it all the same
		}
		p.print(text, at, y, 0, s, p.amber)
		p.line((x0+x1)/2, y+8, (x0+x1)/2, p.top-6, 2, p.amber)
		last = at + w
	}
	for _, x := range sorted(p.Waits, p.Off) {
		if x.Why == "" {
			band(x, "off "+bot.Took(x.Duration()))
			continue
		}
		band(x, strings.TrimPrefix(x.Why, "the ")+" "+bot.Took(x.Duration()))
	}
}

// marks are the times at which somebody gave guidance, through both charts,
// with their ids in the lower lane.
func (p *picture) marks(bottom float64) {
	s := style{small, true}
	y := p.top - 18
	rows := p.top + float64(len(p.rows))*(p.rowH+p.gap) - p.gap
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
			p.line(x, p.top-8, x, rows+6, 3, p.pink, 9, 7)
			p.line(x, bottom-chart, x, bottom, 3, p.pink, 9, 7) // the clock between stays legible
			drawn = x
		}
		id := bot.Cut(bot.Clean(g.Item.ID), 8)
		if n := len(flags) - 1; n >= 0 && x < flags[n].x+p.width(flags[n].text, s)+20 {
			flags[n].n++
			flags[n].text = fmt.Sprintf("%s + %d", strings.Fields(flags[n].text)[0], flags[n].n)
			continue
		}
		flags = append(flags, flag{x: x, text: id})
	}
	for _, f := range flags {
		w := p.width(f.text, s)
		x := min(max(f.x-w/2, left), right-w)
		p.print(f.text, x, y, 0, s, p.pink)
	}
}

func sorted(all ...[]Span) []Span {
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

// burndown draws how many tasks were left.
func (p *picture) course() {
	p.y += 6
	p.heading("Tasks left")
	top := p.y + 64
	bottom := top + chart
	most := 1
	for _, pt := range p.Burndown {
		most = max(most, pt.Left)
	}
	yOf := func(n int) float64 { return bottom - float64(n)/float64(most)*chart }
	s := style{small, false}
	for _, n := range levels(most) {
		p.line(left, yOf(n), right, yOf(n), 2, p.grid)
		p.print(fmt.Sprint(n), left-16, yOf(n)+9, 1, s, p.faint)
	}
	if all := levels(most); yOf(all[len(all)-1])-yOf(most) > small*1.1 {
		p.print(fmt.Sprint(most), left-16, yOf(most)+9, 1, s, p.faint)
	}
	end := p.axis.x(p.Ended)
	path := func() {
		for n, pt := range p.Burndown {
			x, y := p.axis.x(pt.At), yOf(pt.Left)
			if n == 0 {
				p.MoveTo(x, y)
				continue
			}
			p.LineTo(x, yOf(p.Burndown[n-1].Left))
			p.LineTo(x, y)
		}
		p.LineTo(end, yOf(p.Burndown[len(p.Burndown)-1].Left))
	}
	first, last := p.Burndown[0], p.Burndown[len(p.Burndown)-1]
	path()
	p.LineTo(end, bottom)
	p.LineTo(p.axis.x(first.At), bottom)
	p.ClosePath()
	p.SetColor(p.area)
	p.Fill()
	p.line(p.axis.x(first.At), yOf(first.Left), end, yOf(0), 2.5, p.faint, 10, 8)
	path()
	p.SetColor(p.blue)
	p.SetLineWidth(5)
	p.SetLineJoinRound()
	p.Stroke()
	p.SetColor(p.blue)
	p.DrawCircle(end, yOf(last.Left), 9)
	p.Fill()
	p.marks(bottom)
	p.label(fmt.Sprint(last.Left), end-18, yOf(last.Left), bottom, func(from float64) float64 {
		y := yOf(last.Left)
		for n, pt := range p.Burndown { // what the course shows from there on
			if n+1 == len(p.Burndown) || p.axis.x(p.Burndown[n+1].At) >= from {
				y = min(y, yOf(pt.Left))
			}
		}
		return y
	})
	p.y = bottom + 36
}

// label writes a number on a ground of its own, left of a point and below it,
// or right where there is no room. Where there is none below, it stands above
// what top says is the highest from a place on, if that is near.
func (p *picture) label(text string, x, y, bottom float64, top func(from float64) float64) {
	s := style{normal, true}
	w := p.width(text, s) + 20
	if x-w < left {
		x += 36 + w
	}
	if y += 12; y+42 > bottom {
		y -= 66
		const far = 90 // from its point: then it is better on the course than away from it
		if clear := top(x-w-8) - 48; clear > y-far {
			y = min(y, clear)
		}
	}
	p.box(x-w, y, w, 38, 8, p.palette.back)
	p.print(text, x-10, y+29, 1, s, p.text)
}

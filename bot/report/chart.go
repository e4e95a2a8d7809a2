package report

import "fmt"

// drawBurndown draws the number of tasks left over time.
func (p *picture) drawBurndown() {
	p.y += 6
	p.drawHeading("Tasks left")
	top := p.y + 64
	bottom := top + p.burndownHeight()
	most := 1
	for _, pt := range p.Burndown {
		most = max(most, pt.Left)
	}
	yOf := func(n int) float64 { return bottom - float64(n)/float64(most)*p.burndownHeight() }
	s := style{smallText, false}
	for _, n := range gridLevels(most) {
		p.drawLine(left, yOf(n), right, yOf(n), 2, p.grid)
		p.drawText(fmt.Sprint(n), left-16, yOf(n)+9, 1, s, p.faint)
	}
	if all := gridLevels(most); yOf(all[len(all)-1])-yOf(most) > smallText*1.1 {
		p.drawText(fmt.Sprint(most), left-16, yOf(most)+9, 1, s, p.faint)
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
	p.SetColor(p.burndownFill)
	p.Fill()
	p.drawLine(p.axis.x(first.At), yOf(first.Left), end, yOf(0), 2.5, p.faint, 10, 8)
	path()
	p.SetColor(p.blue)
	p.SetLineWidth(5)
	p.SetLineJoinRound()
	p.Stroke()
	p.SetColor(p.blue)
	p.DrawCircle(end, yOf(last.Left), 9)
	p.Fill()
	p.drawGuidance(bottom)
	p.drawLabel(fmt.Sprint(last.Left), end-18, yOf(last.Left), bottom, func(from float64) float64 {
		y := yOf(last.Left)
		for n, pt := range p.Burndown { // the line's highest point right of from
			if n+1 == len(p.Burndown) || p.axis.x(p.Burndown[n+1].At) >= from {
				y = min(y, yOf(pt.Left))
			}
		}
		return y
	})
	p.y = bottom + 36
}

// drawLabel writes a number on a box beside the point (x, y): below it and to
// the left, or to the right if the left has no room. If there is no room below,
// the label goes above the line, unless that is far from the point. top returns
// the line's highest point to the right of a position.
func (p *picture) drawLabel(text string, x, y, bottom float64, top func(from float64) float64) {
	s := style{normalText, true}
	w := p.textWidth(text, s) + 20
	if x-w < left {
		x += 36 + w
	}
	if y += 12; y+42 > bottom {
		y -= 66
		const far = 90 // a label that is farther away no longer belongs to its point
		if clear := top(x-w-8) - 48; clear > y-far {
			y = min(y, clear)
		}
	}
	p.fillBox(x-w, y, w, 38, 8, p.palette.background)
	p.drawText(text, x-10, y+29, 1, s, p.text)
}

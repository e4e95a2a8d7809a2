package report

import (
	"fmt"
	"image/color"

	"github.com/nightporter/nightporter/bot"
)

// The chart of lanes takes the place of the one by hat where a run worked on several
// tasks at a time: a row for each lane, in it the tasks with their sessions.
const (
	maxLanes       = 16   // rows; further lanes share the last one
	laneLegendTop  = 50.0 // below the heading
	laneLegendLine = 46.0
	laneInset      = 4.0 // of bars in their row
)

// laneSize is how high the rows of the chart are. bar is the height of a session; a row
// that is higher has the ids of its tasks above their sessions.
type laneSize struct{ row, gap, bar float64 }

// laneSize returns the sizes for the number of lanes.
func (f Facts) laneSize() laneSize {
	switch {
	case f.Lanes <= 5:
		return laneSize{82, 10, 40}
	case f.Lanes <= 8:
		return laneSize{66, 6, 30}
	}
	return laneSize{30, 4, 22}
}

// named reports whether a row has room for ids.
func (s laneSize) named() bool { return s.row >= s.bar+laneInset+smallText }

// inLanes reports whether the chart shows lanes.
func (f Facts) inLanes() bool { return f.Lanes > 1 }

// laneRows returns the rows of the chart: their number and the row of each lane.
func (f Facts) laneRows() (rows int, row func(lane int) int) {
	rows = min(f.Lanes, maxLanes)
	return rows, func(lane int) int { return min(lane, rows-1) }
}

// legendEntry explains one colour of the chart of lanes.
type legendEntry struct {
	text string
	draw func(x, y float64) // in a box of 22 × 22
}

// legendEntries returns those that the chart needs, the hats first.
func (p *picture) legendEntries() (all []legendEntry) {
	box := func(col color.Color) func(x, y float64) {
		return func(x, y float64) { p.fillBox(x, y, 22, 22, 4, col) }
	}
	colors := p.hatColors(p.palette)
	for n, h := range p.Hats {
		if n == maxRows-1 && len(p.Hats) > maxRows {
			break // the rest have colours, but no room for names
		}
		all = append(all, legendEntry{h.Name, box(colors[h.Name])})
	}
	if len(p.Checks) > 0 {
		all = append(all, legendEntry{"verify", func(x, y float64) { p.fillBox(x, y+7, 22, 8, 3, p.soft) }})
	}
	failed, cut := false, false
	for _, s := range p.Sessions {
		failed, cut = failed || s.Failed, cut || s.CutOff
	}
	if failed {
		all = append(all, legendEntry{"failed", box(p.red)})
	}
	if cut {
		all = append(all, legendEntry{"cut off", func(x, y float64) { p.drawOutline(x, y, 22, 22, p.soft) }})
	}
	all = append(all, legendEntry{"waits", func(x, y float64) { p.fillBox(x, y, 22, 22, 4, p.grid) }})
	if len(p.Landed) > 0 {
		all = append(all, legendEntry{"merged", func(x, y float64) { p.drawLanding(x+11, y, 22) }})
	}
	return all
}

// legendLines breaks the legend into lines. Widths are estimated, because the height of
// the picture depends on the lines.
func (p *picture) legendLines() (lines [][]legendEntry) {
	var line []legendEntry
	used := 0.0
	for _, e := range p.legendEntries() {
		w := legendWidth(e)
		if len(line) > 0 && used+w > innerWidth {
			lines, line, used = append(lines, line), nil, 0
		}
		line, used = append(line, e), used+w
	}
	return append(lines, line)
}

func legendWidth(e legendEntry) float64 { return 32 + 26 + smallText*0.56*float64(bot.Width(e.text)) }

// lanesHeight returns the height of the chart below the labels of waits and guidance.
func (p *picture) lanesHeight() float64 {
	rows, _ := p.laneRows()
	size := p.laneSize()
	return float64(rows)*(size.row+size.gap) - size.gap
}

// drawLanes draws the tasks of each lane with their sessions.
func (p *picture) drawLanes() {
	p.drawHeading("Lanes")
	p.y += laneLegendTop
	s := style{smallText, false}
	for _, line := range p.legendLines() {
		x := margin
		for _, e := range line {
			e.draw(x, p.y+6)
			p.drawText(e.text, x+32, p.y+26, 0, s, p.soft)
			x += legendWidth(e)
		}
		p.y += laneLegendLine
	}
	p.top = p.y + p.labelsHeight()
	bottom := p.top + p.lanesHeight()
	rows, row := p.laneRows()
	size := p.laneSize()
	yOf := func(lane int) float64 { return p.top + float64(row(lane))*(size.row+size.gap) }
	barOf := func(lane int) float64 { return yOf(lane) + size.row - size.bar - laneInset }
	for n := range rows {
		p.fillBox(left, yOf(n), right-left, size.row, 8, p.panel)
	}
	for _, t := range p.axis.ticks() {
		x := p.axis.x(t.at)
		p.drawLine(x, p.top, x, bottom, 2, p.grid)
	}
	p.drawWaits(bottom)
	counts := make([]int, rows)
	for _, x := range p.Sessions {
		counts[row(x.Lane)]++
	}
	normal := style{normalText, false}
	for n := range rows {
		name := fmt.Sprintf("lane %d", n+1)
		if n == maxLanes-1 && p.Lanes > maxLanes {
			name = fmt.Sprintf("%d others", p.Lanes-n)
		}
		p.drawText(name, margin, yOf(n)+size.row/2+10, 0, normal, p.soft)
		p.drawText(fmt.Sprint(counts[n]), left-16, yOf(n)+size.row/2+10, 1, normal, p.faint)
	}
	for _, x := range p.Held {
		x0, w := p.barOf(x)
		p.fillBox(x0, barOf(x.Lane), w, size.bar, 6, p.grid)
	}
	colors := p.hatColors(p.palette)
	for _, x := range p.Sessions {
		p.drawSession(x, barOf(x.Lane), size.bar, colors[x.Hat])
	}
	for _, x := range p.Checks {
		x0, w := p.barOf(x)
		p.fillBox(x0, barOf(x.Lane)+size.bar/2-5, w, 10, 3, p.soft)
	}
	for _, x := range p.Landed {
		p.drawLanding(p.axis.x(x.At), barOf(x.Lane), size.bar)
	}
	if size.named() {
		p.drawLaneTasks(yOf)
	}
	p.y = bottom + 36
	p.drawTickLabels()
	p.y += 14
}

// barOf returns where the bar of a time begins and how wide it is. The shortest one is
// still seen.
func (p *picture) barOf(x LaneTime) (x0, w float64) {
	x0, x1 := p.axis.x(x.From), p.axis.x(x.To)
	w = max(x1-x0-1.5, 4)
	return min(x0, right-w), w
}

// drawLanding marks the moment at which a change was merged.
func (p *picture) drawLanding(x, y, h float64) {
	x = min(x, right-3)
	p.fillBox(x-3, y-3, 6, h+6, 3, p.text)
}

// drawLaneTasks writes the id of each task above its bar, where there is room. A task that
// has a lane again is named once more only beyond another task.
func (p *picture) drawLaneTasks(yOf func(lane int) float64) {
	s := style{smallText, false}
	end, last := map[int]float64{}, map[int]string{}
	for _, x := range p.Held {
		y := yOf(x.Lane)
		id := bot.Cut(shortID(x.Task), 10)
		if last[int(y)] == id {
			continue
		}
		at := p.axis.x(x.From)
		w := p.textWidth(id, s)
		if at = min(at, right-w); at < end[int(y)] {
			continue
		}
		p.drawText(id, at, y+27, 0, s, p.soft)
		end[int(y)], last[int(y)] = at+w+12, id
	}
}

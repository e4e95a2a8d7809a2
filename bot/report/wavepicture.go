package report

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// Limits of a wave's picture; what is beyond them is counted.
const (
	maxWaveReports = 6
	maxWaveRows    = 5
)

// Heights of its parts in pixels.
const (
	reportHeight  = 92.0
	reportGap     = 10.0
	headingHeight = 62.0
	waveRowHeight = 50.0
	gateHeight    = 48.0
	noteHeight    = 44.0
	wavesGap      = 20.0 // below the waves of a digest
)

// wavePicture is the state of one drawing of a wave. y is the vertical position of the
// next element.
type wavePicture struct {
	Wave
	*canvas
	y float64
}

// WavePicture returns a wave as a PNG: number tiles, what became of each report, what
// triage set aside, and the waves of the run so far.
func WavePicture(w Wave, dark bool) ([]byte, error) {
	look := lightPalette()
	if dark {
		look = darkPalette()
	}
	c, err := newCanvas(width, int(w.height()), look)
	if err != nil {
		return nil, err
	}
	p := &wavePicture{Wave: w, canvas: c}
	p.drawTitle()
	p.drawTiles()
	p.drawReports()
	p.drawAside()
	if len(p.Waves) > 1 {
		p.heading("Waves of " + bot.Clean(p.last().Run))
		p.y = p.waveRows(p.y, p.Waves, false)
	}
	return c.encode()
}

func (w Wave) height() float64 {
	h := margin/2 + titleH + tilesH
	if n := min(len(w.Reports), maxWaveReports); n > 0 {
		h += headingHeight + float64(n)*(reportHeight+reportGap)
	}
	if len(w.Reports) > maxWaveReports {
		h += noteHeight
	}
	if len(w.Aside) > 0 {
		h += headingHeight + 40 + float64(len(w.Aside)+1)/2*gateHeight
	}
	if w.Unclear > 0 {
		h += noteHeight
	}
	if len(w.Waves) > 1 {
		h += headingHeight + waveRowsHeight(w.Waves)
	}
	return h + margin
}

// waveRowsHeight returns the height that waveRows needs.
func waveRowsHeight(rows []WaveRow) float64 {
	n := min(len(rows), maxWaveRows)
	if len(rows) > maxWaveRows {
		n++
	}
	return float64(n) * waveRowHeight
}

func (p *wavePicture) heading(text string) {
	p.drawText(text, margin, p.y+42, 0, style{34, true}, p.text)
	p.y += headingHeight
}

func (p *wavePicture) drawTitle() {
	p.y = margin + 58
	s := style{normalText, false}
	run := bot.Clean(p.last().Run)
	p.drawText(run, right, p.y, 1, s, p.faint)
	big := style{60, true}
	number := fmt.Sprintf("wave %d", p.last().N)
	most := innerWidth - p.textWidth(run, s) - 32 - p.textWidth(" "+number, big)
	name := p.truncate(bot.Clean(p.Project), most, big)
	p.drawText(name+" "+number, margin, p.y, 0, big, p.text)
	p.y += 52
	line := p.Ended.Format("Mon 2 Jan 2006") + " · " + p.Began.Format("15:04") + " → " + p.Ended.Format("15:04") + " (" + bot.Took(p.last().Took) + ")"
	if p.Max > 0 {
		line += fmt.Sprintf(" · %d waves at most", p.Max)
	}
	p.drawText(p.truncate(line, innerWidth, style{30, false}), margin, p.y, 0, style{30, false}, p.soft)
	p.y = margin/2 + titleH + 8
}

func (p *wavePicture) drawTiles() {
	last := p.last()
	fixed := color.Color(p.green)
	if last.Passed == 0 {
		fixed = p.amber
	}
	money, spent := last.Cost.tile()
	p.tiles(p.y, []tile{
		{fmt.Sprintf("%d/%d", last.Passed, last.attempted()), "fixed", fixed},
		{fmt.Sprint(last.Failed), "failed", p.red},
		{fmt.Sprint(last.Skipped), "skipped", p.slate},
		{fmt.Sprint(last.Aside), "set aside", p.violet},
		{money, spent, p.blue},
	})
	parts := []string{plural(last.Cost.Sessions, "session")}
	if last.Cost.Sessions > 0 {
		parts = append(parts, p.Tokens)
	}
	parts = append(parts, plural(p.Left, "report")+" left")
	p.drawText(p.truncate(strings.Join(parts, "  ·  "), innerWidth, style{normalText, false}), margin, p.y+tileHeight+48, 0, style{normalText, false}, p.soft)
	p.y += tilesH
}

// drawReports draws a box for each report: its title, and below it what became of it.
func (p *wavePicture) drawReports() {
	if len(p.Reports) == 0 {
		return
	}
	p.heading("Reports")
	p.drawText("time of their sessions", right, p.y-headingHeight+42, 1, style{smallText, false}, p.faint)
	bold, s := style{normalText, true}, style{normalText, false}
	for _, r := range p.Reports[:min(len(p.Reports), maxWaveReports)] {
		col := p.waveColor(r.Sign)
		p.fillBox(margin, p.y, innerWidth, reportHeight, 14, p.panel)
		p.fillBox(margin, p.y, 9, reportHeight, 4.5, col)
		id := shortID(r.ID)
		x := margin + 28
		p.drawText(id, x, p.y+38, 0, bold, p.text)
		room := innerWidth - 52.0
		took := "unknown"
		if r.Worked > 0 {
			took = bot.Took(r.Worked)
		} else if r.Sign == bot.SignAway {
			took = ""
		}
		p.drawText(took, right-20, p.y+38, 1, s, p.soft)
		from := p.textWidth(id, bold) + 16
		p.drawText(p.truncate(bot.Clean(r.Title), room-from-p.textWidth(took, s)-24, s), x+from, p.y+38, 0, s, p.text)
		word := map[string]string{bot.SignDone: "fixed", bot.SignFailed: "failed", bot.SignAway: "skipped"}[r.Sign]
		p.drawText(word, x, p.y+74, 0, bold, col)
		from = p.textWidth(word, bold) + 16
		p.drawText(p.truncate(bot.Clean(r.Result), room-from, s), x+from, p.y+74, 0, s, p.soft)
		p.y += reportHeight + reportGap
	}
	if more := len(p.Reports) - maxWaveReports; more > 0 {
		p.drawText(fmt.Sprintf("and %d more", more), margin+28, p.y+30, 0, s, p.soft)
		p.y += noteHeight
	}
}

// waveColor returns the colour of reports that passed, failed or were skipped.
func (p palette) waveColor(sign string) color.Color {
	switch sign {
	case bot.SignDone:
		return p.green
	case bot.SignFailed:
		return p.red
	}
	return p.slate
}

// drawAside draws a bar of what triage set aside, and two of its reasons a line below.
func (p *wavePicture) drawAside() {
	s := style{normalText, false}
	if len(p.Aside) > 0 {
		p.heading("Set aside")
		x, total := margin, p.last().Aside
		for n, c := range p.Aside {
			w := innerWidth * float64(c.N) / float64(total)
			p.fillBox(x, p.y, max(w-4, 4), 24, 6, p.gateColor(n))
			x += w
		}
		p.y += 40
		for n, c := range p.Aside {
			x := margin + float64(n%2)*innerWidth/2
			p.fillBox(x, p.y+6, markSize, markSize, 5, p.gateColor(n))
			p.drawText(p.truncate(fmt.Sprintf("%d %s", c.N, c.Name), innerWidth/2-60, s), x+38, p.y+26, 0, s, p.text)
			if n%2 == 1 || n == len(p.Aside)-1 {
				p.y += gateHeight
			}
		}
	}
	if p.Unclear > 0 {
		p.fillBox(margin, p.y+8, markSize, markSize, 5, p.amber)
		p.drawText(plural(p.Unclear, "unclear report")+" kept, not sorted", margin+38, p.y+28, 0, s, p.text)
		p.y += noteHeight
	}
}

func (p palette) gateColor(n int) color.Color { return p.hats[n%len(p.hats)] }

// waveRows draws a line for each wave, the last ones if there are too many, and returns
// the position below: its number, a square for each report, and what it took.
func (c *canvas) waveRows(y float64, rows []WaveRow, runs bool) float64 {
	s, bold := style{normalText, false}, style{normalText, true}
	if more := len(rows) - maxWaveRows; more > 0 {
		c.drawText(fmt.Sprintf("%s before", plural(more, "wave")), margin, y+30, 0, s, c.soft)
		rows, y = rows[more:], y+waveRowHeight
	}
	from := 0.0
	for _, r := range rows {
		from = max(from, c.textWidth(r.name(runs), bold))
	}
	from += margin + 24
	for _, r := range rows {
		c.drawText(r.name(runs), margin, y+30, 0, bold, c.text)
		text := c.truncate(r.text(), right-from-8*(markSize+markGap), s)
		c.drawText(text, right, y+30, 1, s, c.soft)
		c.marks(from, y+10, right-c.textWidth(text, s)-24-from, []mark{{r.Passed, c.green}, {r.Failed, c.red}, {r.Skipped, c.slate}})
		y += waveRowHeight
	}
	return y
}

// name returns "wave 2", with its run if several runs had waves.
func (r WaveRow) name(run bool) string {
	if run {
		return fmt.Sprintf("%s wave %d", bot.Clean(r.Run), r.N)
	}
	return fmt.Sprintf("wave %d", r.N)
}

// mark is a number of squares of one colour.
type mark struct {
	n   int
	col color.Color
}

// marks draws squares, narrower ones where there is too little room for all, and a bar
// of each colour where they would be too narrow to be told apart.
func (c *canvas) marks(x, y, room float64, all []mark) {
	total := 0
	for _, m := range all {
		total += m.n
	}
	if total == 0 {
		return
	}
	size, gap := markSize, markGap
	if over := room / (float64(total) * (size + gap)); over < 1 {
		if size, gap = size*over, gap*over; over < 0.4 {
			for _, m := range all {
				w := room * float64(m.n) / float64(total)
				c.fillBox(x, y, max(w-2, 0), markSize, 5, m.col)
				x += w
			}
			return
		}
	}
	for _, m := range all {
		for range m.n {
			c.fillBox(x, y, size, markSize, 5, m.col)
			x += size + gap
		}
	}
}

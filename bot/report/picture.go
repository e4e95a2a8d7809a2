package report

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// Picture returns the digest as a PNG: number tiles, what is proved of the tasks,
// the sessions by hat, or by lane where there were several, over time with marks for
// guidance and waits, and the tasks left.
func Picture(f Facts, dark bool) ([]byte, error) {
	look := lightPalette()
	if dark {
		look = darkPalette()
	}
	p := &picture{Facts: f, rows: f.rows(), canvas: &canvas{palette: look}}
	p.measure()
	c, err := newCanvas(width, int(p.h), look)
	if err != nil {
		return nil, err
	}
	p.canvas = c
	p.drawTitle()
	p.drawTiles()
	p.drawProofs()
	if len(p.Sessions) > 0 {
		p.axis = newAxis(p.Began, p.Ended, left, right)
		if p.inLanes() {
			p.drawLanes()
		} else {
			p.drawTimeline()
		}
		p.drawBurndown()
	} else {
		p.drawEmpty()
	}
	p.drawWaves()
	p.drawFooter()
	return c.encode()
}

func (p *picture) drawTitle() {
	p.y = margin + 58
	runs := strings.Join(p.Runs[:min(len(p.Runs), 3)], " ")
	if len(p.Runs) > 3 {
		runs += fmt.Sprintf(" + %d", len(p.Runs)-3)
	}
	s := style{normalText, false}
	p.drawText(runs, right, p.y, 1, s, p.faint)
	most := innerWidth - p.textWidth(runs, s) - 32
	big := style{60, true}
	p.drawText(p.truncate(bot.Clean(p.Project), most, big), margin, p.y, 0, big, p.text)
	p.y += 52
	p.drawText(p.truncate(p.dateLine(), innerWidth, style{30, false}), margin, p.y, 0, style{30, false}, p.soft)
	p.y = margin/2 + titleH + 8
}

// dateLine returns the span in words: "Thu 19 → Fri 20 Nov 2026 · 23:10 → 06:12
// (7 h 02)".
func (p *picture) dateLine() string {
	from, to := p.start(), p.To
	if !p.Ended.IsZero() {
		to = p.Ended
	}
	days := to.Format("Mon 2 Jan 2006")
	if from.Format(time.DateOnly) != to.Format(time.DateOnly) {
		days = from.Format("Mon 2") + " → " + days
		if from.Month() != to.Month() {
			days = from.Format("Mon 2 Jan") + " → " + to.Format("Mon 2 Jan 2006")
		}
	}
	if p.Began.IsZero() {
		return days
	}
	end := p.clock(to)
	if p.Live {
		end = "now"
	}
	if p.isLong() {
		return days
	}
	return days + " · " + p.clock(from) + " → " + end + " (" + bot.Took(to.Sub(from)) + ")"
}

// tile is a number with the word for it.
type tile struct {
	number, label string
	col           color.Color
}

const tileHeight = 128.0

// tiles draws a row of tiles at y.
func (c *canvas) tiles(y float64, all []tile) {
	const gap = 14.0
	w := (innerWidth - gap*float64(len(all)-1)) / float64(len(all))
	for n, t := range all {
		x := margin + float64(n)*(w+gap)
		c.fillBox(x, y, w, tileHeight, 16, c.panel)
		c.fillBox(x, y, 9, tileHeight, 4.5, t.col)
		big := c.shrinkToFit(t.number, w-42, style{52, true}, 24)
		c.drawText(t.number, x+26, y+66, 0, big, t.col)
		s := c.shrinkToFit(t.label, w-36, style{smallText, false}, 20)
		c.drawText(t.label, x+26, y+106, 0, s, c.soft)
	}
}

// tile returns the number and the word of a tile about the cost.
func (c Cost) tile() (money, spent string) {
	switch {
	case c.noneKnown():
		return "unknown", "spent so far"
	case c.Unpriced > 0 && c.USD == 0:
		return "unknown", "spent"
	case c.Unpriced > 0:
		return c.sum(), "+ unknown"
	}
	return c.sum(), "spent"
}

func (p *picture) drawTiles() {
	money, spent := p.Cost.tile()
	need := "need you"
	if len(p.Needs) == 1 {
		need = "needs you"
	}
	p.tiles(p.y, []tile{
		{fmt.Sprintf("%d/%d", p.Done, p.Total), "tasks done", p.green},
		{fmt.Sprint(p.Blocked), "blocked", p.red},
		{fmt.Sprint(len(p.Needs)), need, p.amber},
		{money, spent, p.blue},
		{fmt.Sprint(len(p.Sessions)), "sessions", p.violet},
	})
	rates := p.rates()
	if p.Scripted {
		rates = append([]string{scriptedNote}, rates...)
	}
	line := strings.Join(rates, "  ·  ")
	s := p.shrinkToFit(line, innerWidth, style{normalText, false}, 20)
	p.drawText(p.truncate(line, innerWidth, s), margin, p.y+tileHeight+48, 0, s, p.soft)
	p.y += tilesH
}

func (p *picture) drawEmpty() {
	p.drawText("No agent ran.", width/2, p.y+80, 0.5, style{40, true}, p.soft)
	p.y += 150
}

// drawWaves draws a line for each wave of bug reports.
func (p *picture) drawWaves() {
	if len(p.Waves) == 0 {
		return
	}
	p.drawHeading("Waves")
	p.y = p.waveRows(p.y+headingHeight, p.Waves, p.runsInWaves()) + wavesGap
}

// drawFooter draws the list of needs and of requests, and below them branch,
// boundary and ledger head.
func (p *picture) drawFooter() {
	s := style{normalText, false}
	for n, text := range p.notes {
		p.fillBox(margin, p.y+8, 20, 20, 5, p.palette.signColor(p.Needs[n].Sign))
		p.drawText(p.truncate(text, innerWidth-38, s), margin+38, p.y+28, 0, s, p.text)
		p.y += 44
	}
	if more := len(p.Needs) - maxNeeds; more > 0 {
		p.drawText(fmt.Sprintf("and %d more", more), margin+38, p.y+28, 0, s, p.soft)
		p.y += 44
	}
	if len(p.Needs) == 0 {
		p.fillBox(margin, p.y+8, 20, 20, 5, p.green)
		p.drawText("Nothing needs you.", margin+38, p.y+28, 0, s, p.text)
		p.y += 44
	}
	for _, r := range p.Requests[:min(len(p.Requests), maxRequests)] {
		col := color.Color(p.faint)
		if r.Sign != "" {
			col = p.palette.signColor(r.Sign)
		}
		p.fillBox(margin, p.y+8, 20, 20, 5, col)
		p.drawText(p.truncate(r.Text, innerWidth-38, s), margin+38, p.y+28, 0, s, p.text)
		p.y += 44
	}
	var proof []string
	if p.Branch != "" {
		proof = append(proof, bot.Clean(p.Branch))
	}
	if p.Boundary > 0 && len(p.Sessions) > 0 {
		proof = append(proof, strings.ToLower(shutIn(p.Boundary)))
	}
	if p.Head != "" {
		proof = append(proof, "ledger "+p.ledgerHead())
	}
	tiny := style{smallText, false}
	p.drawText(p.truncate(strings.Join(proof, "  ·  "), innerWidth, tiny), margin, p.h-36, 0, tiny, p.faint)
}

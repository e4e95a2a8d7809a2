package report

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// Measures of the picture. It is upright and its smallest letters are 1/40 of
// its width: a phone shows it at about a third of its size, without a tap.
const (
	width   = 1080
	margin  = 44.0
	inner   = width - 2*margin
	left    = margin + 216 // where times begin
	right   = width - margin
	small   = 26.0
	normal  = 28.0
	mostRow = 8
	chart   = 264.0
)

// Picture is the digest as a PNG: number tiles, the sessions by hat over time,
// marks of guidance and of waits, and the tasks left.
func Picture(f Facts, dark bool) ([]byte, error) {
	look := lightLook()
	if dark {
		look = darkLook()
	}
	p := &picture{Facts: f, rows: f.rows()}
	p.height()
	c, err := newCanvas(width, int(p.h), look)
	if err != nil {
		return nil, err
	}
	p.canvas = c
	p.title()
	p.tiles()
	if len(p.Sessions) > 0 {
		p.axis = newAxis(p.Began, p.Ended, left, right)
		p.timeline()
		p.course()
	} else {
		p.nothing()
	}
	p.foot()
	return c.png()
}

// picture is one in the making; y is how far down it has come.
type picture struct {
	Facts
	*canvas
	axis  axis
	rows  []row
	rowH  float64
	gap   float64
	top   float64 // of the rows
	y     float64
	h     float64
	notes []string // of needs, below
}

// row is one hat's line.
type row struct {
	name     string
	n        int
	sessions []Session
}

// rows are the hats in the order in which they were first at work; those
// beyond what can be told apart share the last one.
func (f Facts) rows() []row {
	var out []row
	at := map[string]int{}
	for n, h := range f.Hats {
		if len(f.Hats) > mostRow && n >= mostRow-1 {
			at[h.Name] = mostRow - 1
			if n == mostRow-1 {
				out = append(out, row{name: fmt.Sprintf("%d others", len(f.Hats)-n)})
			}
			out[mostRow-1].n += h.N
			continue
		}
		at[h.Name] = len(out)
		out = append(out, row{name: h.Name, n: h.N})
	}
	for _, s := range f.Sessions {
		r := &out[at[s.Hat]]
		r.sessions = append(r.sessions, s)
	}
	return out
}

const (
	titleH = 150.0
	tilesH = 204.0
	laneH  = 42.0 // marks above the rows, in up to two lanes
	mostN  = 3    // needs
)

func (p *picture) height() {
	p.rowH, p.gap = 52, 10
	if len(p.rows) > 5 {
		p.rowH, p.gap = 40, 8
	}
	p.h = margin/2 + titleH + tilesH
	if len(p.Sessions) > 0 {
		p.h += 60 + p.lanes() + float64(len(p.rows))*(p.rowH+p.gap) + 44 // axis
		p.h += 70 + chart + 36
	} else {
		p.h += 150
	}
	for n, x := range p.Needs {
		if n == mostN {
			break
		}
		p.notes = append(p.notes, x.Text)
	}
	p.h += float64(max(len(p.notes), 1))*44 + 40 + 60
	if len(p.Needs) > mostN {
		p.h += 44
	}
}

// lanes is the room above the rows: for the names of waits, and of guidance.
func (p *picture) lanes() float64 {
	h := 12.0
	if len(p.Waits)+len(p.Off) > 0 {
		h += laneH
	}
	for _, g := range p.Guidance {
		if g.InSpan {
			return h + laneH - 10
		}
	}
	return h
}

func (p *picture) title() {
	p.y = margin + 58
	runs := strings.Join(p.Runs[:min(len(p.Runs), 3)], " ")
	if len(p.Runs) > 3 {
		runs += fmt.Sprintf(" + %d", len(p.Runs)-3)
	}
	s := style{normal, false}
	p.print(runs, right, p.y, 1, s, p.faint)
	most := inner - p.width(runs, s) - 32
	big := style{60, true}
	p.print(p.cut(bot.Clean(p.Project), most, big), margin, p.y, 0, big, p.text)
	p.y += 52
	p.print(p.cut(p.when(), inner, style{30, false}), margin, p.y, 0, style{30, false}, p.soft)
	p.y = margin/2 + titleH + 8
}

// when is the time that is looked at: "Thu 19 → Fri 20 Nov 2026 · 23:10 →
// 06:12 (7 h 02)".
func (p *picture) when() string {
	from, to := p.from(), p.To
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
	if p.days() {
		return days
	}
	return days + " · " + p.clock(from) + " → " + end + " (" + bot.Took(to.Sub(from)) + ")"
}

func (p *picture) tiles() {
	money, spent := bot.Money(p.Cost.USD), "spent"
	switch {
	case p.Cost.open():
		money, spent = "unknown", "spent so far"
	case p.Cost.Unpriced > 0 && p.Cost.USD == 0:
		money = "unknown"
	case p.Cost.Unpriced > 0:
		spent = "+ unknown"
	}
	need := "need you"
	if len(p.Needs) == 1 {
		need = "needs you"
	}
	all := []struct {
		number, label string
		col           color.Color
	}{
		{fmt.Sprintf("%d/%d", p.Done, p.Total), "tasks done", p.green},
		{fmt.Sprint(p.Blocked), "blocked", p.red},
		{fmt.Sprint(len(p.Needs)), need, p.amber},
		{money, spent, p.blue},
		{fmt.Sprint(len(p.Sessions)), "sessions", p.violet},
	}
	const gap, high = 14.0, 128.0
	w := (inner - gap*float64(len(all)-1)) / float64(len(all))
	for n, t := range all {
		x := margin + float64(n)*(w+gap)
		p.box(x, p.y, w, high, 16, p.panel)
		p.box(x, p.y, 9, high, 4.5, t.col)
		big := p.shrunk(t.number, w-42, style{52, true}, 24)
		p.print(t.number, x+26, p.y+66, 0, big, t.col)
		s := p.shrunk(t.label, w-36, style{small, false}, 20)
		p.print(t.label, x+26, p.y+106, 0, s, p.soft)
	}
	line := strings.Join(p.rates(), "  ·  ")
	p.print(p.cut(line, inner, style{normal, false}), margin, p.y+high+48, 0, style{normal, false}, p.soft)
	p.y += tilesH
}

func (p *picture) nothing() {
	p.print("No agent ran.", width/2, p.y+80, 0.5, style{40, true}, p.soft)
	p.y += 150
}

// foot is what needs somebody, and what proves the rest.
func (p *picture) foot() {
	s := style{normal, false}
	for n, text := range p.notes {
		p.box(margin, p.y+8, 20, 20, 5, p.palette.sign(p.Needs[n].Sign))
		p.print(p.cut(text, inner-38, s), margin+38, p.y+28, 0, s, p.text)
		p.y += 44
	}
	if more := len(p.Needs) - mostN; more > 0 {
		p.print(fmt.Sprintf("and %d more", more), margin+38, p.y+28, 0, s, p.soft)
		p.y += 44
	}
	if len(p.Needs) == 0 {
		p.box(margin, p.y+8, 20, 20, 5, p.green)
		p.print("Nothing needs you.", margin+38, p.y+28, 0, s, p.text)
		p.y += 44
	}
	var proof []string
	if p.Branch != "" {
		proof = append(proof, bot.Clean(p.Branch))
	}
	if p.Boundary > 0 && len(p.Sessions) > 0 {
		proof = append(proof, fmt.Sprintf("boundary %d", p.Boundary))
	}
	if p.Head != "" {
		proof = append(proof, fmt.Sprintf("ledger %d %s", p.Seq, p.Head[:min(len(p.Head), 12)]))
	}
	tiny := style{small, false}
	p.print(p.cut(strings.Join(proof, "  ·  "), inner, tiny), margin, p.h-36, 0, tiny, p.faint)
}

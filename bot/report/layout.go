package report

import "fmt"

// Measures of the picture in pixels. A phone shows the upright picture at about
// a third of its size; the smallest letters, 1/40 of its width, are legible
// there without zooming.
const (
	width       = 1080
	margin      = 44.0
	innerWidth  = width - 2*margin
	left        = margin + 216 // start of the time axis
	right       = width - margin
	smallText   = 26.0
	normalText  = 28.0
	maxRows     = 8
	chartHeight = 264.0
)

// picture is the state of one drawing. y is the vertical position for the next
// element.
type picture struct {
	Facts
	*canvas
	axis  axis
	rows  []row
	rowH  float64
	gap   float64
	top   float64 // top of the rows
	y     float64
	h     float64
	notes []string // texts of needs, drawn in the footer
}

// row is one hat's line of the timeline.
type row struct {
	name     string
	n        int
	sessions []Session
}

// rows returns one row a hat, in the order of their first sessions. Beyond
// maxRows, the remaining hats share the last row.
func (f Facts) rows() []row {
	var out []row
	at := map[string]int{}
	for n, h := range f.Hats {
		if len(f.Hats) > maxRows && n >= maxRows-1 {
			at[h.Name] = maxRows - 1
			if n == maxRows-1 {
				out = append(out, row{name: fmt.Sprintf("%d others", len(f.Hats)-n)})
			}
			out[maxRows-1].n += h.N
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
	titleH      = 150.0
	tilesH      = 204.0
	labelHeight = 42.0 // one line of labels above the rows
	maxNeeds    = 3    // needs shown one by one
	maxRequests = 3    // requests shown one by one
)

func (p *picture) measure() {
	p.rowH, p.gap = 52, 10
	if len(p.rows) > 5 {
		p.rowH, p.gap = 40, 8
	}
	p.h = margin/2 + titleH + tilesH
	if len(p.Proofs) > 0 {
		p.h += proofRowHeight
	}
	if len(p.Sessions) > 0 {
		head := 60.0
		if p.inLanes() {
			head = laneLegendTop + float64(len(p.legendLines()))*laneLegendLine
			p.gap = p.laneSize().gap
		}
		p.h += head + p.labelsHeight() + p.rowsHeight() + p.gap + 44 // axis
		p.h += 70 + p.burndownHeight() + 36
	} else {
		p.h += 150
	}
	if len(p.Waves) > 0 {
		p.h += headingHeight + waveRowsHeight(p.Waves) + wavesGap
	}
	for n, x := range p.Needs {
		if n == maxNeeds {
			break
		}
		p.notes = append(p.notes, x.Text)
	}
	p.h += float64(max(len(p.notes), 1))*44 + 40 + 60
	if len(p.Needs) > maxNeeds {
		p.h += 44
	}
	p.h += float64(min(len(p.Requests), maxRequests)) * 44
}

// burndownHeight returns the height of the second chart. It gives way to many lanes.
func (p *picture) burndownHeight() float64 {
	if p.Lanes > 5 {
		return chartHeight * 3 / 4
	}
	return chartHeight
}

// rowsHeight returns the height of the rows of the first chart.
func (p *picture) rowsHeight() float64 {
	if p.inLanes() {
		return p.lanesHeight()
	}
	return float64(len(p.rows))*(p.rowH+p.gap) - p.gap
}

// labelsHeight returns the height of the labels above the rows: one line for
// waits, one for guidance.
func (p *picture) labelsHeight() float64 {
	h := 12.0
	if len(p.Waits)+len(p.Off) > 0 {
		h += labelHeight
	}
	for _, g := range p.Guidance {
		if g.InSpan {
			return h + labelHeight - 10
		}
	}
	return h
}

func (p *picture) drawHeading(text string) {
	p.drawText(text, margin, p.y+36, 0, style{34, true}, p.text)
}

package report

import (
	"fmt"
	"image/color"

	"github.com/nightporter/nightporter/loop/ledger"
)

// proofRowHeight is the height of the row that says what is proved; pictures of
// nights without words have no such row.
const proofRowHeight = 46.0

// proofMark is the part of the proof row about one word.
type proofMark struct {
	col   color.Color
	n     int // squares
	label string
}

const (
	markSize = 20.0
	markGap  = 6.0
	wordGap  = 26.0 // between two words
)

// proofColor returns the colour of a word: what a person may have to look at has
// the colours of warnings.
func (p palette) proofColor(w ledger.ProofWord) color.Color {
	switch w {
	case ledger.Proved:
		return p.green
	case ledger.Tested, ledger.TestedNew:
		return p.blue
	case ledger.Reviewed:
		return p.violet
	case ledger.ChangedChecks:
		return p.amber
	case ledger.Unproved:
	}
	return p.red
}

// proofMarks returns a mark for each word: one square for each task, or one for all
// of them if each is false.
func (p *picture) proofMarks(each bool) []proofMark {
	var out []proofMark
	for _, w := range ledger.ProofWords() {
		if n := p.Proofs[w]; n > 0 {
			m := proofMark{col: p.proofColor(w), n: 1, label: fmt.Sprintf("%d %s", n, w)}
			if each {
				m.n = n
			}
			out = append(out, m)
		}
	}
	return out
}

func (p *picture) marksWidth(all []proofMark, s style) float64 {
	w := -wordGap
	for _, m := range all {
		w += float64(m.n)*(markSize+markGap) + markGap + p.textWidth(m.label, s) + wordGap
	}
	return w
}

// drawProofs draws a square for each completed task, in the colour of its word,
// with the number and the word behind. Where that is too wide, each word has one
// square, and then smaller letters.
func (p *picture) drawProofs() {
	if len(p.Proofs) == 0 {
		return
	}
	s := style{normalText, false}
	all := p.proofMarks(true)
	if p.marksWidth(all, s) > innerWidth {
		all = p.proofMarks(false)
	}
	for s.size > 16 && p.marksWidth(all, s) > innerWidth {
		s.size--
	}
	x := margin
	for _, m := range all {
		for range m.n {
			p.fillBox(x, p.y+4, markSize, markSize, 5, m.col)
			x += markSize + markGap
		}
		x += markGap
		p.drawText(m.label, x, p.y+24, 0, s, p.text)
		x += p.textWidth(m.label, s) + wordGap
	}
	p.y += proofRowHeight
}

package notify

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// wave sends the summary of a wave, below a picture if there is something to draw and
// somebody to read it.
func (c *composer) wave(w ledger.WaveEnded) {
	m := bot.WaveTold(c.last, w, c.now)
	if c.o.Wave != nil && w.Attempted()+len(w.Skipped) > 0 && len(c.readers()) > 0 {
		if of := c.o.Wave(c.last, w, c.now); len(of) > 0 {
			m.Drawing = &bot.Drawing{Wave: of}
		}
	}
	c.push("", ledger.ClassNotice, true, m)
}

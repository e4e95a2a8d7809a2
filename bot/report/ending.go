package report

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// runEnded notes the end of a run.
func (c *collector) runEnded(b ledger.RunEnded, e ledger.Entry) {
	if !c.inSpan(e.Time) {
		return
	}
	c.Ended = c.local(e.Time)
	x := Ending{Run: e.Run, At: c.Ended, How: bot.EndedHow(c.s, b), Why: b.Reason}
	if b.Reason == ledger.ReasonPreflight || b.Reason == ledger.ReasonInternal {
		x.Text = bot.Cut(bot.Clean(b.Text), 60)
	}
	if r := c.s.Project.Run; r != nil {
		x.Last = r.Over() && r.ID == e.Run
	}
	if x.Last && !c.aside[e.Run] {
		c.Foretold = bot.Foretold(c.s.Project.Run)
	}
	if x.How != "" && !c.aside[e.Run] {
		c.Endings = append(c.Endings, x)
	}
}

// lastEnding returns the end of the last run, false if that is under way or ended
// outside of the span.
func (f Facts) lastEnding() (Ending, bool) {
	if n := len(f.Endings) - 1; n >= 0 && f.Endings[n].Last {
		return f.Endings[n], true
	}
	return Ending{}, false
}

// tellsEnd reports whether the first sentence also says why the last run ended: the
// second one is about something else.
func (f Facts) tellsEnd() bool { return len(f.asking()) > 0 && !f.TipRed && !f.Scripted }

// clause says why a run ended at the end of a sentence about what is done.
func (e Ending) clause() string {
	switch e.Why {
	case ledger.ReasonDone, ledger.ReasonChosen:
		return ""
	case ledger.ReasonNothing, ledger.ReasonManual:
		return ", and nothing else could begin"
	}
	return ", and the run " + e.How
}

// endLines says how runs ended, those apart that a sentence tells of.
func (f Facts) endLines() []string {
	var out []string
	for _, e := range f.Endings {
		if e.Last && e.Text == "" && (f.tellsEnd() || len(f.asking()) == 0) {
			continue // a sentence says it
		}
		line := fmt.Sprintf("%s %s, %s", e.Run, e.How, f.clock(e.At))
		if e.Text != "" {
			line += ": " + e.Text
		}
		out = append(out, line)
	}
	slices.Reverse(out) // newest first
	return out
}

// notStarted reports whether the last run could not start.
func (f Facts) notStarted() bool {
	e, ok := f.lastEnding()
	return ok && e.Why == ledger.ReasonPreflight
}

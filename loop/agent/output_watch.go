package agent

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// circleLine is how much of a line of the output is kept for Agent.Circle, in bytes. What
// shows a circle stands in short lines. Figures can stand behind a whole answer.
const circleLine = 16 << 10

// outputWatch reads the output of a running session for a reason to end it: that it goes
// in a circle, or has spent what it may. A stall has no output, and the limit of the whole
// time may be hours away. nil watches nothing.
type outputWatch struct {
	circle    func(line []byte) (why string)                      // nil = not looked for
	spent     func(line []byte, cut bool) adapter.Spending        // nil = not known while it runs
	cost      func(adapter.Spending) (float64, ledger.CostSource) // with spent
	maxUSD    float64                                             // with spent; 0 = no limit
	maxTokens int64                                               // as above
	found     chan finding                                        // receives the first reason
	told      bool                                                // found has received it
	line      []byte                                              // what is kept of the incomplete line
	most      int                                                 // bytes that are kept of a line
	cut       bool                                                // the incomplete line was longer
	usd       float64                                             // what the answers have cost; with source
	source    ledger.CostSource                                   // "" = unknown
	tokens    int64                                               // what they have used
	overUsed  bool                                                // it has used maxTokens, and had not spent maxUSD
}

// finding is a reason to end a session.
type finding struct {
	reason ledger.ExitReason
	text   string
}

// newOutputWatch returns the watch of a session, nil where there is nothing to watch.
func newOutputWatch(s spec) *outputWatch {
	a := adapter.FindOutput(s.Output)
	if s.Kind != ledger.KindAgent || a == nil {
		return nil
	}
	w := &outputWatch{circle: a.Circle(), most: circleLine, found: make(chan finding, 1)}
	if read := a.Spending(); read != nil && (s.MaxUSD > 0 || s.MaxTokens > 0) {
		w.maxUSD, w.maxTokens, w.most = s.MaxUSD, s.MaxTokens, adapter.LongestLine
		w.spent, w.cost = read, s.cost
	}
	if w.circle == nil && w.spent == nil {
		return nil
	}
	return w
}

// cost returns the price of what a session has used so far, by its agent or else by the
// table of prices, and 0 where neither knows it.
func (s spec) cost(sp adapter.Spending) (float64, ledger.CostSource) {
	if sp.USD > 0 {
		return sp.USD, ledger.PricedByAgent
	}
	if p, ok := ledger.FindPrice(s.Prices, cmp.Or(sp.Model, s.Model)); ok && sp.Usage != nil {
		if usd, ok := p.Cost(*sp.Usage); ok {
			return usd, ledger.PricedByTable
		}
	}
	return 0, ""
}

// reason returns the channel of the reason, which never receives one for nil.
func (w *outputWatch) reason() <-chan finding {
	if w == nil {
		return nil
	}
	return w.found
}

// next takes the next part of the output.
func (w *outputWatch) next(p []byte) {
	if w == nil {
		return
	}
	for len(p) > 0 {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		kept := part[:min(len(part), w.most-len(w.line))]
		w.line, w.cut = append(w.line, kept...), w.cut || len(kept) < len(part)
		if p = rest; !whole {
			return
		}
		w.readLine(w.line, w.cut)
		if w.line, w.cut = w.line[:0], false; cap(w.line) > 4*circleLine {
			w.line = nil // few lines are that long
		}
	}
}

// readLine looks for a reason in one line. What was spent is counted to the end.
func (w *outputWatch) readLine(line []byte, cut bool) {
	if w.circle != nil {
		if why := w.circle(line[:min(len(line), circleLine)]); why != "" {
			w.find(finding{ledger.ExitCircle, why})
		}
	}
	if w.spent != nil {
		sp := w.spent(line, cut)
		w.usd, w.source = w.cost(sp)
		w.tokens = sp.Tokens
		switch {
		case w.maxUSD > 0 && w.usd >= w.maxUSD:
			w.find(finding{ledger.ExitBudget, fmt.Sprintf("ended: its answers had cost $%.2f, and it may spend $%.2f", w.usd, w.maxUSD)})
		case w.maxTokens > 0 && w.tokens >= w.maxTokens:
			w.overUsed = w.overUsed || !w.told
			w.find(finding{ledger.ExitBudget, fmt.Sprintf("ended: its answers had used %s tokens, and it may use %s", ledger.TokenCount(w.tokens), ledger.TokenCount(w.maxTokens))})
		}
	}
}

// find reports a reason. One is enough, and nobody takes a second.
func (w *outputWatch) find(f finding) {
	if !w.told {
		w.told = true
		w.found <- f
	}
}

// price adds to the exit of a session that was ended for it what it had spent, as an
// estimate: what it asked last is not in it.
func (w *outputWatch) price(x *ledger.Exit) {
	if x.Reason != ledger.ExitBudget {
		return
	}
	if w.source != "" {
		x.CostUSD, x.PricedBy, x.Estimated = w.usd, w.source, true
	}
	if w.overUsed {
		x.OverTokens, x.Tokens = true, w.tokens
	}
}

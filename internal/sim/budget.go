package main

import (
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// cent is how exact sums of costs are.
const cent = 0.01

// reserved holds that a session is planned only where what was spent and what running
// sessions have reserved, with its own part, fit into the run's budget (docs/spec 12.2).
func (a *audit) reserved(e ledger.Entry, b ledger.SessionPlanned) {
	if b.Kind != ledger.KindAgent {
		return
	}
	a.reserves[e.Session] = b.Reserved.USD
	if r, running, limited := a.money(e.Run, e.Stream); limited {
		if all, of := r.CostUSD+r.AssumedUSD+running, r.Settings.Budget.USDRun+r.ExtraUSD; all > of+cent {
			a.w.fail("reserved within the budget", "%s is planned with $%.2f: $%.2f is spent or reserved, of $%.2f", e.Session, b.Reserved.USD, all, of)
		}
	}
}

// overshoot holds that a run spends no more than its budget and what was reserved for the
// sessions at work, one of which has just ended.
func (a *audit) overshoot(e ledger.Entry, b ledger.SessionEnded) {
	if b.Kind != ledger.KindAgent {
		return
	}
	if r, running, limited := a.money(e.Run, e.Stream); limited {
		spent, of := r.CostUSD+r.AssumedUSD, r.Settings.Budget.USDRun+r.ExtraUSD
		if spent > of+running+a.reserves[e.Session]+cent {
			a.w.fail("at most one reservation over the budget", "$%.2f of $%.2f is spent after %s, for which $%.2f was reserved", spent, of, e.Session, a.reserves[e.Session])
		}
	}
}

// money returns a run with a budget in money that holds for all its tasks, and what its
// sessions at work have reserved.
func (a *audit) money(run, stream string) (r *loop.Run, running float64, limited bool) {
	p := a.folds[stream].folder.State().Project
	if p.Run == nil || p.Run.ID != run || p.Run.Settings.Budget.USDRun <= 0 {
		return nil, 0, false
	}
	for _, own := range p.Run.TaskBudgets {
		if own.Lifted {
			return nil, 0, false
		}
	}
	for _, s := range p.Sessions {
		running += s.Planned.Reserved.USD
	}
	return p.Run, running, true
}

// oneTurn is what an agent may spend over its limit: it looks after each turn.
const oneTurn = 0.02

// costOf returns what a session of an agent costs. In nights with a budget in money costs
// differ, and the agent keeps to the limit that it is given. They come from the session's
// name, so that the nights of all seeds draw what they drew.
func (w *site) costOf(l ledger.Launch) float64 {
	if w.settings.Budget.USDRun == 0 {
		return 0.25
	}
	sum := 0
	for _, c := range l.Session {
		sum += int(c)
	}
	usd := 0.1 + 0.15*float64(sum%3)
	if l.MaxUSD > 0 {
		usd = min(usd, l.MaxUSD+oneTurn)
	}
	return usd
}

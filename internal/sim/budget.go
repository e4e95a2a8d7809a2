package main

import (
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// cent is how exact sums of costs are.
const cent = 0.01

// reserved holds that a session is planned only where what was spent and what running
// sessions have reserved, with its own part, fit into the budgets of the run and of the
// task, to which the sessions of its sections belong (docs/spec 12.2).
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
	if of, running, limited := a.taskMoney(e); limited {
		if all := a.spentOn[a.spender(e)] + running; all > of+cent {
			a.w.fail("reserved within the task's budget", "%s of %s is planned with $%.2f: $%.2f is spent or reserved, of $%.2f", e.Session, e.Task, b.Reserved.USD, all, of)
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
	whole := a.spender(e)
	a.spentOn[whole] += max(b.Exit.CostUSD, 0)
	if b.Exit.CostUSD < 0 && !b.Exit.NotBegun && b.Exit.Reason != ledger.ExitNotStarted {
		a.spentOn[whole] += a.reserves[e.Session]
	}
	if of, running, limited := a.taskMoney(e); limited && a.spentOn[whole] > of+running+a.reserves[e.Session]+cent {
		a.w.fail("at most one reservation over the task's budget", "$%.2f of $%.2f is spent in %s after %s, for which $%.2f was reserved", a.spentOn[whole], of, whole, e.Session, a.reserves[e.Session])
	}
}

// wholeTask returns the task of a section, and any other task itself.
func wholeTask(p loop.Project, id string) string {
	if t, ok := p.Find(id); ok && t.Task.Parent != "" {
		return t.Task.Parent
	}
	return id
}

// spender names the run and the task that a session's spending counts for.
func (a *audit) spender(e ledger.Entry) string {
	return e.Run + " " + wholeTask(a.folds[e.Stream].folder.State().Project, e.Task)
}

// taskMoney returns the budget of the task that the entry is about, and what its sessions at
// work have reserved.
func (a *audit) taskMoney(e ledger.Entry) (of, running float64, limited bool) {
	p := a.folds[e.Stream].folder.State().Project
	if p.Run == nil || p.Run.ID != e.Run || p.Run.Settings.Budget.USDTask <= 0 || e.Task == "" {
		return 0, 0, false
	}
	whole := wholeTask(p, e.Task)
	own := p.Run.TaskBudgets[ledger.FoldID(whole)]
	for _, s := range p.Sessions {
		if ledger.SameID(wholeTask(p, s.Task), whole) {
			running += s.Planned.Reserved.USD
		}
	}
	return p.Run.Settings.Budget.USDTask + own.USD, running, !own.Lifted
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
	if w.settings.Budget.USDRun == 0 && w.settings.Budget.USDTask == 0 {
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

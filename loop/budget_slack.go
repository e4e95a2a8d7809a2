package loop

import (
	"cmp"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// cent is the precision of a comparison of costs: sums of them are not exact.
const cent = 0.005

// whole returns the id of the task that a part belongs to, and that of any other task. The
// budget of a task holds for its parts together.
func (t *TaskState) whole() string { return cmp.Or(t.Task.Parent, t.Task.ID) }

// whole returns the id of the task whose budget the session spends.
func (s Session) whole() string { return cmp.Or(s.Parent, s.Task) }

// wholeID returns TaskState.whole of the task with an id.
func (p *Project) wholeID(task string) string {
	if n := p.index(task); n >= 0 {
		return p.Tasks.At(n).whole()
	}
	return task
}

// slack is what is left of a budget.
type slack struct {
	limit     ledger.BudgetLimit
	tokens    bool
	of, spent float64 // spent contains reserved and what was assumed
	reserved  float64 // by running sessions
	unknown   outlay
	mayExceed float64 // what these may spend over what they reserved
}

// left returns what no session has spent or reserved.
func (s slack) left() float64 { return s.of - s.spent }

// room returns what is left once each running session has spent all that it may. A session
// that may spend no more keeps to the budget together with them.
func (s slack) room() float64 { return s.left() - s.mayExceed }

// short returns the shortage of the budget.
func (s slack) short() ledger.BudgetShort {
	return ledger.BudgetShort{
		Limit: s.limit, Tokens: s.tokens, Of: s.of, Spent: s.spent, Reserved: s.reserved, Step: step(s),
		Assumed: s.unknown.assumed, Unknown: s.unknown.sessions, About: s.unknown.about,
	}
}

// outlay is what ended sessions have spent, in US dollars or tokens.
type outlay struct {
	spent    float64 // with assumed
	assumed  float64 // for sessions that spent nobody knows what
	sessions int     // such sessions
	about    bool    // some of what is known is no figure of an agent's
}

// outlay returns what a task has spent.
func (s Share) outlay() outlay {
	a := outlay{spent: s.USD + s.Assumed, assumed: s.Assumed, about: s.About > 0}
	if s.Assumed > 0 {
		a.sessions = s.Unpriced
	}
	return a
}

// outlay returns what was spent, in tokens or in US dollars.
func (s SpentSlot) outlay(tokens bool) outlay {
	if tokens {
		return outlay{float64(s.Tokens), float64(s.Assumed.Tokens), s.Untold, false}
	}
	return outlay{s.USD, s.Assumed.USD, s.Unpriced, s.Estimated > 0}
}

// outlay returns what the run has spent, in tokens or in US dollars.
func (r *Run) outlay(tokens bool) outlay {
	if tokens {
		return outlay{float64(r.Tokens), float64(r.AssumedTokens), r.Untold, false}
	}
	a := outlay{spent: r.CostUSD + r.AssumedUSD, assumed: r.AssumedUSD, about: r.Estimated > 0}
	if r.AssumedUSD > 0 {
		a.sessions = r.Unpriced
	}
	return a
}

// mayFit reports whether the session fits if the running ones spend little: nobody is asked
// before that is known.
func mayFit(b ledger.BudgetShort) bool {
	return b.Reserved > 0 && b.Of-(b.Spent-b.Reserved) >= b.Needs-cent
}

// slacks returns what is left of each budget that holds for a task.
func (d *decision) slacks(t *TaskState) (all []slack) {
	r, p := d.run(), d.Shared.Purse
	own := r.taskBudget(t)
	add := func(limit ledger.BudgetLimit, tokens bool, of float64, spent outlay) {
		if own.Lifted && (limit != ledger.BudgetDay || own.Day) {
			return
		}
		s := slack{limit: limit, tokens: tokens, of: of, spent: spent.spent, unknown: spent}
		for _, l := range d.spenders(limit, t) {
			reserved, most := l.Reserved.USD, l.Reserved.MaxUSD
			if tokens {
				reserved, most = float64(l.Reserved.Tokens), float64(l.Reserved.MaxTokens)
			}
			s.reserved += reserved
			s.mayExceed += max(most-reserved, 0)
		}
		s.spent += s.reserved
		all = append(all, s)
	}
	b := r.Settings.Budget
	if b.USDTask > 0 {
		add(ledger.BudgetTask, false, b.USDTask+own.USD, r.Spent.of(t.whole()).outlay())
	}
	if b.USDRun > 0 {
		add(ledger.BudgetRun, false, b.USDRun+r.ExtraUSD, r.outlay(false))
	}
	if b.TokensRun > 0 {
		add(ledger.BudgetRun, true, float64(b.TokensRun+r.ExtraTokens), r.outlay(true))
	}
	day, more := sumSlots(p.Window, d.in.Time), sumSlots(p.Raised, d.in.Time)
	if p.Day.USD > 0 {
		add(ledger.BudgetDay, false, p.Day.USD+more.USD, day.outlay(false))
	}
	if p.Day.Tokens > 0 {
		add(ledger.BudgetDay, true, float64(p.Day.Tokens+more.Tokens), day.outlay(true))
	}
	return all
}

// spenders returns the leases of the running sessions that spend from the same budget as a
// session of the task.
func (d *decision) spenders(limit ledger.BudgetLimit, t *TaskState) []ledger.LeaseGranted {
	return slices.DeleteFunc(slices.Clone(d.Shared.Leases), func(l ledger.LeaseGranted) bool {
		switch {
		case limit == ledger.BudgetDay:
			return false
		case l.Project != d.in.Project:
			return true
		case limit == ledger.BudgetTask:
			s, ok := d.Project.Session(l.Session)
			return !ok || !ledger.SameID(s.whole(), t.whole())
		}
		return false
	})
}

// sharers returns how many sessions, that of the task among them, may begin beside those
// that run and spend from the same budget. Each may spend an equal part of the room, so that
// the first leaves something for the others.
func (d *decision) sharers(limit ledger.BudgetLimit, t *TaskState) int {
	lanes := d.run().Lanes() - len(d.spenders(ledger.BudgetRun, t))
	switch limit {
	case ledger.BudgetTask:
		return max(min(lanes, d.sections(t)), 1)
	case ledger.BudgetDay:
		if n := d.Shared.MaxSessions; n > 0 {
			return max(n-len(d.Shared.Leases), 1)
		}
	}
	return max(lanes, 1)
}

// sections returns how many sessions of the whole task could begin now: of its parts, and of
// the task itself while its plan is still argued about.
func (d *decision) sections(t *TaskState) (n int) {
	p := d.Project
	at := p.index(t.whole())
	if at < 0 {
		return 1
	}
	of := p.Tasks.At(at)
	for _, id := range append([]string{of.Task.ID}, of.Parts...) {
		k := p.index(id)
		if k < 0 || d.flies(id) {
			continue
		}
		part := p.Tasks.At(k)
		if part.Status == ledger.Ready || part.Status == ledger.Active && part.Attempt.Stage == ledger.StageReady {
			n++
		}
	}
	return n
}

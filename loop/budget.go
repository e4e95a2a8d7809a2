package loop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A session that costs money has a part of the budget reserved before it is planned
// (docs/spec 12.2). Reservation and session are one decision, and what other projects
// have reserved is in the shared state, so two of them never get the same dollar.

// dayWindow is the span of a day's budget. It is any such span, not the calendar's: a
// night must not get a second budget at midnight, and no clock change gives one.
const dayWindow = 24 * time.Hour

// windowSlot is the precision of what the state keeps of the last day.
const windowSlot = 15 * time.Minute

// What a session is expected to spend whose agent never told, and of which nothing is
// assumed (loop/history).
const (
	priorUSD    = 1.0
	priorTokens = 500_000
)

// budgetStep is what the answer "more" adds without an amount, in US dollars.
const budgetStep = 5.0

// Purse is what all projects have spent lately.
type Purse struct {
	Day    ledger.DayBudget `json:"day,omitzero"`
	Window []SpentSlot      `json:"window,omitempty"` // in the order of their first session
	Raised []SpentSlot      `json:"raised,omitempty"` // what people added to Day
	Warned []DayWarning     `json:"warned,omitempty"` // the last one about Day's money, and its tokens
}

// SpentSlot is an amount at a time.
type SpentSlot struct {
	At     time.Time `json:"at"`
	USD    float64   `json:"usd,omitempty"`
	Tokens int64     `json:"tokens,omitempty"`
	Assumed
}

// Assumed is the part of an amount that nobody told.
type Assumed struct {
	USD       float64 `json:"assumed_usd,omitempty"`    // for sessions whose cost is unknown
	Unpriced  int     `json:"assumed_costs,omitempty"`  // such sessions
	Tokens    int64   `json:"assumed_tokens,omitempty"` // for sessions whose tokens are unknown
	Untold    int     `json:"untold,omitempty"`         // such sessions
	Estimated int     `json:"estimated,omitempty"`      // sessions whose cost is no figure of the agent's
}

// plus returns the sum of two parts.
func (a Assumed) plus(b Assumed) Assumed {
	return Assumed{a.USD + b.USD, a.Unpriced + b.Unpriced, a.Tokens + b.Tokens, a.Untold + b.Untold, a.Estimated + b.Estimated}
}

// assumedOf returns the part of a session's spending that nobody told.
func assumedOf(b ledger.Spending) (a Assumed) {
	if b.Assumed {
		a.USD, a.Unpriced = b.USD, 1
	}
	if b.Untold {
		a.Tokens, a.Untold = b.Tokens, 1
	}
	if b.Estimated {
		a.Estimated = 1
	}
	return a
}

// slotsKept is how many slots the state keeps: more than a day has. They are not dropped
// by their age, because the clock that says it may be wrong for an hour.
const slotsKept = 200

// addSlot adds an amount to the slot of its time.
func addSlot(all []SpentSlot, s SpentSlot) []SpentSlot {
	s.At = s.At.UTC().Truncate(windowSlot)
	all = slices.Clone(all)
	if n := slices.IndexFunc(all, func(o SpentSlot) bool { return o.At.Equal(s.At) }); n >= 0 {
		all[n].USD += s.USD
		all[n].Tokens += s.Tokens
		all[n].Assumed = all[n].plus(s.Assumed)
		return all
	}
	return append(all, s)[max(0, len(all)+1-slotsKept):]
}

// sumSlots adds up the slots of the day before now. A slot of the future, from before
// the clock was set back, counts.
func sumSlots(all []SpentSlot, now time.Time) (sum SpentSlot) {
	for _, s := range all {
		if s.At.Add(dayWindow + windowSlot).After(now) {
			sum.USD += s.USD
			sum.Tokens += s.Tokens
			sum.Assumed = sum.plus(s.Assumed)
		}
	}
	return sum
}

// freesAt returns when the day's spending next becomes less, zero if nothing was spent.
func (p Purse) freesAt(now time.Time) (at time.Time) {
	for _, s := range p.Window {
		if end := s.At.Add(dayWindow + windowSlot); end.After(now) && (at.IsZero() || end.Before(at)) {
			at = end
		}
	}
	return at
}

// estimate returns what a session is expected to spend: what four of five sessions like
// it stayed under. usd_estimate is better than what nightporter assumes of an agent.
func (d *decision) estimate(t TaskState, hat ledger.Hat, agent string) (usd float64, tokens int64) {
	s := d.run().Settings
	e := history.Lookup{Own: d.Project.History}.Cost(hat.Name, agent, s.ModelFor(hat, agent, t.raised(hat)), t.Size())
	usd, tokens = e.USD, e.Tokens
	if own, known := s.Budget.Estimates[agent]; known && (usd == history.Unknown || e.Basis == history.FromPrior) {
		usd = own
	}
	if usd == history.Unknown {
		usd = priorUSD
	}
	if tokens == history.Unknown {
		tokens = priorTokens
	}
	if own := d.run().taskBudget(&t); hat.MaxCostUSD > 0 && !own.Lifted {
		usd = min(usd, hat.MaxCostUSD+own.Session)
	}
	return usd, max(tokens, 1) // a reservation of nothing is none
}

// TaskBudget is what a person decided about a task's spending in one run.
type TaskBudget struct {
	USD     float64 `json:"usd,omitempty"`     // added to the task's budget
	Session float64 `json:"session,omitempty"` // added to that of each of its sessions
	Lifted  bool    `json:"lifted,omitempty"`  // it has none but the day's
	Day     bool    `json:"day,omitempty"`     // nor the day's
}

// taskBudget returns what a person decided about the spending of a task, or of the one
// that it is a part of.
func (r *Run) taskBudget(t *TaskState) TaskBudget { return r.TaskBudgets[ledger.FoldID(t.whole())] }

// raise returns the run with what a person added to its budgets. b.Task is no part.
func (r Run) raise(b ledger.BudgetRaised) Run {
	if b.Limit == ledger.BudgetRun && b.Task == "" {
		r.ExtraUSD += b.USD
		r.ExtraTokens += b.Tokens
		return r
	}
	key := ledger.FoldID(b.Task)
	own := r.TaskBudgets[key]
	switch {
	case b.Lifted:
		own.Lifted, own.Day = true, own.Day || b.Limit == ledger.BudgetDay
	case b.Limit == ledger.BudgetSession:
		own.Session += b.USD
	default:
		own.USD += b.USD
	}
	r.TaskBudgets = with(r.TaskBudgets, key, own)
	return r
}

// budgeted reports whether anything limits what the run spends.
func (d *decision) budgeted(hat ledger.Hat) bool {
	b := d.run().Settings.Budget
	return b.USDRun > 0 || b.USDTask > 0 || b.TokensRun > 0 || d.Shared.Purse.Day != ledger.DayBudget{} || hat.MaxCostUSD > 0
}

// reserve returns what a session is to reserve. short says which budget it does not fit
// into, nil = it fits.
func (d *decision) reserve(t TaskState, hat ledger.Hat, agent string) (r ledger.Reservation, short *ledger.BudgetShort) {
	if !d.budgeted(hat) {
		return r, nil
	}
	r.USD, r.Tokens = d.estimate(t, hat, agent)
	own := d.run().taskBudget(&t)
	if hat.MaxCostUSD > 0 && !own.Lifted {
		r.MaxUSD, r.Limit = hat.MaxCostUSD+own.Session, ledger.BudgetSession
	}
	for _, s := range d.slacks(&t) {
		needs := r.USD
		if s.tokens {
			needs = float64(r.Tokens)
		}
		if s.room() < needs-cent {
			b := s.short()
			b.Needs, b.Agent = needs, agent
			return r, &b
		}
		switch share := max(s.room()/float64(d.sharers(s.limit, &t)), needs); {
		case s.tokens && (r.MaxTokens == 0 || share < float64(r.MaxTokens)):
			r.MaxTokens = max(int64(share), 1) // 0 is no limit
		case !s.tokens && (r.MaxUSD == 0 || share < r.MaxUSD):
			r.MaxUSD, r.Limit = max(share, 0.01), s.limit
		}
	}
	return r, nil
}

// step returns what the answer "more" adds to a budget: some dollars, or half of its
// tokens.
func step(s slack) float64 {
	if s.tokens {
		return s.of / 2
	}
	return budgetStep
}

// setShared records what all projects share, where it changed.
func (d *decision) setShared(sessions int, day ledger.DayBudget) {
	if sessions > 0 && (sessions != d.Shared.MaxSessions || day != d.Shared.Purse.Day) {
		d.addShared(ledger.SharedSet{MaxSessions: sessions, Day: day})
	}
}

// freed ends a lease whose session this process does not wait for. What it spends stays
// unknown, and counts as it was reserved.
func freed(l ledger.LeaseGranted) ledger.LeaseReleased {
	b := ledger.LeaseReleased{Session: l.Session}
	if l.Reserved != (ledger.Reservation{}) {
		b.Spent = &ledger.Spending{USD: l.Reserved.USD, Tokens: l.Reserved.Tokens, Assumed: true, Untold: true}
	}
	return b
}

// spending returns what a session spent that has a reservation, nil for others. What is
// unknown counts as it was reserved: unknown is not nothing.
func spending(s Session, x ledger.Exit) *ledger.Spending {
	if s.Planned.Reserved == (ledger.Reservation{}) || x.NotBegun || x.Reason == ledger.ExitNotStarted {
		return nil
	}
	b := ledger.Spending{USD: x.CostUSD, Tokens: x.Tokens, Estimated: x.Estimated}
	if b.USD < 0 {
		b.USD, b.Assumed = s.Planned.Reserved.USD, true
	}
	if b.Tokens < 0 {
		b.Tokens, b.Untold = s.Planned.Reserved.Tokens, true
	}
	return &b
}

// unfit reports whether a ready task has to wait because its next session does not fit
// into a budget that people are asked about. The first such session asks.
func (d *decision) unfit(t *TaskState) bool {
	if !d.Project.asksBudget() {
		return false
	}
	name := firstHat(d.run().Settings.For(t.Task), t.Task, t.startsWithPlan())
	if t.Attempt != nil {
		name = t.Attempt.Hat
	}
	hat, ok := d.run().upcoming().Hats[name]
	if !ok {
		return false
	}
	agent, held, ok := d.agentFor(t.Attempt, hat)
	if held != nil || !ok {
		return false
	}
	_, short := d.reserve(*t, hat, agent)
	return short != nil
}

// asksBudget reports whether people are asked about a budget.
func (p *Project) asksBudget() bool {
	return slices.ContainsFunc(p.Questions, func(q ledger.Question) bool { return q.Kind == ledger.AskBudget })
}

// holdForBudget lets a task wait whose next session does not fit. People are asked once;
// other tasks that do not fit wait without a question of their own.
func (d *decision) holdForBudget(t TaskState, short ledger.BudgetShort) {
	if d.Project.asksBudget() {
		d.park("it does not fit into the budget")
		return
	}
	d.askBudget(t, short)
}

// askBudget asks people about a task's next session, and lets the task wait for it.
func (d *decision) askBudget(t TaskState, short ledger.BudgetShort) {
	d.holdTask(t, ledger.Question{Kind: ledger.AskBudget, Hat: t.Attempt.Hat, Text: shortText(short), Short: &short})
}

// shortText says why a session does not fit: "$9.80 of $10.00 spent in this run", "$0.04 +
// unknown of $0.40 spent in 24 hours ($0.25 assumed for 2 sessions)".
func shortText(b ledger.BudgetShort) string {
	amount := func(v float64) string {
		if b.Tokens {
			return ledger.TokenCount(int64(v))
		}
		return fmt.Sprintf("$%.2f", v)
	}
	where := map[ledger.BudgetLimit]string{
		ledger.BudgetSession: "in one session", ledger.BudgetTask: "on this task", ledger.BudgetRun: "in this run", ledger.BudgetDay: "in 24 hours",
	}[b.Limit]
	unit := ""
	if b.Tokens {
		unit = " tokens"
	}
	text := fmt.Sprintf("%s of %s%s spent %s", b.KnownText(amount), amount(b.Of), unit, where)
	var parts []string
	if b.Assumed > 0 {
		parts = append(parts, fmt.Sprintf("%s assumed for %s", amount(b.Assumed), sessionsText(b.Unknown)))
	}
	if b.Reserved > 0 {
		parts = append(parts, amount(b.Reserved)+" reserved by sessions at work")
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	if b.Needs > 0 {
		text += fmt.Sprintf("; the next session takes about %s%s", amount(b.Needs), unit)
	}
	return text
}

// sessionsText writes a number of sessions: "1 session", "2 sessions".
func sessionsText(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

// MetBudget is the end of a session that had spent what it may.
type MetBudget struct {
	Reserved ledger.Reservation `json:"reserved"`
	USD      float64            `json:"usd"`              // spent; below 0 = unknown
	About    bool               `json:"about,omitempty"`  // USD is no figure of the agent's
	Tokens   bool               `json:"tokens,omitempty"` // it had used its tokens, and perhaps not its money
	Agent    string             `json:"agent"`
}

// metBudget continues a task after such a session. Where the limit was that of one
// session, a person decides; any other is met again by the next session.
func (d *decision) metBudget(t TaskState, met MetBudget) {
	if met.Reserved.Limit == ledger.BudgetSession && !met.Tokens {
		b := ledger.BudgetShort{Limit: met.Reserved.Limit, Of: met.Reserved.MaxUSD, Spent: met.USD, About: met.About, Agent: met.Agent, Step: budgetStep}
		if met.USD < 0 {
			b.Spent, b.Assumed, b.Unknown = met.Reserved.MaxUSD, met.Reserved.MaxUSD, 1
		}
		// A session's limit is met by each task for itself: none waits for what another one
		// asks, because nothing but its own answer keeps the next session from doing the same.
		d.askBudget(t, b)
	}
}

// budgetNote tells the session that goes on with such work.
const budgetNote = "The session before was ended because it had spent its budget. What it wrote is in the work folder: look at it, go on from there, and end with your event."

// applyBudget carries out the answer about a budget.
func applyBudget(d *decision, a answerGiven) {
	q := a.q
	if a.choice == "stop" {
		d.releaseBudget(q)
		d.stop(Stop{})
		return
	}
	b := ledger.BudgetRaised{Limit: q.Shortage().Limit, Task: d.Project.wholeID(q.Task), By: d.by()}
	switch amount, _ := budgetAmount(a.words, q.Shortage()); {
	case a.choice == "task":
		b.Lifted = true
	case q.Shortage().Tokens && amount < 1000:
		b.Tokens = int64(amount * 1e6)
	case q.Shortage().Tokens:
		b.Tokens = int64(amount)
	default:
		b.USD = amount
	}
	if !b.Lifted && b.Limit != ledger.BudgetTask && b.Limit != ledger.BudgetSession {
		b.Task = ""
	}
	if b.Limit == ledger.BudgetDay && !b.Lifted {
		d.addShared(b)
	} else {
		d.add(scope{task: q.Task}, b)
	}
	d.releaseBudget(q)
	if b.Limit != ledger.BudgetSession {
		return
	}
	for _, o := range d.Project.Questions { // of its other sections: the answer is about the whole task
		if o.Kind == ledger.AskBudget && o.ID != q.ID && o.Shortage().Limit == b.Limit && d.Project.wholeID(o.Task) == b.Task {
			d.dropBudget(o, "answered by "+q.ID)
		}
	}
}

// checkAmount refuses words that are no amount.
func checkAmount(words string) (code ledger.AnswerCode, why string) {
	if _, ok := budgetAmount(words, ledger.BudgetShort{}); !ok {
		return ledger.CodeNoAmount, fmt.Sprintf("%q is no amount. Write it like: more 10", words)
	}
	return "", ""
}

// budgetAmount reads an amount, as "+$5" or "500k", that of the question if there are no
// words.
func budgetAmount(words string, b ledger.BudgetShort) (float64, bool) {
	words = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(words), "+")), "$"))
	if words == "" {
		return b.Step, true
	}
	number, times := words, 1.0 // of tokens people count thousands
	switch words[len(words)-1] {
	case 'k', 'K':
		number, times = words[:len(words)-1], 1e3
	case 'm', 'M':
		number, times = words[:len(words)-1], 1e6
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	n *= times
	return n, err == nil && n > 0 && n < 1e12
}

// releaseBudget lets the question's task go on.
func (d *decision) releaseBudget(q ledger.Question) {
	if t, ok := d.task(q.Task); ok && t.Status == ledger.Waiting && t.Question == q.ID {
		d.setTask(q.Task, ledger.Ready, "answered")
	}
}

// expireBudget settles a question whose end came; none has one.
func (d *decision) expireBudget(q ledger.Question) { d.dropBudget(q, "nothing was decided") }

// dropBudget withdraws the question. The task goes on with another session, which asks
// anew if it does not fit.
func (d *decision) dropBudget(q ledger.Question, why string) {
	d.withdraw(q, why)
	d.releaseBudget(q)
}

// settleBudget withdraws a question about a day's budget once its session fits again.
func (d *decision) settleBudget() {
	for _, q := range d.Project.Questions {
		if q.Kind != ledger.AskBudget || q.Shortage().Limit != ledger.BudgetDay {
			continue
		}
		t, ok := d.task(q.Task)
		if !ok || t.Attempt == nil || t.Question != q.ID {
			continue
		}
		hat := d.run().upcoming().Hats[t.Attempt.Hat]
		if _, short := d.reserve(t, hat, q.Shortage().Agent); short == nil {
			d.dropBudget(q, "it fits again")
		}
	}
}

// askBudgetsAnew withdraws the questions about budgets that new settings made untrue. A task
// asks again, with the new figures, where its session still does not fit.
func (d *decision) askBudgetsAnew() {
	for _, q := range d.Project.Questions {
		t, ok := d.task(q.Task)
		if q.Kind == ledger.AskBudget && ok && t.Attempt != nil && t.Question == q.ID && !d.stillShort(t, q.Shortage()) {
			d.dropBudget(q, "the budget was changed")
		}
	}
}

// stillShort reports whether the task's next session does not fit into the same budget for
// the same reason.
func (d *decision) stillShort(t TaskState, was ledger.BudgetShort) bool {
	hat := d.run().upcoming().Hats[t.Attempt.Hat]
	near := func(a, b float64) bool { return max(a-b, b-a) < cent }
	if was.Limit == ledger.BudgetSession { // its session was ended at it
		own := d.run().taskBudget(&t)
		return !own.Lifted && hat.MaxCostUSD > 0 && near(hat.MaxCostUSD+own.Session, was.Of)
	}
	agent, _, _ := d.agentFor(t.Attempt, hat)
	_, is := d.reserve(t, hat, agent)
	return is != nil && is.Limit == was.Limit && is.Tokens == was.Tokens && is.Agent == was.Agent && near(is.Of, was.Of) && near(is.Needs, was.Needs)
}

// standsAtBudget handles a run in which nothing fits into the budget: one that stays
// waits for a person, or until the day has room again; any other ends.
func (d *decision) standsAtBudget() bool {
	for _, q := range d.Project.Questions {
		if q.Kind != ledger.AskBudget || q.Run != d.run().ID {
			continue
		}
		if !d.run().Settings.Stays {
			d.finish(ledger.RunEnded{Reason: ledger.ReasonBudget, Text: q.Text})
			return true
		}
		var until time.Time
		if q.Shortage().Limit == ledger.BudgetDay {
			until = d.Shared.Purse.freesAt(d.in.Time)
		}
		d.wait(ledger.WaitQuestion, until, "", q.Text+" ("+q.ID+")")
		return true
	}
	return false
}

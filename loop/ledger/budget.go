package ledger

import "fmt"

// Budget is what a run may spend (docs/spec 12.2). In each field 0 is no limit.
type Budget struct {
	USDRun    float64 `json:"usd_run,omitempty"`
	USDTask   float64 `json:"usd_task,omitempty"` // one task in one run
	TokensRun int64   `json:"tokens_run,omitempty"`

	// Estimates has what a session of an agent costs that reports no cost, by agent.
	Estimates map[string]float64 `json:"estimates,omitempty"`
}

// DayBudget is what all projects together may spend in any 24 hours. In each field 0 is
// no limit.
type DayBudget struct {
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
}

// BudgetLimit names one limit of spending.
type BudgetLimit string

// Limits of spending.
const (
	BudgetSession BudgetLimit = "session" // max_cost_usd of a hat, or usd_session
	BudgetTask    BudgetLimit = "task"
	BudgetRun     BudgetLimit = "run"
	BudgetDay     BudgetLimit = "day" // all projects, any 24 hours
)

// Reservation is what a session is expected to spend. It counts as spent until the
// session ends.
type Reservation struct {
	USD    float64     `json:"usd,omitempty"`
	Tokens int64       `json:"tokens,omitempty"`
	MaxUSD float64     `json:"max_usd,omitempty"` // the session is ended when it has spent this; 0 = no limit
	Limit  BudgetLimit `json:"limit,omitempty"`   // the limit that MaxUSD comes from

	MaxTokens int64 `json:"max_tokens,omitempty"` // the session is ended when it has used these; 0 = no limit
}

// Spending is what a session spent that had a reservation.
type Spending struct {
	USD     float64 `json:"usd"`
	Tokens  int64   `json:"tokens,omitempty"`
	Assumed bool    `json:"assumed,omitempty"` // its cost is unknown: USD is what was reserved
	Untold  bool    `json:"untold,omitempty"`  // its tokens are unknown: Tokens is what was reserved

	Estimated bool `json:"estimated,omitempty"` // USD is no figure of the agent's
}

// BudgetShort says why a session does not fit into a budget. All amounts are in US
// dollars, or in tokens where Tokens is set.
type BudgetShort struct {
	Limit  BudgetLimit `json:"limit"`
	Tokens bool        `json:"tokens,omitempty"`
	Of     float64     `json:"of"`             // the budget, with what people added
	Spent  float64     `json:"spent"`          // with Reserved and Assumed
	Needs  float64     `json:"needs"`          // what the session is expected to spend; 0 = one was ended at the limit
	Agent  string      `json:"agent"`          // of the session
	Step   float64     `json:"step,omitempty"` // what the answer "more" adds

	Reserved float64 `json:"reserved,omitempty"` // by running sessions
	Assumed  float64 `json:"assumed,omitempty"`  // for ended sessions that spent nobody knows what
	Unknown  int     `json:"unknown,omitempty"`  // such sessions
	About    bool    `json:"about,omitempty"`    // some of what is known is no figure of an agent's
}

// Known returns what ended sessions have said that they spent.
func (b BudgetShort) Known() float64 { return max(b.Spent-b.Reserved-b.Assumed, 0) }

// KnownText writes what was spent for people: "$0.04", "≈$0.04", "$0.04 + unknown", and
// "unknown" where no session told anything. amount writes an amount.
func (b BudgetShort) KnownText(amount func(float64) string) string {
	known := b.Known()
	text := amount(known)
	if b.About && known > 0 {
		text = "≈" + text
	}
	switch {
	case b.Assumed <= 0:
		return text
	case known < 0.005: // less than a cent is not shown
		return "unknown"
	}
	return text + " + unknown"
}

// TokenCount writes a count of tokens for people: "9.8 M", "310 k", "950".
func TokenCount(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprint(n)
}

// BudgetRaised records that a person lets more be spent. That of BudgetDay is in the
// shared stream.
type BudgetRaised struct {
	Limit  BudgetLimit `json:"limit"`
	Task   string      `json:"task,omitempty"`
	USD    float64     `json:"usd,omitempty"`
	Tokens int64       `json:"tokens,omitempty"`
	Lifted bool        `json:"lifted,omitempty"` // the task has no limit for the rest of the run, but a day's unless Limit is BudgetDay
	By     string      `json:"by"`
}

// BudgetWarned records that people are told that most of a budget is spent. That of
// BudgetDay is in the shared stream. Amounts are in US dollars, or in tokens where Tokens
// is set.
type BudgetWarned struct {
	Limit  BudgetLimit `json:"limit"` // BudgetRun, BudgetDay or BudgetTask
	Tokens bool        `json:"tokens,omitempty"`
	Of     float64     `json:"of"`              // with what people added
	Spent  float64     `json:"spent"`           // with what was reserved for sessions that did not tell
	About  bool        `json:"about,omitempty"` // some of Spent is no figure of an agent's
	Task   string      `json:"task,omitempty"`  // with BudgetTask: whose budget it is
	Needs  float64     `json:"needs,omitempty"` // with BudgetTask: what the task's next session is expected to spend; 0 = unknown

	// Outlook is what the run will probably still get done, within all budgets; nil = unknown.
	Outlook *Outlook `json:"outlook,omitempty"`
}

// Left returns what is left of the budget.
func (b BudgetWarned) Left() float64 { return max(b.Of-b.Spent, 0) }

// Shortage returns what an AskBudget question is about, the zero value for others.
func (q Question) Shortage() BudgetShort {
	if q.Short == nil {
		return BudgetShort{}
	}
	return *q.Short
}

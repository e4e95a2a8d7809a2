package ledger

import "time"

// Outlook is what people were told a run will probably get done. Low and High, of tasks
// and of costs, are the bounds of four nights in five.
type Outlook struct {
	Total   int       `json:"total"` // open tasks
	Done    int       `json:"done"`
	Low     int       `json:"low"`
	High    int       `json:"high"`
	By      time.Time `json:"by,omitzero"`      // when the run probably ends
	USDLow  float64   `json:"usd_low"`          // -1 = unknown
	USDHigh float64   `json:"usd_high"`         // as above
	Unsure  string    `json:"unsure,omitempty"` // id of the task that is least sure to be done
	Chance  float64   `json:"chance,omitempty"` // of Unsure, to be done
	Basis   string    `json:"basis,omitempty"`  // what it is from: project, house, prior or unknown

	// Limit is the first usage window that will probably be used up; zero = none, or
	// nobody knows.
	Limit OutlookLimit `json:"limit,omitzero"`

	// Budget is the budget that the run will probably meet; zero = none.
	Budget OutlookBudget `json:"budget,omitzero"`
}

// Holds reports whether n tasks done are within its bounds.
func (o Outlook) Holds(n int) bool { return o.Low <= n && n <= o.High }

// HoldsUSD reports whether a cost is within its bounds. It means nothing if they are unknown.
func (o Outlook) HoldsUSD(usd float64) bool { return o.USDLow <= usd && usd <= o.USDHigh }

// MiddleUSD returns the middle of its bounds of costs, which means nothing if they are
// unknown.
func (o Outlook) MiddleUSD() float64 { return (o.USDLow + o.USDHigh) / 2 }

// OutlookLimit is the expected end of an agent's usage window.
type OutlookLimit struct {
	Agent string    `json:"agent"`
	At    time.Time `json:"at"`
	Then  string    `json:"then,omitempty"` // agent that goes on; "" = the run waits until Until
	Until time.Time `json:"until,omitzero"` // when Agent can be used again
}

// OutlookBudget is a budget that will probably be met. Amounts are in US dollars, or in
// tokens where Tokens is set.
type OutlookBudget struct {
	Limit  BudgetLimit `json:"limit"` // BudgetRun, BudgetDay or BudgetTask
	Tokens bool        `json:"tokens,omitempty"`
	Of     float64     `json:"of"`              // with what people added
	Task   string      `json:"task,omitempty"`  // the one that is worked on then; with BudgetTask: the first one that meets its own
	Tasks  int         `json:"tasks,omitempty"` // with BudgetTask: tasks that meet their own
	Needs  float64     `json:"needs,omitempty"` // what the next session is expected to spend, if it does not fit; 0 = it fits
}

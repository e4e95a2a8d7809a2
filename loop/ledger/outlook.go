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

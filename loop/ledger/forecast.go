package ledger

import "fmt"

// Forecast names the session that is expected to take a guidance item, as predicted
// when the item is queued. The zero Forecast is the next session that writes.
type Forecast struct {
	Every    bool   `json:"every,omitempty"`    // every writing session, until the item is dropped
	NextRun  bool   `json:"next_run,omitempty"` // no run is under way
	Task     string `json:"task,omitempty"`
	Hat      string `json:"hat,omitempty"`
	Expected bool   `json:"expected,omitempty"` // the session after the running one; its findings may change the forecast
}

// String returns the forecast for people, to stand after "To" or an arrow.
func (f Forecast) String() string {
	switch {
	case f.Every:
		return "every writing session, until you drop it"
	case f.NextRun:
		return "the next run"
	case f.Expected:
		return fmt.Sprintf("next session, %s %s as it looks", ShortID(f.Task), f.Hat)
	case f.Hat != "" && f.Task != "":
		return fmt.Sprintf("next session of %s %s", ShortID(f.Task), f.Hat)
	case f.Hat != "":
		return fmt.Sprintf("next %s session", f.Hat)
	case f.Task != "":
		return fmt.Sprintf("next session of %s that writes", ShortID(f.Task))
	}
	return "next session that writes"
}

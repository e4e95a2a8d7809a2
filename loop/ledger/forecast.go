package ledger

import "fmt"

// Forecast names the session that is expected to take a guidance item, as predicted
// when the item is queued. The zero Forecast is the next session that writes.
type Forecast struct {
	Every    bool   `json:"every,omitempty"`    // every writing session, until the item is dropped
	NextRun  bool   `json:"next_run,omitempty"` // no run is under way
	Task     string `json:"task,omitempty"`
	Hat      string `json:"hat,omitempty"`
	Source   string `json:"source,omitempty"`   // with Rests: path of the source that the item is for; "" = of any
	Rests    bool   `json:"rests,omitempty"`    // neither a run of its source nor the line of its task is there
	Request  int    `json:"request,omitempty"`  // with Rests: no run works on the branch of this request
	Expected bool   `json:"expected,omitempty"` // the session after the running one; its findings may change the forecast

	// Before has the ids of the items that fill the next session that the item could
	// be in, separated by spaces. It goes along once one of them is dropped, or
	// their task is over.
	Before string `json:"before,omitempty"`
}

// String returns the forecast for people, to stand after "To" or an arrow.
func (f Forecast) String() string {
	switch {
	case f.Rests && f.Task != "":
		return fmt.Sprintf("%s, once it is in %s again", ShortID(f.Task), f.Source)
	case f.Rests && f.Request != 0:
		return fmt.Sprintf("the next run on the branch of PR %d", f.Request)
	case f.Rests:
		return "the next run of " + f.Source
	case f.Before != "":
		return fmt.Sprintf("a later session: %s fill the next one. /drop one to make room", f.Before)
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

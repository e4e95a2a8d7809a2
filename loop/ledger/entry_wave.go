package ledger

import (
	"fmt"
	"strings"
	"time"
)

// WaveBegun is the first entry of a wave's chain: its commitment (docs/spec 7.1, 8.1).
// Waves are numbered within their run.
type WaveBegun struct {
	Wave  int `json:"wave"`
	Max   int `json:"max,omitempty"` // waves at most since the run was started or resumed; 0 = none
	Batch int `json:"batch"`         // reports that are taken up at most
}

// WaveTriaged records what triage said of the inbox: the verdicts that differ from those
// before, and which reports the wave takes up, in their order.
type WaveTriaged struct {
	Wave    int          `json:"wave"`
	Changed []Triage     `json:"changed,omitempty"`
	Kept    int          `json:"kept"`            // reports that passed every gate
	Aside   map[Gate]int `json:"aside,omitempty"` // reports that are set aside, by gate
	Batch   []string     `json:"batch,omitempty"` // ids as written
	Claimed []Claimed    `json:"claimed,omitempty"`
	// Asked are the reports that a triager's session decides about before the wave takes
	// anything up: rules leave gates of them open. Batch is empty then.
	Asked []AskedReport `json:"asked,omitempty"`
}

// AskedReport is a report that a triager's session decides about.
type AskedReport struct {
	Task  string `json:"task"`  // id as written
	Print string `json:"print"` // fingerprint of what it says: the verdict holds while it says that
}

// WaveJudged records what a triager's session said of the reports that it was asked
// about. The inbox is sorted once more then.
type WaveJudged struct {
	Wave     int             `json:"wave"`
	Verdicts []ReportVerdict `json:"verdicts,omitempty"`
	LeftOut  []string        `json:"left_out,omitempty"` // ids, as written, of the reports that it says nothing of
	Failed   string          `json:"failed,omitempty"`   // why there is no answer: all reports are kept; "" = there is one
}

// Claimed is a report that somebody else works on.
type Claimed struct {
	Task  string    `json:"task"`           // id as written
	By    string    `json:"by"`             // as the source says
	How   ClaimKind `json:"how,omitempty"`  // what shows it
	Since time.Time `json:"since,omitzero"` // zero = unknown
	Last  time.Time `json:"last,omitzero"`  // last sign of progress; zero = Since
	// Stale says that the claim shows no progress, so that it is not respected.
	Stale bool `json:"stale,omitempty"`
}

// Text says who works on the report, and since when: "claimed by mira, 3 days ago",
// "claimed by mira, 3 days ago, no progress for 2 days".
func (c Claimed) Text(now time.Time) string {
	text := "claimed by " + c.By
	since := c.Since
	if since.IsZero() {
		since = c.Last
	}
	if !since.IsZero() {
		text += ", " + ago(now.Sub(since))
	}
	if c.Stale {
		text += ", no progress"
		if moved := (ReportClaim{Since: c.Since, Last: c.Last}).Moved(); !moved.Equal(since) {
			text += " for " + strings.TrimSuffix(ago(now.Sub(moved)), " ago")
		}
	}
	return text
}

// mostHeld limits the reports that HeldText names.
const mostHeld = 5

// HeldText says who works on reports, for people: "others work on what is left: B1 is
// claimed by anna, 3 days ago; B2 is claimed by bo".
func HeldText(held []Claimed, now time.Time) string {
	var names []string
	for _, c := range held[:min(len(held), mostHeld)] {
		names = append(names, ShortID(c.Task)+" is "+c.Text(now))
	}
	text := "others work on what is left: " + strings.Join(names, "; ")
	if more := len(held) - mostHeld; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ago says how long something is past, in its largest unit.
func ago(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / u.of); n == 1 {
			return "1 " + u.name + " ago"
		} else if n > 1 {
			return fmt.Sprintf("%d %ss ago", n, u.name)
		}
	}
	return "just now"
}

// WaveEnded is the last entry of a wave's chain: its summary.
type WaveEnded struct {
	Wave    int          `json:"wave"`
	Passed  []WaveReport `json:"passed,omitempty"`   // committed and verified since the wave began
	Failed  []WaveReport `json:"failed,omitempty"`   // tried, without a success
	Skipped []WaveReport `json:"skipped,omitempty"`  // not tried, or settled without a commit
	Stale   []Claimed    `json:"stale,omitempty"`    // claims without progress, which were not respected
	Aside   map[Gate]int `json:"aside,omitempty"`    // as in WaveTriaged
	Kept    int          `json:"kept"`               // as in WaveTriaged
	Left    int          `json:"left"`               // reports that are still to do
	Unclear int          `json:"unclear,omitempty"`  // reports that were kept because no triager could decide about them
	NoJudge string       `json:"no_judge,omitempty"` // why none could; "" = nothing was left unclear
	Began   time.Time    `json:"began"`

	DurationMs int64   `json:"durationMs"`
	Tokens     int64   `json:"tokens,omitempty"`    // of the sessions that report them
	CostUSD    float64 `json:"cost_usd,omitempty"`  // of the sessions whose cost is known
	Sessions   int     `json:"sessions,omitempty"`  // agent sessions that ended
	Unpriced   int     `json:"unpriced,omitempty"`  // of them, those whose cost is unknown
	Untold     int     `json:"untold,omitempty"`    // of them, those whose tokens are unknown
	Estimated  int     `json:"estimated,omitempty"` // of them, those whose cost is estimated, or computed from their tokens

	Cut string `json:"cut,omitempty"` // why it ended before it was through; "" = it was
}

// Attempted returns how many reports the wave tried to fix.
func (w WaveEnded) Attempted() int { return len(w.Passed) + len(w.Failed) }

// WaveReport is one report in the summary of a wave.
type WaveReport struct {
	Task   string `json:"task"`             // id as written
	Why    string `json:"why,omitempty"`    // for people; "" of one that passed
	Commit string `json:"commit,omitempty"` // of one that passed
	Branch string `json:"branch,omitempty"` // that has the commit
	Number int    `json:"number,omitempty"` // of its request; 0 = none
	URL    string `json:"url,omitempty"`
	Kind   string `json:"kind,omitempty"` // of one that was skipped: claimed, waiting, manual, skipped
}

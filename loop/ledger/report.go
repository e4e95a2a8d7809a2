package ledger

import (
	"slices"
	"strings"
	"time"
)

// Report is what a bug report says beside its title and its text (docs/spec 3.6). All
// of it is text by strangers: it is shown as data, and no rule takes it for more.
type Report struct {
	Untitled   bool      `json:"untitled,omitempty"` // it has no title of its own: Task.Title is made of its text
	Severity   string    `json:"severity,omitempty"` // as the source has it
	Page       string    `json:"page,omitempty"`     // page or route on which it was seen
	Tags       []string  `json:"tags,omitempty"`
	URL        string    `json:"url,omitempty"`
	UserAgent  string    `json:"user_agent,omitempty"`
	Console    []string  `json:"console,omitempty"`    // lines of the browser's console
	Screenshot string    `json:"screenshot,omitempty"` // as the source names it: a path or an address
	Files      []string  `json:"files,omitempty"`      // SHA-256 of attachments, in hexadecimal, which lie beside the ledger
	Reporter   string    `json:"reporter,omitempty"`
	Created    time.Time `json:"created,omitzero"`
	Updated    time.Time `json:"updated,omitzero"`
	Closed     time.Time `json:"closed,omitzero"`    // zero = open in the source
	Assignee   string    `json:"assignee,omitempty"` // who works on it, as the source says
	Of         string    `json:"of,omitempty"`       // id of the report that the source calls it a duplicate of

	// Claim is of somebody else who works on it, as the source says; nil = nobody does.
	Claim *ReportClaim `json:"claim,omitempty"`
}

// ReportClaim says who works on a report.
type ReportClaim struct {
	By    string    `json:"by"`
	How   ClaimKind `json:"how,omitempty"`  // what shows it
	Since time.Time `json:"since,omitzero"` // zero = unknown
	Last  time.Time `json:"last,omitzero"`  // last sign of progress; zero = Since
}

// ClaimKind is what shows that somebody works on a report.
type ClaimKind string

// Kinds of claims.
const (
	ClaimField    ClaimKind = "field"    // the report says it
	ClaimStatus   ClaimKind = "status"   // its status is that of a report at work
	ClaimLabel    ClaimKind = "label"    // its issue has the label of issues at work
	ClaimAssignee ClaimKind = "assignee" // it is assigned to somebody
	ClaimBranch   ClaimKind = "branch"   // the remote has a branch for it
)

// Moved returns when the claim showed progress last, zero = unknown.
func (c ReportClaim) Moved() time.Time {
	if c.Last.After(c.Since) {
		return c.Last
	}
	return c.Since
}

// Same reports whether two claims say the same. Nil is no claim.
func (c *ReportClaim) Same(o *ReportClaim) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.By == o.By && c.How == o.How && c.Since.Equal(o.Since) && c.Last.Equal(o.Last)
}

// StaleClaim is how long a claim without progress is respected, unless a project says
// otherwise.
const StaleClaim = 24 * time.Hour

// Claiming asks a source to record, together with a mark, who works on a report.
type Claiming struct {
	By string    `json:"by,omitempty"` // as the source calls this nightporter; it fills that in
	At time.Time `json:"at,omitzero"`  // zero gives the claim back
	// Respect is the time from which on a claim of somebody else that showed progress is
	// respected: nothing is written then, and the error is a *ClaimedError. Zero = none is.
	Respect time.Time `json:"respect,omitzero"`
}

// Yields reports whether the claim of somebody else is respected.
func (c Claiming) Yields(to ReportClaim) bool {
	return !c.Respect.IsZero() && !strings.EqualFold(to.By, c.By) && (to.Moved().IsZero() || to.Moved().After(c.Respect))
}

// ClaimedError is the error of a mark for a report that somebody else works on.
type ClaimedError struct {
	Task  string
	Claim ReportClaim
}

func (e *ClaimedError) Error() string { return e.Task + " is claimed by " + e.Claim.By }

// Texts returns all that a report says, none for nil.
func (r *Report) Texts() []string {
	if r == nil {
		return nil
	}
	return slices.Concat([]string{r.Severity, r.Page, r.URL, r.UserAgent, r.Screenshot, r.Reporter}, r.Tags, r.Console)
}

// severities are the priorities of reports: bigger first (docs/spec 3.7).
var severities = map[string]int{
	"critical": 4, "blocker": 4, "urgent": 4, "p0": 4, "high": 3, "major": 3, "p1": 3,
	"medium": 2, "moderate": 2, "normal": 2, "p2": 2, "low": 1, "minor": 1, "trivial": 1, "p3": 1,
}

// ReportPriority returns the priority of a report with a severity, 0 if that is no known
// word.
func ReportPriority(severity string) int {
	return severities[strings.ToLower(strings.TrimSpace(severity))]
}

// SaysAs reports whether two reports say the same: what the source records about their
// life (when they changed, who works on them, that they are closed) is not compared. Nil
// is no report.
func (r *Report) SaysAs(o *Report) bool {
	if r == nil || o == nil {
		return r == o
	}
	return r.Untitled == o.Untitled && r.Severity == o.Severity && r.Page == o.Page && slices.Equal(r.Tags, o.Tags) && r.URL == o.URL &&
		r.UserAgent == o.UserAgent && slices.Equal(r.Console, o.Console) && r.Screenshot == o.Screenshot &&
		slices.Equal(r.Files, o.Files) && r.Reporter == o.Reporter
}

// Gate is one of the questions that a report has to pass before anybody reads code for
// it, in the order in which they are asked (docs/spec 7).
type Gate string

// Gates of triage.
const (
	GateCoherence  Gate = "coherence"  // 1: it says something
	GateTestable   Gate = "testable"   // 2: it names something that can be seen or tried
	GateMatch      Gate = "match"      // 3: it is about this project
	GateDuplicate  Gate = "duplicate"  // 4: no other report says the same
	GateActionable Gate = "actionable" // 5: it can be fixed here
)

// Gates returns all gates in the order in which they are asked.
func Gates() []Gate {
	return []Gate{GateCoherence, GateTestable, GateMatch, GateDuplicate, GateActionable}
}

// Tier is how much work a fix is expected to be (docs/spec 7).
type Tier int

// Tiers of fixes. Zero is a report whose tier was not estimated.
const (
	TierSimple   Tier = 1 // under 2 minutes
	TierModerate Tier = 2 // 2 to 10 minutes
	TierComplex  Tier = 3 // more
)

// Triage is what triage says of one report.
type Triage struct {
	Task     string  `json:"task"`               // id as written
	Gate     Gate    `json:"gate,omitempty"`     // gate that set it aside; "" = it was kept
	Why      string  `json:"why,omitempty"`      // reason of the gate, or of what made it pass, for people
	Of       string  `json:"of,omitempty"`       // report that it is a duplicate of
	Open     []Gate  `json:"open,omitempty"`     // gates that rules could not decide; a triager may be asked
	Tier     Tier    `json:"tier,omitempty"`     // 0 = unknown
	Estimate Tier    `json:"estimate,omitempty"` // tier by its words, where fixes of its kind took another one here; 0 = Tier is that
	Kind     string  `json:"kind,omitempty"`     // kind of fix, which chooses its review; "" = unknown
	Passes   []Pass  `json:"passes,omitempty"`   // of the review of its fix
	Score    float64 `json:"score,omitempty"`    // the highest comes first: of tiers 1 and 2 together, then of tier 3
	Session  string  `json:"session,omitempty"`  // triager's session that decided it; "" = rules
	Person   string  `json:"person,omitempty"`   // id of the person who brought it back with /retry; "" = nobody
}

// ReportVerdict is what a triager's session says of one report.
type ReportVerdict struct {
	Task string `json:"task"`           // id as written
	Gate Gate   `json:"gate,omitempty"` // gate that it fails; "" = it is work for this project
	Of   string `json:"of,omitempty"`   // report that it is a duplicate of, as written
	Why  string `json:"why,omitempty"`
}

// Kept reports whether the report passed every gate that was decided.
func (t Triage) Kept() bool { return t.Gate == "" }

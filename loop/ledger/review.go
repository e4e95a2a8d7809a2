package ledger

// Pass is one look at a fix, for one sort of finding. The kind of a fix says which of
// them its review has (docs/spec 7.6).
type Pass string

// Passes of a review.
const (
	PassIntent     Pass = "intent"     // it does what the report asks for
	PassBugs       Pass = "bugs"       // it breaks nothing
	PassSecurity   Pass = "security"   // it opens nothing
	PassGuidelines Pass = "guidelines" // it follows the project's rules
	PassVisual     Pass = "visual"     // it looks right
)

// Passes returns all passes in the order in which a review makes them.
func Passes() []Pass {
	return []Pass{PassIntent, PassBugs, PassSecurity, PassGuidelines, PassVisual}
}

// Verdicts of a pass.
const (
	PassOK     = "ok"
	PassIssues = "issues"
)

// PassResult is what a reviewer says of one pass.
type PassResult struct {
	Pass    Pass   `json:"pass"`
	Verdict string `json:"verdict"`        // PassOK or PassIssues
	Note    string `json:"note,omitempty"` // what was looked at
}

// SureFrom is the least confidence, in percent, with which an issue sends a task back
// (docs/spec 7.6). What is below it is kept, for people and for the fixer.
const SureFrom = 80

// Sure reports whether the reviewer is sure enough of the issue. One without a
// confidence counts as sure.
func (i Issue) Sure() bool { return i.Confidence == 0 || i.Confidence >= SureFrom }

package ledger

import "slices"

// Severities returns all severities, worst first.
func Severities() []Severity { return []Severity{Critical, Major, Minor, Suggestion} }

// Reaches reports whether one of the issues has a severity of the threshold, so that it
// keeps an attempt from converging. Issues of which the reviewer is not sure do not.
func Reaches(threshold []Severity, issues []Issue) bool {
	return slices.ContainsFunc(issues, func(i Issue) bool { return i.Sure() && slices.Contains(threshold, i.Severity) })
}

// SameThreshold reports whether two thresholds have the same severities.
func SameThreshold(a, b []Severity) bool {
	for _, s := range Severities() {
		if slices.Contains(a, s) != slices.Contains(b, s) {
			return false
		}
	}
	return true
}

// ThresholdChange is a change of the threshold of a kind of task by one severity. The
// kind is the name of the pattern that builds its tasks (docs/spec 2.6).
type ThresholdChange struct {
	Kind     string   `json:"kind"`
	Severity Severity `json:"severity"`
	Add      bool     `json:"add,omitempty"` // such issues send a task back from now on; false = they no longer do
}

// ThresholdProposal is a change that people are asked about, and the figures of the
// ledger that speak for it. All are about tasks of the kind that are done, and old
// enough to be regretted.
type ThresholdProposal struct {
	ThresholdChange

	Pattern   []Severity `json:"pattern"`   // threshold of the pattern's file, for which the change holds
	Threshold []Severity `json:"threshold"` // with the change
	Tasks     int        `json:"tasks"`
	Runs      int        `json:"runs"`                // that they were done in
	Rounds    int        `json:"rounds,omitempty"`    // fixes for nothing but issues of the severity that another review judged
	Unchanged int        `json:"unchanged,omitempty"` // of these, fixes that changed nothing and passed
	Small     int        `json:"small,omitempty"`     // of these, fixes of at most SmallFix lines that passed; none for major issues
	Open      int        `json:"open,omitempty"`      // tasks that were done with issues of the severity
	Regretted int        `json:"regretted,omitempty"` // of these, tasks that were reverted, redone, failed by a person or sent back
}

// SmallFix is the number of changed lines up to which a fix of a minor issue or a
// suggestion changed little. A major issue may need no more.
const SmallFix = 5

package ledger

// ThresholdSet records the threshold of a kind of task that a person agreed to, or took
// back (docs/spec 2.6).
type ThresholdSet struct {
	Kind      string     `json:"kind"`                // name of the pattern that builds its tasks
	Pattern   []Severity `json:"pattern,omitempty"`   // threshold of the pattern's file, for which it holds
	Threshold []Severity `json:"threshold,omitempty"` // nil = that of the pattern's file is in force again
	Question  string     `json:"question,omitempty"`  // id of the question that asked; "" = a command
	By        string     `json:"by,omitempty"`        // name of the person
}

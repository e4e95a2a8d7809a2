package ledger

// RequestSeen records what a look at a run's request showed, where that is news. A
// look that shows nothing new has no entry.
type RequestSeen struct {
	Run string          `json:"run"`
	Now RequestStanding `json:"now"`
	Tag string          `json:"tag,omitempty"` // of that look, for the next one
}

// RequestLeft records that nothing more is started by itself to make a run's request
// green: a person has to look. A run that a person starts ends that.
type RequestLeft struct {
	Run    string   `json:"run"`
	Number int      `json:"number"`
	Head   string   `json:"head"` // commit that stays as it is
	Rounds int      `json:"rounds,omitempty"`
	Failed []string `json:"failed,omitempty"` // names of the first checks that fail
}

// MergeBegun records that a person confirmed the merge of a run's request with a
// head.
type MergeBegun struct {
	Run        string `json:"run"`
	N          int    `json:"n"` // merges that were begun for the run, from 1
	Number     int    `json:"number"`
	HeadCommit string `json:"head_commit"`
	By         string `json:"by"`
}

// MergeEnded records what became of a confirmed merge. Without a failure the request
// is merged, or open if the forge merges it later, from a queue.
type MergeEnded struct {
	Run     string       `json:"run"`
	Request Request      `json:"request"`
	Method  MergeMethod  `json:"method,omitempty"`
	Failure ForgeFailure `json:"failure,omitempty"`
	Text    string       `json:"text,omitempty"`   // of the failure, for people
	Remedy  string       `json:"remedy,omitempty"` // what a person has to do
}

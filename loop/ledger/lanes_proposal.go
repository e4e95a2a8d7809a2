package ledger

// LanesProposal is what people are told of a run that would be faster with several lanes.
// Nothing changes by itself.
type LanesProposal struct {
	Parallel int `json:"parallel"` // tasks at a time
	Tasks    int `json:"tasks"`    // that are ready and can be worked on beside one another

	// How long the run probably takes as it is configured, and with Parallel tasks at a
	// time, without an end that it has by the clock. Both are 0 if nobody knows.
	One     Duration `json:"one,omitempty"`
	Several Duration `json:"several,omitempty"`
}

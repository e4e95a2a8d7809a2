package ledger

// Before is what stood before a question was answered.
type Before struct {
	Question Question `json:"question"`
	Status   Status   `json:"status"`
	Why      string   `json:"why,omitempty"`
	Failed   int      `json:"failed,omitempty"`
	LastFail string   `json:"last_fail,omitempty"`
	Words    int      `json:"words,omitempty"`  // of the task
	Run      string   `json:"run,omitempty"`    // the last one then
	Agents   int      `json:"agents,omitempty"` // its agent sessions then
}

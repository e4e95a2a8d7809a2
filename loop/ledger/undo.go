package ledger

// Before is the state of a question's task before the answer, so that the answer can
// be taken back.
type Before struct {
	Question Question `json:"question"`
	Status   Status   `json:"status"`
	Why      string   `json:"why,omitempty"`
	Failed   int      `json:"failed,omitempty"`
	LastFail string   `json:"last_fail,omitempty"`

	Replanned int `json:"replanned,omitempty"` // TaskReplanned.Failed; 0 = the task was not planned anew

	Words  int    `json:"words,omitempty"`  // number of TaskWords of the task
	Run    string `json:"run,omitempty"`    // the last run at the time of the answer
	Agents int    `json:"agents,omitempty"` // number of agent sessions of that run at the time of the answer
}

package ledger

// Answer is the reply to the sender of an input. The store keeps it under the
// input's key: a repeated input gets the same answer.
type Answer struct {
	OK      bool       `json:"ok"`
	Code    AnswerCode `json:"code,omitempty"` // for programs
	Text    string     `json:"text"`           // for people: one to three lines on the state and the next step
	ID      string     `json:"id,omitempty"`   // of the item, question or run that the input created: g9, q7, r14
	Receipt string     `json:"receipt,omitempty"`
	// Forecast belongs to CodeQueued. Answers stored before it existed have
	// none, which is also the value for the next session that writes.
	Forecast Forecast `json:"forecast,omitzero"`
	Attached int      `json:"attached,omitempty"` // how many of the input's files are in the ledger now
}

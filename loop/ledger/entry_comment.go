package ledger

// CommentCount counts comments on a request that are not guidance.
type CommentCount struct {
	Others  int `json:"others,omitempty"`  // by people who may not write to the repository, and by apps
	Waiting int `json:"waiting,omitempty"` // that become guidance once earlier ones are settled
	Unread  int `json:"unread,omitempty"`  // older than the newest that the forge was asked for
}

// CommentsSeen records that a look at a run's request counted its comments
// otherwise than the looks before it. A comment that became guidance has a
// GuidanceQueued of its own.
type CommentsSeen struct {
	Run    string       `json:"run"`
	Number int          `json:"number"` // of the request
	Count  CommentCount `json:"count"`
}

// ReplyBegun records that the author of a comment is to get a reply.
type ReplyBegun struct {
	Run     string `json:"run"`
	Number  int    `json:"number"`
	Comment string `json:"comment"` // the forge's id
	ID      string `json:"id"`      // of the guidance
	Key     string `json:"key"`
	Final   bool   `json:"final,omitempty"` // it says what became of the comment; else that it waits
}

// ReplyEnded records what became of a reply. With a failure it is not tried again.
type ReplyEnded struct {
	Run     string       `json:"run"`
	Number  int          `json:"number"`
	Key     string       `json:"key"`
	Failure ForgeFailure `json:"failure,omitempty"`
	Text    string       `json:"text,omitempty"`   // of the failure, for people
	Remedy  string       `json:"remedy,omitempty"` // what a person has to do
}

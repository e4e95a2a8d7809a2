package ledger

// RemakeWish is what a person wants of the branch: tasks that it has are left out,
// tasks that were left out come back, and one is done again.
type RemakeWish struct {
	Drop  []string `json:"drop,omitempty"`  // ids as written
	Back  []string `json:"back,omitempty"`  // ids as written
	Redo  string   `json:"redo,omitempty"`  // one of Drop that is done again
	Words string   `json:"words,omitempty"` // guidance for it
	Files string   `json:"files,omitempty"` // FilesAttached.To of what was sent with the words
}

// RemakeAsked records that the branch is to be made again as a person wishes, as
// soon as nothing is in hand.
type RemakeAsked struct {
	Wish RemakeWish `json:"wish"`
	By   string     `json:"by"`
}

// RemakeBegun records that a branch is being made. Branch is From where that was
// pushed: then commits on top take changes back.
type RemakeBegun struct {
	Branch string `json:"branch"`
	From   string `json:"from"`
}

// BranchRemade records a branch that was made from another one's commits. It is
// the run's branch from here on. Its tip is not verified yet.
type BranchRemade struct {
	Branch  string          `json:"branch"`
	From    string          `json:"from"`
	Tip     string          `json:"tip"`
	Tree    string          `json:"tree"`
	Wish    RemakeWish      `json:"wish"`
	Commits []RemadeCommit  `json:"commits,omitempty"` // in the order of the branch; where Branch is From, only those on top
	Foreign *ForeignCommits `json:"foreign,omitempty"` // commits of somebody else, found on From
}

// RemakeEnded records that a branch was not made, or that its tip is not verified by
// itself.
type RemakeEnded struct {
	Why    string       `json:"why"`
	Remedy string       `json:"remedy,omitempty"` // what a person does about it
	Needs  []RemakeNeed `json:"needs,omitempty"`  // commits that do not apply without what was to be left out
	Made   bool         `json:"made,omitempty"`   // the branch is there; only its check is missing
	Green  bool         `json:"green,omitempty"`  // with Made: its tip passed verification before
}

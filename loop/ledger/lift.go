package ledger

// LiftCommit asks for the change of a task's commit as a commit on another base than
// the run's own branch (docs/spec 9.4): the tip of the branch that its request asks to
// be merged into, or of an earlier one of the run whose files it changes, too. Equal
// requests give the same commit.
type LiftCommit struct {
	Run    string `json:"run"`
	Task   string `json:"task"`
	Commit string `json:"commit"` // whose change, against its first parent, is meant
	// Base is the branch that requests ask to be merged into; where it is not set, the
	// engine finds it out, and Head is the branch that the person was on.
	Base string `json:"base,omitempty"`
	Head string `json:"head,omitempty"`
	// Onto is the commit to lay it on. The engine fetches Base for it where it is not
	// set.
	Onto string      `json:"onto,omitempty"`
	Over []LiftUnder `json:"over,omitempty"` // what may have to be under it, in the order of the run's commits
	// Undo takes the change back. Subject, Author and Time are those of that commit.
	Undo      bool   `json:"undo,omitempty"`
	Subject   string `json:"subject,omitempty"`
	Author    string `json:"author,omitempty"`
	Time      string `json:"time,omitempty"`      // RFC 3339
	Committer string `json:"committer,omitempty"` // Base.Committer of the run
}

// LiftUnder is the branch of an earlier task of a run whose request is not merged.
type LiftUnder struct {
	ID     string   `json:"id"` // of the branch: r14-5
	Task   string   `json:"task"`
	Commit string   `json:"commit"`        // of the run's own branch, with the task's change
	Tip    string   `json:"tip"`           // that the remote has of the branch
	Has    []string `json:"has,omitempty"` // ids of the others of LiftCommit.Over whose changes it has
}

// Lifted is the result of a LiftCommit. Without a Tip there is none, and Why says so.
type Lifted struct {
	Tip   string   `json:"tip,omitempty"`
	Onto  string   `json:"onto,omitempty"`  // its parent
	On    string   `json:"on,omitempty"`    // id of the branch whose tip that is; "" = the base's
	Files []string `json:"files,omitempty"` // that it and the branches under it change
	Why   string   `json:"why,omitempty"`
}

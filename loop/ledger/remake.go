package ledger

// RemakeBranch asks for a branch that has some of the commits of another one
// (docs/spec 9.7). Equal requests give the same commits.
type RemakeBranch struct {
	Run    string       `json:"run"`
	Branch string       `json:"branch"` // to make; to move forward if it is From
	From   string       `json:"from"`   // branch in the user's repository that the steps come from
	Tip    string       `json:"tip"`    // last commit of From that the ledger knows
	Base   string       `json:"base"`   // commit that Branch begins on
	Steps  []RemakeStep `json:"steps"`  // in the order of the commits
	Author string       `json:"author"` // of commits that take a change back: "Name <email>"
	Time   string       `json:"time"`   // of the same commits: RFC 3339
	// Committer is Base.Committer of the run: who signs all commits that are made.
	Committer string `json:"committer,omitempty"`
}

// RemakeStep is one commit in a RemakeBranch, or what somebody else added.
type RemakeStep struct {
	Task   string `json:"task,omitempty"` // id as written; "" = somebody else's commits
	Commit string `json:"commit"`         // as it was first made; its change is that against its first parent
	// Since is set for somebody else's commits: all after it up to Commit are
	// meant.
	Since string `json:"since,omitempty"`
	Drop  bool   `json:"drop,omitempty"` // the commit is left out
	// Undo lays a commit on top that takes the change back, in place of the commit.
	// Subject is the first line of its message.
	Undo    bool   `json:"undo,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// Remade is the result of a RemakeBranch: a branch, or the reasons why there is
// none.
type Remade struct {
	Tip     string          `json:"tip,omitempty"`
	Tree    string          `json:"tree,omitempty"`
	Commits []RemadeCommit  `json:"commits,omitempty"` // in the order of the branch
	Needs   []RemakeNeed    `json:"needs,omitempty"`   // commits that do not apply without what is left out; nothing was made
	Refused *Diagnostic     `json:"refused,omitempty"` // the state of the user's repository that is in the way; nothing was made
	Foreign *ForeignCommits `json:"foreign,omitempty"` // commits that somebody added after RemakeBranch.Tip: they are on the branch, too
}

// ForeignCommits are commits on a branch of ours that somebody else made.
type ForeignCommits struct {
	Since string `json:"since"`
	Tip   string `json:"tip"`
}

// RemadeCommit is a commit on a remade branch.
type RemadeCommit struct {
	Task   string `json:"task,omitempty"` // id as written; "" = somebody else's
	Of     string `json:"of"`             // the commit whose change it has, or takes back; the same where nothing before it changed
	Commit string `json:"commit"`         // "" where the branch has its whole change without it
	Undo   bool   `json:"undo,omitempty"` // it takes the change back
}

// RemakeNeed is a commit that does not apply without others.
type RemakeNeed struct {
	Task  string   `json:"task,omitempty"` // id as written; "" = somebody else's
	On    []string `json:"on,omitempty"`   // ids of tasks that are left out and changed the same files
	Files []string `json:"files"`          // in conflict
}

package ledger

// PushBegun records that a run's branch is to be pushed to the remote, up to a
// commit.
type PushBegun struct {
	Run    string `json:"run"`
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Source string `json:"source,omitempty"` // KIND:PATH of the run's source
	// Of is set for the branch of one task: the run that made its commit. Run is the
	// branch's own id then, in this entry and in all about the branch: r14-5.
	Of   string `json:"of,omitempty"`
	Task string `json:"task,omitempty"` // id as written, with Of
	On   string `json:"on,omitempty"`   // with Of: id of the branch whose commits it has too, "" = none
	// Joint, with Of, says that Commit was not verified by itself, but a later one
	// that has it: in a batch, or when another task was taken out.
	Joint bool `json:"joint,omitempty"`
	// Red, with Of, is the command that failed on Commit when it was the run's tip; a
	// later one that has it passed.
	Red string `json:"red,omitempty"`
	// With, of a branch that was lifted, are the ids of the tasks whose changes Commit has
	// besides those of On.
	With []string `json:"with,omitempty"`
	// Contains is a commit of the request's base that Commit is known to contain; "" =
	// unknown.
	Contains string `json:"contains,omitempty"`
}

// LiftBegun records that the change of a task's commit is to be laid on another base,
// for a branch of that task alone. Run is the branch's own id, as in PushBegun.Of.
type LiftBegun struct {
	Run    string `json:"run"`
	N      int    `json:"n"` // times that this was begun for the branch, from 1
	Branch string `json:"branch"`
	Commit string `json:"commit"`         // of the run's own branch
	Back   bool   `json:"back,omitempty"` // its change is to be taken back
	Source string `json:"source,omitempty"`
	Of     string `json:"of"`
	Task   string `json:"task"` // id as written
}

// LiftEnded records the commit that a task's branch is to have. A tip that is not the
// run's own commit is verified before it is pushed.
type LiftEnded struct {
	Run    string `json:"run"`
	Commit string `json:"commit"` // as in LiftBegun
	Lifted
}

// BranchPushed records that the remote has a commit of a run's branch.
type BranchPushed struct {
	Run    string    `json:"run"`
	Branch string    `json:"branch"`
	Commit string    `json:"commit"`
	Forge  ForgeKind `json:"forge,omitempty"` // the server of the remote; "" = ForgePlain
}

// RequestBegun records that a run's request is to be opened, or its text to be
// written anew.
type RequestBegun struct {
	Run   string `json:"run"`
	N     int    `json:"n"`     // times that this was begun for the run, from 1
	Print string `json:"print"` // fingerprint of what it is to say
}

// RequestOpened records that a run has a request: one was opened, or an open one
// was found for its branch.
type RequestOpened struct {
	Run     string   `json:"run"`
	Request Request  `json:"request"`
	Print   string   `json:"print"`           // as in RequestBegun
	Tasks   []string `json:"tasks,omitempty"` // ids of the tasks that it has commits of
}

// RequestEdited records that the text of a run's request was written anew, or that
// somebody merged or closed the request before that.
type RequestEdited struct {
	Run     string   `json:"run"`
	Request Request  `json:"request"`
	Print   string   `json:"print"`
	Tasks   []string `json:"tasks,omitempty"`
}

package ledger

import (
	"fmt"
	"time"
)

// Begin asks the workspace for the commit that a run starts from.
type Begin struct {
	Run      string `json:"run"`
	As       string `json:"as,omitempty"`       // of a check: id of the run that would begin, whose branch is looked at; "" = Run
	Previous string `json:"previous,omitempty"` // branch of the same source's last run, "" = none
	Tip      string `json:"tip,omitempty"`      // last commit of Previous that we made, "" = unknown
	Fresh    bool   `json:"fresh,omitempty"`    // start from HEAD whatever Previous holds (--new)
	Base     string `json:"base,omitempty"`     // branch that takes the place of HEAD, "" = HEAD itself
	// BaseCommit is the tip of Base on the remote, which was fetched; "" stands for
	// the branch of that name in the user's repository.
	BaseCommit string `json:"base_commit,omitempty"`

	Upkeep *BeginUpkeep `json:"upkeep,omitempty"` // start from the branch of an open request instead
}

// BeginUpkeep says which request a run keeps green.
type BeginUpkeep struct {
	Number int    `json:"number"`
	Branch string `json:"branch"`          // of the request
	Into   string `json:"into"`            // branch that it asks to be merged into
	Merge  bool   `json:"merge,omitempty"` // take in what Into has and Branch lacks

	// Had are commits that Branch is known to have had on the remote. One that it lacks
	// now was removed by force, and is not brought back.
	Had []string `json:"had,omitempty"`

	// Commits that the remote's branches have, which are in our repository. The engine
	// sets them before it hands Begin to the repository; no effect has them.
	Head       string `json:"head,omitempty"`        // of Branch
	IntoCommit string `json:"into_commit,omitempty"` // of Into
}

// Base is the starting point of a run's work (docs/spec 9.1).
type Base struct {
	Commit   string `json:"commit"` // tip to build the first task on
	Tree     string `json:"tree"`
	Head     string `json:"head"`      // the user's HEAD when the run began, or the tip of Begin.Base
	HeadName string `json:"head_name"` // branch name, or "detached"
	Branch   string `json:"branch"`    // nightporter/PROJECT/r14
	Author   string `json:"author"`    // "Name <email>": the user's identity for the repository; goes into every CommitTask
	// Committer is the committer of the run's commits, which are signed: "Name
	// <email>". "" means nightporter, unsigned.
	Committer string `json:"committer,omitempty"`

	From      string       `json:"from,omitempty"`       // branch of the earlier run that this run continues
	Set       bool         `json:"set,omitempty"`        // Head is the tip of Begin.Base, not the user's HEAD
	Fetched   bool         `json:"fetched,omitempty"`    // with Set: from the remote
	Dirty     []string     `json:"dirty,omitempty"`      // changed files of the checkout that the run does not include
	EnvFiles  []string     `json:"env_files,omitempty"`  // files .env* of the checkout that rooms do not get (docs/spec 9.5)
	Copies    bool         `json:"copies,omitempty"`     // rooms are copies of their layer, because the machine mounts none
	Boundary  int          `json:"boundary,omitempty"`   // level that sessions will have
	NoClosed  string       `json:"no_closed,omitempty"`  // why no session can have a closed network (NetworkNone); "" = it can
	NoBrowser bool         `json:"no_browser,omitempty"` // Settings.Screenshot needs a Chromium, and none is there
	Notes     []Diagnostic `json:"notes,omitempty"`      // remarks that do not keep the run from starting

	OneSession []string `json:"one_session,omitempty"` // agents whose login allows one session at a time
	Unready    []string `json:"unready,omitempty"`     // those of Settings.Others that had no program or no login when the run began

	Upkeep *BaseUpkeep `json:"upkeep,omitempty"` // of a run that keeps a request green
}

// BaseUpkeep is the part of a Base about the branch of a request.
type BaseUpkeep struct {
	Head      string   `json:"head"`                // commit of the remote's branch, which Base.Commit contains
	Into      string   `json:"into,omitempty"`      // commit that the request is to be merged into; "" = the base is gone
	Contained bool     `json:"contained,omitempty"` // Base.Commit contains Into
	Conflicts []string `json:"conflicts,omitempty"` // files in which Into and Base.Commit differ; nothing was merged
	Tree      string   `json:"tree,omitempty"`      // with Conflicts: the merge, with git's marks in these files
}

// Scope says which files a session may change (docs/spec 4.1). The workspace
// resolves it against the attempt's start tree.
type Scope struct {
	Task    string   `json:"task,omitempty"`   // the task's own scope, as written
	Layout  []string `json:"layout,omitempty"` // the project's layout.write
	Allowed []string `json:"allowed"`          // the hat's write_allowed
	Denied  []string `json:"denied,omitempty"`
	Shipped bool     `json:"shipped,omitempty"` // the hat ships with nightporter: the task's own scope overrides Denied
	Never   []string `json:"never,omitempty"`   // the source file and its progress log: changes are dropped without a report
	Within  string   `json:"within,omitempty"`  // for a part: the scope of its parent as written ("none" if it has none), which Task cannot exceed
	Also    []string `json:"also,omitempty"`    // further paths that a person allowed for the task; Never and reserved files stay excluded
	Adds    bool     `json:"adds,omitempty"`    // Task adds to Allowed instead of replacing it: writer, reproducer (docs/spec 4.1)
}

// CaptureRequest asks the workspace to capture the files that a session left.
type CaptureRequest struct {
	Run      string `json:"run"`
	Session  string `json:"session"`
	Lane     int    `json:"lane,omitempty"` // whose work folder it worked in
	Ref      string `json:"ref"`            // hidden ref that will hold the tree
	Input    string `json:"input"`          // tree that the session began with
	Start    string `json:"start"`          // tree that the attempt began with
	StartRev string `json:"start_rev"`      // its commit
	Scope    Scope  `json:"scope"`

	Cleared []string `json:"cleared,omitempty"` // fingerprints of findings that a person called no secret
	Hold    bool     `json:"hold,omitempty"`    // keep a tree with findings: a person is asked about it

	MaxNew   int      `json:"max_new,omitempty"`   // number of new files that are taken without asking; 0 = DefaultMaxNewFiles, -1 = any
	TakeAll  []string `json:"take_all,omitempty"`  // folders of which any number is taken: a person said so
	LeaveOut []string `json:"leave_out,omitempty"` // folders whose new files are left out: a person said so

	Proof ProofRequest `json:"proof,omitzero"` // what to find out about the captured tree

	Resolve []string `json:"resolve,omitempty"` // files that git marked at the attempt's start: no mark of a conflict may be left
}

// Capture is the result of a CaptureRequest. Tree holds only changes that the scope
// allows, and the work folder is left with exactly these files.
type Capture struct {
	Tree    string       `json:"tree"`
	Files   []FileChange `json:"files,omitempty"`   // against Input; an entry has the first ones
	More    int          `json:"more,omitempty"`    // how many changed files Files leaves out
	Dropped []string     `json:"dropped,omitempty"` // changes of Scope.Never, undone without a report
	Outside []string     `json:"outside,omitempty"` // changes out of scope: undone, so that the session's work is judged without them
	Refused []Diagnostic `json:"refused,omitempty"` // what no session may leave: gitlinks, devices, FIFOs, files over 50 MB, unresolved conflicts, an emptied folder
	Lock    bool         `json:"lock,omitempty"`    // a lockfile changed: setup is due

	RunsItself []string      `json:"runs_itself,omitempty"` // of Outside: what runs by itself on the machine of whoever checks it out
	Secrets    []SecretFound `json:"secrets,omitempty"`     // added lines that look like secrets; unless the request holds it, Tree is Input then
	Unscanned  []Diagnostic  `json:"unscanned,omitempty"`   // files that were not searched for secrets, and why
	TooMany    []NewFiles    `json:"too_many,omitempty"`    // new files that were left out because there are too many; a person is asked

	Proof *ProofFacts `json:"proof,omitempty"` // of Tree against the attempt's start; nil if nobody asked
}

// NewFiles are the new files of a folder, in all its levels.
type NewFiles struct {
	Path  string `json:"path"` // the folder; "." is the repository's top folder
	Files int    `json:"files"`
}

// String names the folder and the number: "node_modules2/ (300000 new files)".
func (n NewFiles) String() string { return fmt.Sprintf("%s/ (%d new files)", n.Path, n.Files) }

// SecretFound is a line that looks like a secret. It holds nothing of the value.
type SecretFound struct {
	Path  string `json:"path"`
	Line  int    `json:"line,omitempty"` // 0: the file as a whole
	Rule  string `json:"rule"`           // id of the rule that found it, such as aws-access-token
	Print string `json:"print"`          // fingerprint of path, rule and line, by a key that stays in the state folder
}

// String names the place and the rule.
func (s SecretFound) String() string {
	if s.Line == 0 {
		return fmt.Sprintf("%s (%s)", s.Path, s.Rule)
	}
	return fmt.Sprintf("%s:%d (%s)", s.Path, s.Line, s.Rule)
}

// FileChange is one changed path with its line counts, -1 for a binary.
type FileChange struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// ChangeStatus says what happened to a changed file.
type ChangeStatus string

// What can happen to a file. All but ChangeAdded concern a file that existed
// before.
const (
	ChangeDeleted  ChangeStatus = "deleted"
	ChangeRenamed  ChangeStatus = "renamed"
	ChangeModified ChangeStatus = "modified"
	ChangeType     ChangeStatus = "changed type" // a file became a symbolic link, or the other way round
	ChangeMode     ChangeStatus = "changed mode" // executable or not, with the same content
	ChangeAdded    ChangeStatus = "new"
)

// Change is a changed file as a reviewer is shown it. No entry contains one.
type Change struct {
	FileChange
	Status ChangeStatus
	From   string // former path of a renamed file
	Patch  string // git's patch, or the beginning of a long one; "" if the patches before it took all the space
	Remark string // what a reviewer has to know of the file besides, such as "changes a check"; usually ""
}

// CommitTask asks for a task's commit and moves the branch to it. Equal requests
// always give the same hash (docs/spec 9.2), so that a commit can be repeated
// after a crash. With a Committer, they do so in the repository that has the first
// one's signature.
type CommitTask struct {
	Run     string `json:"run"`
	Branch  string `json:"branch"`
	Parent  string `json:"parent"`
	Tree    string `json:"tree"`
	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
	Footers string `json:"footers"` // lines "Key: value"
	Author  string `json:"author"`  // "Name <email>", Base.Author of the run
	Time    string `json:"time"`    // RFC 3339, for both author and committer
	// Committer is Base.Committer of the run: with one, the commit is signed.
	Committer string `json:"committer,omitempty"`
	// Merges is a commit that Tree takes in besides Parent: the commit is a merge.
	Merges string `json:"merges,omitempty"`
}

// Committed is a commit on the branch, both in our repository and in the user's.
type Committed struct {
	Commit string       `json:"commit"`
	Tree   string       `json:"tree"` // includes the files that commit_status adds
	Files  []FileChange `json:"files,omitempty"`
}

// Maintenance asks to keep the daemon's repository small and fast.
type Maintenance struct {
	Run  string        // the run whose hidden refs stay, "" = none
	Keep []string      // full hashes that must not be lost; others than commits and trees are left out
	Age  time.Duration // how long after a run's last capture, or its start, its hidden refs are kept
}

// DefaultRetention is Maintenance.Age of an engine that is told none.
const DefaultRetention = 30 * 24 * time.Hour

// BranchMoved is the error for a run's branch that somebody else moved in the
// user's repository. Nothing was written there. The commits of Have are in our
// repository, so that MergeTree can build on them.
type BranchMoved struct {
	Ahead  bool // commits were added on top of Want, so work can be merged onto them
	Branch string
	Want   string // the tip that was expected
	Have   string // the tip that was found
	Tree   string // tree of Have
}

// Error names the branch and the command that moves it back.
func (e *BranchMoved) Error() string {
	return fmt.Sprintf("branch %s was moved by somebody else: expected %.12s, found %.12s. To put it back: git branch -f %s %.12s", e.Branch, e.Want, e.Have, e.Branch, e.Want)
}

// RepositoryError is the error for a user's repository that cannot be used as it is.
// Its owner has to do something there, after which the same call succeeds.
type RepositoryError struct {
	Text   string // the cause, without an end mark
	Remedy string // what the owner does about it, a command where one does
	Err    error  // the error that showed it; may be nil
}

// Error returns the cause without the remedy.
func (e *RepositoryError) Error() string { return e.Text }

// Unwrap returns the error that showed it.
func (e *RepositoryError) Unwrap() error { return e.Err }

// Fault makes the error one that is tried again.
func (*RepositoryError) Fault() Fault { return FaultRepository }

// MergeTree asks to apply the change from Base to Tree to the tip Onto, because the
// branch moved since the attempt began.
type MergeTree struct {
	Run  string `json:"run"`
	Base string `json:"base"` // commit that Tree was built on
	Tree string `json:"tree"`
	Onto string `json:"onto"` // commit
	// BaseTree is a tree that was built on Base and takes the place of Base's own; "" for
	// Base's own.
	BaseTree string `json:"base_tree,omitempty"`
	// OntoTree is a tree that was built on Onto and takes the place of Onto's own;
	// "" for Onto's own.
	OntoTree string `json:"onto_tree,omitempty"`
	Message  string `json:"message,omitempty"`

	Proof ProofRequest `json:"proof,omitzero"`  // what to find out about the merged tree
	Since string       `json:"since,omitempty"` // tree that Proof compares it with; "" for what it was merged onto
}

// Merged is the result of a MergeTree: a tree, or the paths in conflict.
type Merged struct {
	Tree      string   `json:"tree,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`

	Proof *ProofFacts `json:"proof,omitempty"` // of Tree against Onto, or Since; nil if nobody asked
}

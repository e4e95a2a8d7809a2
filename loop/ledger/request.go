package ledger

import "time"

// ForgeKind is the kind of server that a project's branches are pushed to.
type ForgeKind string

// Kinds of forges.
const (
	ForgeGitHub ForgeKind = "github"
	ForgeGitea  ForgeKind = "gitea" // Forgejo too
	ForgePlain  ForgeKind = "plain" // a git remote without requests
)

// ForgeInfo is what a forge says of a project's repository.
type ForgeInfo struct {
	Kind          ForgeKind     `json:"kind"`
	Repository    string        `json:"repository,omitempty"`     // "owner/name" as it is called now: a repository may have been renamed
	DefaultBranch string        `json:"default_branch,omitempty"` // "" = unknown
	Login         string        `json:"login,omitempty"`          // the account of the token
	MayPush       bool          `json:"may_push,omitempty"`
	Archived      bool          `json:"archived,omitempty"`
	Methods       []MergeMethod `json:"methods,omitempty"` // that the repository permits, its default first
	DeletesBranch bool          `json:"deletes_branch,omitempty"`
	Template      string        `json:"template,omitempty"` // text of the repository's template for requests; "" = none
}

// MergeMethod is how a request becomes part of its base.
type MergeMethod string

// Methods of a merge.
const (
	MergeCommit MergeMethod = "merge"
	MergeSquash MergeMethod = "squash"
	MergeRebase MergeMethod = "rebase"
)

// Push asks for a branch of the remote to have a commit. A branch is never moved
// back and never away from commits of others.
type Push struct {
	Branch string `json:"branch"` // without refs/heads/
	Commit string `json:"commit"`
}

// Pushed is the result of a Push.
type Pushed struct {
	Commit string `json:"commit"`           // what the remote's branch has now
	Theirs string `json:"theirs,omitempty"` // its tip, where that has commits which Push.Commit lacks: nothing was pushed
}

// RequestDraft says what a request for a branch is to be like. The body of one that
// is there is changed as EditBody says.
type RequestDraft struct {
	Number    int      `json:"number,omitempty"` // 0: the open one of Head, else a new one
	Head      string   `json:"head"`             // branch, without refs/heads/
	Base      string   `json:"base"`
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	Draft     bool     `json:"draft,omitempty"`
	Labels    []string `json:"labels,omitempty"`
	Reviewers []string `json:"reviewers,omitempty"`

	// Keep leaves title, base and draft state of a request that is there as they
	// are: people change them.
	Keep bool `json:"keep,omitempty"`
	// Was is the base that Base takes the place of, although Keep is set: the
	// branch of a request that was merged. Another base than Was stays: somebody
	// changed it. "" = none.
	Was string `json:"was,omitempty"`
}

// RequestState says whether a request can still be merged.
type RequestState string

// States of a request.
const (
	RequestOpen   RequestState = "open"
	RequestClosed RequestState = "closed" // without a merge
	RequestMerged RequestState = "merged"
)

// Mergeable says whether a forge would merge a request now.
type Mergeable string

// Values of Mergeable.
const (
	MergeableUnknown  Mergeable = ""         // the forge has not worked it out
	MergeableClean    Mergeable = "clean"    // all that is required is there
	MergeableBehind   Mergeable = "behind"   // its base has to be merged into it first
	MergeableConflict Mergeable = "conflict" // with its base
	MergeableBlocked  Mergeable = "blocked"  // a review or a check that the repository requires is missing
)

// Request is a request to merge a branch: a pull request.
type Request struct {
	Number      int          `json:"number"`
	URL         string       `json:"url"`
	State       RequestState `json:"state"`
	Head        string       `json:"head"`
	HeadCommit  string       `json:"head_commit,omitempty"`
	Base        string       `json:"base"`
	BaseCommit  string       `json:"base_commit,omitempty"` // tip of Base; "" = the base is gone
	Draft       bool         `json:"draft,omitempty"`
	Mergeable   Mergeable    `json:"mergeable,omitempty"`
	MergeCommit string       `json:"merge_commit,omitempty"`
	Missed      []string     `json:"missed,omitempty"` // labels and reviewers of the draft that the forge did not take, with its reason
}

// CheckState is the result of one check that a forge reports of a commit.
type CheckState string

// States of checks.
const (
	CheckPending CheckState = "pending"
	CheckPassed  CheckState = "passed"
	CheckFailed  CheckState = "failed"
	CheckNeutral CheckState = "neutral" // skipped, cancelled by the forge, or informational
)

// ForgeCheck is a check run or a commit status.
type ForgeCheck struct {
	Name     string     `json:"name"`
	State    CheckState `json:"state"`
	Required bool       `json:"required,omitempty"` // the base's protection demands it
	URL      string     `json:"url,omitempty"`
	Summary  string     `json:"summary,omitempty"`
	Log      string     `json:"log,omitempty"` // the end of its log, of a failed one; data, never an instruction
	Since    time.Time  `json:"since,omitzero"`
}

// CommentKind says how a comment reached a request.
type CommentKind string

// Kinds of comments.
const (
	CommentPlain   CommentKind = "comment"
	CommentLine    CommentKind = "line"    // about a line of the diff
	CommentChanges CommentKind = "changes" // a review that requests changes
	CommentApprove CommentKind = "approve"
)

// RequestComment is a comment or a review.
type RequestComment struct {
	ID      string      `json:"id"` // unique in the request: "comment:33", "review:12", "line:7"
	Kind    CommentKind `json:"kind"`
	Author  string      `json:"author"`
	Writer  bool        `json:"writer,omitempty"` // the author may write to the repository
	Ours    bool        `json:"ours,omitempty"`   // the account of the token wrote it
	Body    string      `json:"body"`
	Path    string      `json:"path,omitempty"`
	Line    int         `json:"line,omitempty"`
	ReplyTo string      `json:"reply_to,omitempty"` // ID of the first comment of its thread
	Time    time.Time   `json:"time"`
}

// RequestView is all that a request shows at one time.
type RequestView struct {
	Request  Request          `json:"request"`
	Checks   []ForgeCheck     `json:"checks,omitempty"` // of Request.HeadCommit
	Comments []RequestComment `json:"comments,omitempty"`
	More     int              `json:"more,omitempty"` // comments that are left out, the oldest ones
	// Writers reports whether everybody who wrote a commit of the request may write
	// to the repository.
	Writers bool `json:"writers,omitempty"`
	// Strangers are the commits of the request whose author is not known to have
	// that right. An author whose address belongs to no account is not known.
	Strangers []string `json:"strangers,omitempty"`
	// Tag goes into the next look, which is conditional on it. Its form is the
	// adapter's.
	Tag string `json:"tag,omitempty"`
	// Unchanged is set if nothing changed since the look that Tag came from; all
	// other fields but Tag and Next are empty then.
	Unchanged bool `json:"unchanged,omitempty"`
	// Next is the earliest time for another look that the forge permits; zero =
	// any.
	Next time.Time `json:"next,omitzero"`
}

// RequestReply asks for a comment on a request, in the thread of another one where
// ReplyTo names it.
type RequestReply struct {
	Number  int    `json:"number"`
	Key     string `json:"key"` // a second one with the same key is not written
	ReplyTo string `json:"reply_to,omitempty"`
	Body    string `json:"body"`
}

// MergeAsked asks for the merge of a request as it was when a person confirmed it.
type MergeAsked struct {
	Number       int         `json:"number"`
	HeadCommit   string      `json:"head_commit"` // the merge is refused for any other head
	Method       MergeMethod `json:"method"`
	Subject      string      `json:"subject,omitempty"`
	DeleteBranch bool        `json:"delete_branch,omitempty"`
}

// ForgeFailure says why a forge does not do what it is asked.
type ForgeFailure string

// Failures of forges. The first two are over by themselves.
const (
	ForgeAway      ForgeFailure = "away"      // no connection, a timeout, a 5xx answer
	ForgeLimited   ForgeFailure = "limited"   // a rate limit; RetryAt says until when
	ForgeLogin     ForgeFailure = "login"     // the token is wrong, expired or revoked
	ForgeRights    ForgeFailure = "rights"    // the token may not do this
	ForgeMissing   ForgeFailure = "missing"   // the repository, branch or request is not there
	ForgeArchived  ForgeFailure = "archived"  // the repository is read-only
	ForgeProtected ForgeFailure = "protected" // a rule for the branch refuses it
	ForgeRefused   ForgeFailure = "refused"   // a hook or the forge refuses it, in its own words
	ForgeMoved     ForgeFailure = "moved"     // the head is another one than asked for
	ForgeEarly     ForgeFailure = "early"     // the head has no check yet, and one may begin; RetryAt says until when that is waited for
)

// ForgeError is the error of a forge or of a remote. It never contains a token.
type ForgeError struct {
	Failure ForgeFailure
	Text    string    // for people
	Remedy  string    // what a person has to do, "" = nothing
	RetryAt time.Time // for ForgeLimited and ForgeEarly; zero = unknown
}

// Error returns the text.
func (e *ForgeError) Error() string { return e.Text }

// Fault makes the error one that is tried again.
func (e *ForgeError) Fault() Fault {
	if e.Passes() {
		return FaultForge
	}
	return FaultRefused
}

// Passes reports whether the failure is over by itself, so that the same is tried
// again later.
func (e *ForgeError) Passes() bool { return e.Failure == ForgeAway || e.Failure == ForgeLimited }

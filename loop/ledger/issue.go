package ledger

import "time"

// ForgeIssue is an issue of a forge at one time.
type ForgeIssue struct {
	Number int
	URL    string
	Title  string
	Body   string
	Labels []string // names, as the forge writes them
	Author string   // account, "" = deleted
	Writer bool     // the author may write to the repository; unknown is no
	Closed bool

	Assignees []string  // accounts, in the forge's order
	Mine      bool      // the token's account is one of them
	Created   time.Time // zero = the forge does not say
	Updated   time.Time // the last change of anything of it, comments included
	Ended     time.Time // when it was closed; zero while it is open
}

// IssueQuery asks for the issues with a label: all open ones, and those closed ones
// that changed lately. Requests are no issues.
type IssueQuery struct {
	Label string
	Since time.Time // from which on closed ones changed; zero = open ones alone
	Tag   string    // of an earlier list, "" = none: the answer may be only that nothing changed since
}

// IssueList is the answer to an IssueQuery.
type IssueList struct {
	Issues []ForgeIssue // by number
	// Tag goes into the next query, which is conditional on it. Its form is the
	// adapter's.
	Tag string
	// Unchanged is set if nothing changed since the list that Tag came from; Issues
	// is empty then.
	Unchanged bool
}

// IssueChange asks for labels and the state of an issue. What it does not name stays
// as it is, and what is as asked is not changed.
type IssueChange struct {
	Number int
	Add    []string // labels that the issue shall have
	Remove []string // labels that it shall not have
	State  IssueState

	// Assign makes the token's account the assignee of an issue that has none, Unassign
	// takes that account off. Forges refuse it where labels are taken, so a refusal is
	// no error.
	Assign, Unassign bool
}

// IssueState is the state that an IssueChange asks for.
type IssueState string

// States of an IssueChange.
const (
	IssueKept   IssueState = ""
	IssueOpen   IssueState = "open"
	IssueClosed IssueState = "closed"
)

// IssueComment asks for a comment on an issue.
type IssueComment struct {
	Number int
	Key    string // a second one with the same key is not written
	Body   string
}

// IssueDraft asks for a new issue.
type IssueDraft struct {
	Title  string
	Body   string
	Labels []string
}

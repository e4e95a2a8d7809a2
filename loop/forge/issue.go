package forge

import (
	"context"

	"github.com/nightporter/nightporter/loop/ledger"
)

// MaxIssues is how many issues with one label are read. More are an error: a list of
// which a part is missing would show tasks as taken away.
const MaxIssues = 5000

// Tracker is a Forge with issues. Labels are compared without case. Errors are those of
// Forge; an issue that is not there, was moved to another repository, or is a request
// is ledger.ForgeMissing.
type Tracker interface {
	// Issues returns what a query asks for. With the tag of an earlier list it
	// returns only a tag if nothing changed since; a tag that the adapter cannot
	// read counts as none. The right of an author to write is asked for with each
	// list, and believed for some minutes: it may change with an unchanged list.
	Issues(ctx context.Context, q ledger.IssueQuery) (ledger.IssueList, error)

	// Issue returns an issue as it is now.
	Issue(ctx context.Context, number int) (ledger.ForgeIssue, error)

	// ChangeIssue changes labels and the state of an issue, and nothing else of it:
	// people edit it at the same time. The same change again changes nothing.
	ChangeIssue(ctx context.Context, c ledger.IssueChange) error

	// CommentIssue writes a comment, unless the token's account wrote one with the
	// same key before. The body of a comment never shows its key.
	CommentIssue(ctx context.Context, c ledger.IssueComment) error

	// CreateIssue opens an issue. A call whose answer was lost may have opened it.
	CreateIssue(ctx context.Context, d ledger.IssueDraft) (ledger.ForgeIssue, error)
}

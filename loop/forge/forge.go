package forge

import (
	"context"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Forge is one repository on a forge, used with one token. Its methods may be
// called from any goroutine.
//
// Every error is a *ledger.ForgeError. After one that Passes, the call may have
// had its effect; the same call again has it at most once.
type Forge interface {
	// Info returns what the forge says of the repository and of the token.
	Info(ctx context.Context) (ledger.ForgeInfo, error)

	// Request returns the request that the draft names by its number, else the
	// open one of its head branch, else a new one. It edits title, body, base and
	// draft where they differ (ledger.EditBody, RequestDraft.Keep), and adds labels and reviewers that are missing; it
	// removes none, because people add their own. A request that is closed or
	// merged is returned as it is.
	Request(ctx context.Context, d ledger.RequestDraft) (ledger.Request, error)

	// Look returns what a request shows. With the tag of an earlier view it
	// returns only a tag if nothing changed since; a tag that the adapter cannot
	// read counts as none.
	Look(ctx context.Context, number int, tag string) (ledger.RequestView, error)

	// Reply writes a comment, unless the token's account wrote one with the same
	// key before, which it returns then. The body of a comment never shows its
	// key.
	Reply(ctx context.Context, r ledger.RequestReply) (ledger.RequestComment, error)

	// Merge merges a request. A request that is merged already with the head that
	// m names is a success. One that the forge merges later, from a queue, is
	// returned as open.
	Merge(ctx context.Context, m ledger.MergeAsked) (ledger.Request, error)
}

// Watcher is a Forge that tells for many requests at once which of them to look
// at. While nothing changes it takes fewer calls than a Look at each: at most
// three for all of them together, and one for each request with pending checks.
type Watcher interface {
	// Changed returns the numbers of those requests that may have changed since
	// their last look, in ascending order. looks has the tag of that look for each
	// number; a request without a tag counts as changed.
	Changed(ctx context.Context, looks map[int]string) ([]int, error)
}

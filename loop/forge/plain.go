package forge

import (
	"context"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Plain is a remote without requests: branches are pushed, and that is all.
type Plain struct{}

// Info returns the kind.
func (Plain) Info(context.Context) (ledger.ForgeInfo, error) {
	return ledger.ForgeInfo{Kind: ledger.ForgePlain}, nil
}

// Request returns an error.
func (Plain) Request(context.Context, ledger.RequestDraft) (ledger.Request, error) {
	return ledger.Request{}, errPlain()
}

// Look returns an error.
func (Plain) Look(context.Context, int, string) (ledger.RequestView, error) {
	return ledger.RequestView{}, errPlain()
}

// Reply returns an error.
func (Plain) Reply(context.Context, ledger.RequestReply) (ledger.RequestComment, error) {
	return ledger.RequestComment{}, errPlain()
}

// Merge returns an error.
func (Plain) Merge(context.Context, ledger.MergeAsked) (ledger.Request, error) {
	return ledger.Request{}, errPlain()
}

func errPlain() error {
	return &ledger.ForgeError{
		Failure: ledger.ForgeRefused,
		Text:    "this remote has no pull requests",
		Remedy:  `If it is a GitHub, Gitea or Forgejo, say so: forge = "github" or "gitea"`,
	}
}

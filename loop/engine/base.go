package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// startBase fetches the branch that the settings name as a run's base, and returns
// begin with it. Where there is no remote, or the remote is away or lacks the branch,
// the branch of that name in the user's repository is meant, and a warning says so.
// What only a person can end is a *ledger.InputError.
func startBase(ctx context.Context, ports Ports, s ledger.Settings, begin ledger.Begin) (ledger.Begin, []ledger.Diagnostic, error) {
	if begin.Upkeep != nil { // it starts from the branch of its request
		return begin, nil, nil
	}
	if begin.Base = s.Base; s.Base == "" || ports.Publisher == nil {
		return begin, nil, nil
	}
	local := func(why string) []ledger.Diagnostic {
		return []ledger.Diagnostic{{
			Text:   fmt.Sprintf("base = %q is taken from your repository: %s", s.Base, why),
			Remedy: fmt.Sprintf("It may lack what is new there. To start from that: git -C %s fetch, and update the branch.", s.Repo),
		}}
	}
	remote, _, err := ports.Publisher.Open(ctx)
	if _, wrong := errors.AsType[*ledger.InputError](err); wrong && s.Remote == "" {
		return begin, nil, nil // there is no remote; whether one is needed is for preflightRemote
	}
	if err == nil {
		var has map[string]string
		has, err = remote.Fetch(ctx, begin.Run, s.Base)
		begin.BaseCommit = has[s.Base]
	}
	of, is := errors.AsType[*ledger.ForgeError](err)
	switch {
	case err == nil && begin.BaseCommit == "":
		return begin, local("the remote has no such branch"), nil
	case is && of.Passes():
		return begin, local("the remote cannot be reached now (" + of.Text + ")"), nil
	case is:
		err = &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: fmt.Sprintf("base = %q cannot be fetched: %s", s.Base, of.Text), Remedy: of.Remedy}}}
	}
	return begin, nil, err
}

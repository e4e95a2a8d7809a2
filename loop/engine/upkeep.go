package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// fetchRequest looks at the request that a run is to keep green, and fetches its
// branch and the one that it is to be merged into. What only a person can mend becomes
// a problem; what is over by itself is an error, and the preflight is tried again.
//
// A request whose commits are not all of people who may write is not fetched: nothing
// of it is run.
func fetchRequest(ctx context.Context, ports Ports, begin ledger.Begin, out *loop.Preflighted) error {
	judge := func(err error) error {
		of, ok := errors.AsType[*ledger.ForgeError](err)
		if !ok || of.Passes() {
			return err
		}
		out.Problems = append(out.Problems, ledger.Diagnostic{Text: fmt.Sprintf("PR %d cannot be looked after: %s", begin.Upkeep.Number, of.Text), Remedy: of.Remedy})
		return nil
	}
	remote, forge, err := ports.publisher(ctx)
	if err != nil {
		return judge(err)
	}
	if forge == nil {
		return judge(&ledger.ForgeError{Failure: ledger.ForgeMissing, Text: "the remote has no requests any more", Remedy: "Set forge as it was."})
	}
	v, err := forge.Look(ctx, begin.Upkeep.Number, "")
	if err != nil {
		return judge(err)
	}
	out.Request = viewOf(ports, v)
	if v.Request.State != ledger.RequestOpen || !v.Writers || v.Request.BaseCommit == "" {
		return nil
	}
	begin.Upkeep.Into = v.Request.Base // somebody may have given it another one
	has, err := remote.Fetch(ctx, begin.Run, begin.Upkeep.Branch, begin.Upkeep.Into)
	if err != nil {
		return judge(err)
	}
	begin.Upkeep.Head, begin.Upkeep.IntoCommit = has[begin.Upkeep.Branch], has[begin.Upkeep.Into]
	return nil
}

// viewOf returns what the core has to know of a view: how the request stands, and what
// its failed checks say, without secrets.
func viewOf(ports Ports, v ledger.RequestView) *ledger.RequestView {
	v.Comments, v.More, v.Checks = nil, 0, slices.Clone(v.Checks)
	for n := range v.Checks {
		c := &v.Checks[n]
		if c.State != ledger.CheckFailed {
			c.Summary, c.Log = "", ""
			continue
		}
		if ports.Redact != nil {
			c.Summary, c.Log = ports.Redact(c.Summary), ports.Redact(c.Log)
		}
	}
	return &v
}

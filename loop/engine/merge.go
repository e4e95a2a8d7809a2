package engine

import (
	"context"
	"errors"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// mergeTime is how long a merge is tried after a person confirmed it. Later they
// would not expect it any more.
const mergeTime = time.Hour

// mergeRequest carries out an EffectMergeRequest. It looks at the request first: the
// person confirmed a head whose checks were green, and both may be others now. late says
// that it is not tried again.
func (e *Engine) mergeRequest(ctx context.Context, project string, ports Ports, b ledger.EffectMergeRequest, late bool) (loop.InputBody, error) {
	done := loop.RequestMerged{Run: b.Run, Head: b.Merge.HeadCommit, Request: ledger.Request{Number: b.Merge.Number, State: ledger.RequestOpen, HeadCommit: b.Merge.HeadCommit}}
	s, _ := e.State(project)
	err := e.merge(ctx, s.Project, ports, b, &done)
	of, ok := errors.AsType[*ledger.ForgeError](err)
	if err != nil && (!ok || of.Passes() && !late) {
		return nil, err
	}
	done.Failure = of
	return done, nil
}

// merge merges a request that is green and has the head that b names, and fills in
// what came of it.
func (e *Engine) merge(ctx context.Context, p loop.Project, ports Ports, b ledger.EffectMergeRequest, done *loop.RequestMerged) error {
	m := b.Merge
	_, forge, err := ports.publisher(ctx)
	if err != nil {
		return err
	}
	if forge == nil {
		return &ledger.ForgeError{Failure: ledger.ForgeMissing, Text: "the remote has no requests any more", Remedy: "Set forge as it was"}
	}
	v, err := forge.Look(ctx, m.Number, "")
	if err != nil {
		return err
	}
	r := v.Request
	done.Request = r
	switch {
	case r.HeadCommit != m.HeadCommit:
		return &ledger.ForgeError{Failure: ledger.ForgeMoved, Text: "it has other commits now", Remedy: "Look at them before you merge"}
	case r.State == ledger.RequestMerged: // by us before a crash, or by a person
		return nil
	}
	if why := request.OnOurs(r); why != nil {
		return why
	}
	of := p.Requests.Branch(b.Run)
	now := of.AwaitChecks(of.StandingOf(v), e.o.Clock())
	if why := request.Refusal(now, p.KeepsGreen(b.Run)); why != nil {
		return why
	}
	info, err := forge.Info(ctx)
	if err != nil {
		return err
	}
	m.Method, m.DeleteBranch = ledger.MergeCommit, info.DeletesBranch
	if len(info.Methods) > 0 {
		m.Method = info.Methods[0]
	}
	done.Method = m.Method
	merged, err := forge.Merge(ctx, m)
	if err != nil {
		return err
	}
	done.Request = merged
	return nil
}

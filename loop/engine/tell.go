package engine

import (
	"fmt"
	"runtime/debug"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// composeMessages composes what people are told of a decision, and returns it with the
// decision as it is committed. Where composing fails inside, the decision
// stands all the same, with an entry that says so, and people are told that:
// an input that ends the daemon would come again after each start.
func (e *Engine) composeMessages(before loop.State, in loop.Input, d loop.Decision) ([]ledger.Outgoing, loop.Decision) {
	if e.o.Compose == nil || len(d.Entries) == 0 {
		return nil, d
	}
	out, fault := e.compose(before, d, in)
	if fault == nil {
		return out, d
	}
	entry := ledger.Entry{
		Stream: ledger.ProjectStream(in.Project), Time: in.Time, Actor: "daemon", Cause: in.Key,
		Body: ledger.InputPoisoned{Key: in.Key, Kind: in.Body.InputKind(), Error: fmt.Sprint(fault), Done: true},
	}
	out, _ = e.compose(d.State, loop.Decided(d.State, entry), in) // who cannot be told even this finds it in the ledger
	d.Add(entry)
	return out, d
}

// compose is Options.Compose, with what made it fail.
func (e *Engine) compose(before loop.State, d loop.Decision, in loop.Input) (out []ledger.Outgoing, fault any) {
	defer func() {
		if fault = recover(); fault != nil {
			e.o.Log.Error("a decision cannot be told", "input", in.Key, "kind", in.Body.InputKind(), "fault", fault, "stack", string(debug.Stack()))
		}
	}()
	return e.o.Compose(before, d, in), nil
}

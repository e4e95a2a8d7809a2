package engine

import (
	"fmt"
	"runtime/debug"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// composeMessages returns the messages about a decision, and the decision to
// commit. If composing panics, the decision stands with an additional
// InputPoisoned entry, and people are told about it. Without that, the input
// would stop the daemon again after each start.
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
	out, _ = e.compose(d.State, loop.Decided(d.State, entry), in) // if this fails too, only the ledger records the fault
	d.Add(entry)
	return out, d
}

// compose calls Options.Compose and recovers from a panic.
func (e *Engine) compose(before loop.State, d loop.Decision, in loop.Input) (out []ledger.Outgoing, fault any) {
	defer func() {
		if fault = recover(); fault != nil {
			e.o.Log.Error("a decision cannot be told", "input", in.Key, "kind", in.Body.InputKind(), "fault", fault, "stack", string(debug.Stack()))
		}
	}()
	return e.o.Compose(before, d, in), nil
}

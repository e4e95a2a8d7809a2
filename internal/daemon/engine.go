package daemon

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/metrics"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Engine wraps the engine for all components and measures each input.
// Components hold it before the embedded engine is open; they must not call it
// until then.
type Engine struct {
	*engine.Engine
	metrics *metrics.Metrics
}

// Do decides an input and measures how long that took.
func (e *Engine) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	began := time.Now()
	answer, err := e.Engine.Do(ctx, in)
	if err == nil {
		e.metrics.Input(in.Body.InputKind(), began)
	}
	return answer, err
}

// DoWith decides an input, and commits chat messages and a chat's cursor in the
// same transaction.
func (e *Engine) DoWith(ctx context.Context, in loop.Input, with func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (ledger.Answer, error) {
	began := time.Now()
	answer, err := e.Engine.DoWith(ctx, in, with)
	if err == nil {
		e.metrics.Input(in.Body.InputKind(), began)
	}
	return answer, err
}

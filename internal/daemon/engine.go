package daemon

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/metrics"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Engine is the engine as all rooms use it: what it decides is counted. The
// rooms get it before it is open, because it calls back into them.
type Engine struct {
	*engine.Engine
	metrics *metrics.Metrics
}

// Do decides an input.
func (e *Engine) Do(ctx context.Context, in loop.Input) (loop.Answer, error) {
	began := time.Now()
	answer, err := e.Engine.Do(ctx, in)
	if err == nil {
		e.metrics.Input(in.Body.InputKind(), began)
	}
	return answer, err
}

// DoWith decides an input and commits messages and a chat's cursor with it.
func (e *Engine) DoWith(ctx context.Context, in loop.Input, with func(loop.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (loop.Answer, error) {
	began := time.Now()
	answer, err := e.Engine.DoWith(ctx, in, with)
	if err == nil {
		e.metrics.Input(in.Body.InputKind(), began)
	}
	return answer, err
}

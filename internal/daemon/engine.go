package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/metrics"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
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

// AlteredError is the error of a start whose ledger cannot be folded because it
// was altered.
type AlteredError struct {
	Breaks []store.Break
	Err    error // of the fold
}

// Error lists the places and says what to do.
func (e *AlteredError) Error() string {
	text := fmt.Sprintf("the ledger is altered and cannot be read (%v)", e.Err)
	for _, b := range e.Breaks {
		text += "\n  " + b.String()
	}
	return text + "\n  Restore a backup: nightporter restore FILE.tar.gz"
}

// Unwrap returns the error of the fold.
func (e *AlteredError) Unwrap() error { return e.Err }

// altered returns the error of a fold, as an AlteredError if the chain shows
// that entries are not those that were written.
func altered(ctx context.Context, s *store.Store, err error) error {
	breaks, verifyErr := s.Verify(ctx)
	if verifyErr != nil || len(breaks) == 0 {
		return err
	}
	return &AlteredError{Breaks: breaks, Err: err}
}

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// DoWith is Do with messages and a chat's cursor in the same transaction. An
// input whose key was committed before commits nothing again, messages and
// cursor included. An input about the shared state has no project.
func (e *Engine) DoWith(ctx context.Context, in loop.Input, with With) (ledger.Answer, error) {
	return e.send(ctx, func(ctx context.Context) (ledger.Answer, error) { return e.handle(ctx, in, with) })
}

// Say commits messages and a chat's cursor under a key, without a decision, as
// the reply to a command that only reads. If the key was committed before, it
// does nothing.
func (e *Engine) Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error {
	answer, err := json.Marshal(ledger.Answer{OK: true}) // the answer to an input that comes later with the same key
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	receipt, err := e.o.Ledger.Commit(ctx, ledger.Batch{Key: key, Time: at, Answer: answer, Messages: messages, Cursor: cursor})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	if e.o.Sent != nil && len(receipt.Chats) > 0 {
		e.o.Sent(receipt.Chats)
	}
	return nil
}

// Do sends an input to the core and returns the answer after the decision is
// committed. After an error, the input was not decided and may be sent again.
// After the end of ctx it may have been decided; its key prevents a second
// decision.
func (e *Engine) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	return e.DoWith(ctx, in, nil)
}

// ErrStopped means that the engine has stopped and did not accept the input.
var ErrStopped = errors.New("nightporter is stopping")

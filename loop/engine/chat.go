package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// With says what is committed together with an input's decision: what its
// sender is told, and how far the chat that it came from has been read.
type With func(a loop.Answer) ([]ledger.Outgoing, *ledger.Cursor)

// DoWith is Do, with messages and a chat's cursor in the same transaction. An
// input that was committed before commits nothing, these neither. Inputs about
// the house itself have no project.
func (e *Engine) DoWith(ctx context.Context, in loop.Input, with With) (loop.Answer, error) {
	// A select between what is ready is a draw, and who has left must not be
	// taken in by one.
	if err := ctx.Err(); err != nil {
		return loop.Answer{}, err
	}
	c := call{in: in, with: with, reply: make(chan result, 1)}
	select {
	case e.inputs <- c:
	case <-e.stopping:
		return loop.Answer{}, ErrStopped
	case <-ctx.Done():
		return loop.Answer{}, ctx.Err()
	}
	select {
	case r := <-c.reply:
		return r.answer, r.err
	case <-ctx.Done():
		return loop.Answer{}, ctx.Err()
	}
}

// Say commits messages and a chat's cursor under a key, without a decision: the
// answer to what only looks. Under a key that was committed before it does
// nothing.
func (e *Engine) Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error {
	answer, err := json.Marshal(loop.Answer{OK: true}) // for whoever repeats it as an input
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	receipt, err := e.o.Ledger.Commit(ctx, ledger.Batch{Key: key, Time: at, Answer: answer, Messages: messages, Cursor: cursor})
	if err != nil {
		return fmt.Errorf("not saved: %w", err)
	}
	if e.o.Sent != nil && len(receipt.Chats) > 0 {
		e.o.Sent(receipt.Chats)
	}
	return nil
}

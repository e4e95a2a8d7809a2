package chattest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// Patience limits the wait for something that normally takes no time.
const Patience = 20 * time.Second

// Recorder is a Receiver that commits each input once, with the cursor. As in the ledger,
// a repeated input moves none.
type Recorder struct {
	mu         sync.Mutex
	changed    chan struct{} // closed at the next change
	cursor     string
	inputs     []bot.Inbound
	repeats    int
	check      func(bot.Inbound) error
	rejections int
	rejected   []string // keys
	hold       <-chan struct{}
	held       int
	noCursor   bool
}

// NewRecorder returns a Recorder that has read up to a cursor.
func NewRecorder(cursor string) *Recorder {
	return &Recorder{changed: make(chan struct{}), cursor: cursor}
}

// Cursor returns the last committed cursor.
func (r *Recorder) Cursor(context.Context) (string, error) { return get(r, &r.cursor), nil }

// Inputs returns the committed inputs in order.
func (r *Recorder) Inputs() []bot.Inbound { return slices.Clone(get(r, &r.inputs)) }

// Repeats returns how often an input came that was committed before.
func (r *Recorder) Repeats() int { return get(r, &r.repeats) }

// Held returns how many inputs have waited for Hold's channel.
func (r *Recorder) Held() int { return get(r, &r.held) }

// Texts returns the texts or presses of the committed inputs.
func (r *Recorder) Texts() []string {
	var out []string
	for _, in := range r.Inputs() {
		out = append(out, in.Text+in.Press)
	}
	return out
}

func get[T any](r *Recorder, v *T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *v
}

func set[T any](r *Recorder, v *T, to T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*v = to
}

// Check makes the Recorder reject the inputs for which check returns an error.
func (r *Recorder) Check(check func(bot.Inbound) error) { set(r, &r.check, check) }

// Reject makes the Recorder reject the next n inputs.
func (r *Recorder) Reject(n int) { set(r, &r.rejections, n) }

// Hold makes all following inputs wait until the channel is closed.
func (r *Recorder) Hold(until <-chan struct{}) { set(r, &r.hold, until) }

// SetCursor replaces the committed cursor.
func (r *Recorder) SetCursor(cursor string) { set(r, &r.cursor, cursor) }

// LoseCursors makes the Recorder commit inputs without their cursors.
func (r *Recorder) LoseCursors(lose bool) { set(r, &r.noCursor, lose) }

// Crash loses everything that was committed.
func (r *Recorder) Crash() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inputs, r.cursor = nil, ""
}

// Receive commits an input once per key.
func (r *Recorder) Receive(ctx context.Context, in bot.Inbound) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rejections > 0 {
		r.rejections--
		r.rejected = append(r.rejected, in.Key)
		return errors.New("the disk is full")
	}
	if r.check != nil {
		if err := r.check(in); err != nil {
			return err
		}
	}
	had := slices.ContainsFunc(r.inputs, func(had bot.Inbound) bool { return had.Key == in.Key })
	if in.Cursor != nil && !r.noCursor && (in.Repeated || !had) {
		r.cursor = in.Cursor.Value
	}
	switch {
	case in.Repeated:
	case had:
		r.repeats++
	default:
		r.inputs = append(r.inputs, in)
	}
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

// wait waits for the channel of Hold.
func (r *Recorder) wait(ctx context.Context) error {
	r.mu.Lock()
	hold := r.hold
	if hold != nil {
		r.held++
	}
	r.mu.Unlock()
	if hold == nil {
		return nil
	}
	select {
	case <-hold:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Wait returns the committed inputs as soon as there are n.
func (r *Recorder) Wait(t testing.TB, n int) []bot.Inbound {
	t.Helper()
	late := time.After(Patience)
	for {
		r.mu.Lock()
		got, changed := slices.Clone(r.inputs), r.changed
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%d of %d inputs came: %+v", len(got), n, got)
		}
	}
}

package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// callTimeout is a belt for a Sender without one of its own.
const callTimeout = 2 * time.Minute

// slot is the permission for one call.
type slot struct {
	circuit *circuit
	used    *bool
	trial   bool      // it finds out whether the platform is reached again
	since   time.Time // of the outage, for a trial
	waited  bool
}

// releaseTrial gives back what was not used.
func (s slot) release() {
	if s.trial && !*s.used {
		s.circuit.releaseTrial()
	}
}

// slot waits until the platform may be called for this chat: first for the
// connection, then for the chat's own pace, then for everybody's. A chat whose
// pace holds it up does not keep the trial that all others wait for.
func (c *chat) slot(ctx context.Context) (slot, error) {
	l, began := c.d.circuit, time.Now()
	for {
		trial, since, err := l.acquire(ctx)
		if err != nil {
			return slot{}, err
		}
		s := slot{circuit: l, used: new(bool), trial: trial, since: since}
		if trial && c.throttle.paused() > minTrialWait {
			s.release()
			if err := sleep(ctx, c.throttle.paused()); err != nil {
				return slot{}, err
			}
			continue
		}
		err = c.throttle.wait(ctx)
		if err == nil {
			err = c.d.global.wait(ctx)
		}
		if err != nil {
			s.release()
			return slot{}, err
		}
		if !trial && l.isDown() {
			continue
		}
		s.waited = time.Since(began) > 0
		return s, nil
	}
}

// errSenderPanicked is that of a Sender that panicked.
var errSenderPanicked = errors.New("the sender panicked")

// call makes one call and tells the line what came of it; ok is success, else
// there is a fault, one of package bot's. A Sender that panics has refused the message: whatever it cannot
// bear would otherwise end every process after this one, too.
func (c *chat) call(ctx context.Context, s slot, do func(context.Context) error) (failure *bot.SendError, ok bool) {
	*s.used = true
	in, cancel := inGrace(ctx)
	defer cancel()
	in, stop := context.WithTimeout(in, callTimeout)
	defer stop()
	failure = invoke(in, do)
	if failure == nil {
		c.d.circuit.record(s.trial, nil, "")
		return nil, true
	}
	c.d.circuit.record(s.trial, failure.Reason, failure.Text)
	switch {
	case errors.Is(failure, errSenderPanicked):
		failure.Reason = bot.ErrRejected
	case errors.Is(failure, bot.ErrChatMoved):
		if !c.validMove(failure.MovedTo) {
			return &bot.SendError{Reason: bot.ErrRejected, Text: "moved nowhere: " + failure.Text}, false
		}
	case errors.Is(failure, bot.ErrRateLimited):
		c.throttle.pause(max(failure.RetryAfter, time.Second))
		c.d.o.Log.Info("the platform wants a chat to wait", "chat", c.address, "for", failure.RetryAfter)
	case errors.Is(failure, bot.ErrChatClosed):
		c.markClosed(failure.Text)
	}
	return failure, false
}

// invoke makes a call; nil is success.
func invoke(ctx context.Context, do func(context.Context) error) (failure *bot.SendError) {
	defer func() {
		if r := recover(); r != nil {
			failure = &bot.SendError{Reason: errSenderPanicked, Text: fmt.Sprintf("a fault in nightporter: %v", r)}
		}
	}()
	err := do(ctx)
	if err == nil {
		return nil
	}
	failure = &bot.SendError{Text: err.Error()}
	var detailed *bot.SendError
	if errors.As(err, &detailed) {
		*failure = *detailed
	}
	failure.Reason = bot.SendReason(err)
	return failure
}

// isAny reports whether err wraps one of the targets.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

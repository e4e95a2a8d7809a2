package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// callTimeout limits a call of a Sender that has no timeout of its own.
const callTimeout = 2 * time.Minute

// slot is the permission to make one call.
type slot struct {
	circuit *circuit
	used    *bool
	trial   bool      // the call tests whether the platform is reachable again
	since   time.Time // start of the outage, set for a trial
	waited  bool
}

// release returns a trial that was not used.
func (s slot) release() {
	if s.trial && !*s.used {
		s.circuit.releaseTrial()
	}
}

// errOvertaken means that an answer was queued that goes before the call for which a
// chat waited.
var errOvertaken = errors.New("an answer goes ahead")

// slot waits until the platform may be called for this chat: for the circuit,
// the chat's throttle and the global one, in this order. A chat that its throttle
// holds up returns the trial, because all other chats wait for its result. A call
// that does not go ahead gives way to an answer that is queued meanwhile: the error
// is errOvertaken.
func (c *chat) slot(ctx context.Context, ahead bool) (slot, error) {
	l, began := c.d.circuit, c.d.o.Scheduler.Now()
	for {
		trial, since, err := l.acquire(ctx)
		if err != nil {
			return slot{}, err
		}
		s := slot{circuit: l, used: new(bool), trial: trial, since: since}
		if trial && c.throttle.paused() > minTrialWait {
			s.release()
			if err := c.d.o.Scheduler.Wait(ctx, c.throttle.paused(), nil); err != nil {
				return slot{}, err
			}
			continue
		}
		w := waiter{ahead: ahead, wake: c.wake, overtaken: c.overtaken}
		err = c.throttle.wait(ctx, w)
		if err == nil {
			err = c.d.global.wait(ctx, w)
		}
		if err != nil {
			s.release()
			return slot{}, err
		}
		if !trial && l.isDown() {
			continue
		}
		s.waited = c.d.o.Scheduler.Now().After(began)
		return s, nil
	}
}

// errSenderPanicked is the reason of a call whose Sender panicked. The circuit
// learns nothing from it; to the chat it is ErrRejected.
var errSenderPanicked = errors.New("the sender panicked")

// call makes one call and reports its result to the circuit and the throttle. ok
// is true on success; otherwise failure has one of package bot's reasons. A
// Sender's panic counts as ErrRejected: sending the message again would crash
// every later process too.
func (c *chat) call(ctx context.Context, s slot, do func(context.Context) error) (failure *bot.SendError, ok bool) {
	*s.used = true
	in, cancel := inGrace(ctx)
	defer cancel()
	in, stop := context.WithTimeout(in, callTimeout)
	defer stop()
	failure = invoke(in, do)
	if failure == nil {
		c.d.circuit.record(s.trial, nil, "")
		c.closedTold = false
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
		c.d.o.Log.Info("the platform limits the rate of a chat", "chat", c.address, "for", failure.RetryAfter)
	case errors.Is(failure, bot.ErrChatClosed):
		c.markClosed(failure.Text)
	}
	return failure, false
}

// invoke calls do and converts its error or panic; nil means success.
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

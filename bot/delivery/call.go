package delivery

import (
	"context"
	"errors"
	"fmt"
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
const errSenderPanicked bot.Fault = "panic"

// call makes one call and tells the line what came of it; ok is success, else
// there is a fault, one of package bot's. A Sender that panics has refused the message: whatever it cannot
// bear would otherwise end every process after this one, too.
func (c *chat) call(ctx context.Context, s slot, do func(context.Context) error) (fault *bot.SendError, ok bool) {
	*s.used = true
	in, cancel := inGrace(ctx)
	defer cancel()
	in, stop := context.WithTimeout(in, callTimeout)
	defer stop()
	fault = invoke(in, do)
	if fault == nil {
		c.d.circuit.record(s.trial, "", "")
		return nil, true
	}
	c.d.circuit.record(s.trial, fault.Reason, fault.Text)
	switch fault.Reason {
	case errSenderPanicked:
		fault.Reason = bot.ErrRejected
	case bot.ErrChatMoved:
		if !c.validMove(fault.MovedTo) {
			return &bot.SendError{Reason: bot.ErrRejected, Text: "moved nowhere: " + fault.Text}, false
		}
	case bot.ErrRateLimited:
		c.throttle.pause(max(fault.RetryAfter, time.Second))
		c.d.o.Log.Info("the platform wants a chat to wait", "chat", c.address, "for", fault.RetryAfter)
	case bot.ErrChatClosed:
		c.markClosed(fault.Text)
	}
	return fault, false
}

// invoke makes a call; nil is success.
func invoke(ctx context.Context, do func(context.Context) error) (fault *bot.SendError) {
	defer func() {
		if r := recover(); r != nil {
			fault = &bot.SendError{Reason: errSenderPanicked, Text: fmt.Sprintf("a fault in nightporter: %v", r)}
		}
	}()
	err := do(ctx)
	if err == nil {
		return nil
	}
	var known *bot.SendError
	if errors.As(err, &known) {
		switch known.Reason {
		case bot.ErrOffline, bot.ErrRateLimited, bot.ErrMessageGone, bot.ErrChatClosed, bot.ErrChatMoved, bot.ErrRejected, bot.ErrTokenRejected:
			return known
		}
	}
	return &bot.SendError{Reason: bot.ErrOutcomeUnknown, Text: err.Error()}
}

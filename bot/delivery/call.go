package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/sleep"
)

// callTimeout is a belt for a Sender without one of its own.
const callTimeout = 2 * time.Minute

// slot is the permission for one call.
type slot struct {
	line   *line
	used   *bool
	trial  bool      // it finds out whether the platform is reached again
	since  time.Time // of the outage, for a trial
	waited bool
}

// release gives back what was not used.
func (s slot) release() {
	if s.trial && !*s.used {
		s.line.release()
	}
}

// slot waits until the platform may be called for this chat: first for the
// connection, then for the chat's own pace, then for everybody's. A chat whose
// pace holds it up does not keep the trial that all others wait for.
func (c *chat) slot(ctx context.Context) (slot, error) {
	l, began := c.p.circuit, time.Now()
	for {
		trial, since, err := l.pass(ctx)
		if err != nil {
			return slot{}, err
		}
		s := slot{line: l, used: new(bool), trial: trial, since: since}
		if trial && c.pace.paused() > awayFirst {
			s.release()
			if err := sleep.For(ctx, c.pace.paused()); err != nil {
				return slot{}, err
			}
			continue
		}
		err = c.pace.wait(ctx)
		if err == nil {
			err = c.p.all.wait(ctx)
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

// faultPanic is that of a Sender that panicked.
const faultPanic bot.Fault = "panic"

// call makes one call and tells the line what came of it; ok is success, else
// there is a fault, one of package bot's. A Sender that panics has refused the message: whatever it cannot
// bear would otherwise end every process after this one, too.
func (c *chat) call(ctx context.Context, s slot, do func(context.Context) error) (fault *bot.SendError, ok bool) {
	*s.used = true
	in, cancel := inGrace(ctx)
	defer cancel()
	in, stop := context.WithTimeout(in, callTimeout)
	defer stop()
	fault = guarded(in, do)
	if fault == nil {
		c.p.circuit.settle(s.trial, "", "")
		return nil, true
	}
	c.p.circuit.settle(s.trial, fault.Fault, fault.Text)
	switch fault.Fault {
	case faultPanic:
		fault.Fault = bot.FaultRefused
	case bot.FaultMoved:
		if !c.canMove(fault.To) {
			return &bot.SendError{Fault: bot.FaultRefused, Text: "moved nowhere: " + fault.Text}, false
		}
	case bot.FaultRateLimited:
		c.pace.pause(max(fault.After, time.Second))
		c.p.o.Log.Info("the platform wants a chat to wait", "chat", c.address, "for", fault.After)
	case bot.FaultChatClosed:
		c.close(fault.Text)
	}
	return fault, false
}

// guarded makes a call; nil is success.
func guarded(ctx context.Context, do func(context.Context) error) (fault *bot.SendError) {
	defer func() {
		if r := recover(); r != nil {
			fault = &bot.SendError{Fault: faultPanic, Text: fmt.Sprintf("a fault in nightporter: %v", r)}
		}
	}()
	err := do(ctx)
	if err == nil {
		return nil
	}
	var known *bot.SendError
	if errors.As(err, &known) {
		switch known.Fault {
		case bot.FaultOffline, bot.FaultRateLimited, bot.FaultMessageGone, bot.FaultChatClosed, bot.FaultMoved, bot.FaultRefused, bot.FaultToken:
			return known
		}
	}
	return &bot.SendError{Fault: bot.FaultUnknown, Text: err.Error()}
}

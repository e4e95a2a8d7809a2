package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// Waits while a platform is out of reach.
const (
	minTrialWait   = time.Second
	maxTrialWait   = time.Minute
	tokenTrialWait = 5 * time.Minute // a token is changed by hand; asking oftener is noise
)

// lateThreshold is how long an outage has to be, and a message has to have waited,
// for people to be told about it (SPEC 6.7).
const lateThreshold = 10 * time.Minute

// circuit is the connection to the platform, which all chats share: up, or down
// with a reason. While it is down, one call at a time finds out whether it is
// up again; all others wait for that.
type circuit struct {
	clock func() time.Time
	log   *slog.Logger

	mu           sync.Mutex
	downReason   error     // nil = up
	since        time.Time // of the outage
	backoff      time.Duration
	nextTrial    time.Time     // no trial before
	trialRunning bool          // one is being made
	changed      chan struct{} // closed at every change, and replaced

	lastOutage    outage // the last long one
	outageCount   int    // counts the long ones
	answerCount   int    // counts calls that the platform certainly answered
	answerAwaited bool   // somebody waits for a proof
	onAnswer      func() // tells them
}

// outage is a time in which a platform was out of reach.
type outage struct {
	from, to time.Time
	observed bool // false: nothing is known but that messages waited
}

func newCircuit(clock func() time.Time, log *slog.Logger, proved func()) *circuit {
	return &circuit{clock: clock, log: log, changed: make(chan struct{}), onAnswer: proved}
}

// acquire blocks until a call may be made. The caller owes a settle or, without a
// call, a release. trial: the line is down, since then, and this call finds
// out whether it still is.
func (c *circuit) acquire(ctx context.Context) (trial bool, since time.Time, err error) {
	for {
		c.mu.Lock()
		wait, changed := time.Until(c.nextTrial), c.changed
		switch {
		case c.downReason == nil:
			c.mu.Unlock()
			return false, time.Time{}, nil
		case !c.trialRunning && wait <= 0:
			c.trialRunning, since = true, c.since
			c.mu.Unlock()
			return true, since, nil
		case c.trialRunning:
			wait = time.Hour // changed tells
		}
		c.mu.Unlock()
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-changed:
		case <-ctx.Done():
			t.Stop()
			return false, time.Time{}, context.Cause(ctx)
		}
		t.Stop()
	}
}

func (c *circuit) isDown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.downReason != nil
}

// releaseTrial gives a trial back that was not made.
func (c *circuit) releaseTrial() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trialRunning = false
	c.broadcast()
}

// record takes the outcome of a call: "" or any fault that the platform itself
// named proves the connection; an unknown outcome says nothing about it.
func (c *circuit) record(trial bool, reason error, text string) {
	c.mu.Lock()
	told := false
	switch {
	case isAny(reason, bot.ErrOffline, bot.ErrTokenRejected):
		c.recordFailure(trial, reason, text)
	case isAny(reason, bot.ErrOutcomeUnknown, errSenderPanicked):
		if trial {
			c.scheduleTrial()
		}
	default:
		told = c.recordAnswer()
	}
	if trial {
		c.trialRunning = false
	}
	c.broadcast()
	c.mu.Unlock()
	if told {
		c.onAnswer()
	}
}

// recordFailure notes that a call did not get through. Only a trial makes the waits
// longer: of many calls that were under way at once, each says the same.
func (c *circuit) recordFailure(trial bool, reason error, text string) {
	if c.downReason != nil && !trial {
		return
	}
	if c.downReason == nil {
		c.since, c.backoff = c.clock(), 0
	}
	if !errors.Is(c.downReason, reason) {
		if errors.Is(reason, bot.ErrTokenRejected) {
			c.log.Error("the platform refuses the token; outgoing messages wait", "text", text, "next", tokenTrialWait)
		} else {
			c.log.Warn("the platform is out of reach; outgoing messages wait", "text", text)
		}
	}
	c.downReason = reason
	c.scheduleTrial()
}

func (c *circuit) scheduleTrial() {
	c.backoff = min(max(2*c.backoff, minTrialWait), maxTrialWait)
	wait := c.backoff
	if errors.Is(c.downReason, bot.ErrTokenRejected) {
		wait = tokenTrialWait
	}
	c.nextTrial = time.Now().Add(wait)
}

// recordAnswer notes that the platform answers, and reports whether somebody waits
// for just that.
func (c *circuit) recordAnswer() (told bool) {
	c.answerCount++
	told, c.answerAwaited = c.answerAwaited, false
	if c.downReason == nil {
		return told
	}
	o := outage{from: c.since, to: c.clock(), observed: true}
	c.log.Info("the platform is reached again", "since", o.from, "for", o.to.Sub(o.from).Round(time.Second))
	if o.to.Sub(o.from) > lateThreshold {
		c.lastOutage, c.outageCount = o, c.outageCount+1
	}
	c.downReason = nil
	return told
}

func (c *circuit) broadcast() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// latestOutage returns the last long outage and how many there were.
func (c *circuit) latestOutage() (outage, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastOutage, c.outageCount
}

// answersSoFar counts the certain answers.
func (c *circuit) answersSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answerCount
}

// awaitAnswer asks to be told of the next certain answer after the given count; false
// where there was one already.
func (c *circuit) awaitAnswer(after int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answerCount != after {
		return false
	}
	c.answerAwaited = true
	return true
}

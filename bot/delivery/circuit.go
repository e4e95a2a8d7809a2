package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/sched"
)

// Waits between trials while the platform is unreachable.
const (
	minTrialWait   = time.Second
	maxTrialWait   = time.Minute
	tokenTrialWait = 5 * time.Minute // people replace tokens by hand; asking more often only fills logs
)

// lateThreshold is the minimum duration of an outage, and of a message's wait,
// before people are told about it.
const lateThreshold = 10 * time.Minute

// circuit is a circuit breaker for the connection that all chats share. While it
// is open (the platform is down), one trial call at a time tests the connection
// and all other calls wait.
type circuit struct {
	clock func() time.Time
	sched sched.Scheduler
	log   *slog.Logger

	mu           sync.Mutex
	downReason   error     // why the platform is unreachable, nil = it is reachable
	since        time.Time // start of the outage
	backoff      time.Duration
	nextTrial    time.Time     // earliest time of the next trial
	trialRunning bool          // a trial is in progress
	changed      chan struct{} // closed and replaced at every change

	lastOutage    outage // the last long outage
	outageCount   int    // number of long outages
	answerCount   int    // number of calls that the platform certainly answered
	answerAwaited bool   // a chat waits for the next certain answer
	onAnswer      func() // called, without a lock, when an awaited answer came
}

// outage is a time in which messages could not be delivered.
type outage struct {
	from, to time.Time
	observed bool // the platform was seen to be down; false: messages waited for an unknown reason
}

func newCircuit(clock func() time.Time, s sched.Scheduler, log *slog.Logger, proved func()) *circuit {
	return &circuit{clock: clock, sched: s, log: log, changed: make(chan struct{}), onAnswer: proved}
}

// acquire blocks until a call may be made. The caller must call record with the
// call's result, or releaseTrial if it makes no call. trial reports that the
// platform is down, since the returned time, and that this call tests it.
func (c *circuit) acquire(ctx context.Context) (trial bool, since time.Time, err error) {
	for {
		c.mu.Lock()
		wait, changed := c.nextTrial.Sub(c.sched.Now()), c.changed
		switch {
		case c.downReason == nil:
			c.mu.Unlock()
			return false, time.Time{}, nil
		case !c.trialRunning && wait <= 0:
			c.trialRunning, since = true, c.since
			c.mu.Unlock()
			return true, since, nil
		case c.trialRunning:
			wait = time.Hour // changed fires before that
		}
		c.mu.Unlock()
		if err := c.sched.Wait(ctx, wait, changed); err != nil {
			return false, time.Time{}, err
		}
	}
}

func (c *circuit) isDown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.downReason != nil
}

// releaseTrial returns a trial that the caller did not make.
func (c *circuit) releaseTrial() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trialRunning = false
	c.broadcast()
}

// record takes the result of a call; a nil reason means success. Success, and
// every reason that the platform itself gave, prove that the platform is
// reachable; an unknown outcome proves nothing.
func (c *circuit) record(trial bool, reason error, text string) {
	c.mu.Lock()
	awaited := false
	switch {
	case isAny(reason, bot.ErrOffline, bot.ErrTokenRejected):
		c.recordFailure(trial, reason, text)
	case isAny(reason, bot.ErrOutcomeUnknown, errSenderPanicked):
		if trial {
			c.scheduleTrial()
		}
	default:
		awaited = c.recordAnswer()
	}
	if trial {
		c.trialRunning = false
	}
	c.broadcast()
	c.mu.Unlock()
	if awaited {
		c.onAnswer()
	}
}

// recordFailure notes that a call did not reach the platform. Only a trial
// lengthens the wait: parallel calls that fail together are one failure.
func (c *circuit) recordFailure(trial bool, reason error, text string) {
	if c.downReason != nil && !trial {
		return
	}
	if c.downReason == nil {
		c.since, c.backoff = c.clock(), 0
	}
	if !errors.Is(c.downReason, reason) {
		if errors.Is(reason, bot.ErrTokenRejected) {
			c.log.Error("the platform rejects the token; outgoing messages wait", "text", text, "next", tokenTrialWait)
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
	c.nextTrial = c.sched.Now().Add(wait)
}

// recordAnswer notes that the platform answers. awaited reports whether a chat
// waits for an answer.
func (c *circuit) recordAnswer() (awaited bool) {
	c.answerCount++
	awaited, c.answerAwaited = c.answerAwaited, false
	if c.downReason == nil {
		return awaited
	}
	o := outage{from: c.since, to: c.clock(), observed: true}
	c.log.Info("the platform is reachable again", "since", o.from, "for", o.to.Sub(o.from).Round(time.Second))
	if o.to.Sub(o.from) > lateThreshold {
		c.lastOutage, c.outageCount = o, c.outageCount+1
	}
	c.downReason = nil
	return awaited
}

func (c *circuit) broadcast() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// latestOutage returns the last long outage and the number of long outages.
func (c *circuit) latestOutage() (outage, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastOutage, c.outageCount
}

// answersSoFar returns the number of certain answers.
func (c *circuit) answersSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answerCount
}

// awaitAnswer requests a call of onAnswer at the next certain answer after the
// given count. It returns false if that answer has already come.
func (c *circuit) awaitAnswer(after int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answerCount != after {
		return false
	}
	c.answerAwaited = true
	return true
}

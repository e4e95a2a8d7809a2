package delivery

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/nightporter/nightporter/internal/sched"
)

// Rate is a token bucket: a burst of Burst calls, then one call per Every. Any
// span of time t has at most Burst + t/Every calls.
type Rate struct {
	Every time.Duration
	Burst int
}

// Limits say how fast a platform may be called. A Rate with a zero Every has the
// value of TelegramLimits.
type Limits struct {
	Private Rate // a chat with one person
	Group   Rate // a chat of several people, its topics together
	All     Rate // all chats together
}

// TelegramLimits stay below Telegram's published limits: about one message a
// second in a chat with short bursts, 20 a minute in a group, 30 a second
// overall. Bursts are subtracted from the rates so that no window exceeds a
// limit: 3 + 17 in a group's minute, 5 + 25 in a second. Edits count.
var TelegramLimits = Limits{
	Private: Rate{Every: time.Second, Burst: 3},
	Group:   Rate{Every: time.Minute / 17, Burst: 3},
	All:     Rate{Every: time.Second / 25, Burst: 5},
}

// SlackLimits are one message a second in a conversation, with one more at once for
// an answer, and less than the limits of a workspace, which count edits by the minute.
var SlackLimits = Limits{
	Private: Rate{Every: time.Second, Burst: 2},
	Group:   Rate{Every: time.Second, Burst: 2},
	All:     Rate{Every: 500 * time.Millisecond, Burst: 5},
}

func (l Limits) orDefault() Limits {
	for _, r := range []struct{ to, from *Rate }{
		{&l.Private, &TelegramLimits.Private}, {&l.Group, &TelegramLimits.Group}, {&l.All, &TelegramLimits.All},
	} {
		if r.to.Every <= 0 {
			*r.to = *r.from
		}
	}
	return l
}

// limiter returns a limiter without tokens at time began, the start of this
// process: the process before may just have used them.
func (r Rate) limiter(began time.Time) *rate.Limiter {
	l := rate.NewLimiter(rate.Every(r.Every), max(r.Burst, 1))
	l.AllowN(began, l.Burst())
	return l
}

// throttle limits the rate of calls for one chat. A group's topics share one.
//
// Every call takes a token of all, which keeps the platform's limit. A call that does
// not go ahead takes one of ordinary too, whose burst is smaller by one, so that a
// long queue leaves a token for an answer. An answer is charged to ordinary as well:
// that fills the reserve again, and the rate of all calls stays the same.
type throttle struct {
	sched         sched.Scheduler
	all, ordinary *rate.Limiter

	mu          sync.Mutex
	pausedUntil time.Time // the platform asked for no call before this time
	waits       int       // calls that waited for a token, up to reserveAt
}

func newThrottle(s sched.Scheduler, r Rate, began time.Time) *throttle {
	t := &throttle{sched: s, all: r.limiter(began), ordinary: Rate{Every: r.Every, Burst: r.Burst - 1}.limiter(began)}
	if r.Burst <= 1 {
		t.waits = reserveAt // there is no room for a reserve
	}
	return t
}

// reserveAt is the number of calls that waited after which the next one leaves a token
// for the reserve. Both limiters begin empty, so under a queue from the start on there
// would never be one; without a queue it builds up by itself.
const reserveAt = 2

// waiter is a call that waits for a throttle. One that does not go ahead gives way
// when wake signals and overtaken reports an answer.
type waiter struct {
	ahead     bool
	wake      <-chan struct{}
	overtaken func(context.Context) bool
}

// wait blocks until the next call is allowed. The error is errOvertaken, or says why
// ctx ended.
func (t *throttle) wait(ctx context.Context, w waiter) error {
	for {
		for d := t.paused(); d > 0; d = t.paused() {
			if err := t.sched.Wait(ctx, d, nil); err != nil {
				return err
			}
		}
		began := t.sched.Now()
		if !w.ahead {
			if err := t.take(ctx, t.ordinary, w); err != nil {
				return err
			}
		}
		if err := t.take(ctx, t.all, w); err != nil {
			return err
		}
		if w.ahead || t.sched.Now().After(began) && t.beginsReserve() {
			t.ordinary.ReserveN(t.sched.Now(), 1)
		}
		if t.paused() <= 0 {
			return nil
		}
	}
}

// beginsReserve counts a call that waited, and reports, once, that the reserve begins.
func (t *throttle) beginsReserve() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waits == reserveAt {
		return false
	}
	t.waits++
	return t.waits == reserveAt
}

// take waits for a token of l.
func (t *throttle) take(ctx context.Context, l *rate.Limiter, w waiter) error {
	now := t.sched.Now()
	token := l.ReserveN(now, 1)
	due := now.Add(token.DelayFrom(now))
	wake := w.wake
	if w.ahead {
		wake = nil
	}
	for d := due.Sub(now); d > 0; d = due.Sub(t.sched.Now()) {
		err := t.sched.Wait(ctx, d, wake)
		if err == nil && !w.ahead && w.overtaken(ctx) {
			err = errOvertaken
		}
		if err != nil {
			token.CancelAt(t.sched.Now())
			return err
		}
	}
	return nil
}

func (t *throttle) paused() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pausedUntil.Sub(t.sched.Now())
}

func (t *throttle) pause(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until := t.sched.Now().Add(d); until.After(t.pausedUntil) {
		t.pausedUntil = until
	}
}

// withoutTopic cuts the topic off an address: "telegram:-100/55" → "telegram:-100".
func withoutTopic(address string) string {
	b, _, _ := strings.Cut(address, "/")
	return b
}

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

// SlackLimits are one message a second in a conversation, and less than the
// limits of a workspace, which count edits by the minute.
var SlackLimits = Limits{
	Private: Rate{Every: time.Second, Burst: 1},
	Group:   Rate{Every: time.Second, Burst: 1},
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
type throttle struct {
	sched   sched.Scheduler
	limiter *rate.Limiter

	mu          sync.Mutex
	pausedUntil time.Time // the platform asked for no call before this time
}

// wait blocks until the next call is allowed.
func (t *throttle) wait(ctx context.Context) error {
	for {
		for d := t.paused(); d > 0; d = t.paused() {
			if err := t.sched.Wait(ctx, d, nil); err != nil {
				return err
			}
		}
		now := t.sched.Now()
		token := t.limiter.ReserveN(now, 1)
		if d := token.DelayFrom(now); d > 0 {
			if err := t.sched.Wait(ctx, d, nil); err != nil {
				token.CancelAt(t.sched.Now())
				return err
			}
		}
		if t.paused() <= 0 {
			return nil
		}
	}
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

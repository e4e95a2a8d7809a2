package delivery

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/nightporter/nightporter/internal/sleep"
)

// Rate is a token bucket: Burst calls at once, then one every Every. In any
// span of time t there are at most Burst + t/Every calls.
type Rate struct {
	Every time.Duration
	Burst int
}

// Limits are how fast a platform may be called. A Rate with a zero Every is
// the default's.
type Limits struct {
	Private Rate // a chat with one person
	Group   Rate // a chat of several people, its topics together
	All     Rate // all chats together
}

// TelegramLimits keep below what Telegram asks for: about one message a second
// in a chat with short bursts, 20 a minute in a group, 30 a second overall.
// Bursts are taken off the rates, so that no window of any position holds more
// than that: 3 + 17 in a group's minute, 5 + 25 in a second. Edits count.
var TelegramLimits = Limits{
	Private: Rate{Every: time.Second, Burst: 3},
	Group:   Rate{Every: time.Minute / 17, Burst: 3},
	All:     Rate{Every: time.Second / 25, Burst: 5},
}

// SlackLimits keep to one message a second in a conversation, and below what
// the workspace bears, where edits are counted by the minute.
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

// limiter is empty at the given time, when this process began: the one before
// it may have called as fast as it was allowed to until then.
func (r Rate) limiter(began time.Time) *rate.Limiter {
	l := rate.NewLimiter(rate.Every(r.Every), max(r.Burst, 1))
	l.AllowN(began, l.Burst())
	return l
}

// pace is how fast one chat may be called. Topics share their group's.
type pace struct {
	limiter *rate.Limiter

	mu    sync.Mutex
	until time.Time // the platform wants nothing before
}

// wait blocks until the chat's next call is due.
func (p *pace) wait(ctx context.Context) error {
	for {
		for d := p.paused(); d > 0; d = p.paused() {
			if err := sleep.For(ctx, d); err != nil {
				return err
			}
		}
		if err := p.limiter.Wait(ctx); err != nil {
			return err
		}
		if p.paused() <= 0 {
			return nil
		}
	}
}

func (p *pace) paused() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.until)
}

func (p *pace) pause(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until = until
	}
}

// base is an address without its topic: "telegram:-100/55" → "telegram:-100".
func base(address string) string {
	b, _, _ := strings.Cut(address, "/")
	return b
}

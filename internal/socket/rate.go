package socket

import (
	"sync"
	"time"
)

// rate is how often something may happen: perSecond, and burst at once after a
// pause. The zero rate has no limit.
type rate struct{ perSecond, burst float64 }

// bucket counts what a rate allows. It is safe for concurrent use.
type bucket struct {
	rate rate

	mu   sync.Mutex
	left float64
	at   time.Time
}

func newBucket(r rate) *bucket { return &bucket{rate: r, left: r.burst} }

// take takes cost and returns 0, or takes nothing and returns how long to wait
// until there is enough. A cost above the burst takes a whole burst.
func (b *bucket) take(cost float64, now time.Time) time.Duration {
	if b.rate == (rate{}) {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.at.IsZero() {
		b.left = min(b.left+max(now.Sub(b.at).Seconds(), 0)*b.rate.perSecond, b.rate.burst)
	}
	b.at = now
	cost = min(cost, b.rate.burst)
	if b.left < cost {
		return time.Duration((cost - b.left) / b.rate.perSecond * float64(time.Second))
	}
	b.left -= cost
	return 0
}

// Limits of what one session asks. A call costs one, and one more for each
// costBytes of its body: a large one takes the daemon as long as many small
// ones. An agent that calls hat ten times a second never meets them.
var sessionCalls = rate{perSecond: 20, burst: 200}

const costBytes = 16 << 10

// toldAfter is how many refused calls of a session make people be told of it. An
// honest agent in a loop has a few; whoever has so many does not heed the
// refusal.
const toldAfter = 500

// meter limits what one session asks, and counts what is refused. A nil meter has
// no limit.
type meter struct {
	calls *bucket
	tell  func(refused int) // called once

	mu      sync.Mutex
	refused int
}

func newMeter(tell func(refused int)) *meter {
	return &meter{calls: newBucket(sessionCalls), tell: tell}
}

// allow reports whether a call with a body of so many bytes may be answered now.
func (m *meter) allow(size int) bool {
	if m == nil || m.calls.take(1+float64(size/costBytes), time.Now()) == 0 {
		return true
	}
	m.refuse()
	return false
}

// refuse counts a call that gets no answer.
func (m *meter) refuse() {
	m.mu.Lock()
	m.refused++
	n := m.refused
	m.mu.Unlock()
	if n == toldAfter {
		m.tell(n)
	}
}

// count returns how many calls were refused.
func (m *meter) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

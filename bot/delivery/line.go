package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// Waits while a platform is out of reach.
const (
	awayFirst = time.Second
	awayMost  = time.Minute
	tokenWait = 5 * time.Minute // a token is changed by hand; asking oftener is noise
)

// lateAfter is how long an outage has to be, and a message has to have waited,
// for people to be told about it (SPEC 6.7).
const lateAfter = 10 * time.Minute

// circuit is the connection to the platform, which all chats share: up, or down
// with a reason. While it is down, one call at a time finds out whether it is
// up again; all others wait for that.
type line struct {
	clock func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	down    bot.Fault // "" = up
	since   time.Time // of the outage
	back    time.Duration
	next    time.Time     // no trial before
	trial   bool          // one is being made
	changed chan struct{} // closed at every change, and replaced

	last   outage // the last long one
	serial int    // counts the long ones
	proofs int    // counts calls that the platform certainly answered
	wanted bool   // somebody waits for a proof
	proved func() // tells them
}

// outage is a time in which a platform was out of reach.
type outage struct {
	from, to time.Time
	away     bool // false: nothing is known but that messages waited
}

func newLine(clock func() time.Time, log *slog.Logger, proved func()) *line {
	return &line{clock: clock, log: log, changed: make(chan struct{}), proved: proved}
}

// pass blocks until a call may be made. The caller owes a settle or, without a
// call, a release. trial: the line is down, since then, and this call finds
// out whether it still is.
func (l *line) pass(ctx context.Context) (trial bool, since time.Time, err error) {
	for {
		l.mu.Lock()
		wait, changed := time.Until(l.next), l.changed
		switch {
		case l.down == "":
			l.mu.Unlock()
			return false, time.Time{}, nil
		case !l.trial && wait <= 0:
			l.trial, since = true, l.since
			l.mu.Unlock()
			return true, since, nil
		case l.trial:
			wait = time.Hour // changed tells
		}
		l.mu.Unlock()
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

func (l *line) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down != ""
}

// release gives a trial back that was not made.
func (l *line) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trial = false
	l.change()
}

// settle takes the outcome of a call: "" or any fault that the platform itself
// named proves the connection; an unknown outcome says nothing about it.
func (l *line) settle(trial bool, fault bot.Fault, text string) {
	l.mu.Lock()
	told := false
	switch fault {
	case bot.ErrOffline, bot.ErrTokenRejected:
		l.fell(trial, fault, text)
	case bot.ErrOutcomeUnknown, faultPanic:
		if trial {
			l.again()
		}
	default:
		told = l.answered()
	}
	if trial {
		l.trial = false
	}
	l.change()
	l.mu.Unlock()
	if told {
		l.proved()
	}
}

// fell notes that a call did not get through. Only a trial makes the waits
// longer: of many calls that were under way at once, each says the same.
func (l *line) fell(trial bool, fault bot.Fault, text string) {
	if l.down != "" && !trial {
		return
	}
	if l.down == "" {
		l.since, l.back = l.clock(), 0
	}
	if l.down != fault {
		if fault == bot.ErrTokenRejected {
			l.log.Error("the platform refuses the token; outgoing messages wait", "text", text, "next", tokenWait)
		} else {
			l.log.Warn("the platform is out of reach; outgoing messages wait", "text", text)
		}
	}
	l.down = fault
	l.again()
}

func (l *line) again() {
	l.back = min(max(2*l.back, awayFirst), awayMost)
	wait := l.back
	if l.down == bot.ErrTokenRejected {
		wait = tokenWait
	}
	l.next = time.Now().Add(wait)
}

// answered notes that the platform answers, and reports whether somebody waits
// for just that.
func (l *line) answered() (told bool) {
	l.proofs++
	told, l.wanted = l.wanted, false
	if l.down == "" {
		return told
	}
	o := outage{from: l.since, to: l.clock(), away: true}
	l.log.Info("the platform is reached again", "since", o.from, "for", o.to.Sub(o.from).Round(time.Second))
	if o.to.Sub(o.from) > lateAfter {
		l.last, l.serial = o, l.serial+1
	}
	l.down = ""
	return told
}

func (l *line) change() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// outages returns the last long outage and how many there were.
func (l *line) outages() (outage, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.serial
}

// proofsSoFar counts the certain answers.
func (l *line) proofsSoFar() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proofs
}

// want asks to be told of the next certain answer after the given count; false
// where there was one already.
func (l *line) want(after int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proofs != after {
		return false
	}
	l.wanted = true
	return true
}

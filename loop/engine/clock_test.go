package engine_test

import (
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// newJumpingFixture returns a fixture whose time of day jumps when the test calls
// jump. The timers of the engine do not see it, as when the machine sleeps.
func newJumpingFixture(t *testing.T, session func(f *fixture, l ledger.Launch) ledger.Exit) (f *fixture, jump func(time.Duration)) {
	var shift atomic.Int64
	f = newFixture(t, session)
	f.options = func(o *engine.Options) {
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(shift.Load())).UTC() }
	}
	f.restart()
	return f, func(by time.Duration) { shift.Add(int64(by)) }
}

// TestJumps lets the clock jump while a run waits, and checks when it goes on.
func TestJumps(t *testing.T) {
	asks := func() func(*fixture, ledger.Launch) ledger.Exit {
		asked := false
		return func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !asked {
				asked = true
				f.emit(l.Session, ledger.EventQuestion, map[string]any{"text": "Which?", "options": []string{"this", "that"}, "choice": "that"})
				return scenario.Exited(l.Session, 0)
			}
			return succeeded(f, l)
		}
	}
	limited := func(until time.Duration) func(*fixture, ledger.Launch) ledger.Exit {
		once := false
		return func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !once {
				once = true
				x := scenario.Exited(l.Session, 1)
				x.Failure, x.Until, x.Text = ledger.FailureLimit, time.Now().Add(until), "You've hit your limit"
				return x
			}
			return succeeded(f, l)
		}
	}
	offline := func() func(*fixture, ledger.Launch) ledger.Exit {
		once := false
		return func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !once {
				once = true
				x := scenario.Exited(l.Session, 1)
				x.Failure, x.Text = ledger.FailureNetwork, "no route to host"
				return x
			}
			return succeeded(f, l)
		}
	}
	const day = 24 * time.Hour
	for _, c := range []struct {
		name    string
		session func(*fixture, ledger.Launch) ledger.Exit
		before  time.Duration // from the start of the wait to the jump
		jump    time.Duration
		open    time.Duration // after the jump it still waits for so long
		over    time.Duration // and no longer than this
	}{
		{"a question, and the clock is set back by a day", asks(), 10 * time.Minute, -day, 18 * time.Minute, 22 * time.Minute},
		{"a question, and the clock is set ahead by a day", asks(), 10 * time.Minute, day, 18 * time.Minute, 22 * time.Minute},
		{"a question, and the machine sleeps for an hour", asks(), 10 * time.Minute, time.Hour, 18 * time.Minute, 22 * time.Minute},
		{"a question, and the clock is corrected by seconds", asks(), 10 * time.Minute, -40 * time.Second, 18 * time.Minute, 22 * time.Minute},
		{"a limit, and the machine sleeps past its end", limited(4 * time.Hour), time.Minute, 5 * time.Hour, 0, time.Minute},
		{"a limit, and the machine sleeps until shortly before its end", limited(4 * time.Hour), time.Minute, 3*time.Hour + 54*time.Minute, 3 * time.Minute, 6 * time.Minute},
		{"a limit, and the clock is set back by a day", limited(4 * time.Hour), time.Minute, -day, 3 * time.Hour, 4 * time.Hour},
		{"no network, and the clock is set back by a day", offline(), 10 * time.Second, -day, 10 * time.Second, 2 * time.Minute},
		{"no network, and the machine sleeps", offline(), 10 * time.Second, day, 0, 2 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, jump := newJumpingFixture(t, c.session)
				f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
				synctest.Wait()
				if r := f.state().Project.Run; r.State != ledger.RunWaiting {
					t.Fatalf("run is %s for %s, want waiting", r.State, r.Wait)
				}
				time.Sleep(c.before)
				synctest.Wait()
				jump(c.jump)
				time.Sleep(c.open)
				synctest.Wait()
				if r := f.state().Project.Run; r.Over() {
					t.Errorf("it went on before %s had passed", c.open)
				}
				time.Sleep(c.over - c.open)
				synctest.Wait()
				if exit, over := f.outcome(); exit != 0 || !over {
					t.Errorf("after %s: outcome %d, %v", c.over, exit, over)
				}
			})
		})
	}
}

// TestUntilAfterJump checks that a run ends at its time of day: at once after a
// sleep beyond it, and on the right day after the clock was set back.
func TestUntilAfterJump(t *testing.T) {
	for _, c := range []struct {
		name string
		jump time.Duration
		over time.Duration // from the jump to the end of the run, at most a minute more
	}{
		{"the machine sleeps past it", 10 * time.Hour, time.Minute},
		{"the machine sleeps until an hour before it", 7 * time.Hour, time.Hour},
		{"the clock is set back by a day", -24 * time.Hour, 8 * time.Hour},
		{"the clock is set back by three days and an hour", -73 * time.Hour, 9 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, jump := newJumpingFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
					if l.Hat != "builder" {
						return succeeded(f, l)
					}
					x := scenario.Exited(l.Session, 1) // a limit for longer than the run
					x.Failure, x.Until, x.Text = ledger.FailureLimit, time.Now().Add(100*time.Hour), "You've hit your limit"
					return x
				})
				set := settings()
				set.Until = time.Now().UTC().Add(8 * time.Hour)
				f.do(loop.StartRun{Settings: set, MaxSessions: 1}, "")
				synctest.Wait()
				jump(c.jump)
				time.Sleep(c.over - time.Minute)
				synctest.Wait()
				if f.state().Project.Run.Over() && c.over > time.Minute {
					t.Errorf("over more than a minute before its time")
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if r := f.state().Project.Run; !r.Over() || r.Ended.Reason != ledger.ReasonUntil {
					t.Errorf("not ended by its time: it is %s", r.State)
				}
			})
		})
	}
}

// TestPairingAfterJump checks that a code is open for ten minutes, whatever the
// clock shows.
func TestPairingAfterJump(t *testing.T) {
	for _, by := range []time.Duration{-24 * time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			f, jump := newJumpingFixture(t, succeeded)
			if _, err := f.engine.Do(t.Context(), loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleView}}); err != nil {
				t.Fatal(err)
			}
			jump(by)
			time.Sleep(people.PairingTime + time.Minute)
			synctest.Wait()
			if p := f.engine.Shared().Pairing; p != nil {
				t.Errorf("still open after a jump by %s: %+v", by, p)
			}
		})
	}
}

// TestFullLedgerAfterJump sets the clock back during an outage of the ledger: it
// is tried again as before.
func TestFullLedgerAfterJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once := false
		f, jump := newJumpingFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !once {
				once = true
				x := scenario.Exited(l.Session, 1)
				x.Failure, x.Until, x.Text = ledger.FailureLimit, time.Now().Add(30*time.Minute), "You've hit your limit"
				return x
			}
			return succeeded(f, l)
		})
		clock := f.options
		full := &fullLedger{Ledger: f.ledger}
		f.options = func(o *engine.Options) { clock(o); o.Ledger = full }
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		full.set(syscall.ENOSPC)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		jump(-24 * time.Hour)
		full.set(nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if exit, over := f.outcome(); exit != 0 || !over {
			t.Errorf("outcome %d, %v", exit, over)
		}
	})
}

package systemd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/service"
)

type closeFunc func() error

func (f closeFunc) Close() error { return f() }

// TestInhibitor: the lock is held while a run works, and no longer. A refusal is
// told once, tried again, and forgotten with the run.
func TestInhibitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes service.Broadcast
		var mu sync.Mutex // of what follows
		var needed, held bool
		var refused error
		taken, results := 0, []error{}
		i := NewInhibitor(slog.New(slog.DiscardHandler), Wakefulness{
			Needed:  func() bool { mu.Lock(); defer mu.Unlock(); return needed },
			Changes: &changes,
			Result:  func(_ context.Context, err error) { mu.Lock(); defer mu.Unlock(); results = append(results, err) },
		})
		i.take = func(context.Context) (io.Closer, error) {
			mu.Lock()
			defer mu.Unlock()
			if refused != nil {
				return nil, refused
			}
			taken++
			held = true
			return closeFunc(func() error { mu.Lock(); defer mu.Unlock(); held = false; return nil }), nil
		}
		if err := i.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		step := func(what string, need bool, wantHeld bool, wantResults ...error) {
			t.Helper()
			mu.Lock()
			needed, results = need, nil
			mu.Unlock()
			changes.Ring()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if held != wantHeld || i.Held() != wantHeld {
				t.Errorf("%s: held %v (%v), want %v", what, held, i.Held(), wantHeld)
			}
			if !slices.EqualFunc(results, wantResults, errors.Is) {
				t.Errorf("%s: results %v, want %v", what, results, wantResults)
			}
		}
		answer := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			refused, results = err, nil
		}
		step("idle", false, false)
		step("a run works", true, true, nil)
		step("it goes on", true, true)
		step("it ended", false, false)
		if taken != 1 {
			t.Errorf("taken %d times", taken)
		}
		answer(ErrRefused)
		step("not allowed", true, false, ErrRefused)
		step("not allowed, not asked again", true, false)
		answer(nil)
		time.Sleep(retryLock)
		synctest.Wait()
		mu.Lock()
		if !held || len(results) != 1 || results[0] != nil {
			t.Errorf("mended: held %v, %v", held, results)
		}
		mu.Unlock()
		answer(ErrNoLogind)
		step("over", false, false)
		step("no logind", true, false, ErrNoLogind)
		step("over, and nothing to say", false, false, nil)
		answer(nil)
		time.Sleep(retryLock)
		synctest.Wait()
		step("with logind", true, true, nil)
		i.Stop()
		if held {
			t.Error("held after Stop")
		}
	})
}

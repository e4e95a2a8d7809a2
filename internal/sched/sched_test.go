package sched_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
)

// TestRuntime checks each end of a wait.
func TestRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, wake := sched.Runtime, make(chan struct{}, 1)
		began := r.Now()
		if err := r.Wait(t.Context(), time.Hour, wake); err != nil || time.Since(began) != time.Hour {
			t.Errorf("waited %s, %v", time.Since(began), err)
		}
		began = time.Now()
		r.Go(func() { time.Sleep(time.Minute); wake <- struct{}{} })
		if err := r.Wait(t.Context(), sched.Forever, wake); err != nil || time.Since(began) != time.Minute {
			t.Errorf("woken after %s, %v", time.Since(began), err)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(why) })
		if err := r.Wait(ctx, sched.Forever, nil); !errors.Is(err, why) {
			t.Errorf("a wait whose context ended returns %v", err)
		}
	})
}

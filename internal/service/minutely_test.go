package service_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/service"
)

// TestMinutely checks that ticks come at the start of minutes, one a minute, and
// that a busy receiver gets one tick.
func TestMinutely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(13 * time.Second)
		due, stop := service.Minutely()
		defer stop()
		for range 3 {
			<-due
			if now := time.Now(); now.Second() != 0 || now.Nanosecond() != 0 {
				t.Errorf("a tick at %s", now)
			}
		}
		time.Sleep(10*time.Minute + 20*time.Second)
		<-due
		began := time.Now()
		<-due
		if took := time.Since(began); took != 40*time.Second {
			t.Errorf("the next tick after %s", took)
		}
	})
}

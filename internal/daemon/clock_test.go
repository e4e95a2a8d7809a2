package daemon_test

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestSetBackWhileOff checks that a daemon whose last sign of life lies in the
// future moves what waits: else a pairing code would be valid for a day more.
func TestSetBackWhileOff(t *testing.T) {
	d, _ := daemontest.Open(t, daemontest.Config(t, "manual"))
	if _, err := d.Engine.Do(t.Context(), loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleView}}); err != nil {
		t.Fatal(err)
	}
	was := d.Engine.Shared().Pairing.Until
	d.CameBack(t.Context(), time.Now().Add(5*time.Minute))
	if p := d.Engine.Shared().Pairing; p == nil || was.Sub(p.Until).Round(time.Minute) != 5*time.Minute {
		t.Errorf("valid until %+v, was %s", p, was)
	}
	d.CameBack(t.Context(), time.Now().Add(-time.Hour)) // off for an hour: nothing moves
	if p := d.Engine.Shared().Pairing; p == nil || was.Sub(p.Until).Round(time.Minute) != 5*time.Minute {
		t.Errorf("after an hour off: valid until %+v, was %s", p, was)
	}
}

package engine_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestDeniedGoesAlong checks that every agent session, and no command, gets the
// tools denied to its hat and the protected branches.
func TestDeniedToolsReachSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var launches []ledger.Launch
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			mu.Lock()
			launches = append(launches, l)
			mu.Unlock()
			return succeeded(f, l)
		})
		s := settings()
		s.Protected, s.Allow = []string{"main"}, []string{"npm publish"}
		for name, h := range s.Hats {
			h.Denied = []string{name + " deploy"}
			s.Hats[name] = h
		}
		f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
		time.Sleep(time.Hour)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		agents := 0
		for _, l := range launches {
			var denied, protected, allowed []string
			if l.Kind == ledger.KindAgent {
				agents++
				denied, protected = []string{l.Hat + " deploy"}, []string{"main"}
				allowed = s.Allow
			}
			if !slices.Equal(l.Denied, denied) || !slices.Equal(l.Protected, protected) || !slices.Equal(l.Allowed, allowed) {
				t.Errorf("%s of %s: denied %q, protected %q, allowed %q", l.Kind, l.Hat, l.Denied, l.Protected, l.Allowed)
			}
		}
		if agents < 4 || agents == len(launches) {
			t.Errorf("%d sessions of agents among %d", agents, len(launches))
		}
	})
}

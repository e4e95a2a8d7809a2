package loop

import (
	"bytes"
	"encoding/json"

	"github.com/nightporter/nightporter/loop/ledger"
)

// hatsChanged takes over hats and a pattern that changed on disk. The current
// session keeps the hat that it was planned with; the next one is planned with
// the new hats.
func (d *decision) hatsChanged(b HatsChanged) {
	r := d.run()
	if r.Over() || r.Idea != "" { // that has one session, with the pattern that plans ideas
		return
	}
	next := r.Settings
	next.Pattern, next.Hats = b.Pattern, b.Hats
	if f, unproved := next.Unproved(); b.Err == "" && unproved {
		b.Err = f.Text
	}
	if b.Err != "" {
		if r.HatsBad != b.Err {
			d.add(scope{}, ledger.HatsRead{Trouble: b.Err})
		}
		return
	}
	now := r.upcoming()
	if r.HatsBad == "" && sameHats(now, ledger.Settings{Pattern: b.Pattern, Hats: b.Hats}) {
		return
	}
	d.add(scope{}, ledger.HatsRead{Pattern: b.Pattern, Hats: b.Hats})
}

// resumed takes over the settings that a run is resumed with. If a task is
// under way and the hats or the pattern differ, its current session keeps the
// old ones, and the next session is planned with the new ones.
func (d *decision) resumed(s ledger.Settings) {
	was, now := d.run().Settings, ledger.HatsRead{Pattern: s.Pattern, Hats: s.Hats}
	_, inHand := d.Project.inHand()
	if !inHand || sameHats(was, s) {
		d.add(scope{}, ledger.RunResumed{Settings: s})
		return
	}
	s.Pattern, s.Hats = was.Pattern, was.Hats
	d.add(scope{}, ledger.RunResumed{Settings: s})
	d.add(scope{}, now)
}

// sameHats reports whether hats and pattern are equal in the ledger's JSON,
// where an empty list equals none.
func sameHats(a, b ledger.Settings) bool {
	x, errX := json.Marshal(ledger.HatsRead{Pattern: a.Pattern, Hats: a.Hats})
	y, errY := json.Marshal(ledger.HatsRead{Pattern: b.Pattern, Hats: b.Hats})
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// hasHats reports whether the settings have the hat and whether the pattern uses it, the
// argument about its plan, or the judgement of a task at its end.
func hasHats(s ledger.Settings, hat string) bool {
	if _, ok := s.Hats[hat]; !ok {
		return false
	}
	return hat == s.Pattern.Start || hat == s.Planner() || hat == hatCritic || hat == hatArchitect || hat == hatVerifier ||
		s.Pattern.RoutesFrom(hat)
}

// upcoming returns the settings that the next session is planned with.
func (r *Run) upcoming() ledger.Settings {
	s := r.Settings
	if r.Hats != nil {
		s.Pattern, s.Hats = r.Hats.Pattern, r.Hats.Hats
	}
	return s
}

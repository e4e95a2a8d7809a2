package loop

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// hatsChanged takes over hats and a pattern that were changed on disk. A
// session that is in hand goes on under the hat that it was planned with; the
// next one is planned by the new ones.
func (d *decision) hatsChanged(b HatsChanged) {
	r := d.run()
	if r.Over() {
		return
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

// resumed takes over the settings that a run is taken up again with. What is in
// hand goes on under the hats and the pattern that it was planned with.
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

// sameHats compares hats and pattern as the ledger gives them back: there an
// empty list is none.
func sameHats(a, b ledger.Settings) bool {
	x, errX := json.Marshal(ledger.HatsRead{Pattern: a.Pattern, Hats: a.Hats})
	y, errY := json.Marshal(ledger.HatsRead{Pattern: b.Pattern, Hats: b.Hats})
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// has reports whether the hat has a place in the pattern, or in what comes
// before it.
func hasHats(s ledger.Settings, hat string) bool {
	if _, ok := s.Hats[hat]; !ok {
		return false
	}
	return hat == s.Pattern.Start || hat == s.Planner() || hat == hatCritic || hat == hatArchitect ||
		slices.ContainsFunc(s.Pattern.Routes, func(r ledger.Route) bool { return r.From == hat })
}

// upcoming is what the next session is planned by.
func (r *Run) upcoming() ledger.Settings {
	s := r.Settings
	if r.Hats != nil {
		s.Pattern, s.Hats = r.Hats.Pattern, r.Hats.Hats
	}
	return s
}

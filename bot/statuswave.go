package bot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// waveLine says how far the wave under way is: "wave 2 of at most 5 · 3 of 6 · 2 fixed, 1
// failed · set aside 4". It returns "" without one.
func waveLine(s loop.State) string {
	r := s.Project.Run
	if !r.InWaves() || r.Wave == nil {
		return ""
	}
	w := r.Wave
	text := fmt.Sprintf("wave %d", w.N)
	if limit := r.Settings.MaxWaves; limit > 0 { // of those since the last start or resume
		text += fmt.Sprintf(" of at most %d", max(w.N, w.N+limit-r.WavesNow-1))
	}
	if !w.Sorted || len(w.Asked) > 0 {
		return text + " · " + waveInHand(w)
	}
	fixed, failed, others := 0, 0, 0
	for _, id := range w.Batch {
		t, ok := s.Project.Find(id)
		switch {
		case slices.ContainsFunc(w.Commits, func(c loop.WaveCommit) bool { return ledger.SameID(c.Task, id) }):
			fixed++
		case ok && (t.Status == ledger.Blocked || t.Status == ledger.Ready && t.LastFail != "" && t.Attempt == nil && w.HasTried(id)):
			failed++
		case !ok || t.Status != ledger.Ready && t.Status != ledger.Pending && t.Status != ledger.Active:
			others++
		}
	}
	text += fmt.Sprintf(" · %d of %d", fixed+failed+others, len(w.Batch))
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{fixed, "fixed"}, {failed, "failed"}, {others, "settled without a fix"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) > 0 {
		text += " · " + strings.Join(parts, ", ")
	}
	return text + asideCount(s)
}

// wavesLine sums up the waves of a run that is over: "2 waves · 3 of 4 fixed · set aside
// 4". It returns "" for a run without waves.
func wavesLine(s loop.State) string {
	r := s.Project.Run
	if r == nil || len(r.Waves) == 0 {
		return ""
	}
	fixed, tried := 0, 0
	for _, w := range r.Waves {
		fixed, tried = fixed+len(w.Passed), tried+w.Attempted()
	}
	waves := Plural(r.LastWave, "wave")
	if r.LastWave > len(r.Waves) { // the summaries of older ones are not kept
		waves += fmt.Sprintf(", of the last %d", len(r.Waves))
	}
	return fmt.Sprintf("%s · %d of %d fixed", waves, fixed, tried) + asideCount(s)
}

// asideCount counts the reports that triage has set aside, "" if there is none.
func asideCount(s loop.State) string {
	n := 0
	for _, t := range s.Project.Tasks.All() {
		if t.Aside != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" · set aside %d", n)
}

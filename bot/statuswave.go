package bot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// WaveNow is how far the wave under way is, as in the output of `nightporter status
// --json`: fields are added, never renamed.
type WaveNow struct {
	Wave    int    `json:"wave"`
	Of      int    `json:"of,omitempty"` // waves at most, counted like Wave; 0 = no limit
	Phase   string `json:"phase"`        // sorting, judging (a triager reads) or fixing
	Unclear int    `json:"unclear"`      // reports that the triager reads
	Batch   int    `json:"batch"`        // reports that it takes up; the next ones are of what became of them
	Fixed   int    `json:"fixed"`
	Failed  int    `json:"failed"`
	Others  int    `json:"settled"` // without a fix
	Aside   int    `json:"aside"`   // reports of the inbox that triage has set aside
}

// WaveUnderWay returns how far the wave under way is. ok is false without one.
func WaveUnderWay(s loop.State) (n WaveNow, ok bool) {
	r := s.Project.Run
	if !r.InWaves() || r.Wave == nil {
		return n, false
	}
	w := r.Wave
	n = WaveNow{Wave: w.N, Phase: "fixing", Unclear: len(w.Asked), Batch: len(w.Batch), Aside: asideNow(s)}
	if limit := r.Settings.MaxWaves; limit > 0 { // of those since the last start or resume
		n.Of = max(w.N, w.N+limit-r.WavesNow-1)
	}
	switch {
	case len(w.Asked) > 0:
		n.Phase = "judging"
		return n, true
	case !w.Sorted:
		n.Phase = "sorting"
		return n, true
	}
	for _, id := range w.Batch {
		t, ok := s.Project.Find(id)
		switch {
		case slices.ContainsFunc(w.Commits, func(c loop.WaveCommit) bool { return ledger.SameID(c.Task, id) }):
			n.Fixed++
		case ok && (t.Status == ledger.Blocked || t.Status == ledger.Ready && t.LastFail != "" && t.Attempt == nil && w.HasTried(id)):
			n.Failed++
		case !ok || t.Status != ledger.Ready && t.Status != ledger.Pending && t.Status != ledger.Active:
			n.Others++
		}
	}
	return n, true
}

// waveLine says how far the wave under way is: "wave 2 of at most 5 · 3 of 6 · 2 fixed, 1
// failed · set aside 4". It returns "" without one.
func waveLine(s loop.State) string {
	n, ok := WaveUnderWay(s)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("wave %d", n.Wave)
	if n.Of > 0 {
		text += fmt.Sprintf(" of at most %d", n.Of)
	}
	if n.Phase != "fixing" {
		return text + " · " + waveInHand(s.Project.Run.Wave)
	}
	text += fmt.Sprintf(" · %d of %d", n.Fixed+n.Failed+n.Others, n.Batch)
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{n.Fixed, "fixed"}, {n.Failed, "failed"}, {n.Others, "settled without a fix"}} {
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

// asideNow returns how many reports triage has set aside.
func asideNow(s loop.State) (n int) {
	for _, t := range s.Project.Tasks.All() {
		if t.Aside != "" {
			n++
		}
	}
	return n
}

// asideCount says how many reports triage has set aside, "" for none.
func asideCount(s loop.State) string {
	n := asideNow(s)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" · set aside %d", n)
}

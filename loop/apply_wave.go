package loop

import (
	"cmp"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// wavesKept limits the summaries of waves that a run's state has.
const wavesKept = 50

// applyWave folds an entry about a wave into the run, which the fold owns.
func (r *Run) applyWave(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.RunResumed: // limits count anew
		r.WavesNow, r.EmptyRow, r.NoJudge = 0, 0, ""
	case ledger.WaveBegun:
		r.LastWave, r.Wave = b.Wave, &Wave{N: b.Wave, Began: e.Time}
		return
	case ledger.WaveEnded:
		r.Held = nil
		if r.Wave != nil {
			r.Held = slices.DeleteFunc(slices.Clone(r.Wave.Claimed), func(c ledger.Claimed) bool { return c.How != ledger.ClaimBranch || c.Stale })
		}
		if len(r.Held) == 0 {
			r.Held = nil
		}
		r.Wave = nil
		r.Waves = append(slices.Clip(r.Waves[max(len(r.Waves)+1-wavesKept, 0):]), b)
		if b.Cut != "" {
			return
		}
		r.WavesNow++
		if r.EmptyRow++; len(b.Passed) > 0 {
			r.EmptyRow = 0
		}
		return
	}
	if r.Wave == nil {
		return
	}
	w := *r.Wave
	switch b := e.Body.(type) {
	case ledger.WaveTriaged:
		w.Sorted, w.Kept, w.Aside, w.Claimed, w.Asked = len(b.Asked) == 0, b.Kept, b.Aside, b.Claimed, b.Asked
		for _, id := range b.Batch {
			w.Batch = append(w.Batch, ledger.FoldID(id))
		}
	case ledger.WaveJudged:
		if b.Failed != "" {
			r.NoJudge = b.Failed
			w.Unclear += len(w.Asked)
		}
		w.Asked = nil
		w.Answers++
	case ledger.TaskNext:
		if id := ledger.FoldID(e.Task); w.Sorted && !slices.Contains(w.Batch, id) {
			w.Batch = append([]string{id}, w.Batch...)
		}
	case ledger.SourceMarked:
		if b.Claim == nil {
			return
		}
		c := *b.Claim
		w.Batch = slices.DeleteFunc(slices.Clone(w.Batch), func(id string) bool { return id == ledger.FoldID(e.Task) })
		w.Claimed = append(slices.Clip(w.Claimed), ledger.Claimed{Task: e.Task, By: c.By, How: c.How, Since: c.Since, Last: c.Last})
	case ledger.Commitment:
		if !slices.ContainsFunc(w.Tried, func(id string) bool { return ledger.SameID(id, e.Task) }) {
			w.Tried = append(slices.Clip(w.Tried), e.Task)
		}
	case ledger.TaskCommitted:
		w.Commits = append(slices.Clip(w.Commits), WaveCommit{Task: e.Task, Commit: b.Commit, Branch: r.Base.Branch})
	case ledger.SessionEnded:
		if b.Kind != ledger.KindAgent {
			return
		}
		w.Sessions++
		if b.Exit.CostUSD < 0 {
			w.Unpriced++
		} else {
			w.CostUSD += b.Exit.CostUSD
		}
		if b.Exit.Estimated {
			w.Estimated++
		}
		if b.Exit.Tokens < 0 {
			w.Untold++
		} else {
			w.Tokens += b.Exit.Tokens
		}
	default:
		return
	}
	r.Wave = &w
}

// takenKept limits the fixes of one kind and tier whose time the state has. The last ones
// count: kinds, hats and models change.
const takenKept = 20

// applyTaken folds the end of a fix into what fixes of its kind took.
func (p Project) applyTaken(e ledger.Entry) Project {
	b, is := e.Body.(ledger.Submit)
	at := p.index(e.Task)
	if !is || at < 0 || b.Result != "pass" || b.Commit == "" {
		return p
	}
	t := p.Tasks.At(at)
	if t.Triage == nil || t.WorkedMs == 0 {
		return p
	}
	tier := cmp.Or(t.Triage.Estimate, t.Triage.Tier)
	p.Taken = slices.Clone(p.Taken)
	n := slices.IndexFunc(p.Taken, func(k triage.Taken) bool { return k.Kind == t.Triage.Kind && k.Tier == tier })
	if n < 0 {
		n, p.Taken = len(p.Taken), append(p.Taken, triage.Taken{Kind: t.Triage.Kind, Tier: tier})
	}
	seconds := p.Taken[n].Seconds
	p.Taken[n].Seconds = append(slices.Clip(seconds[max(len(seconds)+1-takenKept, 0):]), float64(t.WorkedMs)/1000)
	return p
}

// triaged folds the verdicts of a triage into the project's reports. Statuses change by
// TaskSet entries.
func (p Project) triaged(b ledger.WaveTriaged) Project {
	for n := range b.Changed {
		at := p.index(b.Changed[n].Task)
		if at < 0 {
			continue
		}
		t := *p.Tasks.At(at)
		t.Triage = &b.Changed[n]
		p.Tasks = p.Tasks.with(at, &t)
	}
	return p
}

// applyAside folds a change of status into what triage says of the task. A report that a
// person brings back is not set aside again.
func (t *TaskState) applyAside(b ledger.TaskSet, e ledger.Entry) {
	if t.Aside != "" && b.To == ledger.Ready && b.By != "" {
		t.Kept = e.Actor
	}
	t.Aside = b.Gate
	if b.To == ledger.Done || b.To == ledger.Blocked || b.To == ledger.Skipped && b.Gate == "" {
		t.Asked = "" // what a person asked for was done, or cannot be
	}
}

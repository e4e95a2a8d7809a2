package loop

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// A run on a source of bug reports works in waves (docs/spec 7.1, docs/decisions/0023):
// the whole inbox is sorted anew, the first few of what is kept are fixed one after the
// other, all of it is pushed, and a summary is told. Then the next wave begins, unless
// nothing is left, two waves in a row had no success, or there were as many as may be.

// Wave is the wave under way.
type Wave struct {
	N       int                  `json:"n"` // within its run, from 1
	Began   time.Time            `json:"began"`
	Sorted  bool                 `json:"sorted,omitempty"`  // triage has answered
	Asked   []ledger.AskedReport `json:"asked,omitempty"`   // reports that a triager's session decides about now
	Answers int                  `json:"answers,omitempty"` // of triagers, or that there is none
	Unclear int                  `json:"unclear,omitempty"` // reports that none could decide about
	Kept    int                  `json:"kept,omitempty"`
	Aside   map[ledger.Gate]int  `json:"aside,omitempty"`
	Batch   []string             `json:"batch,omitempty"` // folded ids of the reports that it takes up, in their order
	Claimed []ledger.Claimed     `json:"claimed,omitempty"`
	Tried   []string             `json:"tried,omitempty"`   // ids as written of reports at which an attempt began or went on
	Commits []WaveCommit         `json:"commits,omitempty"` // made since it began

	Tokens   int64   `json:"tokens,omitempty"`
	CostUSD  float64 `json:"cost_usd,omitempty"`
	Sessions int     `json:"sessions,omitempty"`
	Unpriced int     `json:"unpriced,omitempty"`
	Untold   int     `json:"untold,omitempty"` // sessions whose tokens are unknown

	Estimated int `json:"estimated,omitempty"` // sessions whose cost is estimated, or computed from their tokens
}

// WaveCommit is a commit that was made in a wave.
type WaveCommit struct {
	Task   string `json:"task"` // id as written
	Commit string `json:"commit"`
	Branch string `json:"branch"`
}

// InWaves reports whether the run works in waves. A nil Run does not.
func (r *Run) InWaves() bool { return r != nil && r.Settings.InWaves() && !r.Aside() && !r.Check }

// sorting reports whether the triage of a wave is under way.
func (r *Run) sorting() bool {
	return r != nil && r.Wave != nil && !r.Wave.Sorted && len(r.Wave.Asked) == 0
}

// inWave reports whether the run may take the task up now: in waves, only what the wave
// under way has, and what belongs to the run alone.
func (d *decision) inWave(t *TaskState) bool {
	r := d.run()
	if !r.InWaves() || t.Task.Own {
		return true
	}
	if c, is := d.Project.claimOn(t, d.in.Time); is && !c.Stale { // since the wave was chosen
		return false
	}
	return r.Wave != nil && (r.Wave.place(t.Task.ID) >= 0 || r.Wave.place(t.Task.Parent) >= 0)
}

// place returns the position of a report among those that the wave takes up, or -1.
func (w *Wave) place(id string) int { return slices.Index(w.Batch, ledger.FoldID(id)) }

// HasTried reports whether an attempt at a report began or went on in the wave.
func (w *Wave) HasTried(id string) bool {
	return slices.ContainsFunc(w.Tried, func(t string) bool { return ledger.SameID(t, id) })
}

// stepWave begins a wave, or ends the one that is through. moved says that it did
// something, waits that something has to end first; if neither, there may be a report
// to take up.
func (d *decision) stepWave() (moved, waits bool) {
	r := d.run()
	switch {
	case !r.InWaves() || d.hasTurn():
		return false, false
	case r.Wave == nil:
		return d.nextWave(), false
	case d.standsAtBudget(): // what is left of the wave waits for an answer
		return false, true
	case len(r.Wave.Asked) > 0: // the session's task is gone
		d.judge(scope{}, ledger.WaveJudged{Failed: "its session is gone"})
		return true, false
	case d.publish(): // whoever reads the summary can open the requests
		return false, true
	}
	d.endWave("")
	return true, false
}

// hasTurn reports whether pick has something to do.
func (d *decision) hasTurn() bool {
	for _, t := range d.Project.Tasks.of(setReady) {
		if d.wanted(t) && d.inWave(t) && !d.yields(t) && (!t.Queued() || t.wish() != ledger.MarkOpen) && !d.unfit(t) {
			return true
		}
	}
	_, chosen := d.chosen()
	return chosen
}

// nextWave begins the next wave, or ends the run at a breaker. It reports false if there
// is nothing to begin one for.
func (d *decision) nextWave() bool {
	r, left := d.run(), d.reportsLeft()
	switch {
	case left == 0 && !(r.WavesNow == 0 && d.anyAside()):
		return false
	case r.WavesNow > 0 && len(d.heldBack()) > 0: // another wave would take nothing up, either
		held := d.heldBack()
		d.finish(ledger.RunEnded{Reason: ledger.ReasonNothing, Text: ledger.HeldText(held, d.in.Time), Held: held})
	case r.EmptyRow >= ledger.MaxEmptyWaves:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonEmptyWaves, Text: fmt.Sprintf("%s still to do", reportCount(left))})
	case r.Settings.MaxWaves > 0 && r.WavesNow >= r.Settings.MaxWaves:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonWaves, Text: fmt.Sprintf("%d waves; %s still to do", r.WavesNow, reportCount(left))})
	default:
		n := r.LastWave + 1
		d.add(scope{}, ledger.WaveBegun{Wave: n, Max: r.Settings.MaxWaves, Batch: r.batchSize()})
		d.effect(fmt.Sprintf("%s wave %d", r.ID, n), ledger.EffectTriage{Run: r.ID, Wave: n})
		d.keepWaves()
	}
	return true
}

// keepWaves has the file with the state of the waves written anew.
func (d *decision) keepWaves() {
	d.effect(d.uniqueKey("waves"), ledger.EffectKeepWaves{Run: d.run().ID})
}

// batchSize returns how many reports a wave takes up at most.
func (r *Run) batchSize() int { return cmp.Or(max(r.Settings.Batch, 0), ledger.DefaultBatch) }

// reportsLeft returns how many reports the run could take up in a wave. Parts of one
// count as it.
func (d *decision) reportsLeft() int {
	left := map[string]bool{}
	for _, t := range d.Project.Tasks.of(setReady) {
		if d.wanted(t) && !t.Task.Own {
			left[t.report()] = true
		}
	}
	return len(left)
}

// heldBack returns the reports that are left if others work on all of them, as the inbox
// shows it now and the remote's branches at the last triage; nil otherwise.
func (d *decision) heldBack() (held []ledger.Claimed) {
	r := d.run()
	for _, t := range d.Project.Tasks.of(setReady) {
		if !d.wanted(t) || t.Task.Own {
			continue
		}
		c, is := d.Project.claimOn(t, d.in.Time)
		if !is || c.Stale {
			n := slices.IndexFunc(r.Held, func(c ledger.Claimed) bool { return ledger.SameID(c.Task, t.Task.ID) })
			if n < 0 || t.Attempt != nil || d.Project.asked(t) {
				return nil
			}
			c = r.Held[n]
		}
		held = append(held, c)
	}
	return held
}

// report returns the folded id of the report that the task is, or is a part of.
func (t *TaskState) report() string { return ledger.FoldID(cmp.Or(t.Task.Parent, t.Task.ID)) }

// anyAside reports whether triage has set a report aside that it may keep by now.
func (d *decision) anyAside() bool {
	return d.Project.Tasks.contains(func(t *TaskState) bool { return t.Aside != "" && d.wanted(t) })
}

// reportCount returns a number of reports, for people.
func reportCount(n int) string {
	if n == 1 {
		return "1 report"
	}
	return fmt.Sprintf("%d reports", n)
}

// triaged records what triage says of the inbox, sets reports aside or brings them back,
// and chooses what the wave takes up.
func (d *decision) triaged(b Triaged) {
	r := d.run()
	if r.Over() || r.ID != b.Run || !r.sorting() || r.Wave.N != b.Wave || r.Wave.Answers != b.Answers {
		return
	}
	e := ledger.WaveTriaged{Wave: b.Wave}
	var set []ledger.Triage
	for _, v := range b.Verdicts {
		t, ok := d.task(v.Task)
		if !ok || isPart(t.Task) || len(t.Parts) > 0 && v.Gate != "" || (t.Kept != "" || d.Project.asked(&t)) && v.Gate != "" { // its sections are built, or a person brought it back meanwhile
			continue
		}
		if t.Triage == nil || !sameVerdict(*t.Triage, v) {
			e.Changed = append(e.Changed, v)
		}
		open := (t.Status == ledger.Ready || t.Status == ledger.Pending) && t.Attempt == nil
		switch {
		case v.Kept() && (open || t.Aside != ""):
			e.Kept++
		case !v.Kept() && (open || t.Aside != ""):
			if e.Aside == nil {
				e.Aside = map[ledger.Gate]int{}
			}
			e.Aside[v.Gate]++
		default:
			continue
		}
		if v.Gate != t.Aside {
			set = append(set, v)
		}
	}
	e.Claimed = d.claimed(b.Claimed)
	kept := d.takeable(b.Verdicts, e.Claimed)
	e.Batch = d.waveBatch(kept)
	if e.Asked = d.unclear(kept, e.Batch); len(e.Asked) > 0 {
		e.Batch = nil
	}
	d.add(scope{}, e)
	for _, v := range set {
		if v.Kept() {
			d.changeTask(v.Task, ledger.TaskSet{To: ledger.Ready, Why: "passes triage now"})
		} else {
			d.changeTask(v.Task, ledger.TaskSet{To: ledger.Skipped, Why: cmp.Or(v.Why, "set aside"), Gate: v.Gate})
			d.expireGuidance(v.Task, "its task was set aside")
		}
	}
	if len(e.Asked) > 0 {
		d.addOwn(d.triageTask(e.Asked))
	}
}

// sameVerdict reports whether two verdicts say the same, in whatever words. A score,
// which is never negative, grows with the age of its report: a small change is none.
func sameVerdict(a, b ledger.Triage) bool {
	near := a.Score <= 1.1*b.Score && b.Score <= 1.1*a.Score
	return near && a.Gate == b.Gate && a.Of == b.Of && slices.Equal(a.Open, b.Open) && a.Tier == b.Tier && a.Estimate == b.Estimate && a.Kind == b.Kind && slices.Equal(a.Passes, b.Passes) && a.Session == b.Session && a.Person == b.Person
}

// claimed returns the reports that somebody else works on, of those that could be taken
// up.
func (d *decision) claimed(found []ledger.Claimed) (all []ledger.Claimed) {
	for _, c := range found {
		if t, ok := d.task(c.Task); ok && (t.Status == ledger.Ready || t.Status == ledger.Pending) && t.Attempt == nil && !d.Project.asked(&t) {
			all = append(all, c)
		}
	}
	return all
}

// takeable returns the verdicts on the reports that the wave could take up.
func (d *decision) takeable(verdicts []ledger.Triage, claimed []ledger.Claimed) (kept []ledger.Triage) {
	by := make(map[string]bool, len(claimed))
	for _, c := range claimed {
		by[ledger.FoldID(c.Task)] = !c.Stale
	}
	for _, v := range verdicts {
		t, ok := d.task(v.Task)
		ready := t.Status == ledger.Ready || t.Aside != "" && v.Kept()
		if ok && ready && (v.Kept() || t.Kept != "" || d.Project.asked(&t)) && !by[ledger.FoldID(v.Task)] && d.wanted(&t) && t.wish() == ledger.MarkOpen {
			kept = append(kept, v)
		}
	}
	return kept
}

// waveBatch returns the ids of the reports that the wave takes up: what a person asked
// for next, attempts and plans that were begun, and then by tier and score.
func (d *decision) waveBatch(kept []ledger.Triage) (batch []string) {
	r := d.run()
	add := func(id string) {
		if !slices.ContainsFunc(batch, func(o string) bool { return ledger.SameID(o, id) }) {
			batch = append(batch, id)
		}
	}
	if t, ok := d.chosen(); ok {
		add(t.Task.ID)
	}
	for _, t := range d.Project.Tasks.of(setReady) {
		if t.Asked != "" && !t.Task.Own && d.wanted(t) && len(batch) < r.batchSize() {
			add(cmp.Or(t.Task.Parent, t.Task.ID))
		}
	}
	for _, t := range d.Project.Tasks.of(setReady) {
		if (t.Attempt != nil || t.Task.Parent != "") && !t.Task.Own && d.wanted(t) && len(batch) < r.batchSize() {
			add(cmp.Or(t.Task.Parent, t.Task.ID))
		}
	}
	for _, v := range triage.Batch(kept, r.batchSize()) {
		if len(batch) < r.batchSize() {
			add(v.Task)
		}
	}
	for _, t := range d.Project.Tasks.of(setReady) { // a mark in the source says what becomes of them, at no cost
		if !t.Task.Own && d.wanted(t) && t.wish() != ledger.MarkOpen {
			add(t.Task.ID)
		}
	}
	return batch
}

// endWave ends the wave under way with its summary. cut says why it is not through.
func (d *decision) endWave(cut string) {
	r := d.run()
	w := *r.Wave
	e := ledger.WaveEnded{
		Wave: w.N, Aside: w.Aside, Kept: w.Kept, Left: d.reportsLeft(), Began: w.Began, DurationMs: d.in.Time.Sub(w.Began).Milliseconds(),
		Tokens: w.Tokens, CostUSD: w.CostUSD, Sessions: w.Sessions, Unpriced: w.Unpriced, Untold: w.Untold, Estimated: w.Estimated, Cut: cut,
		Unclear: w.Unclear,
	}
	if w.Unclear > 0 {
		e.NoJudge = r.NoJudge
	}
	if len(w.Asked) > 0 {
		d.restJudge()
	}
	told := map[string]bool{}
	for _, c := range w.Commits {
		key := ledger.FoldID(c.Task)
		if t, ok := d.task(c.Task); !ok || t.Task.Own || t.Task.Parent != "" || told[key] {
			continue
		} else if t.Status != ledger.Done && t.Status != ledger.ManualVerify {
			continue // it was edited meanwhile, or sent back
		}
		told[key] = true
		report := ledger.WaveReport{Task: c.Task, Commit: c.Commit, Branch: c.Branch}
		if q := d.Project.requestWith(c.Task, r.ID); q != nil {
			report.Number, report.URL = q.Number, q.URL
		}
		if why := d.redBranch(c.Branch); why != "" {
			report.Why = why
			e.Failed = append(e.Failed, report)
		} else {
			e.Passed = append(e.Passed, report)
		}
	}
	for _, id := range w.Tried {
		t, ok := d.task(id)
		if key := ledger.FoldID(id); !ok || told[key] || t.Task.Own || t.Task.Parent != "" {
			continue
		}
		if failed := t.Status == ledger.Blocked || t.LastFail != "" && t.Attempt == nil && t.Status == ledger.Ready; failed {
			told[ledger.FoldID(id)] = true
			e.Failed = append(e.Failed, ledger.WaveReport{Task: t.Task.ID, Why: cmp.Or(t.LastFail, t.Why)})
		}
	}
	for _, id := range w.Batch {
		if t, ok := d.task(id); ok && !told[id] && t.Task.Parent == "" {
			told[id] = true
			kind, why := skippedBy(t)
			if c, is := d.Project.claimOn(&t, d.in.Time); is && !c.Stale {
				kind, why = "claimed", c.Text(d.in.Time)
			}
			e.Skipped = append(e.Skipped, ledger.WaveReport{Task: t.Task.ID, Why: why, Kind: kind})
		}
	}
	for _, c := range w.Claimed {
		if key := ledger.FoldID(c.Task); c.Stale {
			e.Stale = append(e.Stale, c)
		} else if !told[key] {
			told[key] = true
			e.Skipped = append(e.Skipped, ledger.WaveReport{Task: c.Task, Why: c.Text(d.in.Time), Kind: "claimed"})
		}
	}
	d.add(scope{}, e)
	d.keepWaves()
}

// redBranch says why the commits of a branch are no success, "" if they are: its tip
// fails verification.
func (d *decision) redBranch(branch string) string {
	if tip, red := d.Project.RedTip(); red && branch == d.run().Base.Branch {
		return reason("the branch fails its checks", tip.String())
	}
	return ""
}

// requestWith returns the request of a run that has a task's commit, nil if there is
// none.
func (p Project) requestWith(task, run string) *ledger.Request {
	for _, b := range p.Requests.Branches {
		if b.Request != nil && (b.Of == run && ledger.SameID(b.Task, task) || b.Of == "" && b.Run == run && slices.Contains(b.Tasks, task)) {
			return b.Request
		}
	}
	return nil
}

// skippedBy says what became of a report that a wave took up and that was neither fixed
// nor failed.
func skippedBy(t TaskState) (kind, why string) {
	switch t.Status {
	case ledger.Done:
		return "done", cmp.Or(t.Why, "nothing had to be changed")
	case ledger.Waiting:
		return "waiting", "waits for " + cmp.Or(t.Question, "an answer")
	case ledger.ManualVerify:
		return "manual", "a person has to look at it"
	case ledger.Skipped:
		return "skipped", cmp.Or(t.Why, "skipped")
	case ledger.Withdrawn:
		return "gone", "it is not in the inbox any more"
	case ledger.Ready, ledger.Active:
		return "left", "not finished; the next wave goes on with it"
	}
	return string(t.Status), cmp.Or(t.Why, string(t.Status))
}

// inWaveOrder sorts tasks as waves take them up: what belongs to the run alone, the
// reports of the wave under way, and then by tier and score.
func (l TaskList) inWaveOrder(tasks iter.Seq2[int, *TaskState], w *Wave) (turns []ranking) {
	rank := func(t *TaskState) (group, place int, score float64) {
		group = 2
		if t.Task.Own {
			return 0, 0, 0
		}
		if w != nil {
			if place = max(w.place(t.Task.ID), w.place(t.Task.Parent)); place >= 0 {
				return 1, place, 0
			}
		}
		if t.Triage == nil {
			return 3, 0, 0
		}
		return group, int(t.Triage.Tier / ledger.TierComplex), t.Triage.Score
	}
	for n := range tasks {
		turns = append(turns, ranking{at: n})
	}
	slices.SortStableFunc(turns, func(a, b ranking) int {
		ga, pa, sa := rank(l.tasks.At(a.at))
		gb, pb, sb := rank(l.tasks.At(b.at))
		return cmp.Or(ga-gb, pa-pb, cmp.Compare(sb, sa), a.at-b.at)
	})
	return turns
}

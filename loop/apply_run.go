package loop

import (
	"cmp"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// applyRun folds an entry into r, which the fold owns, and returns it.
func applyRun(r *Run, e ledger.Entry) *Run {
	r.applyRemake(e)
	r.applyWave(e)
	r.applyWarned(e)
	switch b := e.Body.(type) {
	case ledger.RunResumed:
		r.Settings, r.Hats, r.HatsBad, r.Loaded = b.Settings, nil, "", nil
		r.State, r.Wait, r.WaitAgent, r.Text, r.Signal, r.StopBy, r.StopNow = ledger.RunRunning, "", "", "", "", "", false
		r.Until = time.Time{}
		if r.Started.IsZero() {
			r.State = ledger.RunPlanning
		}
		r.DoneNow, r.Counted, r.Doubted, r.Streak = nil, 0, 0, 0
	case ledger.AgentChosen:
		if h := r.Hats; h != nil {
			r.Hats = &ledger.HatsRead{Pattern: h.Pattern, Hats: r.upcoming().WithAgent(b.Agent).Hats}
		}
		r.Settings = r.Settings.WithAgent(b.Agent)
	case ledger.HatsRead:
		if r.HatsBad = b.Trouble; b.Trouble == "" {
			r.Hats = &b
		}
	case ledger.PreflightDone:
		r.Base, r.Tip, r.TipTree = b.Base, b.Base.Commit, b.Base.Tree
	case ledger.RunStarted:
		r.State, r.Started, r.Baseline, r.Red, r.Origin = ledger.RunRunning, e.Time, b.Baseline, nil, nil
		r.Exempt = exemptOf(b.Exempt, b.Advisory)
		r.Wait, r.WaitAgent, r.Text, r.Until = "", "", "", time.Time{}
		r.Said, r.Retold = b.Outlook, nil
	case ledger.OutlookChanged:
		r.Retold = &RetoldOutlook{Outlook: b.Outlook, At: e.Time}
	case ledger.BatchBegun:
		r.Batches++
		r.Batch = &TaskBatch{ID: b.ID, Onto: b.Onto, Links: b.Links}
	case ledger.BatchChained:
		if r.Batch != nil {
			n := *r.Batch
			n.Links, n.Chained = b.Links, true
			r.Batch = &n
		}
	case ledger.BatchEnded:
		if r.Batch != nil {
			r.Batch, r.Checks = nil, nil
		}
	case ledger.BaselineBroke:
		if r.Batch != nil {
			n := *r.Batch
			n.Excused = true
			r.Batch = &n
		}
		r.Exempt = append(slices.Clip(r.Exempt), exemptOf(b.Exempt, b.Commands)...)
	case ledger.ExemptionsSet:
		r.Exempt = b.Exempt
	case ledger.LoadHeld:
		if r.Loaded = nil; b.Load > 0 {
			r.Loaded = &b
		}
	case ledger.RunStateSet:
		r.Loaded = nil
		r.State, r.Wait, r.Until, r.WaitAgent, r.Text = b.State, b.Wait, b.Until, b.Agent, b.Text
		switch b.State {
		case ledger.RunStopping:
			r.Signal, r.StopBy, r.StopNow = b.Signal, e.Actor, r.StopNow || b.Now
		case ledger.RunRunning:
			r.Signal, r.StopBy, r.StopNow = "", "", false
		}
	case ledger.RunFinishing:
		r.Finishing, r.Drains, r.Loaded = &b.Ending, b.Drains, nil
		if r.Checks != nil && r.Checks.For != "" { // nobody is asked any more
			r.Checks = nil
		}
	case ledger.RunEnded:
		r.State, r.Ended, r.EndedAt, r.Finishing, r.Batch = ledger.RunOver, &b, e.Time, nil, nil
		r.Wait, r.WaitAgent, r.Text, r.Loaded = "", "", "", nil
	case ledger.ChecksBegun:
		if e.Task == "" {
			r.Checks = newChecks(b)
		}
	case ledger.TaskPictured:
		if r.Checks != nil && r.Checks.For != "" {
			r.Checks = nil
		}
	case ledger.Verified:
		if e.Task == "" {
			r.Checks = nil
			if b.Kind == ledger.KindBaseline {
				if !b.OK {
					r.Red = &b
				}
				if b.Tree == r.TipTree {
					r.TipTests = countsOf(b.Results)
				}
				if r.Upkeep != nil && b.OK { // by the commands of a final check
					r.Final, r.FinalTip = &b, r.Base.Commit
				}
			}
			switch {
			case r.Batch != nil && (b.Kind == ledger.KindBatch || b.Kind == ledger.KindRecheck):
				r.Batch = r.Batch.checked(b)
			case b.Kind == ledger.KindRecheck:
				r.Origin = &b
			}
			if b.Kind == ledger.KindFinal {
				r.Final, r.FinalTip = &b, b.Tree
				if b.Tree == r.Tip { // after a batch no task's own check ran on this tree
					r.TipTests = countsOf(b.Results)
				}
			}
		}
	case ledger.SessionPlanned:
		if b.Kind == ledger.KindAgent {
			r.Settings, r.Hats, r.Loaded = r.upcoming(), nil, nil
			r.Agents++
			if r.Settings.IsScripted(b.Agent) {
				r.Scripted++
			}
			r.Counted++
		} else {
			r.Commands++
			if e.Task == "" && r.Checks != nil {
				r.Checks = r.Checks.from(b.Index)
			}
		}
	case ledger.SessionEnded:
		if e.Task == "" && r.Checks != nil {
			r.Checks = r.Checks.result(b, e.Session, func(string) bool { return false })
		}
		if b.Kind == ledger.KindAgent {
			if b.Exit.CostUSD < 0 {
				r.Unpriced++
			} else {
				r.CostUSD += b.Exit.CostUSD
			}
			if b.Exit.Estimated {
				r.Estimated++
			}
			switch b.End {
			case ledger.EndedLimit, ledger.EndedUnusable, ledger.EndedNetwork, ledger.EndedDisk, ledger.EndedMachine, ledger.EndedEarly:
				r.Counted = max(r.Counted-1, 0) // the iteration limit counts work, not waiting
				if b.Exit.Unverified {
					r.Doubted++
				}
			}
		}
	case ledger.TipFound:
		r.TipTests = nil
		r.Tip, r.TipTree = b.Commit, cmp.Or(b.Tree, b.Commit) // earlier releases recorded no tree; git accepts the commit in its place
	case ledger.TaskCommitted:
		r.Tip, r.TipTree = b.Commit, b.Tree
		r.Commits++
		if r.Batch != nil {
			n := *r.Batch
			n.Made = min(n.Made+1, len(n.Links))
			r.Batch = &n
		}
		if len(b.Exempt) > 0 {
			r.Exempted = append(slices.Clip(r.Exempted), e.Task)
		}
	case ledger.TaskSet:
		switch b.To {
		case ledger.Done:
			r.Streak = 0
		case ledger.Blocked:
			if b.From == ledger.Active {
				r.Streak++
			}
		}
	case ledger.TaskNext:
		r.Next = ledger.FoldID(e.Task)
	case ledger.Commitment:
		if r.Next == ledger.FoldID(e.Task) {
			r.Next = ""
		}
	}
	return r
}

// checked returns the batch with the result of a tree of its chain, or of the tip
// under it.
func (b *TaskBatch) checked(v ledger.Verified) *TaskBatch {
	n := *b
	if v.Kind == ledger.KindRecheck {
		n.AtTip = &v
		return &n
	}
	n.Checked = slices.DeleteFunc(slices.Clone(b.Checked), func(o ledger.Verified) bool { return o.Tree == v.Tree })
	n.Checked = append(n.Checked, v)
	return &n
}

// newChecks returns the state of a check that begins.
func newChecks(b ledger.ChecksBegun) *Checks {
	return &Checks{Kind: b.Kind, Tree: b.Tree, Commands: b.Commands, Work: b.Work, Setup: b.Setup, For: b.For}
}

// from returns the check with the command of the given index under way. An
// earlier one than was expected begins again in a new room, which has nothing of
// what the commands before left.
func (c *Checks) from(index int) *Checks {
	if index >= c.Index {
		return c
	}
	n := *c
	index = max(index, 0)
	n.Index, n.Repeat, n.First = index, false, nil
	n.Results = slices.DeleteFunc(slices.Clone(c.Results), func(r ledger.Result) bool { return !r.Setup })
	n.Results = n.Results[:min(index, len(n.Results))]
	return &n
}

// result returns the check after one of its commands ended. A red command is
// repeated once; if it is green the second time, it is flaky (docs/spec 2.3). New
// tests are expected to fail on the start: there a command is repeated only if
// doubted says that it was flaky on the attempt's own tree.
func (c *Checks) result(b ledger.SessionEnded, session string, doubted func(command string) bool) *Checks {
	n := *c
	if c.Index >= len(c.Commands) || b.End == ledger.EndedCut || b.End == ledger.EndedDisk || b.End == ledger.EndedMachine {
		return &n // plan the same command again
	}
	if b.End == ledger.EndedLost && c.Lost == 0 {
		n.Lost++ // the first lost result does not count as red, a second one does
		return &n
	}
	if b.Exit.Cached {
		n.Index = c.Setup // the layer has what all setup commands make
		return &n
	}
	res := ledger.Result{
		Setup: c.Index < c.Setup,
		Run:   c.Commands[c.Index].Run, OK: b.OK, Exit: b.Exit.Code, Ms: b.Exit.Took().Milliseconds(),
		Tail: b.Exit.Tail, Session: session,
	}
	res.Ran, res.Picture = b.Exit.Ran, b.Exit.Picture
	if !b.OK {
		res.Failures, res.Why = b.Exit.Failures, b.Text
	}
	if c.Kind == ledger.KindShot && !res.Setup {
		res.Why = b.Text
		n.Results, n.Index = append(slices.Clip(c.Results), res), c.Index+1
		return &n // a page that does not come is not waited for twice
	}
	if !b.OK && !c.Repeat && (c.Kind != ledger.KindProof || doubted(res.Run)) {
		n.First, n.Repeat = &res, true
		return &n
	}
	res.Flaky = c.Repeat && b.OK
	if c.First != nil {
		res.Flakes = flakes(c.First.Failures, res.Failures)
	}
	n.Results = append(slices.Clip(c.Results), res)
	n.Index, n.Repeat, n.First = c.Index+1, false, nil
	if !b.OK && c.Index < c.Setup {
		n.Index = len(c.Commands) // after a failed setup every other command would fail for the same reason
	}
	return &n
}

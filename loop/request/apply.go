package request

import (
	"cmp"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Apply returns the state after one more entry of the project's stream. It is
// total: an entry about something else leaves the state as it is. It never changes
// s.
func Apply(s State, e ledger.Entry) State {
	switch b := e.Body.(type) {
	case ledger.LiftBegun:
		return s.edit(b.Run, func(of *Branch) { of.lifting(b) })
	case ledger.LiftEnded:
		if n := s.index(b.Run); n >= 0 && s.Branches[n].Lift != nil && s.Branches[n].Lift.Commit == b.Commit {
			return s.edit(b.Run, func(of *Branch) { of.lifted(b.Lifted) })
		}
	case ledger.Verified:
		if b.Kind == ledger.KindLift && e.Task == "" {
			return s.liftChecked(b)
		}
	case ledger.PushBegun:
		return s.edit(b.Run, func(of *Branch) {
			of.Name, of.Source, of.Pushing = b.Branch, b.Source, b.Commit
			of.Of, of.Task, of.On, of.Joint, of.Red, of.With = b.Of, b.Task, b.On, b.Joint, b.Red, b.With
			of.Upkeep.Pushing = b.Contains
		})
	case ledger.BranchPushed:
		return s.edit(b.Run, func(of *Branch) {
			if of.Pushed != b.Commit {
				of.HeadAt = e.Time
			}
			of.Name, of.Pushed, of.Pushing, of.Forge = b.Branch, b.Commit, "", b.Forge
			if of.Stale != b.Commit {
				of.Stale = ""
			}
			if of.Seen != nil && of.Seen.HeadCommit != b.Commit {
				of.Seen = nil // its checks are those of another commit
			}
			of.Upkeep.Did, of.Upkeep.Fetched = of.Upkeep.By != "", ""
			if of.Upkeep.Pushing != "" {
				of.Upkeep.Contains, of.Upkeep.Pushing = of.Upkeep.Pushing, ""
			}
			if of.Forge == "" {
				of.Forge = ledger.ForgePlain
			}
		})
	case ledger.RunPlanned:
		switch {
		case b.Upkeep != nil:
			return s.edit(b.Upkeep.Run, func(of *Branch) { of.Upkeep.begun(b.Run, *b.Upkeep) })
		case e.Actor != "daemon":
			return s.anew()
		}
	case ledger.PreflightDone:
		if of, ok := s.Keeper(e.Run); ok && b.Base.Upkeep != nil {
			return s.edit(of.Run, func(of *Branch) {
				of.Upkeep.taken(*b.Base.Upkeep, e.Time)
				if b.Base.Upkeep.Contained && b.Base.Commit == b.Base.Upkeep.Head {
					of.Upkeep.Contains = b.Base.Upkeep.Into
				}
			})
		}
	case ledger.RunEnded:
		if of, ok := s.Keeper(e.Run); ok {
			return s.edit(of.Run, func(of *Branch) { of.Upkeep.ended(b, e.Time) })
		}
	case ledger.RequestLeft:
		return s.edit(b.Run, func(of *Branch) { of.Upkeep.Left = b.Head })
	case ledger.RequestBegun:
		return s.edit(b.Run, func(of *Branch) {
			of.Begun, of.Asking, of.Written = b.N, b.Print, of.Pushed
			if of.Request == nil && of.Since.IsZero() && e.Time.Year() > 0 { // JSON has no years before 0
				of.Since = e.Time.Add(-slack)
			}
		})
	case ledger.RequestOpened:
		return s.edit(b.Run, func(of *Branch) {
			of.written(b.Request, b.Print, b.Tasks)
			of.HeadAt = e.Time // forges begin checks for a new request, too
		})
	case ledger.RequestEdited:
		return s.edit(b.Run, func(of *Branch) { of.written(b.Request, b.Print, b.Tasks) })
	case ledger.RequestSeen:
		return s.edit(b.Run, func(of *Branch) { of.seen(b, e.Time) })
	case ledger.MergeBegun:
		return s.edit(b.Run, func(of *Branch) { of.Merges, of.Merging = b.N, b.HeadCommit })
	case ledger.MergeEnded:
		return s.edit(b.Run, func(of *Branch) { of.merged(b, e.Time) })
	case ledger.GuidanceQueued:
		if o := b.Item.Origin; o != nil && s.index(o.Run) >= 0 {
			return s.edit(o.Run, func(of *Branch) { of.taken(b.Item) })
		}
	case ledger.GuidanceBound:
		return s.editComments(func(c Comment) bool { return slices.Contains(b.Binding.Bound, c.Item) }, func(c *Comment) { c.Given = true })
	case ledger.GuidanceDropped:
		return s.editComments(func(c Comment) bool { return c.Item == b.ID }, func(c *Comment) { c.Over = true })
	case ledger.GuidanceExpired:
		return s.editComments(func(c Comment) bool { return c.Item == b.ID }, func(c *Comment) { c.Over = true })
	case ledger.GuidanceKept:
		return s.editComments(func(c Comment) bool { return c.Item == b.ID }, func(c *Comment) { c.Given, c.Over = false, false })
	case ledger.GuidanceReported:
		return s.editComments(func(c Comment) bool { return c.Item == b.ID }, func(c *Comment) { c.Task, c.Commit = e.Task, "" })
	case ledger.TaskCommitted:
		return s.editComments(func(c Comment) bool { return c.Task != "" && c.Task == e.Task }, func(c *Comment) { c.Commit = b.Commit })
	case ledger.CommentsSeen:
		return s.edit(b.Run, func(of *Branch) { of.Count = b.Count })
	case ledger.ReplyBegun:
		return s.edit(b.Run, func(of *Branch) { of.replying(b) })
	case ledger.ReplyEnded:
		return s.edit(b.Run, func(of *Branch) { of.replied(b) })
	case ledger.BranchRemade:
		for _, of := range s.Branches {
			if of.Name == b.Branch && of.Pushed+of.Pushing != "" {
				return s.edit(of.Run, func(of *Branch) { of.Stale = cmp.Or(of.Pushing, of.Pushed) })
			}
		}
	case ledger.EffectFailed:
		if b.Fault == "" {
			return s.givenUp(b.Kind, b.Key)
		}
	}
	return s
}

// written folds what a forge says of the branch's request.
func (b *Branch) written(r ledger.Request, text string, tasks []string) {
	b.Request, b.Print, b.Tasks, b.Asking = &r, text, tasks, ""
}

// givenUp returns the state after an effect that is not tried again.
func (s State) givenUp(kind, key string) State {
	for _, b := range s.Branches {
		if b.Replying != "" && kind == (ledger.EffectReply{}).EffectKind() && key == b.Replying {
			return s.edit(b.Run, func(b *Branch) { b.Replying = "" })
		}
		if b.Merging != "" && kind == (ledger.EffectMergeRequest{}).EffectKind() && key == MergeKey(b.Run, b.Merges) {
			return s.edit(b.Run, func(b *Branch) { b.Merging = "" })
		}
		if k, of, ok := b.UnderWay(); ok && k == kind && of == key {
			return s.edit(b.Run, func(b *Branch) {
				if b.Lift != nil && b.Lift.UnderWay {
					b.lifted(ledger.Lifted{Why: "it could not be laid on the base alone"})
					return
				}
				if b.Pushing != "" {
					b.GivenUp, b.Upkeep.Overtaken = b.Pushing, b.Upkeep.Fetched
				}
				b.Pushing, b.Asking = "", ""
			})
		}
	}
	return s
}

// edit returns the state with one branch changed, which is added if it is new.
func (s State) edit(run string, change func(*Branch)) State {
	if run == "" {
		return s
	}
	s.Branches = slices.Clone(s.Branches)
	n := s.index(run)
	if n < 0 {
		n = len(s.Branches)
		s.Branches = append(s.Branches, Branch{Run: run})
	}
	change(&s.Branches[n])
	if len(s.Branches) > kept {
		if old := slices.IndexFunc(s.Branches[:n], func(b Branch) bool { _, _, busy := b.UnderWay(); return !busy && !b.IsOpen() && b.Replying == "" }); old >= 0 {
			s.Branches = slices.Delete(s.Branches, old, old+1)
		}
	}
	return s
}

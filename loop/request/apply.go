package request

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Apply returns the state after one more entry of the project's stream. It is
// total: an entry about something else leaves the state as it is. It never changes
// s.
func Apply(s State, e ledger.Entry) State {
	switch b := e.Body.(type) {
	case ledger.PushBegun:
		return s.edit(b.Run, func(of *Branch) {
			of.Name, of.Source, of.Pushing = b.Branch, b.Source, b.Commit
			of.Upkeep.Pushing = b.Contains
		})
	case ledger.BranchPushed:
		return s.edit(b.Run, func(of *Branch) {
			of.Name, of.Pushed, of.Pushing, of.Forge = b.Branch, b.Commit, "", b.Forge
			if of.Seen != nil && of.Seen.HeadCommit != b.Commit {
				of.Seen = nil // its checks are those of another commit
			}
			of.Upkeep.Did = of.Upkeep.By != ""
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
		return s.edit(b.Run, func(of *Branch) { of.Begun, of.Asking, of.Written = b.N, b.Print, of.Pushed })
	case ledger.RequestOpened:
		return s.edit(b.Run, func(of *Branch) { of.written(b.Request, b.Print, b.Tasks) })
	case ledger.RequestEdited:
		return s.edit(b.Run, func(of *Branch) { of.written(b.Request, b.Print, b.Tasks) })
	case ledger.RequestSeen:
		return s.edit(b.Run, func(of *Branch) { of.seen(b, e.Time) })
	case ledger.MergeBegun:
		return s.edit(b.Run, func(of *Branch) { of.Merges, of.Merging = b.N, b.HeadCommit })
	case ledger.MergeEnded:
		return s.edit(b.Run, func(of *Branch) { of.merged(b) })
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
		if b.Merging != "" && kind == (ledger.EffectMergeRequest{}).EffectKind() && key == MergeKey(b.Run, b.Merges) {
			return s.edit(b.Run, func(b *Branch) { b.Merging = "" })
		}
		if k, of, ok := b.UnderWay(); ok && k == kind && of == key {
			return s.edit(b.Run, func(b *Branch) {
				if b.Pushing != "" {
					b.GivenUp = b.Pushing
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
		if old := slices.IndexFunc(s.Branches[:n], func(b Branch) bool { _, _, busy := b.UnderWay(); return !busy && !b.IsOpen() }); old >= 0 {
			s.Branches = slices.Delete(s.Branches, old, old+1)
		}
	}
	return s
}

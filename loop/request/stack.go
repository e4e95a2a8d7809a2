package request

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A run can have a branch and a request for each of its tasks instead of one for all
// (docs/decisions/0021). Each stands on the one before, in the order of the commits,
// because that is what was verified: a task's tree has the changes of all before it.
// Those of bug reports are verified once more, and stand apart (lift.go).

// Stack returns the branches of a run's tasks, the lowest first.
func (s State) Stack(run string) []Branch {
	return slices.DeleteFunc(slices.Clone(s.Branches), func(b Branch) bool { return b.Of == "" || b.Of != run })
}

// Busy returns the branch of a run or of its stack for which an effect is being
// carried out, and whether there is one.
func (s State) Busy(run string) (Branch, bool) {
	n := slices.IndexFunc(s.Branches, func(b Branch) bool {
		_, _, busy := b.UnderWay()
		return busy && (b.Run == run || b.Of == run)
	})
	if n < 0 {
		return Branch{}, false
	}
	return s.Branches[n], true
}

// Last returns the branch with all of a run's commits that were pushed: its own, or
// the topmost of its stack; of branches that stand apart the newest, which has its own.
func (s State) Last(run string) Branch {
	if all := s.Stack(run); len(all) > 0 {
		return all[len(all)-1]
	}
	return s.Branch(run)
}

// First returns the branch of a run that can be merged next: its own, or of its tasks'
// branches the first that is open, stands on no other one and has its change. Where none is open it is
// Last.
func (s State) First(run string) Branch {
	all := s.Stack(run)
	if n := slices.IndexFunc(all, func(b Branch) bool { return b.IsOpen() && s.Blocked(b) == nil && !b.TakenBack() }); n >= 0 {
		return all[n]
	}
	if n := slices.IndexFunc(all, Branch.IsOpen); n >= 0 {
		return all[n]
	}
	return s.Last(run)
}

// named returns the branch with a name on the remote.
func (s State) named(name string) (Branch, bool) {
	n := slices.IndexFunc(s.Branches, func(b Branch) bool { return name != "" && b.Name == name && b.Pushed != "" })
	if n < 0 {
		return Branch{}, false
	}
	return s.Branches[n], true
}

// BaseOf returns the branch that a branch's request asks to be merged into: the nearest
// below that the remote has, and once that one's request is merged what it was merged into.
// "" is the project's own base.
func (s State) BaseOf(b Branch) string {
	on, ok := s.Branch(b.On), b.On != ""
	for range s.Branches { // each step goes down
		if !ok || on.Name == "" {
			return ""
		}
		if on.Pushed == "" { // its push was given up: the remote lacks it, and b has its commits
			on, ok = s.Branch(on.On), on.On != ""
			continue
		}
		if on.Request == nil || on.Request.State != ledger.RequestMerged {
			return on.Name
		}
		base := on.Request.Base
		if on, ok = s.named(base); !ok {
			return base
		}
	}
	return ""
}

// Carrier returns the branch that the request of b asks to be merged into, if that is
// one of ours with a request.
func (s State) Carrier(b Branch) (Branch, bool) {
	base := s.BaseOf(b)
	if b.Request != nil {
		base = b.Request.Base // somebody may have changed it
	}
	on, ok := s.named(base)
	return on, ok && on.Request != nil
}

// lowest returns the branch on which b stands, as far down as requests are open.
func (s State) lowest(b Branch) Branch {
	for range s.Branches {
		on, ok := s.Carrier(b)
		if !ok || !on.IsOpen() {
			break
		}
		b = on
	}
	return b
}

// Above returns the branches whose requests are open and ask to be merged into a
// branch, oldest first.
func (s State) Above(b Branch) []Branch {
	return slices.DeleteFunc(s.Open(), func(o Branch) bool { return b.Name == "" || o.Request.Base != b.Name })
}

// StoodOnMerged reports whether a request still asks to be merged into a branch of
// ours whose own request is merged.
func (s State) StoodOnMerged(b Branch) bool {
	on, ok := s.Carrier(b)
	return ok && on.Request.State == ledger.RequestMerged
}

// IsKept reports whether anything may be added to the branch by itself: not to one of a
// stack, because those above it would lack that, nor after a person stopped it.
func (b Branch) IsKept() bool { return b.Of == "" && !b.Upkeep.Stopped }

// Blocked returns why a request cannot be merged before another one of ours; nil if
// it stands on none.
func (s State) Blocked(b Branch) *ledger.ForgeError {
	on, ok := s.Carrier(b)
	if !ok {
		return nil
	}
	refuse := func(why, remedy string) *ledger.ForgeError {
		return &ledger.ForgeError{Failure: ledger.ForgeProtected, Text: fmt.Sprintf("it stands on PR %d, which %s", on.Request.Number, why), Remedy: remedy}
	}
	switch on.Request.State {
	case ledger.RequestMerged:
		return refuse("is merged: its base is being changed", "Try again in a moment")
	case ledger.RequestClosed:
		return refuse("somebody closed", "Open that one again, or give this one another base, on the forge")
	}
	return refuse("is open", "Merge that one first")
}

// OnOurs returns why a request is not merged that asks for a merge into a branch of
// nightporter's own; nil if it asks for another one. It needs no State.
func OnOurs(r ledger.Request) *ledger.ForgeError {
	if dir := path.Dir(r.Base); !strings.HasPrefix(dir, "nightporter/") || dir != path.Dir(r.Head) {
		return nil
	}
	return &ledger.ForgeError{Failure: ledger.ForgeProtected, Text: "it stands on " + r.Base + ", whose request is not merged", Remedy: "Merge that one first"}
}

// Slug returns a task's id as the end of a branch's name: "Task 5" gives "5".
func Slug(task string) string {
	word := strings.TrimPrefix(ledger.ShortID(task), "#")
	word = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, word)
	for strings.Contains(word, "--") {
		word = strings.ReplaceAll(word, "--", "-")
	}
	if word = strings.Trim(word[:min(len(word), maxSlug)], "-"); word == "" {
		return "task"
	}
	return word
}

// maxSlug limits the part of a branch's name that a task's id gives, in bytes.
const maxSlug = 40

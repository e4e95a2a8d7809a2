package request

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Refusal returns why a request is not merged as it stands, and what a person has
// to do; nil if it can be merged. Where the forge has not worked out whether it can,
// the merge itself finds out. kept says that nightporter keeps the request green
// (docs/spec 9.4): a base that has moved is no work for a person then.
func Refusal(s ledger.RequestStanding, kept bool) *ledger.ForgeError {
	refuse := func(failure ledger.ForgeFailure, text, remedy string) *ledger.ForgeError {
		return &ledger.ForgeError{Failure: failure, Text: text, Remedy: remedy}
	}
	switch {
	case s.State == ledger.RequestMerged:
		return refuse(ledger.ForgeRefused, "it is merged already", "")
	case s.State == ledger.RequestClosed:
		return refuse(ledger.ForgeRefused, "somebody closed it", "Open it again on the forge")
	case s.Base == "":
		return refuse(ledger.ForgeMissing, "its base branch is gone", "Give it another base on the forge")
	case s.Draft:
		return refuse(ledger.ForgeProtected, "it is a draft", "Mark it as ready on the forge")
	case s.Failing > 0:
		return refuse(ledger.ForgeProtected, "checks fail: "+failedNames(s), "")
	case s.Pending > 0:
		return refuse(ledger.ForgeProtected, fmt.Sprintf("%d of %d checks pending", s.Pending, s.Checks()), "Wait for them")
	case s.Mergeable == ledger.MergeableBehind:
		return refuse(ledger.ForgeProtected, s.Base+" has moved", baseRemedy(s.Base, kept))
	case s.Mergeable == ledger.MergeableConflict:
		return refuse(ledger.ForgeProtected, "it conflicts with "+s.Base, baseRemedy(s.Base, kept))
	case s.Mergeable == ledger.MergeableBlocked:
		return refuse(ledger.ForgeProtected, "a review or a check is missing that "+s.Base+" requires", "Open it on the forge, which names it")
	case !s.ChecksDue.IsZero():
		return &ledger.ForgeError{Failure: ledger.ForgeEarly, Text: "its checks have not begun yet", RetryAt: s.ChecksDue}
	}
	return nil
}

// IsEarly reports whether a request could be merged, but for checks that may still
// begin.
func IsEarly(s ledger.RequestStanding) bool {
	why := Refusal(s, false)
	return why != nil && why.Failure == ledger.ForgeEarly
}

// baseRemedy says who merges a base that has moved into a request, and when.
func baseRemedy(base string, kept bool) string {
	if !kept {
		return "Merge " + base + " into it first"
	}
	return "nightporter merges it in and verifies that by itself, once no run works, at most every ten minutes. Ask again then"
}

// failedNames names the checks that failed: "lint, test and 3 more".
func failedNames(s ledger.RequestStanding) string {
	out := strings.Join(s.Failed, ", ")
	if more := s.Failing - len(s.Failed); more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// MergeKey returns the key of the nth merge of a run's request.
func MergeKey(run string, n int) string { return fmt.Sprintf("%s merge %d", run, n) }

// Merge returns the entry and the effect that merge the branch's request with a
// head; ok is false if it is not open or its merge is under way.
func (b Branch) Merge(m ledger.MergeAsked, by string) (e ledger.MergeBegun, effect ledger.EffectMergeRequest, ok bool) {
	if b.Merging != "" || !b.IsOpen() || b.Request.Number != m.Number {
		return e, effect, false
	}
	return ledger.MergeBegun{Run: b.Run, N: b.Merges + 1, Number: m.Number, HeadCommit: m.HeadCommit, By: by},
		ledger.EffectMergeRequest{Run: b.Run, Merge: m}, true
}

// MergesEnded returns how many merges of the branch's request have ended, in any way.
func (b Branch) MergesEnded() int {
	if b.Merging != "" {
		return b.Merges - 1
	}
	return b.Merges
}

// merged folds what became of a merge.
func (b *Branch) merged(e ledger.MergeEnded, at time.Time) {
	b.Merging = ""
	if e.Failure != "" || b.Request == nil || b.Request.Number != e.Request.Number {
		return
	}
	b.Request, b.Queued, b.InQueue = &e.Request, e.Request.State == ledger.RequestOpen, at
	if b.Seen != nil {
		seen := *b.Seen
		seen.State, seen.MergeCommit = e.Request.State, e.Request.MergeCommit
		b.Seen = &seen
	}
}

// Numbered returns the branch whose request has a number, or with 0 the newest one
// with an open request; of a stack the lowest of these, because it is merged first.
func (s State) Numbered(number int) (Branch, bool) {
	for n := len(s.Branches) - 1; n >= 0; n-- {
		b := s.Branches[n]
		if number == 0 && b.IsOpen() && b.Of != "" {
			return s.lowest(s.First(b.Of)), true
		}
		if number == 0 && b.IsOpen() || number != 0 && b.Request != nil && b.Request.Number == number {
			return b, true
		}
	}
	return Branch{}, false
}

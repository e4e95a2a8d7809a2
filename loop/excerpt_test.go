package loop

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestExcerptOf checks what the question about a blocked task quotes of the programs in
// its attempt: nothing that was mended, and nothing of a session that reported.
func TestExcerptOf(t *testing.T) {
	red := ledger.Verified{Kind: ledger.KindVerify, Results: []ledger.Result{
		{Run: "lint", Exit: 2, Advisory: true, Tail: "advice"}, {Run: "npm test", Exit: 1, Tail: "one\ntwo\nthree\nfour\n"},
	}}
	refused := ledger.EventRefused{Type: "build.complete", Why: "files_modified names cart.go, which did not change"}
	silent := ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedSilent, Counts: ledger.CountsAsFailed, Exit: ledger.Exit{Said: "I need a key."}}
	reported := ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Counts: ledger.CountsAsSuccess, Exit: ledger.Exit{Said: "Done."}}
	for _, c := range []struct {
		name   string
		bodies []ledger.Body
		want   *ledger.FailureExcerpt
	}{
		{"nothing", nil, nil},
		{"red", []ledger.Body{red}, &ledger.FailureExcerpt{Run: "npm test", Exit: 1, Output: "two\nthree\nfour"}},
		{"mended", []ledger.Body{red, ledger.Verified{Kind: ledger.KindVerify, OK: true}}, nil},
		{"refused", []ledger.Body{refused, silent}, &ledger.FailureExcerpt{Event: refused.Type, Refused: refused.Why, Hat: "builder", Said: "I need a key."}},
		{"accepted after all", []ledger.Body{refused, ledger.EventAccepted{Type: "build.complete"}, reported}, nil},
	} {
		w := &Attempt{Hat: "builder", Session: "r1-1", Stage: ledger.StageSession}
		for _, b := range c.bodies {
			w = applyWork(w, &TaskState{}, &Run{}, ledger.Entry{Session: "r1-1", Body: b})
		}
		if diff := cmp.Diff(c.want, ExcerptOf(w)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
	if ExcerptOf(nil) != nil {
		t.Error("of no attempt")
	}
}

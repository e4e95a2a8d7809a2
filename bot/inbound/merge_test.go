package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestMergeRole lets nobody but an admin ask for a merge or confirm one, by typing or
// pressing, with or without an id.
func TestMergeRole(t *testing.T) {
	question := ledger.Question{Kind: ledger.AskMerge, Text: "merge PR 48 into main?", Merge: &ledger.MergeAsked{Number: 48, HeadCommit: "c1"}, Expires: evening.Add(3 * time.Hour)}
	for _, line := range []string{"/merge", "/merge 48", "q9 merge", "q9 m", "q9 cancel", "/approve", "/approve q9", "/reject q9", "/answer q9 merge", "shop: q9 merge"} {
		for _, who := range []string{ana, ben} {
			w := asking(t, question)
			w.private(who, line)
			if m := w.newest(who).m; m.Key != "cmd.forbidden" || w.entries("question.answered") != 0 || w.entries("merge.begun") != 0 || w.entries("command.refused") != 1 {
				t.Errorf("%s %s: %q, %d answers, %d refusals recorded", who, line, m.First(), w.entries("question.answered"), w.entries("command.refused"))
			}
		}
	}
	w := asking(t, question)
	w.private(mira, "q9")
	shown := w.newest(mira)
	w.press(ana, mira, shown, "Merge")
	if last := w.toasts[len(w.toasts)-1]; !strings.Contains(last, "Ana, your role is steer") || w.entries("question.answered") > 0 {
		t.Errorf("Ana's press: %s", last)
	}
	w.press(mira, mira, shown, "Merge")
	if w.entries("question.answered") != 1 {
		t.Errorf("Mira's press: %q", w.newest(mira).m.First())
	}
}

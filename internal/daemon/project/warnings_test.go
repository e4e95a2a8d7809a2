package project

import (
	"slices"
	"testing"
)

// TestWarningsOf: one mistake in a plan, which the project's state and the reading of
// its source both report, is one line.
func TestWarningsOf(t *testing.T) {
	var w Warnings
	w.Warn("shop", AboutSource, "! shop: plan.md:2")
	if got := w.WarningsOf("shop"); !slices.Equal(got, []string{"! shop: plan.md:2"}) {
		t.Errorf("%q", got)
	}
	w.Warn("shop", AboutProject, "! shop: plan.md:2. Looked at again by itself")
	w.Warn("", AboutDisk, "! the disk fills up")
	want := []string{"! the disk fills up", "! shop: plan.md:2. Looked at again by itself"}
	if got := w.WarningsOf("shop"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	w.Warn("shop", AboutProject, "")
	if got := w.WarningsOf("shop"); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

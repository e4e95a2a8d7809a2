package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/programtest"
)

// morning is a phone after a night, with a GitHub.
type morning struct {
	phoneFixture
	forge *programtest.Forge
	taps  int
}

// newMorning plays a night of four tasks, whose branch was pushed and whose request
// is green.
func newMorning(t *testing.T) *morning {
	t.Helper()
	n := &morning{phoneFixture: newPhone(t, "# Plan\n\n- [ ] **Task 1: Extract price rules**\n- [ ] **Task 2: Refund flow**\n- [ ] **Task 3: Address form**\n- [ ] **Task 4: Order emails**\n", `pattern = "single"`)}
	n.forge = programtest.NewForge(n.TwoTasks, "")
	n.forge.Check = "test"
	n.up("")
	n.pair()
	n.phone.Say(reader, reader.ID, "/run")
	n.press("Start", "? Start shop?")
	n.shown("✓ shop 4/4 done, r1 ended")
	n.check("success")
	n.shown("✓ shop PR 1, checks pass")
	return n
}

// tap is a press that a person needs on the way, and what they read before it.
func (n *morning) tap(label string, texts ...string) {
	n.T.Helper()
	n.read(n.press(label, texts...))
	n.taps++
	fmt.Fprintf(n.story, "── %d: [%s]\n\n", n.taps, label)
}

// check ends the forge's check of the tip of the branch.
func (n *morning) check(conclusion string) {
	n.forge.Run(n.forge.Tip("nightporter/shop/r1"), "test", "completed", conclusion, "")
}

// request returns the only request.
func (n *morning) request() github.Shown {
	n.T.Helper()
	all := n.forge.Pulls()
	if len(all) != 1 {
		n.T.Fatalf("%d requests", len(all))
	}
	return all[0]
}

// TestMorning: from the digest to a merged request of the tasks that are kept, with
// six taps and no typed word. One of four tasks is dropped; it is not merged.
func TestMorning(t *testing.T) {
	t.Parallel()
	n := newMorning(t)
	n.phone.Say(reader, reader.ID, "/digest") // by itself at its time

	n.tap("Each task", "4/4 done", "Ledger")
	n.tap("#3", "shop r1 · 4 tasks")
	n.tap("Revert", "#3 Address form", "3 of 4")
	n.tap("Take out", "? Take #3 out of r1?")
	n.read(n.shown("shop r1 is green", "1 of 1 checks pending"))
	n.check("success")
	n.tap("Merge", "shop r1 is green", "PR 1, checks pass")
	n.tap("Merge", "Merge PR 1 into main?")
	n.read(n.shown("✓ shop PR 1 merged into main"))

	golden.Compare(t, "morning.txt", n.story.String())
	if n.taps > 6 {
		t.Errorf("%d taps", n.taps)
	}
	r := n.request()
	if !r.Merged || !strings.Contains(r.Body, "`Task 3` Address form: skipped, reverted, by Mira") {
		t.Errorf("the request is %s:\n%s", r.State, r.Body)
	}
	files := n.Out("git", "-C", "forge/acme/shop.git", "ls-tree", "--name-only", "nightporter/shop/r1", "src/")
	if files != "src/a.txt\nsrc/task1.txt\nsrc/task2.txt\nsrc/task4.txt\n" {
		t.Errorf("what was merged has\n%s", files)
	}
	if pushes := n.forge.Pushes.Load(); pushes != 2 {
		t.Errorf("%d pushes", pushes)
	}
	if m := n.shown("shop r1 is green", "PR 1, merged"); strings.Contains(strings.Join(m.Labels(), " "), "Merge") {
		t.Errorf("it is offered again: %s", m.Text)
	}
}

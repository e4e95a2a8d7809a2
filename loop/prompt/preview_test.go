package prompt

import (
	"bytes"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPreview: the prompt of a previewed session is the one that is sent.
func TestPreview(t *testing.T) {
	planned := func(n *scenario.Night) { // the planner has sent its event and is still at work
		person(n, "/guidance Wrap the code")
		s, _ := agent(n)
		n.Do(loop.Input{Key: "emit", Actor: "agent", Body: loop.Emit{Session: s.ID, Type: plan.Type, Data: []byte(plan.Data)}})
	}
	ended := func(n *scenario.Night) {
		s, _ := agent(n)
		n.Do(loop.Input{Body: loop.SessionExited{Exit: ledger.Exit{Session: s.ID, Reason: ledger.ExitSelf, Started: n.Now, Ended: n.Now}}})
	}
	resumed := func(n *scenario.Night) { person(n, "/resume") }
	for _, c := range []struct {
		name, hat string
		script    []scenario.Act
		then      func(*scenario.Night) // after the script; may be nil
		next      func(*scenario.Night) // after the preview: leads to the session that was previewed
	}{
		{name: "builder while the planner is at work", hat: "builder", then: planned, next: ended},
		{name: "the same hat again", hat: "builder", script: acts(plan, typed(silent, "/pause")), next: resumed},
		{name: "after a parked attempt", script: acts(plan, typed(build, "/pause")), next: resumed},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(nil)
			play(n, c.script...)
			if c.then != nil {
				c.then(n)
			}
			given := encode(t, n.State)
			s, session, err := loop.Preview(n.State, "Task 1", c.hat)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Build(s, session, material)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encode(t, n.State), given) {
				t.Error("the preview changed the state")
			}
			c.next(n)
			play(n)
			if got := next(t, n); got != session {
				t.Errorf("previewed %s, and it was %s", session, got)
			}
			got, err := Build(n.State, session, material)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want.Text, got.Text); diff != "" {
				t.Errorf("(-previewed +sent)\n%s", diff)
			}
		})
	}
}

// TestPreviewOfNextTask: a task whose turn has not come has a prompt, too.
func TestPreviewOfNextTask(t *testing.T) {
	n, _ := before(t, plan, build)
	s, session, err := loop.Preview(n.State, "Task 2", "planner")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build(s, session, material)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(p.Parts[1].Text, "Task 2: ") || !strings.HasPrefix(p.Text, "## Role\n\nYou are the planner.") {
		t.Error(p.Text)
	}
}

// TestPreviewOfNoRun: settings, source and commit are enough.
func TestPreviewOfNoRun(t *testing.T) {
	var s loop.State
	s.Project.Name = "shop"
	set := settings(scenario.New("shop", time.Time{}))
	s = loop.PreviewRun(s, set, ledger.Snapshot{Name: "checkout", Path: "checkout.md", Tasks: tasks()}, ledger.Base{Commit: "c0", Tree: "c0"})
	s.Project.Guidance = s.Project.Guidance.Add(guidance.Item{ID: "g1", Text: "Wrap the code"})
	s, session, err := loop.Preview(s, "1", "@Builder")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build(s, session, material)
	if err != nil {
		t.Fatal(err)
	}
	needs, ok := Needs(s, session)
	if !ok || needs.Rev != "c0" || needs.From != "" {
		t.Errorf("needs %+v", needs)
	}
	for _, want := range []string{"You are the builder.", "Task 1: Extract the price rules", "- g1: Wrap the code", "Task 1 of 2 (0 done), attempt 1.", `"guidance":[{"id":"g1"`} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
}

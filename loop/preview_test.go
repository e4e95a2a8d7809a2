package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/guidance"
)

// TestPreviewIsTheNextPrompt: what is shown beforehand is what is sent.
func TestPreviewIsTheNextPrompt(t *testing.T) {
	for _, c := range []struct {
		name, hat, next string // next is played after the preview, up to the session that was previewed
		script          []string
	}{
		{name: "first session of the next task", hat: "planner", next: "ok", script: []string{"go quiet", "plan", "build", "green", "hold commit"}},
		{name: "builder while the planner is at work", hat: "builder", next: "exit", script: []string{"go quiet", "/guidance Wrap the code", `emit plan.complete {"summary":"the plan","steps":["one","two"]}`}},
		{name: "the same hat again", hat: "builder", script: []string{"go quiet", "plan", "/pause", "exit silent"}, next: "/resume"},
		{name: "after a parked attempt", script: []string{"go quiet", "plan", "/pause", "build", "green"}, next: "/resume"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := promptNight(t, c.script...)
			task := "Task 1"
			if c.next == "ok" {
				task = "Task 2"
			}
			s, session, err := Preview(d.s, task, c.hat)
			if err != nil {
				t.Fatal(err)
			}
			before := mustJSON(t, d.s)
			want, err := BuildPrompt(s, session, promptMaterial)
			if err != nil {
				t.Fatal(err)
			}
			if mustJSON(t, d.s) != before {
				t.Error("the preview changed the state")
			}
			if task == "Task 2" { // it is not its turn yet: that of Task 1 is another prompt
				if !strings.HasPrefix(want.Parts[1].Text, "Task 2: ") || want.Parts[0].Text != d.settings.Hats["planner"].Prompt {
					t.Errorf("%s", want.Text)
				}
				return
			}
			d.play(c.next)
			got, err := BuildPrompt(d.s, d.session().ID, promptMaterial)
			if err != nil {
				t.Fatal(err)
			}
			if d.session().ID != session {
				t.Errorf("previewed %s, and it was %s", session, d.session().ID)
			}
			if diff := gocmp.Diff(want.Text, got.Text); diff != "" {
				t.Errorf("(-previewed +sent)\n%s", diff)
			}
		})
	}
}

// TestPreviewOfNoRun: settings, source and commit are enough.
func TestPreviewOfNoRun(t *testing.T) {
	d := promptNight(t)
	var s State
	s.Project.Name = "shop"
	s = PreviewRun(s, d.settings, d.plan, ledger.Base{Commit: "c0", Tree: "c0"})
	s.Project.Guidance = s.Project.Guidance.Add(guidance.Item{ID: "g1", Text: "Wrap the code"})
	s, session, err := Preview(s, "1", "@Builder")
	if err != nil {
		t.Fatal(err)
	}
	p, err := BuildPrompt(s, session, promptMaterial)
	if err != nil {
		t.Fatal(err)
	}
	needs, ok := PromptNeeds(s, session)
	if !ok || needs.Rev != "c0" || needs.From != "" {
		t.Errorf("needs %+v", needs)
	}
	for _, want := range []string{"You are the builder.", "Task 1: Extract the price rules", "- g1: Wrap the code", "Task 1 of 2 (0 done), attempt 1.", `"guidance":[{"id":"g1"`} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
}

func TestPreviewRefuses(t *testing.T) {
	d := promptNight(t, "go quiet")
	for _, c := range []struct{ task, hat, want string }{
		{"Task 7", "builder", `shop has no task "Task 7"; it has Task 1, Task 2`},
		{"Task 1", "bulder", `there is no hat "bulder"; there are architect, builder, critic, fixer, planner, refactorer, reproducer, reviewer, verifier, writer`},
	} {
		if _, _, err := Preview(d.s, c.task, c.hat); err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v, want %s", c.task, c.hat, err, c.want)
		}
	}
	if _, _, err := Preview(State{}, "Task 1", ""); err == nil {
		t.Error("there is a prompt without a run")
	}
}

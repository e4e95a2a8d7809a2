package markdown

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

func TestPlanAdd(t *testing.T) {
	one := []ledger.Task{{Title: "Zoom on a tap"}}
	for _, c := range []struct {
		name, in string
		tasks    []ledger.Task
		want     string
	}{
		{"behind the last", "# P\n\n- [x] **Task 1: A**\n  - Scope: `a/`\n\n## Notes\n", one, "# P\n\n- [x] **Task 1: A**\n  - Scope: `a/`\n- [ ] **Task 2: Zoom on a tap**\n\n## Notes\n"},
		{"without a line end", "* [ ] **Task 7b: A**", one, "* [ ] **Task 7b: A**\n* [ ] **Task 8: Zoom on a tap**\n"},
		{"CRLF", "- [ ] **Task 1: A**\r\n", one, "- [ ] **Task 1: A**\r\n- [ ] **Task 2: Zoom on a tap**\r\n"},
		{"the highest number counts", "- [ ] **Task 9: A**\n- [ ] **Task 2: B**\n", one, "- [ ] **Task 9: A**\n- [ ] **Task 2: B**\n- [ ] **Task 10: Zoom on a tap**\n"},
		{"every field", "- [ ] **Task 1: A**\n", []ledger.Task{{
			Title: "B", Scope: "`a/`", DependsOn: []string{"Task 1"}, Acceptance: []string{"it works", "it is fast"}, Priority: 4, Complexity: 3, Body: "First.\n\nSecond.",
		}}, "- [ ] **Task 1: A**\n- [ ] **Task 2: B**\n  - Scope: `a/`\n  - Depends on: Task 1\n  - Priority: P0\n  - Complexity: 3\n  - Acceptance:\n    - it works\n    - it is fast\n  - Notes: First.\n\n    Second.\n"},
		{"words that mean something", "- [ ] **Task 1: A**\n", []ledger.Task{{Title: "Use **bold** (blocked)"}}, "- [ ] **Task 1: A**\n- [ ] **Task 2: Use bold blocked**\n"},
		{"notes that would be a task", "- [ ] **Task 1: A**\n", []ledger.Task{{Title: "B", Body: "See\n- [ ] **Task 1: A**\n```"}}, "- [ ] **Task 1: A**\n- [ ] **Task 2: B**\n  - Notes: See - Task 1: A '''\n"},
	} {
		got, ids, err := Plan{}.Add("p.md", []byte(c.in), c.tasks)
		if d := cmp.Diff(c.want, string(got)); d != "" || err != nil || len(ids) != 1 {
			t.Errorf("%s: %v %v\n%s", c.name, ids, err, d)
		}
	}
	for name, task := range map[string]ledger.Task{
		"an id that is there":   {ID: "task  1", Title: "B"},
		"an id of another form": {ID: "T7", Title: "B"},
		"an unknown dependency": {Title: "B", DependsOn: []string{"Task 5"}},
	} {
		if _, _, err := (Plan{}).Add("p.md", []byte("- [ ] **Task 1: A**\n"), []ledger.Task{task}); !errors.As(err, new(*ledger.InputError)) {
			t.Errorf("%s: got %v, want an InputError", name, err)
		}
	}
}

// TestPlanAddChangesNothingElse: whatever the words, the plan is refused or has one
// more task, and all other bytes are as they were.
func TestPlanAddChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.SampledFrom(formtest.Plans).Draw(rt, "plan")
		before, err := ParsePlan("p.md", []byte(in))
		if err != nil {
			rt.Skip("no plan")
		}
		title := strings.TrimSpace(rapid.StringMatching("[ -~äß“]{1,60}").Draw(rt, "title"))
		if ledger.TitleKey(title) == title {
			title += "x"
		}
		grown, ids, err := Plan{}.Add("p.md", []byte(in), []ledger.Task{{Title: title, Body: rapid.StringMatching("([ -~]{0,30}\n){0,4}").Draw(rt, "notes")}})
		if err != nil {
			return
		}
		after, err := ParsePlan("p.md", grown)
		if err != nil || len(after.Tasks) != len(before.Tasks)+1 || after.Tasks[len(before.Tasks)].ID != ids[0] {
			rt.Fatalf("%v %v\n%s", ids, err, grown)
		}
		at := 0
		for at < len(in) && in[at] == grown[at] {
			at++
		}
		if string(grown[len(grown)-len(in)+at:]) != in[at:] {
			rt.Fatalf("other bytes changed:\n%s\n---\n%s", in, grown)
		}
	})
}

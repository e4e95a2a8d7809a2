package markdown

import (
	"os"
	"regexp"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestGuide: each plan that the guide shows is read without a warning, and style has
// nothing to say of it.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	plans := regexp.MustCompile("(?s)```markdown\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(plans) != 3 {
		t.Fatalf("%d plans", len(plans))
	}
	var tasks []ledger.Task
	for _, p := range plans {
		s, err := Any{}.Parse("plan.md", p[1])
		if err != nil || len(s.Warnings) > 0 {
			t.Errorf("%v %v in\n%s", err, s.Warnings, p[1])
		}
		tasks = append(tasks, s.Tasks...)
	}
	if len(tasks) != 5 || tasks[2].Scope == "" || len(tasks[2].Acceptance) != 2 || tasks[2].Notes == "" || len(tasks[2].DependsOn) != 1 || tasks[4].Mark != ledger.MarkManualVerify {
		t.Errorf("%+v", tasks)
	}
	// A field that the table names is one.
	named := 0
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z][a-z ]+)` \\|").FindAllSubmatch(guide, -1) {
		named++
		if f, _, ok := fieldLine("- " + string(m[1]) + ": x"); !ok || f == fieldUnknown {
			t.Errorf("%s is no field", m[1])
		}
	}
	fields := map[field]bool{}
	for _, f := range fieldNames {
		fields[f] = true
	}
	if named != len(fields) {
		t.Errorf("the guide has %d fields of %d", named, len(fields))
	}
}

package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUnknownRole checks that a role without a pattern is found with file, line and
// what there is, and that done tasks and known roles are not.
func TestUnknownRole(t *testing.T) {
	s := testSettings()
	s.Roles = map[string]ledger.Pattern{"ideas": patterns["ideas"], "single": patterns["single"]}
	tasks := []ledger.Task{
		{ID: "1", Role: "implementer"}, {ID: "2", Role: "ideas"}, {ID: "3"}, {ID: "4", Role: s.Pattern.Name},
		{ID: "5", Role: "gardener", Mark: ledger.MarkDone}, {ID: "6", Role: "gardener", Line: 12},
	}
	found := CheckTasks(s, ledger.Snapshot{Path: "tasks.json", Tasks: tasks})
	if len(found) != 1 || found[0].File != "tasks.json" || found[0].Line != 12 || !strings.Contains(found[0].Text, `6 has the role "gardener"`) || !strings.Contains(found[0].Remedy, "implementer, plan-build-review, ideas, single") {
		t.Errorf("found %+v", found)
	}
	s.Verify = nil
	if found = CheckTasks(s, ledger.Snapshot{Tasks: []ledger.Task{{ID: "7", Role: "single"}}}); len(found) != 1 || !strings.Contains(found[0].Text, "nothing proves the work") {
		t.Errorf("a role whose pattern nothing proves: %+v", found)
	}
}

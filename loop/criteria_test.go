package loop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUntriedIsBounded checks that a refusal of a verdict names few criteria of a long
// list, and none in the words of a source that strangers write.
func TestUntriedIsBounded(t *testing.T) {
	verdict := func(foreign bool) string {
		d := playing(t, "tasks 1[verifier]", "set pattern=single", "go quiet", "build", "greens")
		d.s.Project.Run.Settings.Source.Foreign = foreign
		task := d.task("Task 1")
		for n := range 40 {
			task.Task.Acceptance = append(task.Task.Acceptance, fmt.Sprintf("Case %d: %s", n, strings.Repeat("w", 500)))
		}
		return (&decision{State: d.s, in: Input{Project: "shop"}}).untried(task, []byte(`{"checks":[{"number":1,"criterion":"c","ok":true,"how":"h"}]}`))
	}
	if why := verdict(false); len(why) > 2500 || !strings.Contains(why, "hold: 2. Case 0: www") || !strings.Contains(why, "· 30 more. Try each") || !strings.Contains(why, `{"number":2,`) {
		t.Errorf("%d bytes: %s", len(why), why)
	}
	if why := verdict(true); strings.Contains(why, "Case") || !strings.Contains(why, "hold: numbers 2, 3, 4") {
		t.Error(why)
	}
}

// TestOldAnswersWaiveNothing checks that an answer of an earlier release, which does not
// say who gave it, leaves no criterion out.
func TestOldAnswersWaiveNothing(t *testing.T) {
	w := &Attempt{Answers: []Answer{{AgentAnswer: ledger.AgentAnswer{Text: "Has it to hold: It works?", Words: "no"}}}}
	if w.waived("It works") != nil {
		t.Error("left out by nobody")
	}
	w.Answers[0].By = "Mira"
	if w.waived("it works.") == nil || w.waived("It stops") != nil {
		t.Error("not by its words")
	}
}

package prompt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
)

// TestPrecondition: a recurring task says when it is worth the work, and how to end
// where it is not.
func TestPrecondition(t *testing.T) {
	var s loop.State
	s.Project.Name = "shop"
	list := tasks()
	list[0].Repeat = &ledger.Repeat{Cooldown: time.Hour, Precondition: "a dependency has a new release"}
	s = loop.PreviewRun(s, settings(scenario.New("shop", time.Time{})), ledger.Snapshot{Name: "checkout", Path: "checkout.md", Tasks: list}, ledger.Base{Commit: "c0", Tree: "c0"})
	for task, want := range map[string]bool{"1": true, "2": false} {
		s, session, err := loop.Preview(s, task, "builder")
		if err != nil {
			t.Fatal(err)
		}
		p, err := prompt.Build(s, session, material)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(p.Text, "end with no_change and say why:\na dependency has a new release"); got != want {
			t.Errorf("task %s: precondition %v, want %v\n%s", task, got, want, p.Text)
		}
	}
}

package loop_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A person starts a run, and its first session is planned once the repository
// is found to be in order. The state is the fold of the entries; effects are
// what the shell has to do next.
func Example() {
	settings := ledger.Settings{
		Project: "shop", Agent: "claude", OnBlocked: ledger.OnBlockedContinue, MaxIterations: 100,
		Pattern: ledger.Pattern{Name: "single", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}},
		Hats:    map[string]ledger.Hat{"builder": {Name: "builder", Emits: []string{"build.complete"}, Expect: ledger.ExpectPass, WriteAllowed: []string{"**"}}},
	}
	plan := ledger.Snapshot{Name: "checkout", Tasks: []ledger.Task{{ID: "Task 1", Title: "Extract the price rules", Mark: ledger.MarkOpen}}}

	var s loop.State
	s.Project.Name = "shop"
	decide := func(actor string, body loop.InputBody) {
		d := loop.Decide(s, loop.Input{Project: "shop", Actor: actor, Time: time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC), Body: body})
		for _, e := range d.Entries {
			s = loop.Apply(s, e)
			fmt.Println(strings.TrimSpace(e.Body.EntryType() + " " + e.Task + " " + e.Session))
		}
		for _, e := range d.Effects {
			fmt.Println("→", e.Body.EffectKind(), e.Key)
		}
	}
	decide("console", loop.StartRun{Settings: settings, MaxSessions: 1})
	decide("daemon", loop.Preflighted{Run: "r1", Base: ledger.Base{Commit: "3b1f0aa", Tree: "9d24c11", Branch: "nightporter/shop/r1"}, Snapshot: plan})

	task, _ := s.Project.Find("1")
	fmt.Println(task.Task.ID, "is", task.Status)
	// Output:
	// house.set
	// id.issued
	// run.planned
	// → preflight r1
	// preflight.done
	// source.read
	// task.set Task 1
	// run.started
	// task.set Task 1
	// commit Task 1
	// claim Task 1
	// lease.granted
	// session.planned Task 1 r1-1
	// → session.start r1-1
	// Task 1 is active
}

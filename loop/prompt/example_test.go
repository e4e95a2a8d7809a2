package prompt_test

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
)

// The prompt of the first session of a run that has not started: Preview plans
// the session, Needs says what to read for it, Build writes its prompt.
func Example() {
	settings := ledger.Settings{
		Project: "shop", Agent: "claude",
		Pattern: ledger.Pattern{Name: "single", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}},
		Hats: map[string]ledger.Hat{"builder": {
			Name: "builder", Prompt: "You are the builder.", Emits: []string{"build.complete"}, WriteAllowed: []string{"**"}, MaxTokens: 400,
		}},
	}
	plan := ledger.Snapshot{Name: "checkout", Tasks: []ledger.Task{{ID: "Task 1", Title: "Extract the price rules", Mark: ledger.MarkOpen}}}

	var s loop.State
	s.Project.Name = "shop"
	s = loop.PreviewRun(s, settings, plan, ledger.Base{Commit: "3b1f0aa", Tree: "9d24c11"})
	s, session, err := loop.Preview(s, "Task 1", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	needs, _ := prompt.Needs(s, session)
	fmt.Println("conventions of", needs.Rev)

	conventions := ""
	for n := range 100 {
		conventions += fmt.Sprintf("- Rule %d: short names in short functions.\n", n+1)
	}
	p, err := prompt.Build(s, session, prompt.Material{Conventions: []prompt.File{{Path: "AGENTS.md", Text: conventions}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, part := range p.Parts {
		fmt.Printf("%s, cut: %v\n", part.Title, part.Cut)
	}
	fmt.Println("too long:", p.Over, "– rules in CONTEXT:", strings.Count(string(p.Context["conventions.md"]), "- Rule "))
	// Output:
	// conventions of 3b1f0aa
	// Role, cut: false
	// Task, cut: false
	// Scope, cut: false
	// What happened so far, cut: false
	// Conventions, cut: true
	// How to end, cut: false
	// too long: false – rules in CONTEXT: 100
}

package loop

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestToldOnce checks that a warning about the plan is told once a plan: not by each run,
// also after a restart, and again when its text changes. Others are told by each run.
func TestToldOnce(t *testing.T) {
	prose := ledger.Diagnostic{File: "plan.md", Line: 4, Text: "Task 2: \"the tests\" names no path"}
	moved := prose
	moved.Line = 9
	edited := ledger.Diagnostic{File: "plan.md", Line: 9, Text: "Task 2: \"all tests\" names no path"}
	large := ledger.Diagnostic{File: "ai/features/T-1.md", Text: "T-1 is large"}
	machine := ledger.Diagnostic{File: "go.mod", Text: "go 1.29 is not installed"}
	remote := ledger.Diagnostic{Text: "the remote cannot be looked at now"}

	s := State{Project: Project{Name: "shop"}}
	settings := testSettings()
	settings.Source.Path = "plan.md"
	run := func(check bool, snapshot []ledger.Diagnostic, all ...ledger.Diagnostic) (told []string) {
		t.Helper()
		for _, body := range []InputBody{
			StartRun{Settings: settings, Check: check, MaxSessions: 1},
			Preflighted{Base: ledger.Base{Commit: "c", Tree: "t"}, Snapshot: ledger.Snapshot{Tasks: []ledger.Task{{ID: "Task 1", Mark: ledger.MarkOpen}}, Warnings: snapshot}, Warnings: slices.Concat(snapshot, all)},
			Stop{Now: true},
		} {
			d := Decide(s, Input{Project: "shop", Actor: "console", Body: body})
			for _, e := range d.Entries {
				if b, ok := e.Body.(ledger.PreflightDone); ok {
					for _, w := range b.Warnings {
						told = append(told, w.Text)
					}
				}
			}
			raw, err := json.Marshal(d.State) // a restart between any two
			if err != nil {
				t.Fatal(err)
			}
			s = State{}
			if err := json.Unmarshal(raw, &s); err != nil {
				t.Fatal(err)
			}
		}
		return told
	}
	other := settings
	other.Source.Path = "other.md"
	for _, c := range []struct {
		name     string
		check    bool
		snapshot []ledger.Diagnostic
		all      []ledger.Diagnostic
		want     []string
	}{
		{"a check", true, []ledger.Diagnostic{large}, []ledger.Diagnostic{prose, machine}, []string{large.Text, prose.Text, machine.Text}},
		{"the first run", false, []ledger.Diagnostic{large}, []ledger.Diagnostic{prose, machine, remote}, []string{large.Text, prose.Text, machine.Text, remote.Text}},
		{"the next one", false, []ledger.Diagnostic{large}, []ledger.Diagnostic{moved, machine, remote}, []string{machine.Text, remote.Text}},
		{"a check again", true, nil, []ledger.Diagnostic{moved}, []string{moved.Text}},
		{"edited", false, []ledger.Diagnostic{large}, []ledger.Diagnostic{edited}, []string{edited.Text}},
		{"and then not", false, []ledger.Diagnostic{large}, []ledger.Diagnostic{edited}, nil},
	} {
		if got := run(c.check, c.snapshot, c.all...); !slices.Equal(got, c.want) {
			t.Errorf("%s: told %q, want %q", c.name, got, c.want)
		}
	}
	mine := settings
	settings = other
	if got := run(false, nil, ledger.Diagnostic{File: "other.md", Text: prose.Text}); len(got) != 1 {
		t.Errorf("another plan: told %q", got)
	}
	settings = mine
	if got := run(false, nil, moved); len(got) != 0 {
		t.Errorf("the first plan again: told %q", got)
	}
}

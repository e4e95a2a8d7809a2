package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
	"github.com/nightporter/nightporter/loop/prompt"
)

// bulky is a state and material of which every part that can be cut is worth
// cutting, and the session whose prompt it is.
func bulky(t *testing.T, hat string, tokens int) (loop.State, string, prompt.Material) {
	t.Helper()
	n, _ := before(t, plan, build)
	s := n.State
	limited(&s, hat, tokens)
	s.Project.Progress = "#9 Set the module up, pass: " + strings.Repeat("words ", 180)
	inWork(&s, func(_ *loop.TaskState, a *loop.Attempt) {
		var steps []string
		for n := range 25 {
			steps = append(steps, fmt.Sprintf("Change internal/price/rule_%02d.go, and say so in its test", n+1))
		}
		raw, err := json.Marshal(map[string]any{"summary": "One file at a time", "steps": steps})
		if err != nil {
			t.Fatal(err)
		}
		a.Plan, a.History = raw, nil
		for n := range 15 {
			a.History = append(a.History, loop.Step{Session: fmt.Sprintf("r1-%d", n+1), Hat: "fixer", Event: "fix.complete", Summary: fmt.Sprintf("Round %02d: the rounding of the price rules once more", n+1)})
		}
	})
	lines := func(form string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form+"\n", i+1)
		}
		return b.String()
	}
	m := prompt.Material{
		Conventions: []prompt.File{{Path: "AGENTS.md", Text: lines("- Rule %02d of the house: short names in short functions.", 25) + "```sh\n" + lines("make check-%d", 5) + "```\n"}},
		Loaded:      []prompt.File{{Path: ".ralph/agent/decisions.md", Text: "# Decisions\n\n" + lines("- 2026-11-18: decision %02d about money and cents", 30)}},
		Changes: []ledger.Change{
			changed("a.go", ledger.ChangeModified, lines("+line %02d of the change, and nothing but the change", 50)),
			changed("old_test.go", ledger.ChangeDeleted, "-package a\n"),
		},
	}
	ns, session, err := loop.Preview(s, "Task 1", hat)
	if err != nil {
		t.Fatal(err)
	}
	return ns, session, m
}

// cutTitles are the parts of a prompt that were cut.
func cutTitles(p prompt.Prompt) string {
	var cut []string
	for _, part := range p.Parts {
		if part.Cut {
			cut = append(cut, part.Title)
		}
	}
	return strings.Join(cut, ", ")
}

// TestTrimming: conventions, memory, progress, plan, history, and then the
// diff. Each budget is the first that reaches one more of them.
func TestTrimming(t *testing.T) {
	for _, c := range []struct {
		tokens int
		cut    string
		over   bool
	}{
		{tokens: 3300, cut: ""},
		{tokens: 3000, cut: "Conventions"},
		{tokens: 2600, cut: "Memory, Conventions"},
		{tokens: 2200, cut: "Last progress, Memory, Conventions"},
		{tokens: 1900, cut: "Plan, Last progress, Memory, Conventions"},
		{tokens: 1650, cut: "Plan, What happened so far, Last progress, Memory, Conventions"},
		{tokens: 1300, cut: "Plan, What happened so far, Last progress, Changes so far, Memory, Conventions"},
		{tokens: 300, cut: "Plan, What happened so far, Last progress, Changes so far, Memory, Conventions", over: true},
	} {
		t.Run(fmt.Sprint(c.tokens), func(t *testing.T) {
			s, session, m := bulky(t, "reviewer", c.tokens)
			p, err := prompt.Build(s, session, m)
			if err != nil {
				t.Fatal(err)
			}
			if cut := cutTitles(p); cut != c.cut || p.Over != c.over || !c.over && p.Tokens > c.tokens {
				t.Errorf("%d tokens: %d, over %v, cut %s; want %v, %s", c.tokens, p.Tokens, p.Over, cut, c.over, c.cut)
			}
			golden(t, fmt.Sprintf("reviewer of %d tokens", c.tokens), p.Text)
			for title, file := range map[string]string{
				"Conventions": "conventions.md", "Memory": "memory.md", "Last progress": "progress.md", "Plan": "plan.json", "What happened so far": "history.md", "Changes so far": "diff.patch",
			} {
				if strings.Contains(c.cut, title) && len(p.Context[file]) == 0 {
					t.Errorf("%s was cut, and CONTEXT has no %s", title, file)
				}
				if strings.Contains(c.cut, title) && !strings.Contains(p.Text, "../CONTEXT/"+file) {
					t.Errorf("%s was cut, and the prompt does not say where the whole of it is", title)
				}
			}
			if strings.Contains(c.cut, "Memory") && !strings.Contains(string(p.Context["memory.md"]), "decision 01 ") {
				t.Error("memory.md is not whole")
			}
		})
	}
}

// TestTrimmingOfAnArgument: who judges or revises a plan keeps it longest.
func TestTrimmingOfAnArgument(t *testing.T) {
	s, session, m := bulky(t, "planner", 1900)
	p, err := prompt.Build(s, session, m)
	if err != nil {
		t.Fatal(err)
	}
	if cut := cutTitles(p); strings.Contains(cut, "Plan") || !strings.Contains(cut, "What happened so far") {
		t.Errorf("cut: %s", cut)
	}
}

// TestMemoryLimit: the load list has a limit of its own; of notebooks the
// newest is kept, of a file its beginning, and small ones stay whole.
func TestMemoryLimit(t *testing.T) {
	n, session := before(t, plan)
	long := func(word string) string {
		var b strings.Builder
		for n := range 1000 {
			fmt.Fprintf(&b, "- %s %d\n  with a second line\n", word, n+1)
		}
		return b.String()
	}
	m := prompt.Material{Loaded: []prompt.File{
		{Path: "docs/big.md", Text: long("big")}, {Path: ".ralph/agent/memories.md", Text: long("memory")},
		{Path: ".ralph/agent/decisions.md", Text: "- decided once\n"}, {Path: ledger.PlanFile, Text: `{"summary":"of another task"}`},
	}}
	p, err := prompt.Build(n.State, session, m)
	if err != nil {
		t.Fatal(err)
	}
	var memory prompt.Part
	for _, part := range p.Parts {
		if part.Title == "Memory" {
			memory = part
		}
	}
	if memory.Tokens > prompt.MaxMemoryTokens+1 || memory.Tokens < prompt.MaxMemoryTokens*9/10 || !memory.Cut || memory.Whole < 4*prompt.MaxMemoryTokens {
		t.Errorf("memory has %d of %d tokens, cut: %v", memory.Tokens, memory.Whole, memory.Cut)
	}
	for _, want := range []string{"- memory 1000\n", "- big 1\n", "- decided once\n", "earlier lines left out", "more lines; the whole"} {
		if !strings.Contains(memory.Text+"\n", want) {
			t.Errorf("memory lacks %q", want)
		}
	}
	for _, no := range []string{"- memory 1\n", "- big 1000\n", "of another task"} {
		if strings.Contains(memory.Text, no) {
			t.Errorf("memory has %q", no)
		}
	}
	if !strings.Contains(memory.Text, ")\n- memory ") {
		t.Error("the newest lines do not begin with an item")
	}
	if whole := string(p.Context["memory.md"]); !strings.Contains(whole, "- memory 1\n") || !strings.Contains(whole, "- big 1000\n") {
		t.Error("memory.md is not whole")
	}
}

// TestOtherPlan: a hat whose task has no plan is given the last one, and told
// that it is another task's.
func TestOtherPlan(t *testing.T) {
	n, session := before(t)
	p, err := prompt.Build(n.State, session, prompt.Material{Loaded: []prompt.File{{Path: ledger.PlanFile, Text: `{"summary":"of another task"}`}}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Text, "not of this task)\n\n{\"summary\":\"of another task\"}") {
		t.Error("the plan is not there, or not said to be another task's")
	}
}

// TestLargePart: a section of a plan's largest size leaves its prompts within
// their budget.
func TestLargePart(t *testing.T) {
	raw, err := json.Marshal(map[string]any{"summary": "s", "sections": []map[string]any{
		{"id": "a", "title": "t", "steps": []string{strings.Repeat("wörter ", 30_000)}}, {"id": "b", "title": "t"},
	}})
	if err != nil || len(raw) > payload.MaxSize {
		t.Fatalf("%v, %d bytes", err, len(raw))
	}
	n := start(consensus)
	play(n, act(ledger.EventPlan, string(raw)), okay)
	s, _ := agent(n)
	if s.Task != "Task 1/a" {
		t.Fatalf("the session in flight is of %q", s.Task)
	}
	p, err := prompt.Build(n.State, s.ID, prompt.Material{})
	if err != nil || p.Over {
		t.Errorf("%v, %d tokens of %d", err, p.Tokens, p.Max)
	}
}

// TestConventionsOnce: CLAUDE.md is often a link to AGENTS.md.
func TestConventionsOnce(t *testing.T) {
	p := prompt.ConventionsText([]prompt.File{{Path: "AGENTS.md", Text: "Run gofmt.\n"}, {Path: "CLAUDE.md", Text: "Run gofmt.\n"}})
	if p != "### AGENTS.md, CLAUDE.md\n\nRun gofmt." {
		t.Errorf("%q", p)
	}
}

func TestCutting(t *testing.T) {
	for _, c := range []struct{ text, head, tail string }{
		{"one\ntwo\nthree", "one\ntwo", "three"},
		{"- a\n  b\n- c\n", "- a\n  b", "- c\n"},
		{"one line of many words", "one line", ""},
		{"ééééééééééé", "ééééé", ""},
	} {
		if got := prompt.HeadOf(c.text, 10); got != c.head {
			t.Errorf("head of %q: %q", c.text, got)
		}
		if got, left := prompt.TailOf(c.text, 7); got != c.tail || left == 0 {
			t.Errorf("tail of %q: %q, %d lines left out", c.text, got, left)
		}
	}
	for _, c := range []struct{ text, open string }{
		{"a\n```go\nb", "```"}, {"a\n```go\nb\n```\nc", ""}, {"````\n```\n", "````"}, {"~~~\n```\n~~~", ""}, {"```inline``` code", ""}, {"    ```\n", ""},
	} {
		if got := prompt.OpenFence(c.text); got != c.open {
			t.Errorf("%q leaves %q open", c.text, got)
		}
	}
}

// TestFits: where only parts are too long that can be cut, the prompt
// fits; the same state and material give the same one; and nothing else is
// ever cut.
func TestFits(t *testing.T) {
	n, _ := before(t, typed(plan, "/guidance Wrap the existing code"), build, issues("major:r1"))
	texts := rapid.Custom(func(t *rapid.T) string {
		line := rapid.SampledFrom([]string{"- a line", "", "```", "````go", "  indented", "## How to end", "é and ü", strings.Repeat("long ", 150), "x"})
		return strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n")
	})
	changes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Change {
		status := rapid.SampledFrom([]ledger.ChangeStatus{ledger.ChangeDeleted, ledger.ChangeRenamed, ledger.ChangeModified, ledger.ChangeAdded, ""}).Draw(t, "status")
		path := rapid.SampledFrom([]string{"a.go", "a_test.go", "```", "b\n## How to end", "é.md"}).Draw(t, "path")
		return changed(path, status, "+"+strings.ReplaceAll(texts.Draw(t, "patch"), "\n", "\n+")+"\n")
	}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		s := n.State
		hat := rapid.SampledFrom([]string{"planner", "builder", "reviewer", "fixer"}).Draw(t, "hat")
		limited(&s, hat, 0)
		s.Project.Progress = texts.Draw(t, "progress")
		steps := rapid.SliceOfN(texts, 0, 5).Draw(t, "steps")
		inWork(&s, func(_ *loop.TaskState, a *loop.Attempt) {
			a.History = nil
			for n, text := range steps {
				a.History = append(a.History, loop.Step{Session: fmt.Sprintf("r1-%d", n+1), Hat: "fixer", Event: "fix.complete", Summary: text})
			}
			raw, _ := json.Marshal(map[string]any{"summary": "s", "steps": steps})
			a.Plan = raw
		})
		m := prompt.Material{
			Conventions: []prompt.File{{Path: "AGENTS.md", Text: texts.Draw(t, "agents")}, {Path: "CLAUDE.md", Text: texts.Draw(t, "claude")}},
			Loaded:      []prompt.File{{Path: ".ralph/agent/decisions.md", Text: texts.Draw(t, "decisions")}, {Path: "docs/a.md", Text: texts.Draw(t, "docs")}},
			Changes:     changes.Draw(t, "changes"),
		}
		s, session, err := loop.Preview(s, "Task 1", hat)
		if err != nil {
			t.Fatal(err)
		}
		build := func(tokens int) prompt.Prompt {
			s := s
			limited(&s, hat, tokens)
			p, err := prompt.Build(s, session, m)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		least := build(1) // all that can be cut is cut
		tokens := rapid.IntRange(least.Tokens, build(0).Tokens+100).Draw(t, "tokens")
		p := build(tokens)
		if p.Tokens > tokens || p.Over {
			t.Fatalf("%d tokens of %d, over: %v\n%s", p.Tokens, tokens, p.Over, p.Text)
		}
		if diff := gocmp.Diff(p, build(tokens)); diff != "" {
			t.Fatal(diff)
		}
		never := map[string]string{}
		for _, part := range build(0).Parts {
			never[part.Title] = part.Text
		}
		for _, part := range p.Parts {
			switch part.Title {
			case "Conventions", "Memory", "Last progress", "Plan", "What happened so far", "Changes so far":
			default:
				if part.Cut || part.Text != never[part.Title] {
					t.Fatalf("%s was cut", part.Title)
				}
			}
			if prompt.OpenFence(part.Text) != "" {
				t.Fatalf("%s leaves a fence open:\n%s", part.Title, part.Text)
			}
		}
	})
}

package prompt_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
)

// TestBothSides: whoever does a task again after a conflict sees what it met, and is
// told to keep it.
func TestBothSides(t *testing.T) {
	for _, c := range []struct {
		name  string
		paths []string
		mine  []ledger.Change
		want  []string
		lacks []string
	}{
		{
			name: "a conflict", paths: []string{"cart.go"}, mine: []ledger.Change{changed("cart.go", ledger.ChangeModified, "-a\n+mine\n"), changed("a.go", ledger.ChangeAdded, "+only a list\n")},
			want:  []string{"conflicts with what was committed since in cart.go.", "+mine", "+theirs", "- modified other.go", "Keep every line of theirs", "../CONTEXT/mine.patch", "../CONTEXT/theirs.patch"},
			lacks: []string{"only a list", "beside it"},
		},
		{
			name: "red together", mine: []ledger.Change{changed("cart.go", ledger.ChangeModified, "-a\n+mine\n")},
			want: []string{"together with what was committed since it fails its checks", "+mine", "+theirs"}, lacks: []string{"beside it"},
		},
		{
			name: "very long", paths: []string{"cart.go"}, mine: []ledger.Change{changed("cart.go", ledger.ChangeModified, strings.Repeat("+mine, very long\n", 5000))},
			want: []string{"+mine, very long", "the rest of cart.go", "+theirs"},
		},
	} {
		n, session := before(t, plan)
		withConflict(&n.State, &ledger.Conflict{Base: "c0", Mine: "t1", Theirs: "c1", Paths: c.paths})
		needs, ok := prompt.Needs(n.State, session)
		if !ok || needs.Conflict == nil || needs.Conflict.Mine != "t1" {
			t.Fatalf("%s: the two sides are not looked up: %+v", c.name, needs)
		}
		p, err := prompt.Build(n.State, session, prompt.Material{Mine: c.mine, Theirs: []ledger.Change{
			changed("other.go", ledger.ChangeModified, "+beside it\n"), changed("cart.go", ledger.ChangeModified, "-a\n+theirs\n"),
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(p.Text, want) {
				t.Errorf("%s: the prompt lacks %q:\n%s", c.name, want, p.Text)
			}
		}
		for _, lacks := range c.lacks {
			if strings.Contains(p.Text, lacks) {
				t.Errorf("%s: the prompt has %q", c.name, lacks)
			}
		}
		if got := string(p.Context["theirs.patch"]); !strings.Contains(got, "+beside it") {
			t.Errorf("%s: theirs.patch is %q", c.name, got)
		}
		if len(p.Text) > 60_000 {
			t.Errorf("%s: the prompt has %d bytes", c.name, len(p.Text))
		}
	}
	n, session := before(t, plan, build) // a reviewer looks at what is there
	withConflict(&n.State, &ledger.Conflict{Base: "c0", Mine: "t1", Theirs: "c1"})
	if needs, _ := prompt.Needs(n.State, session); needs.Conflict != nil {
		t.Error("a reviewer gets the two sides")
	}
}

// TestBothSidesRenamed: git reports a conflict in a file that one side renamed under one
// of its two names. Both sides are shown all the same.
func TestBothSidesRenamed(t *testing.T) {
	renamed := func(patch string) ledger.Change {
		c := changed("basket.go", ledger.ChangeRenamed, patch)
		c.From = "cart.go"
		return c
	}
	was := func(patch string) ledger.Change { return changed("cart.go", ledger.ChangeModified, patch) }
	other := changed("other.go", ledger.ChangeModified, "+beside it\n")
	for name, c := range map[string]struct {
		paths        []string
		mine, theirs ledger.Change
	}{
		"mine, by its new name":   {[]string{"basket.go"}, renamed("+mine\n"), was("+theirs\n")},
		"mine, by its old name":   {[]string{"cart.go"}, renamed("+mine\n"), was("+theirs\n")},
		"theirs, by its new name": {[]string{"basket.go"}, was("+mine\n"), renamed("+theirs\n")},
		"mine, red together":      {nil, renamed("+mine\n"), was("+theirs\n")},
		"theirs, red together":    {nil, was("+mine\n"), renamed("+theirs\n")},
	} {
		n, session := before(t, plan)
		withConflict(&n.State, &ledger.Conflict{Base: "c0", Mine: "t1", Theirs: "c1", Paths: c.paths})
		p, err := prompt.Build(n.State, session, prompt.Material{Mine: []ledger.Change{c.mine}, Theirs: []ledger.Change{other, c.theirs}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.Text, "+mine") || !strings.Contains(p.Text, "+theirs") || strings.Contains(p.Text, "beside it") {
			t.Errorf("%s: the prompt does not have both sides of the file alone:\n%s", name, p.Text)
		}
	}
}

// withConflict lets the first task's attempt before have met others.
func withConflict(s *loop.State, c *ledger.Conflict) {
	t := *s.Project.Tasks.At(0)
	t.Conflict = c
	s.Project.Tasks = s.Project.Tasks.With(0, t)
}

package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/golden"
)

// ideaPlan is the source that ideas are added to.
const ideaPlan = "# Plan\n\n- [x] **Task 1: A map**\n- [x] **Task 2: A legend**\n"

// drafter asks which map is meant, and plans another way once it was told to.
const drafter = `if grep -q 'Answer: ' "$prompt"; then
	if grep -q 'only on phones' "$prompt"; then draft "Zoom on a tap"; else draft "Zoom on a tap" "A button that zooms out>a" "Say so in the help>a,b"; fi
else
	hat ask "Which map?" --option "The one of the shop" --option "The one of the delivery" --choice "The one of the shop"
fi
`

// newIdea returns the real nightporter, whose drafter does what the script says.
func newIdea(t *testing.T, script string) phoneFixture {
	t.Helper()
	n := newPhone(t, ideaPlan, "pattern = \"single\"\nprofile = \"overnight\"")
	n.settings("agent = \"honest\"", "agent = \"drafts\"")
	if err := os.MkdirAll(n.Path("notes"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(n.Path("notes"), 0o777); err != nil { // sessions write here as their own user
		t.Fatal(err)
	}
	n.write("notes/drafter.sh", script)
	if err := os.Chmod(n.Path("notes", "drafter.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	return n
}

// settings replaces text of the configuration.
func (n *phoneFixture) settings(old, text string) {
	n.T.Helper()
	file := "config/nightporter/nightporter.toml"
	config, err := os.ReadFile(n.Path(file))
	if err != nil {
		n.T.Fatal(err)
	}
	n.write(file, strings.Replace(string(config), old, text, 1))
}

// source returns the project's plan as it lies in the repository.
func (n *phoneFixture) source() string {
	n.T.Helper()
	data, err := os.ReadFile(n.Path("repo", "plan.md"))
	if err != nil {
		n.T.Fatal(err)
	}
	return string(data)
}

// untouched fails unless nothing was written into the repository.
func (n *phoneFixture) untouched() {
	n.T.Helper()
	if got := n.source(); got != ideaPlan {
		n.T.Errorf("before anybody agreed, the plan has\n%s", got)
	}
	if out := n.Out("git", "-C", "repo", "status", "--porcelain"); out != "" {
		n.T.Errorf("before anybody agreed, the repository has\n%s", out)
	}
}

// sends is what the reader types, and reads in answer.
func (n *phoneFixture) sends(text string, answer ...string) {
	n.T.Helper()
	n.story.WriteString("── " + text + "\n\n")
	n.phone.Say(reader, reader.ID, text)
	n.read(n.shown(answer...))
}

// replies is what the reader types in reply to a message.
func (n *phoneFixture) replies(text string, to ...string) {
	n.T.Helper()
	m := n.recorded(n.shown(to...))
	n.read(m)
	n.story.WriteString("── " + text + "\n\n")
	n.phone.Reply(reader, reader.ID, m.ID, text)
}

// taps is a press, and what the reader reads before it.
func (n *phoneFixture) taps(label string, texts ...string) {
	n.T.Helper()
	n.read(n.press(label, texts...))
	n.story.WriteString("── [" + label + "]\n\n")
}

// TestIdea: from a sentence to a run that works its plan, with a question, a change of
// mind and two taps. Nothing is written before the reader agrees.
func TestIdea(t *testing.T) {
	t.Parallel()
	n := newIdea(t, drafter)
	n.up("")
	n.pair()
	n.sends("/idea Zoom the map on a tap", "idea i1 is kept")
	n.taps("A", "Which map?")
	n.taps("Change…", "plan for i1", "3 tasks")
	n.untouched()
	n.replies("only on phones", "Your words (q2)")
	n.read(n.shown("Planned again"))
	n.taps("Start tonight", "plan for i1", "1 task")
	n.read(n.shown("#3 added"))
	n.read(n.shown("✓ shop", "r3 ended"))
	golden.Compare(t, "idea.txt", n.story.String())

	want := ideaPlan + "- [x] **Task 3: Zoom on a tap**\n"
	if got := n.source(); !strings.HasPrefix(got, want) {
		t.Errorf("the plan has\n%s", got)
	}
	if files := n.Out("git", "-C", "repo", "ls-tree", "--name-only", "nightporter/shop/r3", "src/"); files != "src/a.txt\nsrc/task3.txt\n" {
		t.Errorf("the branch has\n%s", files)
	}
}

// TestIdeaKilled: nightporter is killed at each step of an idea and started again. The
// plan is proposed, and written, exactly once.
func TestIdeaKilled(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		"after-commit:idea", "before-start", "after-start", "after-commit:emit", "after-commit:session_exited",
		"before-commit:answer", "after-commit:answer", "before-effect:tasks.add", "after-effect:tasks.add", "before-commit:tasks_written", "after-commit:tasks_written",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			n := newIdea(t, `draft "Zoom on a tap" "Say so in the help>a"`)
			n.up("")
			n.pair()
			n.porter.Kill()
			n.up(point)
			died := n.porter
			again := make(chan error, 1)
			go func() {
				<-died.Done
				p, err := n.Machine.Start(nil, "up")
				if err == nil {
					t.Cleanup(p.Kill)
				}
				again <- err
			}()
			n.phone.Say(reader, reader.ID, "/idea Zoom the map on a tap")
			n.press("Start tonight", "plan for i1", "2 tasks")
			n.shown("✓ shop: #3 #4 added")
			n.shown("✓ shop", "r2 ended")
			if err := <-again; err != nil {
				t.Fatal(err)
			}
			if code, err := died.Wait(); err != nil || code != -9 {
				t.Errorf("it ended with %d, %v", code, err)
			}
			if got := n.source(); strings.Count(got, "Zoom on a tap") != 1 || strings.Count(got, "Say so in the help") != 1 {
				t.Errorf("the plan has\n%s", got)
			}
		})
	}
}

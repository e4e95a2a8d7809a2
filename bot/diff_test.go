package bot_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	diff "github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// added returns the patch of a new file with so many lines.
func added(name string, lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n", name, name, name, lines)
	for n := range lines {
		fmt.Fprintf(&b, "+	line%d := price(%d)\n", n, n)
	}
	return b.String()
}

// TestDiff compares what /diff shows with the golden file: short ones, pages, one
// file of many, versions, and all that can be typed wrong.
func TestDiff(t *testing.T) {
	middle := added("order/adapter.go", 50) + added("shop/order/service.go", 20) + patch
	long := added("order/adapter.go", 400) + middle + strings.Repeat(added("gen/a.go", 3), 12)
	at := evening.Add(3 * time.Hour)
	commit := func(hash, text string) bot.DiffVersion {
		return bot.DiffVersion{Version: diff.Version{Files: scenario.Changes(text), Checks: []string{"order/service.go"}}, Commit: hash, Time: at}
	}
	attempt := func(n int, atWork bool, text string) bot.DiffVersion {
		return bot.DiffVersion{Version: diff.Version{Files: scenario.Changes(text)}, Attempt: n, AtWork: atWork}
	}
	cases := map[string]string{}
	for _, c := range []struct {
		name, line string
		versions   []bot.DiffVersion
	}{
		{"short", "/diff 1", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"short, in a terminal", "/diff 1", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"pages", "/diff 1", []bot.DiffVersion{commit("9c41e07aa", middle)}},
		{"second page", "/diff 1 p2", []bot.DiffVersion{commit("9c41e07aa", middle)}},
		{"last page", "/diff r1 p99", []bot.DiffVersion{commit("", middle)}},
		{"one page of a language the font lacks", "/diff 1", []bot.DiffVersion{commit("9c41e07aa", strings.ReplaceAll(middle, "price", "価格計算する関数"))}},
		{"long", "/diff 1", []bot.DiffVersion{commit("9c41e07aa", long)}},
		{"html", "/diff 1 html", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"html of one file", "/diff 1 adapter.go html", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"raw", "/diff 1 file", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"raw, in a terminal", "/diff 1 file", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"raw of one file", "/diff 1 adapter.go file", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"one file", "/diff task 1 adapter.go", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"one file, whole path", "/diff 1 order/service.go", []bot.DiffVersion{commit("9c41e07aa", middle)}},
		{"one file, several end so", "/diff 1 service.go", []bot.DiffVersion{commit("9c41e07aa", middle)}},
		{"one file, misspelt", "/diff 1 adaptre.go", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"one file, unknown", "/diff r1 frob", []bot.DiffVersion{commit("", patch)}},
		{"redone", "/diff 1", []bot.DiffVersion{commit("9c41e07aa", patch), commit("4f0c2d1bb", added("order/old.go", 2))}},
		{"taken out of the branch", "/diff 1", []bot.DiffVersion{commit("9c41e07aa", patch)}},
		{"a failed attempt", "/diff 2", []bot.DiffVersion{attempt(1, false, patch)}},
		{"an attempt by its number", "/diff 2.1", []bot.DiffVersion{attempt(1, false, patch)}},
		{"at work, captured", "/diff 4", []bot.DiffVersion{attempt(2, true, added("order/adapter.go", 2))}},
		{"at work, nothing captured", "/diff 4", nil},
		{"nothing", "/diff 6", nil},
		{"unknown task", "/diff 70 adapter.go", nil},
		{"more than is listed", "/diff 1", []bot.DiffVersion{{Version: diff.Version{Files: scenario.Changes(patch), More: 7000}, Commit: "9c41e07aa", Time: at}}},
	} {
		d := atWork()
		d.Versions, d.Patch = c.versions, ""
		if c.name == "taken out of the branch" {
			d.Night.State.Project.Run.Made = []loop.MadeCommit{{Task: "Task 1", Commit: "9c41e07aa", Out: true}}
		}
		if strings.HasPrefix(c.name, "raw") {
			d.Patch = patch
		}
		terminal := strings.Contains(c.name, "terminal")
		m, err := bot.Handle(t.Context(), d, bot.Request{Key: "k", Actor: "telegram:1", Name: "Mira", Text: c.line, Time: d.Now, Terminal: terminal})
		if err != nil {
			t.Fatal(err)
		}
		messagelint.Check(t, c.name, m)
		checkDiff(t, c.name, d.Night.State, m, terminal)
		cases[c.name] = "> " + c.line + "\n" + describe(m, terminal)
	}
	golden.Sections(t, "diff-phone", cases)
}

// TestDiffHidesNothing names characters that cannot be seen, in each form of a diff and
// whatever it is shown on. The file of a patch has them as they are: git reads it.
func TestDiffHidesNothing(t *testing.T) {
	const odd = "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-old\r\n+\tif admin \x1b[31m\u202e != user \x1b]0;title\x07 \x9b\u200b{\n"
	for _, line := range []string{"/diff 1", "/diff 1 x.go", "/diff 1 p1", "/diff 1 html", "/diff 1 x.go html", "/diff 1 file", "/diff 1 x.go file"} {
		for _, terminal := range []bool{false, true} {
			d := atWork()
			d.Patch, d.Versions = odd, []bot.DiffVersion{{Version: diff.Version{Files: scenario.Changes(odd)}, Commit: "9c41e07aa"}}
			m, err := bot.Handle(t.Context(), d, bot.Request{Key: "k", Actor: "telegram:1", Name: "Mira", Text: line, Time: d.Now, Terminal: terminal})
			if err != nil {
				t.Fatal(err)
			}
			if m.Document != nil && strings.HasSuffix(m.Document.Name, ".diff") {
				if !strings.Contains(string(m.Document.Data), "\x1b[31m\u202e") {
					t.Errorf("%s: the patch is another one: %q", line, m.Document.Data)
				}
				continue
			}
			shown := ""
			for _, l := range m.Lines {
				shown += l.Text
			}
			if shown += m.Alt; m.Document != nil {
				shown += string(m.Document.Data)
			}
			shown = regexp.MustCompile(`</?(?:span|u|mark)[^>]*>|[+-]›| ⏎ `).ReplaceAllString(shown, "")
			for _, want := range []string{"‹CR›", "‹ESC›[31m", "‹U+202E›", "‹ESC›]0;title", "‹BEL›", "‹U+200B›"} {
				if !strings.Contains(shown, want) {
					t.Errorf("%s, in a terminal %v: no %s in\n%s", line, terminal, want, shown)
				}
			}
		}
	}
}

// describe is a message as a phone shows it: what comes above the text, the text,
// the buttons.
func describe(m bot.Message, terminal bool) string {
	if terminal {
		return m.Text(80)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "▸ %s\n", m.Key)
	if m.Picture != nil {
		fmt.Fprintf(&b, "[picture %s: %s]\n", m.PictureName, bot.Cut(m.Alt, 120))
	}
	if m.Document != nil {
		fmt.Fprintf(&b, "[file %s]\n", m.Document.Name)
	}
	for _, l := range m.Lines {
		for _, part := range bot.Wrap(l.Text, 38) {
			b.WriteString(strings.TrimRight(part, " ") + "\n")
		}
	}
	for _, button := range m.Buttons {
		fmt.Fprintf(&b, "[%s]", button.Label)
	}
	if len(m.Buttons) > 0 {
		b.WriteString(" › " + m.Twins() + "\n")
	}
	return b.String()
}

func checkDiff(t *testing.T, name string, s loop.State, m bot.Message, terminal bool) {
	t.Helper()
	for _, l := range m.Lines {
		if !terminal && l.Kind == bot.Pre && bot.Width(l.Text) > 32 {
			t.Errorf("%s: a row of %d columns: %s", name, bot.Width(l.Text), l.Text)
		}
	}
	if len(m.Picture) > bot.MaxPicture {
		t.Errorf("%s: a picture of %d bytes", name, len(m.Picture))
	}
	for _, b := range m.Buttons { // a button finds what it names
		if c, err := bot.Parse(b.Command); err != nil || c.Verb != bot.VerbDiff && c.Verb != bot.VerbTasks {
			t.Errorf("%s: %s: %v", name, b.Command, err)
		}
	}
}

// TestDiffOfHostileNames checks that a file is found by the path that its button
// has, whatever is in it.
func TestDiffOfHostileNames(t *testing.T) {
	for _, p := range []string{"a b.go", "x p2", "dir/file", "\u202egpj.exe", "a\tb", "<b>&amp;", "p2"} {
		d := atWork()
		d.Versions = []bot.DiffVersion{{Version: diff.Version{Files: []ledger.Change{
			{FileChange: ledger.FileChange{Path: p, Added: 1}, Status: ledger.ChangeAdded, Patch: "@@ -0,0 +1 @@\n+x\n"},
			{FileChange: ledger.FileChange{Path: "other/long.go", Added: 500}, Status: ledger.ChangeAdded, Patch: added("other/long.go", 500)},
		}}, Commit: "9c41e07"}}
		long := d.say(t, "/diff 1")
		messagelint.Check(t, fmt.Sprintf("%q", p), long)
		if long.Document == nil || !bytes.Contains(long.Document.Data, []byte("other/long.go")) || len(long.Buttons) < 2 {
			t.Fatalf("%q: %s", p, long.Text(0))
		}
		one := d.say(t, long.Buttons[1].Command)
		if !strings.Contains(one.First(), "1 file +1") {
			t.Errorf("%q, by %q: %s", p, long.Buttons[1].Command, one.Text(38))
		}
	}
}

package task

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/exchange"
	"github.com/nightporter/nightporter/loop/ledger"
)

func TestMergeTexts(t *testing.T) {
	for _, c := range []struct{ old, a, b, want string }{
		{"x\n", "x\na\n", "x\nb\n", "x\na\nb\n"},
		{"[ ] 1\n[ ] 2\n", "[x] 1\n[ ] 2\n", "[ ] 1\n[x] 2\n", "[x] 1\n[x] 2\n"},
		{"[ ] 1\n[ ] 2\n", "[ ] 1\n[x] 2\n", "[x] 1\n[ ] 2\n", "[x] 1\n[x] 2\n"},
		{"a b c", "a c", "a b c d", "a c d"},
		{"same", "other", "other", "other"},
		{"same", "one", "two", ""},
		{"", "a", "b", "ab"},
		{"a\nb\n", "a\nB\n", "a\nnew\nb\n", "a\nnew\nB\n"},
		{"a\nb\n", "a\nnew\nb\n", "a\nB\n", "a\nnew\nB\n"},
		{"[ ] 1\n[ ] 2\n", "[ ] 1\n[x] 2\n", "[ ] 1\n[ ] 9\n[ ] 2\n", "[ ] 1\n[ ] 9\n[x] 2\n"},
		{"[ ] 1\n[ ] 2\n", "[ ] 1\n[ ] 9\n[ ] 2\n", "[x] 1\n[ ] 2\n", "[x] 1\n[ ] 9\n[ ] 2\n"},
		{"[ ] 1\n[ ] 2\n", "[x] 1\n[ ] 2\n", "[ ] 9\n[ ] 1\n[ ] 2\n", "[ ] 9\n[x] 1\n[ ] 2\n"},
		{"[ ] 1\n[ ] 2\n", "[ ] 1\n[x] 2\n", "[ ] 1\n[ ] 9\n[ ] 2, now\n", ""},
	} {
		got, ok := mergeTexts([]byte(c.old), []byte(c.a), []byte(c.b))
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("mergeTexts(%q, %q, %q) = %q, %v, want %q", c.old, c.a, c.b, got, ok, c.want)
		}
	}
}

// TestJoined: what rewrite edits next, of two saves by others.
func TestJoined(t *testing.T) {
	for name, c := range map[string]struct{ pending, holds, next, found, want string }{
		"one save":                            {"a\n", "a\n", "a+\n", "a\nb\n", "a\nb\n"},
		"two appends":                         {"a\nb\n", "a+\n", "a+\nb\n", "a+\nc\n", "a\nb\nc\n"},
		"an editor that saves twice":          {"a\nb\n", "a+\n", "a+\nb\n", "a\nb\nc\n", "a\nb\nc\n"},
		"an editor that saves less":           {"a z\nb\n", "a z+\n", "a z+\nb\n", "a\nb\n", "a\nb\n"},
		"one adds a line, one ticks the next": {"[ ] 1\n[ ] 9\n[ ] 2\n", "[x] 1\n[ ] 2\n", "[x] 1\n[ ] 9\n[ ] 2\n", "[x] 1\n[x] 2\n", "[ ] 1\n[ ] 9\n[x] 2\n"},
		"both change one line, the last one":  {"b\n", "a+\n", "b+\n", "c+\n", "c+\n"},
	} {
		if got := joined([]byte(c.pending), []byte(c.holds), []byte(c.next), []byte(c.found)); string(got) != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestSavedTwiceBetween: programs append a line right before a task is added, and one
// more each time before that is put right, on top of a file that lacks the earlier
// ones. No line is lost, the task is added once, and no other call writes in between.
func TestSavedTwiceBetween(t *testing.T) {
	for _, backlog := range []bool{false, true} {
		repo := t.TempDir()
		name, kind, text := "plan.md", KindPlan, "- [ ] **Task 1: a**\n\n## Notes\n\n"
		if backlog {
			name, kind, text = "backlog.md", KindBacklog, "| ID | Task | Status |\n|---|---|---|\n| A-1 | a | queued |\n\n## Notes\n\n"
		}
		path := filepath.Join(repo, name)
		write(t, path, []byte(text))
		source, err := Open(kind, name, repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		saves := 0
		swap := func(a, b string) error {
			if saves < 4 {
				saves++
				file, err := os.OpenFile(path, os.O_APPEND|os.O_RDWR, 0)
				if err != nil {
					return err
				}
				defer file.Close()
				if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
					t.Errorf("save %d: another call can write: %v", saves, err)
				}
				fmt.Fprintf(file, "line %d\n", saves)
			}
			return exchange.Files(a, b)
		}
		switch s := source.(type) {
		case *fileSource:
			s.file.exchange = swap
		case *backlogSource:
			s.file.exchange = swap
		}
		added, err := AddOnce(t.Context(), source, ledger.AddTasks{Tasks: []ledger.Task{{Title: "Zoom"}}})
		if err != nil || added.Found || len(added.IDs) != 1 {
			t.Fatalf("%+v %v", added, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 4 {
			if c := strings.Count(string(data), fmt.Sprintf("line %d\n", n+1)); c != 1 {
				t.Errorf("line %d is there %d times", n+1, c)
			}
		}
		if c := strings.Count(string(data), "Zoom"); c != 1 {
			t.Errorf("the task is there %d times", c)
		}
		if t.Failed() {
			t.Fatalf("%s", data)
		}
	}
}

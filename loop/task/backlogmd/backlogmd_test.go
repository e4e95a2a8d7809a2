package backlogmd

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// TestStatuses: what columns of boards mean, and which are written.
func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		config string
		reads  map[string]class
		writes map[class]string
	}{
		{"", map[string]class{"to do": open, "IN PROGRESS": working, "Done": done}, map[class]string{open: "To Do", working: "In Progress", done: "Done", blocked: ""}},
		{"statuses: [Backlog, To Do, Doing, Blocked, Done, Cancelled]\ndefault_status: Backlog\n",
			map[string]class{"Backlog": aside, "To Do": open, "Blocked": blocked, "Done": done, "Cancelled": dropped},
			map[class]string{open: "To Do", working: "Doing", blocked: "Blocked", done: "Done"}},
		{"statuses:\n  - Neu\n  - Läuft\n  - Fertig\n", map[string]class{"neu": open, "Läuft": aside, "Fertig": done}, map[class]string{open: "Neu", working: "", done: "Fertig"}},
		{"statuses: [Idea, Spec, Live]\ndefault_status: Spec\n", map[string]class{"Idea": aside, "Spec": open, "Live": done}, map[class]string{open: "Spec", done: "Live"}},
	} {
		cfg, err := ReadConfig("config.yml", []byte(c.config))
		if err != nil {
			t.Errorf("%s: %v", c.config, err)
			continue
		}
		for status, want := range c.reads {
			if got := cfg.class(status); got != want {
				t.Errorf("%q: %s means %d, want %d", c.config, status, got, want)
			}
		}
		for of, want := range c.writes {
			if got := cfg.word(of); got != want {
				t.Errorf("%q: %d is written %q, want %q", c.config, of, got, want)
			}
		}
	}
}

// TestIDs: ids of one task, and their order.
func TestIDs(t *testing.T) {
	for a, b := range map[string]string{"TASK-1": "task-001", "back-24.02": "BACK-24.2", "a-b-7": "A-B-07"} {
		if keyOf(a) != keyOf(b) {
			t.Errorf("%s and %s differ: %s, %s", a, b, keyOf(a), keyOf(b))
		}
	}
	ids := []string{"TASK-10", "TASK-2.10", "TASK-2", "task-2.9", "TASK-100"}
	slices.SortFunc(ids, compareIDs)
	if d := cmp.Diff([]string{"TASK-2", "task-2.9", "TASK-2.10", "TASK-10", "TASK-100"}, ids); d != "" {
		t.Error(d)
	}
}

// TestScalars: what is written reads back, whatever it is.
func TestScalars(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(strings.Fields(rapid.StringOfN(rapid.RuneFrom(append([]rune("abc :#'\"\\-[]{}&*!|>%@`,?~0x1"), 'ä', '…')), 1, 20, -1).Draw(t, "text")), " ")
		if text == "" {
			return
		}
		data := fileText(Config{open: text}, ledger.Task{ID: "TASK-1", Title: text, Labels: []string{text}, Body: "b", Acceptance: []string{"a"}}, time.Unix(0, 0))
		f, err := ReadFile("task-1.md", data)
		if err != nil {
			if strings.Contains(err.Error(), "unusual form") && strings.ContainsAny(text, `'"\`) {
				return // quotes in a status: expected as an error
			}
			t.Fatalf("%v\n%s", err, data)
		}
		if f.title != text || f.status != text || !slices.Equal(f.labels, []string{text}) || f.body != "b" || !slices.Equal(f.acceptance, []string{"a"}) {
			t.Fatalf("%q reads as %q, %q, %q\n%s", text, f.title, f.status, f.labels, data)
		}
	})
}

var (
	anyStatus = regexp.MustCompile(`(?m)^["']?status["']?[ \t]*:.*$`)
	anyBox    = regexp.MustCompile(`\[[ xX]\]`)
)

// FuzzFile: no text breaks the reader; a mark leaves all but statuses and boxes as it
// is, and reads back.
func FuzzFile(f *testing.F) {
	for _, folder := range formtest.Folders {
		for name, text := range folder.Files {
			if strings.HasPrefix(name, "tasks/") {
				f.Add([]byte(text), []byte(folder.Files["config.yml"]))
			}
		}
	}
	f.Add([]byte("---\nid: A-1\ntitle: a\nstatus: Won  ever\n---\n"), []byte("statuses: ['Won  ever', Done]\n"))
	f.Add([]byte("---\nid: A-1\ntitle: a\nstatus: \"Done\"#\n---\n"), []byte("statuses: [Done]\n"))
	f.Add([]byte("---\nid: &a TASK-1\ntitle: *a\nstatus: !!str Done\n---\n"), []byte("statuses: {a: b}\n"))
	f.Fuzz(func(t *testing.T, data, config []byte) {
		c, err := ReadConfig("config.yml", config)
		if err != nil {
			c, _ = ReadConfig("config.yml", nil)
		}
		IsTask(data)
		file, err := ReadFile("tasks/task-1 - a.md", data)
		if err != nil {
			if input := (*ledger.InputError)(nil); !errors.As(err, &input) || input.Diagnostics[0].Remedy == "" {
				t.Fatalf("an error without a remedy: %v", err)
			}
			return
		}
		mask := func(text []byte) []byte { return anyBox.ReplaceAll(anyStatus.ReplaceAll(text, nil), nil) }
		for mark, want := range marks {
			text, err := Mark(c, "task-1.md", data, mark)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mask(text), mask(data)) {
				t.Fatalf("%s changed more than the status:\n%s", mark, cmp.Diff(string(data), string(text)))
			}
			now, err := ReadFile("tasks/task-1 - a.md", text)
			if err != nil {
				t.Fatalf("%s: %v\n%s", mark, err, text)
			}
			if c.word(want) == "" {
				want = open
			}
			if got := c.class(now.status); got != want && (want != blocked || got != dropped) {
				t.Fatalf("%s reads as %d, want %d:\n%s", mark, got, want, text)
			}
			if again, err := Mark(c, "task-1.md", text, mark); err != nil || !bytes.Equal(again, text) {
				t.Fatalf("%s twice: %v\n%s", mark, err, again)
			}
			if now.title != file.title || now.body != file.body || !slices.Equal(now.acceptance, file.acceptance) {
				t.Fatalf("%s changed what is read", mark)
			}
		}
	})
}

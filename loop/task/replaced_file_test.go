package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestReplacedFile: whatever stands in the file's place during a run, reading and
// marking say so, and nothing is written into it.
func TestReplacedFile(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace func(path string) error
		read    string // a part of the error; "" = it is read
		gone    bool   // marks are told as gone
	}{
		{"deleted", os.Remove, "there is no such file", true},
		{"a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }, "is a folder: expected a file", false},
		{"a pipe", func(path string) error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)) }, "is no regular file: expected a file", false},
		{"a link to nothing", func(path string) error { return errors.Join(os.Remove(path), os.Symlink("missing.md", path)) }, "there is no such file", true},
		{"a link to itself", func(path string) error { return errors.Join(os.Remove(path), os.Symlink("plan.md", path)) }, "is a link that leads back to itself", false},
		{"a link inside", func(path string) error {
			return errors.Join(os.Rename(path, path+".moved.md"), os.Symlink(filepath.Base(path)+".moved.md", path))
		}, "", false},
		{"read-only", func(path string) error { return os.Chmod(path, 0o444) }, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, path := newRepo(t, twoTasks)
			if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil { // without one all of it would count as away
				t.Fatal(err)
			}
			s := openPlanT(t, "plan.md", dir)
			if _, err := s.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := c.replace(path); err != nil {
				t.Fatal(err)
			}
			_, err := s.Read(t.Context())
			if c.read == "" && err != nil || c.read != "" && (err == nil || !strings.Contains(err.Error(), c.read)) {
				t.Errorf("read: %v, want %q", err, c.read)
			}
			err = s.Mark(t.Context(), []ledger.Marking{{Task: "Task 2", Mark: ledger.MarkDone}})
			gone := (*GoneError)(nil)
			switch {
			case c.gone:
				if !errors.As(err, &gone) || !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("mark: %v, want a GoneError", err)
				}
			case c.read != "":
				if err == nil || !strings.Contains(err.Error(), c.read) {
					t.Errorf("mark: %v, want %q", err, c.read)
				}
			default:
				if got, err1 := os.ReadFile(path); err != nil || err1 != nil || string(got) != "- [ ] **Task 1: A**\n- [x] **Task 2: B**\n" {
					t.Errorf("mark: %q %v %v", got, err, err1)
				}
				if info, err := os.Stat(path); err != nil || c.name == "read-only" && info.Mode().Perm() != 0o444 {
					t.Errorf("mode %v %v", info.Mode(), err)
				}
			}
			entries, err := os.ReadDir(dir)
			for _, e := range entries {
				if strings.Contains(e.Name(), "nightporter-") {
					t.Errorf("%s is left behind", e.Name())
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTwoProjectsOnOneFile: two projects, one repository inside of the other, mark tasks
// of one file at the same time, and each mark is in it.
func TestTwoProjectsOnOneFile(t *testing.T) {
	const tasks = 12
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for n := range tasks {
		fmt.Fprintf(&text, "- [ ] **Task %d: Part %d**\n", n+1, n+1)
	}
	path := filepath.Join(inner, "plan.md")
	write(t, path, []byte(text.String()))
	sources := []Source{openPlanT(t, "inner/plan.md", dir), openPlanT(t, "plan.md", inner)}
	var all sync.WaitGroup
	for n := range tasks {
		all.Go(func() {
			if err := sources[n%2].Mark(t.Context(), []ledger.Marking{{Task: fmt.Sprintf("Task %d", n+1), Mark: ledger.MarkDone}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := os.ReadFile(path); err != nil || string(got) != strings.ReplaceAll(text.String(), "[ ]", "[x]") {
		t.Errorf("%s %v", got, err)
	}
}

// TestTooLong: an id or a title that no person wrote is an error that does not repeat it.
func TestTooLong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"- [ ] A\n- [ ] " + strings.Repeat("word ", 400_000) + "\n", "a title of 1999999 characters, word word"},
		{"- [ ] T" + strings.Repeat("1", 200) + " A\n", "an id of 201 characters, T111"},
	} {
		dir, _ := newRepo(t, c.text)
		_, err := openPlanT(t, "plan.md", dir).Read(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500 {
			t.Errorf("%.600v, want %q", err, c.want)
		}
	}
}

//go:build linux

package task

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fake/netfs"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPlanOnNetworkFileSystem marks tasks in a plan on file systems with the limits
// of NFS, between which a person saves it: every mark and every word of the person is in
// the file at the end, and nothing lies beside it.
func TestPlanOnNetworkFileSystem(t *testing.T) {
	for name, limits := range map[string]netfs.Limits{
		"as it is below":              {},
		"no locks":                    {NoLocks: true},
		"no links":                    {NoLinks: true},
		"rename without flags":        {Flat: true},
		"owners are fixed":            {NoChown: true},
		"late attributes":             {Late: 3 * time.Second},
		"stale handles":               {Stale: 2},
		"slow":                        {Slow: 50 * time.Millisecond},
		"names without case":          {NoCase: true},
		"NFS at its worst, but ready": {NoLocks: true, NoLinks: true, Flat: true, NoChown: true, Late: 2 * time.Second, Slow: 20 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const tasks = 4
			var text bytes.Buffer
			for n := range tasks {
				fmt.Fprintf(&text, "- [ ] **Task %d: Title**\n", n+1)
			}
			below := t.TempDir()
			if err := os.WriteFile(filepath.Join(below, "plan.md"), text.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			f := netfs.Mount(t, below, limits)
			path := filepath.Join(f.Dir, "plan.md")
			s, err := Open(KindPlan, "plan.md", f.Dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			retry := func(what string, do func() error) {
				t.Helper()
				var err error
				for range 10 { // as the engine does for a fault of the machine
					if err = do(); err == nil {
						return
					}
				}
				t.Errorf("%s: %v", what, err)
			}
			var read ledger.Snapshot
			for n := range tasks {
				retry("read", func() (err error) { read, err = s.Read(t.Context()); return err })
				if len(read.Tasks) != tasks {
					t.Fatalf("%d tasks are read: %+v", len(read.Tasks), read.Tasks)
				}
				retry("save", func() error {
					text, err := os.ReadFile(path)
					if err != nil {
						return err
					}
					return save(path, append(text, fmt.Sprintf("<!-- note %d -->\n", n)...))
				})
				retry("mark", func() error {
					return s.Mark(t.Context(), []ledger.Marking{{Task: fmt.Sprintf("Task %d", n+1), Mark: ledger.MarkDone}})
				})
			}
			retry("read", func() (err error) { read, err = s.Read(t.Context()); return err })
			for _, x := range read.Tasks {
				if x.Mark != ledger.MarkDone {
					t.Errorf("%s is read as %q", x.ID, x.Mark)
				}
			}
			got, err := os.ReadFile(filepath.Join(below, "plan.md"))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(got, []byte("- [x] **Task")); n != tasks {
				t.Errorf("%d of %d marks are left:\n%s", n, tasks, got)
			}
			if n := bytes.Count(got, []byte("<!-- note")); n != tasks {
				t.Errorf("%d of %d words of the person are left:\n%s", n, tasks, got)
			}
			list, err := os.ReadDir(below)
			if err != nil || len(list) != 1 {
				t.Errorf("beside the plan: %v, %v", list, err)
			}
		})
	}
}

// save replaces a file as an editor does.
func save(path string, text []byte) error {
	if err := os.WriteFile(path+"~", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}

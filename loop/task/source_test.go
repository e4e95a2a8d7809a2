package task

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestOpen(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "repo")
	for _, d := range []string{dir, filepath.Join(dir, "folder")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "plan.md"), []byte(twoTasks))
	write(t, filepath.Join(dir, "plan.progress.md"), []byte("# Progress\n"))
	write(t, filepath.Join(base, "out.md"), []byte(twoTasks))
	for link, to := range map[string]string{
		"repo/out-link.md": "../out.md", "repo/in-link.md": "plan.md", "repo/nowhere.md": "missing.md",
		"repo/loop.md": "loop.md", "repo/outdir": "..", "alias": "repo",
	} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, kind, path, repo string
		want                   string // part of the error; "" = the source opens
		owned                  []string
	}{
		{"relative", "plan", "plan.md", dir, "", []string{"plan.md", "plan.progress.md"}},
		{"cleaned", "plan", "./folder/../plan.md", dir, "", []string{"plan.md", "plan.progress.md"}},
		{"absolute", "plan", filepath.Join(dir, "plan.md"), dir, "", []string{"plan.md", "plan.progress.md"}},
		{"repository by another name", "plan", "plan.md", filepath.Join(base, "alias"), "", []string{"plan.md", "plan.progress.md"}},
		{"both by another name", "plan", filepath.Join(base, "alias/plan.md"), filepath.Join(base, "alias"), "", []string{"plan.md", "plan.progress.md"}},
		{"file by its real name", "plan", filepath.Join(dir, "plan.md"), filepath.Join(base, "alias"), "", []string{"plan.md", "plan.progress.md"}},
		{"link inside", "plan", "in-link.md", dir, "", []string{"in-link.md", "plan.md", "in-link.progress.md"}},
		{"missing", "plan", "no.md", dir, "no.md  there is no such file", nil},
		{"empty", "plan", " ", dir, "the source has no path", nil},
		{"outside", "plan", "../out.md", dir, "../out.md  lies outside the repository", nil},
		{"the repository itself", "plan", ".", dir, ".  lies outside the repository", nil},
		{"link out", "plan", "out-link.md", dir, "out-link.md  is a link to ", nil},
		{"through a folder's link out", "plan", "outdir/out.md", dir, "outdir/out.md  is a link to ", nil},
		{"link to nowhere", "plan", "nowhere.md", dir, "nowhere.md  there is no such file", nil},
		{"link to itself", "plan", "loop.md", dir, "leads back to itself", nil},
		{"folder", "plan", "folder", dir, "folder  is a folder: expected a file", nil},
		{"progress log", "plan", "plan.progress.md", dir, "plan.progress.md  is a progress log, not a plan", nil},
		{"no repository", "plan", "plan.md", filepath.Join(base, "none"), "there is no such folder", nil},
		{"reports from a forge", "bugs", "forge:bug", dir, "bugs:forge:bug needs a configured project, whose remote has the issues", nil},
		{"unknown kind", "plans", "plan.md", dir, `unknown source kind "plans"`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(c.kind, c.path, c.repo, Options{})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want == "":
				if d := cmp.Diff(c.owned, s.Owned()); d != "" {
					t.Errorf("owned (-want +got)\n%s", d)
				}
			case err == nil || !strings.Contains(err.Error(), c.want):
				t.Errorf("got %v, want %s", err, c.want)
			}
			if input := (*ledger.InputError)(nil); c.want != "" && c.name != "link to itself" && !errors.As(err, &input) {
				t.Errorf("not an InputError: %v", err)
			}
		})
	}
}

// TestLinkOutLater: a path that was valid at the start of a run may later
// become a link to another place.
func TestLinkOutLater(t *testing.T) {
	dir, path := newRepo(t, twoTasks)
	s := openPlanT(t, "plan.md", dir)
	out := filepath.Join(t.TempDir(), "other.md")
	write(t, out, []byte(twoTasks))
	if err := errors.Join(os.Remove(path), os.Symlink(out, path), os.Symlink(out, filepath.Join(dir, "plan.progress.md"))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context()); !errors.As(err, new(*ledger.InputError)) {
		t.Errorf("read: got %v, want an InputError", err)
	}
	if err := s.Mark(t.Context(), []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}}); !errors.As(err, new(*ledger.InputError)) {
		t.Errorf("mark: got %v, want an InputError", err)
	}
	if err := s.Log(t.Context(), ledger.Progress{Key: "k", Task: "Task 1"}); !errors.As(err, new(*ledger.InputError)) {
		t.Errorf("log: got %v, want an InputError", err)
	}
	if got, _ := snapshotFile(t, out); string(got) != twoTasks {
		t.Errorf("the other file was written: %q", got)
	}
}

func TestEndedContext(t *testing.T) {
	dir, path := newRepo(t, twoTasks)
	s := openPlanT(t, "plan.md", dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if err := s.Mark(ctx, []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}}); !errors.Is(err, context.Canceled) {
		t.Errorf("mark: %v", err)
	}
	if err := s.Log(ctx, ledger.Progress{Task: "Task 1"}); !errors.Is(err, context.Canceled) {
		t.Errorf("log: %v", err)
	}
	if err := s.Watch(ctx, func() { t.Error("told") }); err != nil {
		t.Errorf("watch: %v", err)
	}
	if got, _ := snapshotFile(t, path); string(got) != twoTasks {
		t.Errorf("written: %q", got)
	}
}

// TestWriteNamed: where unnamed files are not supported, the temporary file has
// a name from the start.
func TestWriteNamed(t *testing.T) {
	dir, path := newRepo(t, twoTasks)
	_, like := snapshotFile(t, path)
	temp, err := writeNamed(path, []byte("x"), like)
	if err != nil {
		t.Fatal(err)
	}
	got, info := snapshotFile(t, temp)
	if string(got) != "x" || info.Mode() != like.Mode() || filepath.Dir(temp) != dir {
		t.Errorf("%s: %q %v", temp, got, info.Mode())
	}
}

package task

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/settle"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

var (
	maskBox  = regexp.MustCompile(`(?m)^([ \t\x{feff}]*[-*+][ \t]+)\[[ xX]\]([^\n]*Task )`)
	maskMark = regexp.MustCompile(`(?mi)^([ \t\x{feff}]*[-*+][ \t]+\[_\][^\n]*?)(?:[ \t]\((?:blocked|manual[- ]verify)\)|\((?:blocked|manual[- ]verify)\) )`)
	noteLine = regexp.MustCompile(`\n<!-- (note \d+|[a-z ]+) -->`)
)

func maskPlan(text []byte) []byte {
	text = maskBox.ReplaceAll(text, []byte("${1}[_]${2}"))
	for {
		next := maskMark.ReplaceAll(text, []byte("${1}"))
		if bytes.Equal(next, text) {
			return text
		}
		text = next
	}
}

// statusText is all that a mark of a document changes.
var statusText = regexp.MustCompile(`(?i)[ \t]*(?:\((?:blocked|manual[ _-]verify|done)\)|✅|✓)|\[[ xX~/-]\]`)

func maskDocument(text []byte) []byte { return statusText.ReplaceAll(text, nil) }

// testPlanConformance runs the conformance suite over plans.
func testPlanConformance(t *testing.T) {
	texts := slices.Concat(formtest.Plans, formtest.Headings, formtest.Checklists)
	testSource(t, FindKind(KindPlan), len(texts), func(t testing.TB, dir string, variant int) fixture {
		path := filepath.Join(dir, ".agents", "plans", "in-progress", "checkout.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, []byte(texts[variant]))
		open := func() Source {
			s, err := Open(KindPlan, ".agents/plans/in-progress/checkout.md", dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		mask, document := maskPlan, variant >= len(formtest.Plans)
		if document {
			mask = maskDocument
		}
		return fixture{source: open(), reopen: open, path: path, maskStatuses: mask, elsewhere: document,
			edit: func(text []byte, note string) []byte {
				return append(bytes.Clone(text), "\n<!-- "+note+" -->"...)
			},
			notes: func(text []byte) (map[string]bool, []byte) {
				found := map[string]bool{}
				for _, m := range noteLine.FindAllSubmatch(text, -1) {
					found[string(m[1])] = true
				}
				return found, noteLine.ReplaceAll(text, nil)
			},
		}
	})
}

// newRepo makes a folder that contains a plan.
func newRepo(t *testing.T, text string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "plan.md")
	write(t, path, []byte(text))
	return dir, path
}

func openPlanT(t *testing.T, path, dir string) *fileSource {
	t.Helper()
	s, err := Open(KindPlan, path, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*fileSource)
}

const twoTasks = "- [ ] **Task 1: A**\n- [ ] **Task 2: B**\n"

// TestSavedBetweenReadAndWrite: the person saves exactly between our read and
// our write, several times.
func TestSavedBetweenReadAndWrite(t *testing.T) {
	for _, c := range []struct{ inPlace, unsupported bool }{{true, false}, {false, false}, {true, true}, {false, true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			dir, path := newRepo(t, twoTasks)
			s := openPlanT(t, "plan.md", dir)
			if c.unsupported {
				s.file.exchange = func(_, _ string) error { return errors.ErrUnsupported }
			}
			n := 0
			err := s.file.rewrite(t.Context(), func(fresh []byte) ([]byte, error) {
				if n++; n <= 3 {
					text := fmt.Appendf(nil, "note %d\n%s", n, fresh)
					if c.inPlace {
						write(t, path, text)
					} else {
						write(t, path+"~", text)
						if err := os.Rename(path+"~", path); err != nil {
							t.Fatal(err)
						}
					}
				}
				next, _, err := s.form.Mark("plan.md", fresh, []ledger.Marking{{Task: "Task 2", Mark: ledger.MarkDone}})
				return next, err
			})
			if err != nil {
				t.Fatal(err)
			}
			got, _ := snapshotFile(t, path)
			if want := "note 3\nnote 2\nnote 1\n- [ ] **Task 1: A**\n- [x] **Task 2: B**\n"; string(got) != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if d := cmp.Diff([]string{"plan.md"}, entries(t, dir)); d != "" {
				t.Errorf("left behind:\n%s", d)
			}
		})
	}
}

// markIn names the folder in which the helper process marks until it is killed.
const markIn = "TASK_TEST_MARK_IN"

// TestKilledWhileMarking: a process that is killed during a mark leaves the
// text complete, with or without the mark.
func TestKilledWhileMarking(t *testing.T) {
	t.Parallel()
	marks := []ledger.Mark{ledger.MarkDone, ledger.MarkBlocked, ledger.MarkOpen, ledger.MarkManualVerify}
	if dir := os.Getenv(markIn); dir != "" {
		s := openPlanT(t, "plan.md", dir)
		for n := 0; ; n++ {
			if err := s.Mark(t.Context(), []ledger.Marking{{Task: "Task 1", Mark: marks[n%4]}}); err != nil {
				t.Fatal(err)
			}
			fmt.Println("marked")
		}
	}
	dir, path := newRepo(t, formtest.SeedPlan)
	for n := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileMarking$")
		cmd.Env = append(os.Environ(), markIn+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range n + 1 {
			if !lines.Scan() {
				t.Fatal("the marking process ended by itself")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		text, _ := snapshotFile(t, path)
		if d := cmp.Diff(string(maskPlan([]byte(formtest.SeedPlan))), string(maskPlan(text))); d != "" {
			t.Fatalf("after kill %d:\n%s", n, d)
		}
		// A kill between two system calls leaves a temporary file with the old
		// or the new text.
		left := entries(t, dir)
		for _, name := range left {
			if name == "plan.md" {
				continue
			}
			t.Logf("kill %d left %s", n, name)
			if text, _ := snapshotFile(t, filepath.Join(dir, name)); string(maskPlan(text)) != string(maskPlan([]byte(formtest.SeedPlan))) {
				t.Errorf("kill %d left %s with %q", n, name, text)
			}
		}
	}
	s := openPlanT(t, "plan.md", dir)
	if err := s.Mark(t.Context(), []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}}); err != nil {
		t.Error(err)
	}
}

// TestSavedBetweenAndBroken: a text saved in between that cannot be marked
// stays as it was saved.
func TestSavedBetweenAndBroken(t *testing.T) {
	dir, path := newRepo(t, twoTasks)
	s := openPlanT(t, "plan.md", dir)
	const broken = twoTasks + "- [ ] **Task 1: again**\n"
	n := 0
	err := s.file.rewrite(t.Context(), func(fresh []byte) ([]byte, error) {
		if n++; n == 1 {
			write(t, path, []byte(broken))
		}
		next, _, err := s.form.Mark("plan.md", fresh, []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}})
		return next, err
	})
	if !errors.As(err, new(*ledger.InputError)) {
		t.Errorf("got %v, want an InputError", err)
	}
	if got, _ := snapshotFile(t, path); string(got) != broken {
		t.Errorf("got %q, want %q", got, broken)
	}
}

// TestMarkWaitsForTruncatedFile: an editor has truncated the file and is slow
// to write its text. A mark waits for that text, and keeps the editor's file in
// place.
func TestMarkWaitsForTruncatedFile(t *testing.T) {
	dir, path := newRepo(t, twoTasks)
	s := openPlanT(t, "plan.md", dir)
	ctx, cancel := context.WithTimeout(t.Context(), settle.EmptyTime/4)
	defer cancel()
	editor, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	since := time.Now().Add(-2 * settle.Time)
	if err := os.Chtimes(path, since, since); err != nil {
		t.Fatal(err)
	}
	done := []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}}
	if err := s.Mark(ctx, done); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("marking an empty file: %v", err)
	}
	_, err = editor.WriteString(twoTasks)
	if err := errors.Join(err, editor.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), done); err != nil {
		t.Error(err)
	}
	if got, _ := snapshotFile(t, path); string(got) != strings.Replace(twoTasks, "[ ]", "[x]", 1) {
		t.Errorf("got %q", got)
	}
}

// TestMarkKeepsTextOfOpenFile checks that a mark waits for an editor that had
// opened the plan before the mark replaced it, and truncates and writes it
// afterwards: its text is in no other file.
func TestMarkKeepsTextOfOpenFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: this system does not tell who has a file open")
	}
	dir, path := newRepo(t, twoTasks)
	s := openPlanT(t, "plan.md", dir)
	var editor sync.WaitGroup
	n := 0
	err := s.file.rewrite(t.Context(), func(fresh []byte) ([]byte, error) {
		if n++; n == 1 {
			_, before := snapshotFile(t, path)
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			editor.Go(func() {
				defer file.Close()
				for { // until the mark is in place
					if now, err := os.Stat(path); err == nil && !os.SameFile(before, now) {
						break
					}
					runtime.Gosched()
				}
				time.Sleep(4 * settle.Time) // longer than the mark would take without the editor
				if _, err := file.WriteAt([]byte(twoTasks+"note\n"), 0); err != nil {
					t.Error(err)
				}
			})
		}
		next, _, err := s.form.Mark("plan.md", fresh, []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}})
		return next, err
	})
	editor.Wait()
	if err != nil {
		t.Error(err)
	}
	if got, _ := snapshotFile(t, path); string(got) != strings.Replace(twoTasks, "[ ]", "[x]", 1)+"note\n" {
		t.Errorf("got %q", got)
	}
}

func TestMarkKeepsModeAndOwner(t *testing.T) {
	dir, path := newRepo(t, twoTasks)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 12345, 54321
		if err := os.Chown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	setOld(t, path)
	s := openPlanT(t, "plan.md", dir)
	if err := s.Mark(t.Context(), []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Log(t.Context(), ledger.Progress{Key: "k", Task: "Task 1"}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, filepath.Join(dir, "plan.progress.md")} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		if info.Mode().Perm() != 0o640 || int(st.Uid) != uid || int(st.Gid) != gid {
			t.Errorf("%s: mode %v owner %d:%d, want 0640 %d:%d", p, info.Mode(), st.Uid, st.Gid, uid, gid)
		}
	}
}

func TestMarkThroughLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "real", "p.md"), []byte(twoTasks))
	if err := os.Symlink("real/p.md", filepath.Join(dir, "plan.md")); err != nil {
		t.Fatal(err)
	}
	s := openPlanT(t, "plan.md", dir)
	if err := s.Mark(t.Context(), []ledger.Marking{{Task: "Task 2", Mark: ledger.MarkBlocked}}); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "plan.md")); err != nil || to != "real/p.md" {
		t.Errorf("the link is gone: %q %v", to, err)
	}
	if got, _ := snapshotFile(t, filepath.Join(dir, "real", "p.md")); string(got) != "- [ ] **Task 1: A**\n- [ ] (blocked) **Task 2: B**\n" {
		t.Errorf("got %q", got)
	}
	if d := cmp.Diff([]string{"plan.md", "real/p.md", "plan.progress.md"}, s.Owned()); d != "" {
		t.Errorf("owned:\n%s", d)
	}
}

func TestLockedByAnother(t *testing.T) {
	dir, path := newRepo(t, twoTasks)
	s := openPlanT(t, "plan.md", dir)
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	go cancel(stop)
	if err := s.Mark(ctx, []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}}); !errors.Is(err, stop) {
		t.Errorf("got %v, want %v", err, stop)
	}
	if got, _ := snapshotFile(t, path); string(got) != twoTasks {
		t.Errorf("written in spite of the lock: %q", got)
	}
}

// TestLockOfReplacedFile: the file may be replaced while a mark waits for its
// lock.
func TestLockOfReplacedFile(t *testing.T) {
	_, path := newRepo(t, twoTasks)
	opened := 0
	file, _, err := lockFile(t.Context(), func() (*os.File, string, error) {
		file, err := os.Open(path)
		if opened++; opened == 1 {
			write(t, path+"~", []byte("new"))
			err = errors.Join(err, os.Rename(path+"~", path))
		}
		return file, path, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if opened != 2 {
		t.Errorf("opened %d times, want 2: the lock is on a file that is gone", opened)
	}
}

func TestCommitStatusLeavesCheckoutAlone(t *testing.T) {
	dir, path := newRepo(t, twoTasks)
	s, err := Open(KindPlan, "plan.md", dir, Options{CommitStatus: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Mark(t.Context(), []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}}), s.Log(t.Context(), ledger.Progress{Task: "Task 1"})); err != nil {
		t.Fatal(err)
	}
	if got, _ := snapshotFile(t, path); string(got) != twoTasks {
		t.Errorf("got %q", got)
	}
	if d := cmp.Diff([]string{"plan.md"}, entries(t, dir)); d != "" {
		t.Errorf("in the checkout:\n%s", d)
	}
}

// TestCompanions: the documents beside a list are material of its tasks.
func TestCompanions(t *testing.T) {
	repo := t.TempDir()
	for _, p := range []string{"specs/001-a/spec.md", "specs/001-a/plan.md", "specs/001-a/contracts/api.yaml", "specs/002-b/spec.md",
		"docs/superpowers/specs/2026-01-02-a-design.md", "openspec/changes/a/proposal.md", "openspec/changes/a/specs/pay/spec.md"} {
		writeBelow(t, repo, p, "text")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(repo, "specs/001-a/research.md")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"specs/001-a/tasks.md":                   {"specs/001-a/spec.md", "specs/001-a/plan.md", "specs/001-a/contracts/api.yaml"},
		"docs/superpowers/plans/2026-01-02-a.md": {"docs/superpowers/specs/2026-01-02-a-design.md"},
		"openspec/changes/a/tasks.md":            {"openspec/changes/a/proposal.md", "openspec/changes/a/specs/pay/spec.md"},
		"TODO.md":                                nil,
	} {
		writeBelow(t, repo, path, "- [ ] T001 a\n")
		s, err := Open(KindPlan, path, repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, snap.Tasks[0].Material); d != "" {
			t.Errorf("%s: (-want +got)\n%s", path, d)
		}
	}
}

// TestFindPlans: lists are found where tools keep them, and other text is not one.
func TestFindPlans(t *testing.T) {
	repo := t.TempDir()
	want := []string{".agents/plans/in-progress/a.md", ".agents/plans/later/b.md", "docs/superpowers/plans/c.md", "docs/plans/d.md", "specs/001-a/tasks.md",
		".kiro/specs/pay/tasks.md", "openspec/changes/x/tasks.md", "docs/stories/1.1.story.md", ".planning/ROADMAP.md", "IMPLEMENTATION_PLAN.md", "@fix_plan.md"}
	for _, p := range want {
		writeBelow(t, repo, p, "- [ ] a\n")
	}
	for _, p := range []string{"docs/plans/design.md", "TODO.md", "openspec/changes/archive/README.md"} {
		writeBelow(t, repo, p, "Words.\n")
	}
	writeBelow(t, repo, ".agents/plans/in-progress/a.progress.md", "- [ ] a\n")
	writeBelow(t, repo, "openspec/changes/archive/x/tasks.md", "- [ ] a\n")
	writeBelow(t, repo, "docs/plans/completed/d.md", "- [ ] a\n")
	got, err := findPlans(repo)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

var maskStatus = regexp.MustCompile("(?mi)^(\\|?[^|\n]*\\|(?:\\\\.|[^|\\\\\n])*\\|[^|\n\\pL]*)(queued|resumed|done|blocked|manual[_-]verify|in[_ ]progress)")

func maskBacklog(text []byte) []byte { return maskStatus.ReplaceAll(text, []byte("${1}STATUS")) }

// testBacklogConformance runs the conformance suite over tables and folders.
func testBacklogConformance(t *testing.T) {
	t.Run("table", testTableConformance)
	t.Run("folder", testFolderConformance)
}

func testTableConformance(t *testing.T) {
	t.Parallel()
	testSource(t, FindKind(KindBacklog), len(formtest.Backlogs), func(t testing.TB, dir string, variant int) fixture {
		path := filepath.Join(dir, "ai", "backlog.md")
		for _, folder := range []string{filepath.Dir(path), filepath.Join(dir, ".git")} {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		write(t, path, []byte(formtest.Backlogs[variant]))
		open := func() Source {
			s, err := Open(KindBacklog, "ai/backlog.md", dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		return fixture{source: open(), reopen: open, path: path, maskStatuses: maskBacklog, open: "resumed",
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

const (
	spec68 = "ai/features/TECH-068-2026-02-02-native-triggers.md"
	spec69 = "ai/features/TECH-069-2026-02-02-fresh-context.md"
	diary  = "ai/diary/autopilot-progress.md"
)

// newBacklog makes a repository with the seed's backlog and two specs, and opens it.
func newBacklog(t *testing.T, opts Options) (string, *backlogSource) {
	t.Helper()
	dir := t.TempDir()
	writeBelow(t, dir, ".git/HEAD", "")
	writeBelow(t, dir, "ai/backlog.md", formtest.SeedBacklog)
	writeBelow(t, dir, spec68, "# TECH-068\n\n**Status**: draft\n")
	writeBelow(t, dir, spec69, formtest.SeedSpec)
	return dir, openBacklogT(t, dir, opts)
}

func openBacklogT(t *testing.T, dir string, opts Options) *backlogSource {
	t.Helper()
	s, err := Open(KindBacklog, "ai/backlog.md", dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	b := s.(*backlogSource)
	b.lookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	return b
}

func textOf(t *testing.T, dir, path string) string {
	t.Helper()
	text, _ := snapshotFile(t, filepath.Join(dir, filepath.FromSlash(path)))
	return string(text)
}

// TestBacklogRead reads rows together with their specs.
func TestBacklogRead(t *testing.T) {
	_, s := newBacklog(t, Options{})
	snap, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, task := range snap.Tasks {
		ids = append(ids, task.ID+" "+string(task.Mark))
	}
	if d := cmp.Diff([]string{"TECH-068 done", "TECH-069 open", "BUG-071a open", "GROWTH-001 blocked", "GROWTH-002 open"}, ids); d != "" {
		t.Errorf("tasks:\n%s", d)
	}
	want := ledger.Task{ID: "TECH-069", Title: "Fresh context per spec", Priority: 3, Mark: ledger.MarkOpen, Line: 14, Material: []string{spec69},
		Scope:      "`scripts/loop.sh`, `template/SKILL.md`, `help/loop.md`, `help/img/`",
		Acceptance: []string{"runs several specs in order", "logs progress:; to the diary"},
		Body: "Spec: " + spec69 + "\n\n### Task 1: The loop\n\n**Status:** of the task, not of the spec\n- [ ] reads the backlog\n\n" +
			"```markdown\n## Definition of Done\n```bash\n# not a heading\n```\n```\n\nEnvironment: nodejs: false, docker: true"}
	if d := cmp.Diff(want, snap.Tasks[1]); d != "" {
		t.Errorf("TECH-069:\n%s", d)
	}
	var warnings []string
	for _, w := range snap.Warnings {
		warnings = append(warnings, w.Short())
	}
	if d := cmp.Diff([]string{
		"backlog.md draft, and so no task yet: TECH-070",
		"backlog.md spec says draft where the backlog says done, and the backlog counts: TECH-068",
		"backlog.md:14 TECH-069: its spec needs docker, which is not on PATH here",
		"backlog.md:16 BUG-071a: was left in_progress: it counts as queued",
		"backlog.md:22 GROWTH-001: its link leads to TECH-068-2026-02-02-native-triggers.md, which is named after another id",
		"backlog.md:22 GROWTH-001: its spec lists no allowed files: its sessions may change any",
		"backlog.md:23 GROWTH-002: has a remark where the link to its spec should be",
	}, warnings); d != "" {
		t.Errorf("warnings:\n%s", d)
	}
	if d := cmp.Diff([]string{"ai/backlog.md", diary, spec68, spec69, "ai/features/TECH-070.md"}, s.Owned()); d != "" {
		t.Errorf("owned:\n%s", d)
	}
	if d := cmp.Diff(s.Owned(), openBacklogT(t, s.repo, Options{}).Owned()); d != "" {
		t.Errorf("owned before the first reading:\n%s", d)
	}
}

// TestBacklogSpecStatus: a spec's status follows its row's, unless it said something
// else before or is another row's.
func TestBacklogSpecStatus(t *testing.T) {
	t.Parallel()
	dir, s := newBacklog(t, Options{})
	for _, m := range []ledger.Mark{ledger.MarkWorking, ledger.MarkBlocked, ledger.MarkOpen, ledger.MarkDone} {
		if err := s.Mark(t.Context(), []ledger.Marking{{Task: "tech-069", Mark: m}, {Task: "TECH-068", Mark: m}, {Task: "GROWTH-001", Mark: m}}); err != nil {
			t.Fatal(err)
		}
		word := map[ledger.Mark]string{ledger.MarkWorking: "in_progress", ledger.MarkBlocked: "blocked", ledger.MarkOpen: "resumed", ledger.MarkDone: "done"}[m]
		want := strings.Replace(formtest.SeedBacklog, "spec | queued |", "spec | "+word+" |", 1)
		want = strings.Replace(want, "twice) | done |", "twice) | "+word+" |", 1)
		want = strings.Replace(want, "post | blocked |", "post | "+word+" |", 1)
		if d := cmp.Diff(want, textOf(t, dir, "ai/backlog.md")); d != "" {
			t.Errorf("%s: backlog\n%s", m, d)
		}
		if d := cmp.Diff(strings.Replace(formtest.SeedSpec, "** queued |", "** "+word+" |", 1), textOf(t, dir, spec69)); d != "" {
			t.Errorf("%s: spec in step\n%s", m, d)
		}
		if got := textOf(t, dir, spec68); got != "# TECH-068\n\n**Status**: draft\n" {
			t.Errorf("%s: the spec that was different is now %q", m, got)
		}
	}
	// A draft is a person's; a mark of it finds no task.
	err := s.Mark(t.Context(), []ledger.Marking{{Task: "TECH-070", Mark: ledger.MarkDone}})
	if gone := (*GoneError)(nil); !errors.As(err, &gone) || !slices.Equal(gone.Tasks, []string{"TECH-070"}) {
		t.Errorf("marking a draft: %v", err)
	}
}

// TestBacklogMarkAgain: a mark that was cut off between spec and backlog is whole
// after it is made again.
func TestBacklogMarkAgain(t *testing.T) {
	dir, s := newBacklog(t, Options{})
	marks := []ledger.Marking{{Task: "TECH-069", Mark: ledger.MarkDone}}
	if err := s.markSpecs(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	if err := openBacklogT(t, dir, Options{}).Mark(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(textOf(t, dir, spec69), "**Status:** done |") || !strings.Contains(textOf(t, dir, "ai/backlog.md"), "spec | done |") {
		t.Error("the mark is not in both")
	}
}

// TestBacklogKilledWhileMarking: a process that is killed during a mark leaves both
// files whole.
func TestBacklogKilledWhileMarking(t *testing.T) {
	t.Parallel()
	marks := []ledger.Mark{ledger.MarkDone, ledger.MarkBlocked, ledger.MarkOpen, ledger.MarkManualVerify}
	if dir := os.Getenv(markIn); dir != "" {
		s := openBacklogT(t, dir, Options{})
		for n := 0; ; n++ {
			if err := s.Mark(t.Context(), []ledger.Marking{{Task: "TECH-069", Mark: marks[n%4]}}); err != nil {
				t.Fatal(err)
			}
			fmt.Println("marked")
		}
	}
	dir, _ := newBacklog(t, Options{})
	specMask := regexp.MustCompile(`\*\*Status:\*\* \w+ \|`)
	mask := func(s string) string { return specMask.ReplaceAllString(s, "") }
	for n := range 8 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestBacklogKilledWhileMarking$")
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
		if d := cmp.Diff(string(maskBacklog([]byte(formtest.SeedBacklog))), string(maskBacklog([]byte(textOf(t, dir, "ai/backlog.md"))))); d != "" {
			t.Fatalf("after kill %d:\n%s", n, d)
		}
		if d := cmp.Diff(mask(formtest.SeedSpec), mask(textOf(t, dir, spec69))); d != "" {
			t.Fatalf("spec after kill %d:\n%s", n, d)
		}
	}
	if err := openBacklogT(t, dir, Options{}).Mark(t.Context(), []ledger.Marking{{Task: "TECH-069", Mark: ledger.MarkDone}}); err != nil {
		t.Error(err)
	}
}

var specDone = ledger.Progress{Key: "r14/tech-069/a2", Time: "2026-11-20T22:14:11Z", Task: "TECH-069", Title: "Fresh context", Attempt: 2,
	Status: "completed", Commit: "1f2e3d4c", Changes: []string{"scripts/loop.sh +11"}, Commands: []ledger.CommandMark{{Run: "make test", OK: true}}}

const (
	loggedSpec = "### 2026-11-20 22:14:11 +00:00: done\n\n- Attempt: 2\n- Commit: 1f2e3d4c\n- Changed: scripts/loop.sh +11\n- Ran: ✓ `make test`\n\n<!-- nightporter: r14/tech-069/a2 -->\n"
	diaryDone  = "# Autopilot Progress\n\n## Iteration 1: TECH-069\nStatus: done\nCompleted: 2026-11-20 22:14:11 +00:00\n<!-- nightporter: r14/tech-069/a2 -->\n"
)

// TestBacklogLog: results are in the spec's log and in the diary, each once.
func TestBacklogLog(t *testing.T) {
	dir, s := newBacklog(t, Options{})
	blocked := ledger.Progress{Key: "k2", Time: "2026-11-20T22:20:00Z", Task: "BUG-071a", Status: "blocked", Blockers: "No key."}
	paused := ledger.Progress{Key: "k3", Time: "2026-11-20T22:30:00Z", Status: "paused", Text: "Paused after 5 tasks for review"}
	for _, p := range []ledger.Progress{specDone, specDone, blocked, paused, specDone, blocked} {
		if err := s.Log(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(formtest.SeedSpec+"\n"+loggedSpec, textOf(t, dir, spec69)); d != "" {
		t.Errorf("spec:\n%s", d)
	}
	if d := cmp.Diff(diaryDone+"\n## Iteration 2: BUG-071a\nStatus: blocked\n=== BLOCKED: BUG-071a ===\nHuman intervention required.\nCompleted: 2026-11-20 22:20:00 +00:00\n- Blockers: No key.\n<!-- nightporter: k2 -->\n"+
		"\n=== Paused after 5 tasks for review ===\n2026-11-20 22:30:00 +00:00\n<!-- nightporter: k3 -->\n", textOf(t, dir, diary)); d != "" {
		t.Errorf("diary:\n%s", d)
	}
	snap, err := s.Read(t.Context())
	if err != nil || strings.Contains(snap.Tasks[1].Body, "1f2e3d4c") {
		t.Errorf("the log is part of the task: %v", err)
	}
}

// TestBacklogStamp: with commit_status the same changes are part of a commit, and the
// checkout stays as it is.
func TestBacklogStamp(t *testing.T) {
	dir, s := newBacklog(t, Options{CommitStatus: true})
	if err := errors.Join(s.Mark(t.Context(), []ledger.Marking{{Task: "TECH-069", Mark: ledger.MarkDone}}), s.Log(t.Context(), specDone)); err != nil {
		t.Fatal(err)
	}
	if textOf(t, dir, "ai/backlog.md") != formtest.SeedBacklog || textOf(t, dir, spec69) != formtest.SeedSpec {
		t.Error("the checkout was changed")
	}
	read := func(path string) ([]byte, error) {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return text, err
	}
	files, err := s.Stamp(read, []ledger.Marking{{Task: "TECH-069", Mark: ledger.MarkDone}, {Task: "TECH-068", Mark: ledger.MarkDone}}, specDone)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"ai/backlog.md": strings.Replace(formtest.SeedBacklog, "spec | queued |", "spec | done |", 1),
		spec69:          strings.Replace(formtest.SeedSpec, "** queued |", "** done |", 1) + "\n" + loggedSpec,
		spec68:          "# TECH-068\n\n**Status**: draft\n",
		diary:           diaryDone,
	}
	got := map[string]string{}
	for path, text := range files {
		got[path] = string(text)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestBacklogAdd: a new task is a row in the style of the last table, with a spec if
// there is something to say in it.
func TestBacklogAdd(t *testing.T) {
	dir, s := newBacklog(t, Options{})
	ids, err := s.Add(t.Context(), []ledger.Task{{Title: "Say | hello"}, {Title: "Größe: limits of lines", Body: "Count them.", Scope: "`a/b.go`, docs", Acceptance: []string{"counted"}, DependsOn: []string{"TECH-069"}, Priority: 3}})
	if err != nil || !slices.Equal(ids, []string{"TECH-071", "TECH-072"}) {
		t.Fatalf("%q, %v", ids, err)
	}
	day := time.Now().Format(time.DateOnly)
	spec := "features/TECH-072-" + day + "-gr-e-limits-of-lines.md"
	row := "| GROWTH-002 | Showcase | resumed | ⭐⭐⭐ | closed: covered by TECH-068 |\n"
	want := strings.Replace(formtest.SeedBacklog, row, row+"| TECH-071 | Say \\| hello | queued | ⭐⭐⭐ | — |\n| TECH-072 | Größe: limits of lines | queued | ⭐⭐⭐⭐ | [spec]("+spec+") |\n", 1)
	if d := cmp.Diff(want, textOf(t, dir, "ai/backlog.md")); d != "" {
		t.Error(d)
	}
	snap, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantTask := ledger.Task{ID: "TECH-072", Title: "Größe: limits of lines", Body: "Spec: ai/" + spec + "\n\nCount them.", Scope: "`a/b.go`, `docs`",
		Acceptance: []string{"counted"}, DependsOn: []string{"TECH-069"}, Priority: 3, Mark: ledger.MarkOpen, Line: 25, Material: []string{"ai/" + spec}}
	if d := cmp.Diff(wantTask, snap.Tasks[len(snap.Tasks)-1]); d != "" {
		t.Error(d)
	}
	before := textOf(t, dir, "ai/backlog.md")
	for _, bad := range []ledger.Task{{ID: "tech-069", Title: "again"}, {Title: "x", DependsOn: []string{"TECH-999"}}, {ID: "A B", Title: "x"}} {
		bad.Body = "x"
		if _, err := s.Add(t.Context(), []ledger.Task{bad}); !errors.As(err, new(*ledger.InputError)) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if textOf(t, dir, "ai/backlog.md") != before || len(entries(t, filepath.Join(dir, "ai/features"))) != 3 {
		t.Error("a refused task left something behind")
	}
}

// TestBacklogBadSpec: a spec that would let sessions out of the repository stops a
// run if its row is open.
func TestBacklogBadSpec(t *testing.T) {
	dir, s := newBacklog(t, Options{})
	writeBelow(t, dir, spec69, "# x\n\n**Status:** queued\n\n## Allowed Files\n\n- `/etc/passwd` — edit\n- `../x`\n")
	if _, err := s.Read(t.Context()); err == nil || err.Error() != "TECH-069-2026-02-02-fresh-context.md:7  allows `/etc/passwd`, which is not a path below the repository, and 1 more like it\n    Write paths relative to the repository's top folder" {
		t.Error(err)
	}
	if err := s.Mark(t.Context(), []ledger.Marking{{Task: "TECH-069", Mark: ledger.MarkDone}}); err != nil {
		t.Error(err)
	}
	if _, err := s.Read(t.Context()); err != nil {
		t.Errorf("a finished row's spec stops a run: %v", err)
	}
}

// TestBacklogLinksOut: links of rows and of files never lead out of the repository.
func TestBacklogLinksOut(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "out.md")
	write(t, outside, []byte("**Status:** queued\n"))
	writeBelow(t, dir, ".git/HEAD", "")
	writeBelow(t, dir, "ai/backlog.md", "| ID | Task | Status | Spec |\n|-|-|-|-|\n| A-1 | a | queued | [x](../../../../"+outside+") |\n| A-2 | b | queued | [x](features/A-2.md) |\n| A-3 | c | queued | [x]("+outside+") |\n")
	if err := os.Mkdir(filepath.Join(dir, "ai", "features"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "ai", "features", "A-2.md")); err != nil {
		t.Fatal(err)
	}
	s := openBacklogT(t, dir, Options{})
	snap, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range snap.Tasks {
		if task.Material != nil || task.Body != "" {
			t.Errorf("%s has a spec: %+v", task.ID, task)
		}
	}
	if len(snap.Warnings) != 3 {
		t.Errorf("warnings: %v", snap.Warnings)
	}
	if err := s.Mark(t.Context(), []ledger.Marking{{Task: "A-1", Mark: ledger.MarkDone}, {Task: "A-2", Mark: ledger.MarkDone}, {Task: "A-3", Mark: ledger.MarkDone}}); err != nil {
		t.Error(err)
	}
	if text, _ := snapshotFile(t, outside); string(text) != "**Status:** queued\n" {
		t.Errorf("outside: %q", text)
	}
}

// TestBacklogWatchSpecs: a change of an open row's spec is told, also of one that
// appears.
func TestBacklogWatchSpecs(t *testing.T) {
	t.Parallel()
	dir, s := newBacklog(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Read(ctx); err != nil {
		t.Fatal(err)
	}
	changed, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- s.Watch(ctx, func() { changed <- struct{}{} }) }()
	for _, step := range []func(){
		func() { writeBelow(t, dir, spec69, strings.Replace(formtest.SeedSpec, "several", "all", 1)) },
		func() {
			writeBelow(t, dir, "ai/backlog.md", strings.Replace(formtest.SeedBacklog, "limits | draft", "limits | queued", 1))
		},
		func() { writeBelow(t, dir, "ai/features/TECH-070.md", "# Limits\n") },
	} {
		step()
		select {
		case <-changed:
		case <-time.After(3 * time.Minute):
			t.Fatal("not told")
		}
		if _, err := s.Read(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil || len(changed) > 0 {
		t.Errorf("told %d times too often; ended with %v", len(changed), err)
	}
}

// TestBacklogUndo: rows that were added are taken out with their specs, to the byte,
// and only as long as nobody has changed them.
func TestBacklogUndo(t *testing.T) {
	for name, newline := range map[string]string{"Unix": "\n", "Windows": "\r\n"} {
		for _, end := range []string{newline, ""} {
			dir, s := newBacklog(t, Options{})
			path := filepath.Join(dir, "ai/backlog.md")
			before := strings.ReplaceAll("| ID | Task | Status | Feature.md |\n|---|---|---|---|\n| TECH-1 | a | done | — |", "\n", newline) + end
			write(t, path, []byte(before))
			specs := entries(t, filepath.Join(dir, "ai/features"))
			add := func() ledger.RemoveTasks {
				t.Helper()
				added, err := AddOnce(t.Context(), s, ledger.AddTasks{Tasks: []ledger.Task{{Title: "b", Body: "Do it."}, {Title: "c"}}})
				if err != nil || added.Text == "" || len(added.IDs) != 2 {
					t.Fatalf("%+v %v", added, err)
				}
				return ledger.RemoveTasks{IDs: added.IDs, Text: added.Text}
			}
			undo := add()
			for range 2 {
				if err := RemoveAdded(t.Context(), s, undo); err != nil || textOf(t, dir, "ai/backlog.md") != before {
					t.Fatalf("%s: %v %q", name, err, textOf(t, dir, "ai/backlog.md"))
				}
			}
			if d := cmp.Diff(specs, entries(t, filepath.Join(dir, "ai/features"))); d != "" {
				t.Errorf("left behind:\n%s", d)
			}
			undo = add()
			spec := slices.DeleteFunc(entries(t, filepath.Join(dir, "ai/features")), func(n string) bool { return slices.Contains(specs, n) })[0]
			write(t, filepath.Join(dir, "ai/features", spec), []byte("# Mine\n"))
			grown := textOf(t, dir, "ai/backlog.md")
			if err := RemoveAdded(t.Context(), s, undo); !errors.As(err, new(*ChangedError)) || textOf(t, dir, "ai/backlog.md") != grown || textOf(t, dir, "ai/features/"+spec) != "# Mine\n" {
				t.Errorf("%s: a changed spec: %v", name, err)
			}
			if err := os.Remove(filepath.Join(dir, "ai/features", spec)); err != nil {
				t.Fatal(err)
			}
			if err := RemoveAdded(t.Context(), s, undo); !errors.As(err, new(*ChangedError)) || textOf(t, dir, "ai/backlog.md") != grown {
				t.Errorf("%s: a spec that is gone: %v", name, err)
			}
		}
	}
}

package task

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// All that a mark of a task's file changes: the value of its status, and boxes of
// criteria.
var (
	maskFolderStatus = regexp.MustCompile(`(?m)^status:[ \t]*(?:"[^"\n]*"|'(?:[^'\n]|'')*'|[^#\r\n]*?)([ \t]*(?:#.*)?\r?)$`)
	maskFolderBox    = regexp.MustCompile(`(?m)^- \[[ x]\] (#\d|without)`)
)

func maskFolder(text []byte) []byte {
	return maskFolderBox.ReplaceAll(maskFolderStatus.ReplaceAll(text, []byte("status$1")), []byte("- BOX $1"))
}

// folderWords is how each of formtest.Folders writes statuses.
var folderWords = []map[ledger.Mark]string{
	{ledger.MarkOpen: "To Do", ledger.MarkDone: "Done", ledger.MarkBlocked: "To Do", ledger.MarkManualVerify: "To Do"},
	{ledger.MarkOpen: "Ready", ledger.MarkDone: "Live", ledger.MarkBlocked: "On hold", ledger.MarkManualVerify: "In review"},
	{ledger.MarkOpen: "To Do", ledger.MarkDone: "Done", ledger.MarkBlocked: "To Do", ledger.MarkManualVerify: "To Do"},
}

// writeFolder writes one of formtest.Folders to backlog/ of a repository.
func writeFolder(t testing.TB, repo string, f formtest.Folder) {
	t.Helper()
	for _, name := range append([]string{".git/HEAD"}, keysOf(f.Files)...) {
		path, text := filepath.Join(repo, "backlog", filepath.FromSlash(name)), f.Files[name]
		if name == ".git/HEAD" {
			path = filepath.Join(repo, ".git", "HEAD")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, []byte(text))
	}
}

// openFolderT opens backlog/ of a repository.
func openFolderT(t testing.TB, repo string, opts Options) *folderSource {
	t.Helper()
	s, err := Open(KindBacklog, "backlog", repo, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*folderSource)
}

func testFolderConformance(t *testing.T) {
	t.Parallel()
	testSource(t, FindKind(KindBacklog), len(formtest.Folders), func(t testing.TB, dir string, variant int) fixture {
		folder := formtest.Folders[variant]
		writeFolder(t, dir, folder)
		if err := os.RemoveAll(filepath.Join(dir, "backlog", doneFolderName)); err != nil { // marks of what is completed have tests of their own
			t.Fatal(err)
		}
		path := filepath.Join(dir, "backlog", filepath.FromSlash(folder.First))
		return fixture{
			source: openFolderT(t, dir, Options{}), reopen: func() Source { return openFolderT(t, dir, Options{}) },
			path: path, maskStatuses: maskFolder, words: folderWords[variant],
			files: func() []string {
				files, _ := filepath.Glob(filepath.Join(dir, "backlog", "*", "*.md"))
				return files
			},
			statusOf: func(task ledger.Task) string {
				files, _ := filepath.Glob(filepath.Join(dir, "backlog", "tasks", strings.ToLower(task.ID)+" - *.md"))
				for _, f := range files {
					data, _ := os.ReadFile(f)
					return string(regexp.MustCompile(`(?m)^status:.*$`).Find(data))
				}
				return ""
			},
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

// TestFolderRead reads a folder as its board shows it.
func TestFolderRead(t *testing.T) {
	repo := t.TempDir()
	writeFolder(t, repo, formtest.Folders[0])
	writeBelow(t, repo, "docs/rules.md", "Rules\n")
	s := openFolderT(t, repo, Options{})
	snap, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var tasks []string
	for _, task := range snap.Tasks {
		tasks = append(tasks, task.ID+" "+string(task.Mark)+" after "+strings.Join(task.DependsOn, " "))
	}
	if d := cmp.Diff([]string{"TASK-1 done after ", "TASK-4 open after TASK-3 TASK-4.1", "TASK-3 open after TASK-1", "TASK-4.1 open after ", "TASK-5 done after "}, tasks); d != "" {
		t.Errorf("tasks:\n%s", d)
	}
	want := ledger.Task{ID: "TASK-3", Title: "Round half up: everywhere", Priority: 3, Mark: ledger.MarkOpen, Labels: []string{"cart"}, DependsOn: []string{"TASK-1"},
		Material:   []string{"backlog/tasks/task-3 - Round-half-up.md"},
		Acceptance: []string{"1.005 becomes 1.01", "The cart shows it", "tests pass"},
		Body: "Totals are cut off.\n\n## Cases\n\n- [ ] 1.005 is a case, not a criterion\n\n```markdown\n## Acceptance Criteria\n- [ ] #9 in code\n```\n\n" +
			"Implementation plan:\n\n1. A function"}
	if d := cmp.Diff(want, snap.Tasks[2]); d != "" {
		t.Errorf("TASK-3:\n%s", d)
	}
	if part := snap.Tasks[3]; part.Body != "Part of TASK-4: Show it in the cart\n\nIn euros." {
		t.Errorf("TASK-4.1 says %q", part.Body)
	}
	if len(snap.Warnings) != 1 || !strings.Contains(snap.Warnings[0].String(), "task-4 - Show-it.md:6  TASK-4 is In Progress: it counts as open") {
		t.Errorf("warnings: %v", snap.Warnings)
	}
}

// TestFolderMarks: of a task's file its status and its criteria's boxes are written,
// and of a completed one nothing.
func TestFolderMarks(t *testing.T) {
	repo := t.TempDir()
	writeFolder(t, repo, formtest.Folders[0])
	s := openFolderT(t, repo, Options{})
	mark := func(marks ...ledger.Marking) error { return s.Mark(t.Context(), marks) }
	const file = "backlog/tasks/task-3 - Round-half-up.md"
	before := textOf(t, repo, file)
	if err := mark(ledger.Marking{Task: "TASK-3", Mark: ledger.MarkWorking}); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(before, "status: To Do", "status: In Progress", 1); textOf(t, repo, file) != want {
		t.Errorf("at work:\n%s", cmp.Diff(want, textOf(t, repo, file)))
	}
	if err := mark(ledger.Marking{Task: "TASK-3", Mark: ledger.MarkDone}); err != nil {
		t.Fatal(err)
	}
	done := strings.NewReplacer("status: To Do", "status: Done", "- [ ] #1 1.005", "- [x] #1 1.005").Replace(before)
	if textOf(t, repo, file) != done {
		t.Errorf("done:\n%s", cmp.Diff(done, textOf(t, repo, file)))
	}
	completed := textOf(t, repo, "backlog/completed/task-1 - Add-up.md")
	if err := mark(ledger.Marking{Task: "TASK-1", Mark: ledger.MarkDone}); err != nil {
		t.Error(err)
	}
	gone := (*GoneError)(nil)
	if err := mark(ledger.Marking{Task: "TASK-1", Mark: ledger.MarkOpen}); !errors.As(err, &gone) || textOf(t, repo, "backlog/completed/task-1 - Add-up.md") != completed {
		t.Errorf("a completed task: %v", err)
	}
	// A mistake in another file keeps no mark from being written.
	writeBelow(t, repo, "backlog/tasks/task-7 - Broken.md", "---\nid: TASK-7\ntitle: a: b\n")
	if err := mark(ledger.Marking{Task: "TASK-4", Mark: ledger.MarkDone}); err != nil || !strings.Contains(textOf(t, repo, "backlog/tasks/task-4 - Show-it.md"), "status: \"Done\" # since Monday\n") {
		t.Errorf("%v\n%s", err, textOf(t, repo, "backlog/tasks/task-4 - Show-it.md"))
	}
	committing := openFolderT(t, repo, Options{CommitStatus: true})
	if err := committing.Mark(t.Context(), []ledger.Marking{{Task: "TASK-3", Mark: ledger.MarkOpen}}); err != nil || textOf(t, repo, file) != done {
		t.Errorf("with commit_status the checkout was written: %v", err)
	}
	stamped, err := committing.Stamp(func(path string) ([]byte, error) {
		if path == file {
			return []byte(before), nil
		}
		return nil, nil
	}, []ledger.Marking{{Task: "TASK-3", Mark: ledger.MarkDone}}, ledger.Progress{Key: "k", Task: "TASK-3", Title: "Round half up", Status: "done"})
	if err != nil || string(stamped[file]) != done || !strings.Contains(string(stamped["backlog/backlog.progress.md"]), "## TASK-3: Round half up") || len(stamped) != 2 {
		t.Errorf("stamped %q, %v", keysOf(stamped), err)
	}
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// TestFolderMoves: a task in completed/ is done, one in the archive is gone, and Watch
// tells of both, and of a new one.
func TestFolderMoves(t *testing.T) {
	repo := t.TempDir()
	writeFolder(t, repo, formtest.Folders[0])
	s := openFolderT(t, repo, Options{})
	read := func() map[string]ledger.Mark {
		t.Helper()
		snap, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]ledger.Mark{}
		for _, task := range snap.Tasks {
			found[task.ID] = task.Mark
		}
		return found
	}
	read()
	ctx, cancel := context.WithCancel(t.Context())
	changed, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- s.Watch(ctx, func() { changed <- struct{}{} }) }()
	move := func(name, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(repo, "backlog", "tasks", name), filepath.Join(repo, "backlog", filepath.FromSlash(to), name)); err != nil {
			t.Fatal(err)
		}
		<-changed
	}
	move("task-3 - Round-half-up.md", "completed")
	if found := read(); found["TASK-3"] != ledger.MarkDone {
		t.Errorf("completed: %v", found)
	}
	move("task-4.1 - Euro.md", "archive/tasks")
	if found := read(); found["TASK-4.1"] != "" || found["TASK-4"] != ledger.MarkOpen {
		t.Errorf("archived: %v", found)
	}
	writeBelow(t, repo, "backlog/tasks/task-8 - New.md", "---\nid: TASK-8\ntitle: New\nstatus: To Do\n---\n")
	<-changed
	if found := read(); found["TASK-8"] != ledger.MarkOpen {
		t.Errorf("new: %v", found)
	}
	writeBelow(t, repo, "backlog/config.yml", "project_name: x\nstatuses: [To Do, In Progress, Later, Done]\n")
	<-changed
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestFolderAdd: a new task gets the next id that was never given, in the form of the
// others.
func TestFolderAdd(t *testing.T) {
	repo := t.TempDir()
	writeFolder(t, repo, formtest.Folders[0])
	writeBelow(t, repo, "backlog/archive/tasks/task-11 - Old.md", "---\nid: TASK-11\n---\n")
	s := openFolderT(t, repo, Options{})
	added, err := AddOnce(t.Context(), s, ledger.AddTasks{Tasks: []ledger.Task{
		{Title: "Zoom: on a 'tap'?", Body: "With two fingers.", Scope: "`map/`", Acceptance: []string{"it zooms"}, DependsOn: []string{"TASK-3"}, Priority: 3},
		{Title: "Then docs", DependsOn: []string{"TASK-4"}},
	}})
	if err != nil || !slices.Equal(added.IDs, []string{"TASK-12", "TASK-13"}) {
		t.Fatalf("%v %v", added.IDs, err)
	}
	got := regexp.MustCompile(`created_date: '[0-9: -]+'`).ReplaceAllString(textOf(t, repo, "backlog/tasks/task-12 - Zoom-on-a-tap.md"), "created_date: NOW")
	const want = `---
id: TASK-12
title: 'Zoom: on a ''tap''?'
status: To Do
assignee: []
created_date: NOW
labels: []
dependencies:
  - TASK-3
priority: high
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
With two fingers.

Scope: ` + "`map/`" + `
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 it zooms
<!-- AC:END -->
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// What cannot be read back is in no file: the whole folder could not be read.
	for _, bad := range []ledger.Task{{ID: "task-03", Title: "x"}, {ID: "a b", Title: "x"}, {Title: "x", DependsOn: []string{"TASK-99"}}, {Title: "a\x01b"}, {Title: "x", Body: "a\x00"}, {Title: "x", Acceptance: []string{"\xff"}}} {
		if _, err := AddOnce(t.Context(), s, ledger.AddTasks{Tasks: []ledger.Task{bad}}); !errors.As(err, new(*ledger.InputError)) {
			t.Errorf("%+v: %v", bad, err)
		}
		if _, err := s.Read(t.Context()); err != nil {
			t.Fatalf("after %+v: %v", bad, err)
		}
	}
	if err := s.Log(t.Context(), ledger.Progress{Key: "k", Task: "TASK-12", Status: "done"}); err != nil || !strings.HasPrefix(textOf(t, repo, "backlog/backlog.progress.md"), "# Progress: backlog\n") {
		t.Errorf("log: %v", err)
	}
}

// TestFolderMistakes: what is wrong in a folder is told with its file, line and remedy.
func TestFolderMistakes(t *testing.T) {
	const ok = "---\nid: TASK-1\ntitle: One\nstatus: To Do\n---\n"
	for _, c := range []struct{ name, file, text, want string }{
		{"a status that is not configured", "tasks/task-2 - b.md", "---\nid: TASK-2\ntitle: b\nstatus: Todoo\n---\n", `task-2 - b.md:4  TASK-2 has the status "Todoo": expected one of To Do, In Progress, Done`},
		{"an id twice", "tasks/task-01 - b.md", "---\nid: task-01\ntitle: b\nstatus: To Do\n---\n", `TASK-1 is there twice, also in task-01 - b.md`},
		{"no front matter", "tasks/task-2 - b.md", "# b\n", "task-2 - b.md:1  has no front matter"},
		{"front matter without an end", "tasks/task-2 - b.md", "---\nid: TASK-2\ntitle: b\nstatus: To Do\n", "task-2 - b.md:1  has no front matter"},
		{"no title", "tasks/task-2 - b.md", "---\nid: TASK-2\nstatus: To Do\n---\n", "task-2 - b.md:1  has no title"},
		{"a title that is no YAML", "tasks/task-2 - b.md", "---\nid: TASK-2\ntitle: b: c\nstatus: To Do\n---\n", "task-2 - b.md:3  title is no YAML\n    Put its value into quotes"},
		{"a key twice", "tasks/task-2 - b.md", "---\nid: TASK-2\ntitle: b\nstatus: To Do\nstatus: Done\n---\n", "task-2 - b.md:5  status is there twice: line 4 and line 5"},
		{"a status over two lines", "tasks/task-2 - b.md", "---\nid: TASK-2\ntitle: b\nstatus: >-\n  To Do\n---\n", "task-2 - b.md:4  the status has an unusual form"},
		{"a cycle", "tasks/task-2 - b.md", "---\nid: TASK-2\ntitle: b\nstatus: To Do\ndependencies: [TASK-3]\n---\n", "tasks wait for each other: TASK-2 → TASK-3 → TASK-2"},
		{"on itself", "tasks/task-2 - b.md", "---\nid: TASK-2\ntitle: b\nstatus: To Do\ndependencies: task-2\n---\n", "TASK-2 depends on itself"},
		{"no status for what is done", "config.yml", "project_name: x\nstatuses: [To Do, Blocked]\n", "config.yml:2  statuses: none of To Do, Blocked is for finished tasks"},
		{"no status for what is open", "config.yml", "statuses: [Doing, Done]\n", "config.yml:1  statuses: none of Doing, Done is for tasks that wait"},
		{"NUL", "tasks/task-2 - b.md", "---\nid: \x00\n---\n", "task-2 - b.md:2  a NUL byte"},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := t.TempDir()
			writeFolder(t, repo, formtest.Folder{Files: map[string]string{
				"tasks/task-1 - One.md": ok, "tasks/task-3 - Three.md": "---\nid: TASK-3\ntitle: Three\nstatus: To Do\ndependencies: [TASK-2]\n---\n", c.file: c.text,
			}})
			_, err := openFolderT(t, repo, Options{}).Read(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
	t.Run("dependencies that are not there", func(t *testing.T) {
		repo := t.TempDir()
		writeFolder(t, repo, formtest.Folder{Files: map[string]string{
			"tasks/task-1 - One.md": strings.Replace(ok, "---\n", "---\ndependencies: [TASK-7, TASK-8]\n", 1), "archive/tasks/task-7 - Seven.md": "x",
		}})
		snap, err := openFolderT(t, repo, Options{}).Read(t.Context())
		if err != nil || !slices.Equal(snap.Tasks[0].DependsOn, []string{"TASK-7", "TASK-8"}) || len(snap.Warnings) != 2 ||
			!strings.Contains(snap.Warnings[0].Text, "TASK-7, which is archived") || !strings.Contains(snap.Warnings[1].Text, "TASK-8, which is not there") {
			t.Errorf("%v %+v", err, snap)
		}
	})
}

// TestFolderRecognised: a folder of Backlog.md is found and named, and a part of one is
// not taken for a list.
func TestFolderRecognised(t *testing.T) {
	repo := t.TempDir()
	writeFolder(t, repo, formtest.Folders[0])
	if kind, path, err := Resolve(t.Context(), repo, KindAuto, ""); err != nil || kind != KindBacklog || path != "backlog" {
		t.Errorf("auto is %s:%s, %v", kind, path, err)
	}
	if kind, _, err := Resolve(t.Context(), repo, KindAuto, "backlog/"); err != nil || kind != KindBacklog {
		t.Errorf("auto:backlog/ is %s, %v", kind, err)
	}
	for _, part := range []string{"auto:backlog/tasks", "auto:backlog/tasks/task-3 - Round-half-up.md", "auto:backlog/drafts/draft-1 - Some-day.md", "backlog:backlog/tasks", "plan:backlog"} {
		kind, path, _ := strings.Cut(part, ":")
		kind, path, err := Resolve(t.Context(), repo, kind, path)
		if err == nil {
			_, err = Open(kind, path, repo, Options{})
		}
		if err == nil || !strings.Contains(err.Error(), `Write source = "backlog:backlog"`) {
			t.Errorf("%s: %v", part, err)
		}
	}
	writeBelow(t, repo, rootConfig, "project_name: x\nbacklog_directory: \"work/items\"\n")
	writeBelow(t, repo, "work/items/tasks/task-1 - One.md", "---\nid: TASK-1\ntitle: One\nstatus: To Do\n---\n")
	writeBelow(t, repo, "other/tasks/a.md", "- [ ] one\n")
	if found, err := findBacklog(repo); err != nil || !slices.Equal(found, []string{"backlog", "work/items"}) {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := Open(KindBacklog, "other", repo, Options{}); err != nil {
		t.Error(err)
	} else if _, err := openFolderAt(t, repo, "other").Read(t.Context()); err == nil || !strings.Contains(err.Error(), "has no tasks") {
		t.Errorf("a folder without tasks: %v", err)
	}
	if _, err := Open(KindBacklog, "work", repo, Options{}); err == nil || !strings.Contains(err.Error(), "has no folder tasks") {
		t.Errorf("a folder of something else: %v", err)
	}
	outside := t.TempDir()
	writeBelow(t, outside, "tasks/task-1 - One.md", "---\nid: TASK-1\ntitle: One\nstatus: To Do\n---\n")
	if err := os.Symlink(outside, filepath.Join(repo, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(KindBacklog, "link", repo, Options{}); err == nil || !strings.Contains(err.Error(), "outside the repository") {
		t.Errorf("a link out of the repository: %v", err)
	}
}

func openFolderAt(t *testing.T, repo, path string) Source {
	t.Helper()
	s, err := Open(KindBacklog, path, repo, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

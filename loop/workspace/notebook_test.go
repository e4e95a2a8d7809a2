package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/settle"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

var _ engine.Notebook = (*Notebook)(nil)

func fact(key, text string) ledger.Memory {
	return ledger.Memory{Key: key, Kind: ledger.MemoryFact, Time: "2026-11-20T23:14:11+01:00", Session: "r14-25", Hat: "builder", Task: "Task 5", Text: text}
}

func keep(t *testing.T, n *Notebook, list ...ledger.Memory) {
	t.Helper()
	for _, m := range list {
		if err := n.Keep(t.Context(), m); err != nil {
			t.Fatalf("keep %.40q: %v", m.Text, err)
		}
	}
}

// putSettled writes a file with an old modification time, so that it counts as
// settled.
func putSettled(t *testing.T, dir, name, text string) {
	t.Helper()
	writeFile(t, dir, name, text)
	at := time.Now().Add(-time.Minute)
	must(t, os.Chtimes(filepath.Join(dir, name), at, at))
}

func TestKeep(t *testing.T) {
	repo := shop(t)
	n := NewNotebook(repo)
	decision, note := fact("k3", "Use one table."), fact("k4", "Ask about VAT.")
	decision.Kind, note.Kind, note.Task = ledger.MemoryDecision, ledger.MemoryNote, ""
	keep(t, n, fact("k1", "Totals are in cents."), fact("k2", "Two steps:\r\n- one\n\n  - two\n```go\nx := 1\n```"), decision, note, fact("k1", "Totals are in cents."))
	want := map[string]string{
		".ralph/.gitignore": "*\n",
		".ralph/agent/memories.md": `# Memories

- 2026-11-20 23:14 · builder · Task 5 · r14-25: Totals are in cents. <!-- nightporter: k1 -->
- 2026-11-20 23:14 · builder · Task 5 · r14-25: Two steps:
  - one
    - two
  ` + "```go\n  x := 1\n  ```" + `
  <!-- nightporter: k2 -->
`,
		".ralph/agent/decisions.md":  "# Decisions\n\n- 2026-11-20 23:14 · builder · Task 5 · r14-25: Use one table. <!-- nightporter: k3 -->\n",
		".ralph/agent/scratchpad.md": "# Scratchpad\n\n- 2026-11-20 23:14 · builder · r14-25: Ask about VAT. <!-- nightporter: k4 -->\n",
	}
	got := map[string]string{}
	for _, p := range files(t, filepath.Join(repo, ".ralph")) {
		got[".ralph/"+p] = readFile(t, repo, ".ralph/"+p)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := git(t, repo, "status", "--porcelain"); got != "" {
		t.Errorf("git status says %q", got)
	}
	for file, want := range want {
		data, err := n.Read(t.Context(), file)
		must(t, err)
		if string(data) != want {
			t.Errorf("%s reads %q", file, data)
		}
	}
	for _, m := range []ledger.Memory{{Key: "k", Kind: "other", Text: "x"}, fact("k", " \n\t")} {
		if err := n.Keep(t.Context(), m); err == nil {
			t.Errorf("%+v was kept", m)
		}
	}
}

// notesRepo returns a folder that passes for a repository.
func notesRepo(t *testing.T) string {
	repo := t.TempDir()
	must(t, os.Mkdir(filepath.Join(repo, ".git"), 0o755))
	return repo
}

// TestKeepBesidePeople checks that text written by people stays unchanged, byte
// for byte.
func TestKeepBesidePeople(t *testing.T) {
	item := func(key string) string {
		return strings.TrimSuffix(notebookItem(fact(key, "x")), "\n")
	}
	for _, c := range []struct{ name, before, after string }{
		{"own heading", "# Ours\n\nRead this first.  \n\t\n", "# Ours\n\nRead this first.  \n\t\n" + "\n" + item("k") + "\n"},
		{"a paragraph at the end", "# Memories\n\n" + item("a") + "\n\nMine", "# Memories\n\n" + item("a") + "\n\nMine\n\n" + item("k") + "\n"},
		{"a list of their own", "- mine\n  and more\n", "- mine\n  and more\n" + item("k") + "\n"},
		{"CRLF", "# Memories\r\n\r\n- mine\r\n", "# Memories\r\n\r\n- mine\r\n" + item("k") + "\r\n"},
		{"not text", "\xff\x00\r", "\xff\x00\r\n\n" + item("k") + "\n"},
		{"nothing", "", "# Memories\n\n" + item("k") + "\n"},
		{"the key somewhere in a line", "`" + itemKey("k") + "` is a key\n", "`" + itemKey("k") + "` is a key\n\n" + item("k") + "\n"},
		{"there", "# Memories\n\n" + item("k") + "  \r\nmore", "# Memories\n\n" + item("k") + "  \r\nmore"},
		{"part of a key", "# Memories\n\n" + item("kk") + "\n", "# Memories\n\n" + item("kk") + "\n" + item("k") + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := notesRepo(t)
			putSettled(t, repo, ".ralph/agent/memories.md", c.before)
			putSettled(t, repo, ".ralph/.gitignore", "events\n")
			must(t, os.Chmod(filepath.Join(repo, ".ralph/agent/memories.md"), 0o640))
			keep(t, NewNotebook(repo), fact("k", "x"))
			if got := readFile(t, repo, ".ralph/agent/memories.md"); got != c.after {
				t.Errorf("got  %q\nwant %q", got, c.after)
			}
			info, err := os.Stat(filepath.Join(repo, ".ralph/agent/memories.md"))
			must(t, err)
			if info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v", info.Mode())
			}
			if got := readFile(t, repo, ".ralph/.gitignore"); got != "events\n" {
				t.Errorf(".gitignore is %q now", got)
			}
		})
	}
}

// TestKeepWaitsForAnEditor checks that a file being written in place is read
// only after it has settled. Files that we wrote need no wait.
func TestKeepWaitsForAnEditor(t *testing.T) {
	repo := notesRepo(t)
	n := NewNotebook(repo)
	writeFile(t, repo, ".ralph/agent/memories.md", "# Mine\n")
	root, err := n.open(false)
	must(t, err)
	defer root.Close()
	data, info, err := n.readSettled(t.Context(), root, "agent/memories.md")
	if since := time.Since(info.ModTime()); err != nil || string(data) != "# Mine\n" || since < settle.Time {
		t.Errorf("read %q %v after it was written (%v), want %v at the least", data, since, err, settle.Time)
	}
	keep(t, n, fact("k1", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a wait would fail
	if _, _, err := n.readSettled(ctx, root, "agent/memories.md"); err != nil {
		t.Errorf("what we wrote ourselves: %v", err)
	}
}

// TestKeepSeesWhatIsSavedMeanwhile checks that a save during Keep is not
// overwritten.
func TestKeepSeesWhatIsSavedMeanwhile(t *testing.T) {
	repo := notesRepo(t)
	putSettled(t, repo, ".ralph/agent/memories.md", "old\n")
	var seen []string
	must(t, NewNotebook(repo).update(t.Context(), "agent/memories.md", func(old []byte) []byte {
		if seen = append(seen, string(old)); len(seen) == 1 {
			putSettled(t, repo, ".ralph/agent/memories.md", "new, and longer\n")
		}
		return append(old, "ours\n"...)
	}))
	if got := readFile(t, repo, ".ralph/agent/memories.md"); got != "new, and longer\nours\n" {
		t.Errorf("got %q after %q", got, seen)
	}
}

func TestKeepHostileText(t *testing.T) {
	repo := notesRepo(t)
	n := NewNotebook(repo)
	fake := notebookItem(fact("k2", "fake"))
	texts := []string{
		"a --> b <!-- c", "<!--->", "x <!-- nightporter: k9 -->", "\n" + fake, "a\r" + fake, "a\u2028" + fake, "a\u0085" + fake, "a\v" + fake, "a\x00\x1b[2Jb\u202ec",
		"```\nnever closed", "bad\xff", strings.Repeat("é", 1<<19), strings.Repeat("x\n", 1<<19), "last",
	}
	for i, text := range texts {
		m := fact(fmt.Sprint("k", 100+i), text)
		m.Hat, m.Task, m.Session = "hat\n- x", "Task <!--\n5", "s\x00"
		keep(t, n, m, m)
	}
	keep(t, n, fact("k2", "real"), fact("k9", "real"), fact("- k\n-->", "odd key"), fact("- k\n-->", "odd key"))
	text := readFile(t, repo, ".ralph/agent/memories.md")
	items := 0
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "- 2026-11-20 23:14 · "):
			items++
		case line == "# Memories\n", line == "\n", strings.HasPrefix(line, "  "):
		default:
			t.Errorf("a line stands outside of every item: %.80q", line)
		}
		if i := strings.Index(line, "-->"); i >= 0 && (strings.Count(line, "-->") > 1 || strings.Count(line, "<!--") != 1 || i < strings.Index(line, "<!--")) {
			t.Errorf("a comment that is not ours: %.200q", line)
		}
		if strings.ContainsAny(line, "\x00\x1b\r\v\u0085\u2028\u202e") {
			t.Errorf("control characters in %.80q", line)
		}
	}
	if want := len(texts) + 3; items != want {
		t.Errorf("%d items, want %d", items, want)
	}
	if len(text) > maxNotebook || !strings.Contains(text, "(cut at 16 kB)") || !strings.Contains(text, "real <!-- nightporter: k2 -->") {
		t.Errorf("%d bytes; the end is %.200q", len(text), text[max(0, len(text)-200):])
	}
}

func TestKeepDropsTheOldest(t *testing.T) {
	repo := notesRepo(t)
	n := NewNotebook(repo)
	mine := "# Memories\n\nRead me.\n\n- mine, without a key\n"
	var all strings.Builder
	for i := range 60 {
		all.WriteString(notebookItem(fact(fmt.Sprintf("old%02d", i), strings.Repeat("x", 4000)+"\nsecond line")))
		if i == 3 {
			all.WriteString("\nBetween.\n\n- another of mine\n  with more\n")
		}
	}
	putSettled(t, repo, ".ralph/agent/memories.md", mine+all.String())
	for i := range 20 {
		keep(t, n, fact(fmt.Sprintf("new%02d", i), strings.Repeat("y", 5000)))
	}
	text := readFile(t, repo, ".ralph/agent/memories.md")
	if len(text) > maxNotebook || len(text) < maxNotebook-10000 {
		t.Errorf("%d bytes", len(text))
	}
	if !strings.HasPrefix(text, mine+"\nBetween.\n\n- another of mine\n  with more\n- 2026") {
		t.Errorf("what people wrote is gone: %.200q", text)
	}
	for key, want := range map[string]bool{"old00": false, "old19": false, "old59": true, "new00": true, "new19": true} {
		if got := strings.Contains(text, itemKey(key)); got != want {
			t.Errorf("%s is there: %v, want %v", key, got, want)
		}
	}
	if strings.Count(text, "second line") != strings.Count(text, "nightporter: old") {
		t.Error("an item was dropped in part")
	}
	// The newest item is kept, however much people wrote.
	putSettled(t, repo, ".ralph/agent/memories.md", strings.Repeat("mine\n", 60000))
	keep(t, n, fact("k1", "x"), fact("k2", "y"))
	if text := readFile(t, repo, ".ralph/agent/memories.md"); strings.Count(text, "mine\n") != 60000 || strings.Contains(text, itemKey("k1")) || !strings.HasSuffix(text, itemKey("k2")+"\n") {
		t.Errorf("%d bytes, at the end %q", len(text), text[len(text)-200:])
	}
}

func TestKeepFromTwoProcesses(t *testing.T) {
	repo := notesRepo(t)
	var all sync.WaitGroup
	for who := range 3 {
		n := NewNotebook(repo) // with its own lock, as in another process
		for i := range 2 {
			all.Go(func() {
				for j := range 4 {
					m := fact(fmt.Sprintf("%d/%d/%d", who, i, j), "x")
					if err := n.Keep(t.Context(), m); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	text := readFile(t, repo, ".ralph/agent/memories.md")
	if got := strings.Count(text, "<!-- nightporter: "); got != 24 {
		t.Errorf("%d items, want 24:\n%s", got, text)
	}
	if got := files(t, filepath.Join(repo, ".ralph")); len(got) != 2 {
		t.Errorf("files: %q", got)
	}
}

func TestKeepWaitsForTheLock(t *testing.T) {
	repo := notesRepo(t)
	keep(t, NewNotebook(repo), fact("k1", "x"))
	dir, err := os.Open(filepath.Join(repo, ".ralph"))
	must(t, err)
	defer dir.Close()
	must(t, unix.Flock(int(dir.Fd()), unix.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := NewNotebook(repo).Keep(ctx, fact("k2", "x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with the lock held: %v", err)
	}
	must(t, unix.Flock(int(dir.Fd()), unix.LOCK_UN))
	keep(t, NewNotebook(repo), fact("k2", "x"))
}

// TestNotebookInTheWayIsTold checks that the start of a run reports everything
// that would prevent notes.
func TestNotebookInTheWayIsTold(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(repo string)
	}{
		{"nothing there yet", "", func(string) {}},
		{"ours", "", func(repo string) { must(t, os.MkdirAll(filepath.Join(repo, ".ralph/agent"), 0o755)) }},
		{"a file", "is a file, and a folder has to be there", func(repo string) { writeFile(t, repo, ".ralph", "x\n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := shop(t)
			writeFile(t, repo, ".git/info/exclude", ".ralph\n")
			c.spoil(repo)
			base := begin(t, workspace(t, repo), "r1")
			if c.want == "" && len(base.Notes) > 0 || c.want != "" && (len(base.Notes) != 1 || !strings.Contains(base.Notes[0].Text, c.want)) {
				t.Errorf("notes %v, want %q", base.Notes, c.want)
			}
		})
	}
}

// TestKeepAfterACrash checks that the temporary file of an interrupted Keep
// does not prevent the next one, and that a link put in its place is not
// followed.
func TestKeepAfterACrash(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, file, outside string){
		"half a file": func(t *testing.T, file, _ string) { writeFile(t, filepath.Dir(file), filepath.Base(file), "# Mem") },
		"a pipe":      func(t *testing.T, file, _ string) { must(t, unix.Mkfifo(file, 0o644)) },
		"a link":      func(t *testing.T, file, outside string) { mustLink(t, outside, file) },
	} {
		t.Run(name, func(t *testing.T) {
			repo, outside := notesRepo(t), filepath.Join(t.TempDir(), "x")
			writeFile(t, filepath.Dir(outside), "x", "theirs\n")
			n := NewNotebook(repo)
			keep(t, n, fact("k1", "x"))
			leave(t, filepath.Join(repo, ".ralph/agent/.memories.md.nightporter"), outside)
			keep(t, n, fact("k2", "x"))
			if got := readFile(t, repo, ".ralph/agent/memories.md"); !strings.Contains(got, itemKey("k1")) || !strings.Contains(got, itemKey("k2")) {
				t.Errorf("memories: %q", got)
			}
			if got := readFile(t, filepath.Dir(outside), "x"); got != "theirs\n" {
				t.Errorf("the file outside is %q", got)
			}
			if got := files(t, filepath.Join(repo, ".ralph")); len(got) != 2 {
				t.Errorf("files: %q", got)
			}
		})
	}
}

// TestKeepWhereSomethingIsInTheWay puts other files in the place of ours: Keep
// returns an error and writes nothing outside of .ralph.
func TestKeepWhereSomethingIsInTheWay(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(t *testing.T, repo, outside string)
		want string
	}{
		{"a file", func(t *testing.T, repo, _ string) { writeFile(t, repo, ".ralph", "x\n") }, ".ralph  is a file, and a folder has to be there"},
		{"a link out", func(t *testing.T, repo, outside string) { mustLink(t, outside, filepath.Join(repo, ".ralph")) }, ".ralph  is a symbolic link, and a folder"},
		{"a link inside", func(t *testing.T, repo, _ string) {
			writeFile(t, repo, "src/x", "x\n")
			mustLink(t, "src", filepath.Join(repo, ".ralph"))
		}, ".ralph  is a symbolic link, and a folder"},
		{"a link to nowhere", func(t *testing.T, repo, _ string) { mustLink(t, "nowhere", filepath.Join(repo, ".ralph")) }, ".ralph  is a symbolic link"},
		{"a pipe", func(t *testing.T, repo, _ string) { must(t, unix.Mkfifo(filepath.Join(repo, ".ralph"), 0o644)) }, ".ralph  is no plain file, and a folder"},
		{"agent is a link out", func(t *testing.T, repo, outside string) {
			must(t, os.Mkdir(filepath.Join(repo, ".ralph"), 0o755))
			mustLink(t, outside, filepath.Join(repo, ".ralph/agent"))
		}, ".ralph/agent  is a symbolic link, and a folder"},
		{"the file is a link out", func(t *testing.T, repo, outside string) {
			must(t, os.MkdirAll(filepath.Join(repo, ".ralph/agent"), 0o755))
			mustLink(t, filepath.Join(outside, "x"), filepath.Join(repo, ".ralph/agent/memories.md"))
		}, ".ralph/agent/memories.md  is a symbolic link, and a file"},
		{"the file is a folder", func(t *testing.T, repo, _ string) {
			must(t, os.MkdirAll(filepath.Join(repo, ".ralph/agent/memories.md"), 0o755))
		}, ".ralph/agent/memories.md  is a folder, and a file"},
		{"the file is a pipe", func(t *testing.T, repo, _ string) {
			must(t, os.MkdirAll(filepath.Join(repo, ".ralph/agent"), 0o755))
			must(t, unix.Mkfifo(filepath.Join(repo, ".ralph/agent/memories.md"), 0o644))
		}, ".ralph/agent/memories.md  is no plain file, and a file"},
		{"the file is huge", func(t *testing.T, repo, _ string) {
			writeFile(t, repo, ".ralph/agent/memories.md", "x")
			must(t, os.Truncate(filepath.Join(repo, ".ralph/agent/memories.md"), 1<<40))
		}, ".ralph/agent/memories.md  is larger than 16 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo, outside := notesRepo(t), t.TempDir()
			writeFile(t, outside, "x", "theirs\n")
			c.set(t, repo, outside)
			before := repoContent(t, outside)
			err := NewNotebook(repo).Keep(t.Context(), fact("k", "x"))
			if found := findingsOf(t, err); !strings.Contains(found, c.want) {
				t.Errorf("findings %q lack %q", found, c.want)
			}
			if diff := cmp.Diff(before, repoContent(t, outside)); diff != "" {
				t.Errorf("outside (-before +after):\n%s", diff)
			}
			if _, err := NewNotebook(repo).Read(t.Context(), ".ralph/agent/memories.md"); err != nil {
				t.Errorf("reading: %v", err)
			}
		})
	}
}

func TestKeepWhereNothingCanBeWritten(t *testing.T) {
	repo := notesRepo(t)
	n := NewNotebook(repo)
	for _, err := range []error{&fs.PathError{Op: "openat", Path: ".ralph", Err: unix.EROFS}, &fs.PathError{Op: "mkdirat", Path: ".ralph", Err: unix.EACCES}} {
		if found := findingsOf(t, n.asInputError("keep memory", err)); !strings.Contains(found, "cannot be written") || !strings.Contains(found, filepath.Join(repo, ".ralph")) {
			t.Errorf("findings: %q", found)
		}
	}
	if err := n.asInputError("keep memory", &fs.PathError{Op: "write", Path: "x", Err: unix.ENOSPC}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk is %v", err)
	}
	if err := NewNotebook(filepath.Join(repo, "gone")).Keep(t.Context(), fact("k", "x")); fault.Of(err) != ledger.FaultRepository {
		t.Errorf("without a repository: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Log("no folder in this test: root can write into every one")
		return
	}
	must(t, os.Chmod(repo, 0o555))
	if found := findingsOf(t, n.Keep(t.Context(), fact("k", "x"))); !strings.Contains(found, "cannot be written") {
		t.Errorf("findings: %q", found)
	}
}

// TestNotebookBelongsToTheRepositorysOwner writes as root: no file in the
// checkout may belong to root.
func TestNotebookBelongsToTheRepositorysOwner(t *testing.T) {
	repo := notesRepo(t)
	want := os.Geteuid()
	if want == 0 {
		want = 12345
		must(t, os.Chown(repo, want, want))
	} else {
		t.Log("only modes in this test: giving files away needs root")
	}
	must(t, os.Chmod(repo, 0o750))
	n := NewNotebook(repo)
	keep(t, n, fact("k1", "x"), fact("k2", "x"))
	must(t, n.KeepPlan(t.Context(), []byte("{}")))
	err := filepath.WalkDir(filepath.Join(repo, ".ralph"), func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != want {
			t.Errorf("%s belongs to %d, want %d", path, st.Uid, want)
		}
		if mode := info.Mode().Perm(); !d.IsDir() && mode != 0o640 || d.IsDir() && mode&^0o750 != 0 {
			t.Errorf("%s has mode %v", path, mode)
		}
		return nil
	})
	must(t, err)
}

func TestKeepPlan(t *testing.T) {
	repo := notesRepo(t)
	n := NewNotebook(repo)
	must(t, n.KeepPlan(t.Context(), []byte(`{"summary":"old"}`)))
	must(t, n.KeepPlan(t.Context(), []byte(`{"summary":"a <b>","steps":[1]}`)))
	if got, want := readFile(t, repo, ".ralph/events/latest-plan.json"), "{\n  \"summary\": \"a <b>\",\n  \"steps\": [\n    1\n  ]\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := n.KeepPlan(t.Context(), []byte(`{"summary":`)); err == nil {
		t.Error("half a plan was kept")
	}
	// A plan that is long only because of its white space is read as a whole.
	long, err := json.Marshal(make([]int, 60000))
	must(t, err)
	must(t, n.KeepPlan(t.Context(), long))
	data, err := n.Read(t.Context(), ".ralph/events/latest-plan.json")
	if must(t, err); !bytes.Equal(data, append(long, '\n')) {
		t.Errorf("%d bytes read, want %d", len(data), len(long)+1)
	}
}

func TestNotebookRead(t *testing.T) {
	repo, outside := notesRepo(t), t.TempDir()
	writeFile(t, outside, "secret", "secret\n")
	writeFile(t, repo, "README.md", "x\n")
	if data, err := NewNotebook(repo).Read(t.Context(), ".ralph/agent/memories.md"); data != nil || err != nil {
		t.Errorf("without the folder: %q, %v", data, err)
	}
	writeFile(t, repo, ".ralph/agent/memories.md", "# M\n")
	writeFile(t, repo, ".ralph/agent/empty.md", "")
	writeFile(t, repo, ".ralph/x", "x\n")
	mustLink(t, "memories.md", filepath.Join(repo, ".ralph/agent/inside.md"))
	mustLink(t, "../../README.md", filepath.Join(repo, ".ralph/agent/up.md"))
	mustLink(t, filepath.Join(outside, "secret"), filepath.Join(repo, ".ralph/agent/abs.md"))
	mustLink(t, outside, filepath.Join(repo, ".ralph/out"))
	mustLink(t, "loop", filepath.Join(repo, ".ralph/loop"))
	mustLink(t, "nowhere", filepath.Join(repo, ".ralph/dangling"))
	must(t, unix.Mkfifo(filepath.Join(repo, ".ralph/pipe"), 0o644))
	for p, want := range map[string]string{
		".ralph/agent/memories.md": "# M\n", ".ralph/agent/empty.md": "", ".ralph/x": "x\n", ".ralph/agent/inside.md": "# M\n",
		".ralph/agent/up.md": "(nil)", ".ralph/agent/abs.md": "(nil)", ".ralph/out/secret": "(nil)", ".ralph/loop": "(nil)", ".ralph/dangling": "(nil)",
		".ralph/pipe": "(nil)", ".ralph/agent": "(nil)", ".ralph": "(nil)", ".ralph/": "(nil)", "README.md": "(nil)", ".ralph/../README.md": "(nil)",
		".ralph/agent/../x": "(nil)", ".ralph//x": "(nil)", filepath.Join(repo, ".ralph/x"): "(nil)", "": "(nil)", ".ralph/x/y": "(nil)", ".ralph/none": "(nil)",
		".ralph/a\x00b": "(nil)", ".ralph/" + strings.Repeat("n", 5000): "(nil)", ".Ralph/x": "(nil)",
	} {
		data, err := NewNotebook(repo).Read(t.Context(), p)
		got := string(data)
		if data == nil {
			got = "(nil)"
		}
		if err != nil || got != want {
			t.Errorf("%.60q: %q, %v; want %q", p, got, err, want)
		}
	}
	if err := os.RemoveAll(filepath.Join(repo, ".ralph")); err != nil {
		t.Fatal(err)
	}
	mustLink(t, outside, filepath.Join(repo, ".ralph"))
	if data, err := NewNotebook(repo).Read(t.Context(), ".ralph/secret"); data != nil || err != nil {
		t.Errorf("through a link for the folder: %q, %v", data, err)
	}
}

func TestNotebookReadLarge(t *testing.T) {
	repo := notesRepo(t)
	n := NewNotebook(repo)
	read := func(p, text string) string {
		t.Helper()
		writeFile(t, repo, p, text)
		data, err := n.Read(t.Context(), p)
		must(t, err)
		if len(data) > maxNotebook {
			t.Errorf("%s: %d bytes", p, len(data))
		}
		return string(data)
	}
	lines := strings.Repeat("0123456\n", 40000) + "last\n"
	if got := read(".ralph/agent/memories.md", lines); !strings.HasSuffix(got, "\nlast\n") || !strings.HasPrefix(got, "0123456\n") || len(got) < maxNotebook-8 {
		t.Errorf("a notebook's tail: %d bytes, %.20q", len(got), got)
	}
	if got := read(".ralph/agent/memories.md", "x\n"+strings.Repeat("1234567\n", maxNotebook/8)); got != strings.Repeat("1234567\n", maxNotebook/8) {
		t.Errorf("a tail that begins with a line: %d bytes, %.20q", len(got), got)
	}
	if got := read(".ralph/events/x.json", lines); !strings.HasSuffix(got, "0123456\n") || len(got) < maxNotebook-8 {
		t.Errorf("another's head: %d bytes", len(got))
	}
	for _, p := range []string{".ralph/agent/memories.md", ".ralph/x"} {
		if got := read(p, strings.Repeat("x", 1<<20)); len(got) != maxNotebook {
			t.Errorf("%s of one line: %d bytes", p, len(got))
		}
		if got := read(p, strings.Repeat("x\n", maxNotebook/2)); len(got) != maxNotebook {
			t.Errorf("%s that just fits: %d bytes", p, len(got))
		}
	}
}

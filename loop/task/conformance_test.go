package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
)

// fixture is a source with a file that the conformance suite may change freely.
// The file has at least three tasks.
type fixture struct {
	source       Source
	reopen       func() Source // opens a second source on the same file, as another process would
	path         string
	maskStatuses func(text []byte) []byte                    // removes every status from the text, without the source's own code
	edit         func(text []byte, note string) []byte       // edits the text as a person would: it adds note and keeps the statuses
	elsewhere    bool                                        // a task's status can stand below its line, and its body has boxes of its own
	notes        func(text []byte) (map[string]bool, []byte) // returns the notes of all edits, and the text without them
	open         string                                      // another word for an open task, "" for none

	// For a folder with a file for each task; path is then that of the first one.
	files    func() []string               // all of them, sorted; nil = path alone
	statusOf func(task ledger.Task) string // text with the status of a task

	words     map[ledger.Mark]string // how this file writes statuses, where it is not as the kind's others do
	manyLines bool                   // a status may stand in any line of its task
	readOnly  bool                   // marks are not written
}

// wording returns how f writes a status.
func (f fixture) wording(k *Kind, m ledger.Mark) string {
	if f.words != nil {
		return f.words[m]
	}
	return k.Statuses[m]
}

// reads returns what a mark reads back as. Where two statuses are written alike, the
// first one counts.
func (f fixture) reads(k *Kind, m ledger.Mark) ledger.Mark {
	for _, first := range []ledger.Mark{ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked} {
		if f.wording(k, first) == f.wording(k, m) {
			return first
		}
	}
	return m
}

// all returns the text of all files, and the files.
func (f fixture) all(t testingT) (text []byte, infos []os.FileInfo) {
	t.Helper()
	paths := []string{f.path}
	if f.files != nil {
		paths = f.files()
	}
	for _, p := range paths {
		data, info := snapshotFile(t, p)
		text, infos = append(text, data...), append(infos, info)
	}
	return text, infos
}

// remove removes all files.
func (f fixture) remove() error {
	if f.files == nil {
		return os.Remove(f.path)
	}
	return os.RemoveAll(filepath.Dir(f.path))
}

// statusText returns the part of a text that has the status of task n.
func (f fixture) statusText(text []byte, tasks []ledger.Task, n int) string {
	if f.statusOf != nil {
		return f.statusOf(tasks[n])
	}
	lines := strings.SplitAfter(string(text), "\n")
	end := tasks[n].Line
	if f.manyLines {
		if end = len(lines); n+1 < len(tasks) {
			end = max(tasks[n+1].Line, tasks[n].Line)
		}
	}
	return strings.Join(lines[tasks[n].Line-1:end], "")
}

// testSource is the conformance suite of sources. open creates a file of the
// given variant in an empty folder. Its parts run at once: they wait for files to
// settle, for disks and for watches, and hardly compute.
func testSource(t *testing.T, k *Kind, variants int, open func(t testing.TB, dir string, variant int) fixture) {
	marks := []ledger.Mark{ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify}

	t.Run("reading changes nothing", func(t *testing.T) {
		t.Parallel()
		for v := range variants {
			f := open(t, t.TempDir(), v)
			before, info := f.all(t)
			first, err := f.source.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			second, err := f.source.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(first, second); d != "" {
				t.Errorf("two reads differ:\n%s", d)
			}
			after, info2 := f.all(t)
			if !bytes.Equal(before, after) || !slices.EqualFunc(info, info2, sameState) {
				t.Error("reading touched the file")
			}
		}
	})

	t.Run("random marks", func(t *testing.T) {
		t.Parallel()
		root, n := t.TempDir(), 0
		rapid.Check(t, func(rt *rapid.T) {
			n++
			dir := filepath.Join(root, fmt.Sprint(n))
			if err := os.Mkdir(dir, 0o755); err != nil {
				rt.Fatal(err)
			}
			f := open(t, dir, rapid.IntRange(0, variants-1).Draw(rt, "variant"))
			original, _ := f.all(rt)
			litter := entries(rt, filepath.Dir(f.path))
			snap, err := f.source.Read(context.Background())
			if err != nil {
				rt.Fatal(err)
			}
			want := map[string]ledger.Mark{}
			var ids []string
			for _, task := range snap.Tasks {
				want[task.ID] = task.Mark
				ids = append(ids, task.ID)
			}
			for range rapid.IntRange(1, 5).Draw(rt, "steps") {
				var batch []ledger.Marking
				for range rapid.IntRange(1, 3).Draw(rt, "batch") {
					id := rapid.SampledFrom(ids).Draw(rt, "task")
					m := rapid.SampledFrom(marks).Draw(rt, "mark")
					if !f.readOnly {
						want[id] = f.reads(k, m)
					}
					batch = append(batch, ledger.Marking{Task: strings.ToUpper(id), Mark: m})
				}
				if err := f.source.Mark(context.Background(), batch); err != nil {
					rt.Fatal(err)
				}
				text, info := f.all(rt)
				if f.readOnly && !bytes.Equal(text, original) {
					rt.Fatalf("a file that is only read was written:\n%s", text)
				}
				if d := cmp.Diff(string(f.maskStatuses(original)), string(f.maskStatuses(text))); d != "" {
					rt.Fatalf("bytes beside a status changed (-before +after):\n%s", d)
				}
				now, err := f.source.Read(context.Background())
				if err != nil {
					rt.Fatalf("%v\n%s", err, text)
				}
				for i, task := range now.Tasks {
					says := func(words string) bool {
						return strings.Contains(strings.ToLower(f.statusText(text, now.Tasks, i)), strings.ToLower(words))
					}
					if asked := want[task.ID]; !f.elsewhere && asked != snap.Tasks[i].Mark && !says(f.wording(k, asked)) &&
						!(asked == ledger.MarkOpen && f.open != "" && says(f.open)) {
						rt.Fatalf("%s is marked %s, and its line does not say %s: %s", task.ID, asked, f.wording(k, asked), f.statusText(text, now.Tasks, i))
					}
					if task.Mark != want[task.ID] {
						rt.Fatalf("%s reads %s, marked %s:\n%s", task.ID, task.Mark, want[task.ID], text)
					}
					task.Mark = snap.Tasks[i].Mark
					if f.elsewhere {
						task.Body = snap.Tasks[i].Body
					}
					if d := cmp.Diff(snap.Tasks[i], task); d != "" {
						rt.Fatalf("more than the mark reads differently:\n%s", d)
					}
				}
				if err := f.source.Mark(context.Background(), batch); err != nil {
					rt.Fatal(err)
				}
				if again, info2 := f.all(rt); !bytes.Equal(text, again) || !slices.EqualFunc(info, info2, os.SameFile) {
					rt.Fatalf("the same marks again changed the file:\n%s", again)
				}
			}
			if d := cmp.Diff(litter, entries(rt, filepath.Dir(f.path))); d != "" {
				rt.Fatalf("files were left in the user's folder:\n%s", d)
			}
		})
	})

	testAdding(t, k, variants, open)

	t.Run("a task that is gone", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		f := open(t, dir, 0)
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		snap, err := f.source.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = f.source.Mark(t.Context(), []ledger.Marking{{Task: "no such task", Mark: ledger.MarkDone}, {Task: snap.Tasks[1].ID, Mark: ledger.MarkDone}})
		missing := (*GoneError)(nil)
		if !errors.As(err, &missing) || !slices.Equal(missing.Tasks, []string{"no such task"}) {
			t.Errorf("got %v, want a GoneError for it", err)
		}
		if snap, err = f.source.Read(t.Context()); err != nil || !f.readOnly && snap.Tasks[1].Mark != ledger.MarkDone {
			t.Errorf("the other one was not marked: %v %v", snap.Tasks, err)
		}
		if err := f.remove(); err != nil {
			t.Fatal(err)
		}
		err = f.source.Mark(t.Context(), []ledger.Marking{{Task: snap.Tasks[1].ID, Mark: ledger.MarkOpen}})
		if !errors.As(err, &missing) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("file gone: got %v, want a GoneError that says so", err)
		}
		if _, err := os.Lstat(f.path); err == nil {
			t.Error("marking brought a file back that somebody removed")
		}
		if _, err := f.source.Read(t.Context()); !errors.As(err, new(*ledger.InputError)) {
			t.Errorf("reading a file that is gone: got %v, want an InputError", err)
		}
	})

	t.Run("two processes mark at once", func(t *testing.T) {
		t.Parallel()
		f := open(t, t.TempDir(), 0)
		snap, err := f.source.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i, s := range []Source{f.source, f.reopen(), f.reopen()} {
			wg.Go(func() {
				for _, m := range []ledger.Mark{ledger.MarkBlocked, ledger.MarkOpen, ledger.MarkDone} {
					if err := s.Mark(t.Context(), []ledger.Marking{{Task: snap.Tasks[i].ID, Mark: m}}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if snap, err = f.source.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, task := range snap.Tasks[:3] {
			if !f.readOnly && task.Mark != ledger.MarkDone {
				t.Errorf("%s was marked done and reads %s", task.ID, task.Mark)
			}
		}
	})

	// An editor saves all the time, in each of the two ways of editors. Its
	// saves may remove marks, which the ledger restores; a mark must never
	// remove the editor's text.
	for name, save := range map[string]func(path string, text []byte) error{
		"an editor that renames": func(path string, text []byte) error {
			if err := os.WriteFile(path+".tmp", text, 0o644); err != nil {
				return err
			}
			return os.Rename(path+".tmp", path)
		},
		"an editor that writes in place": func(path string, text []byte) error { return os.WriteFile(path, text, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, t.TempDir(), 0)
			original, _ := snapshotFile(t, f.path)
			snap, err := f.source.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]bool{}
			tick := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for n := 0; ; n++ {
					if _, ok := <-tick; !ok {
						return
					}
					note := fmt.Sprintf("note %d", n)
					want[note] = true
					text, err := os.ReadFile(f.path)
					if err == nil {
						err = save(f.path, f.edit(text, note))
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
			for n := range 40 {
				tick <- struct{}{} // the editor saves during the mark
				err := f.source.Mark(t.Context(), []ledger.Marking{{Task: snap.Tasks[0].ID, Mark: marks[n%4]}, {Task: snap.Tasks[2].ID, Mark: marks[(n+1)%4]}})
				if err != nil {
					t.Error(err)
				}
			}
			close(tick)
			wg.Wait()
			text, _ := snapshotFile(t, f.path)
			got, rest := f.notes(text)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("notes of the editor (-written +there):\n%s", d)
			}
			if d := cmp.Diff(string(f.maskStatuses(original)), string(f.maskStatuses(rest))); d != "" {
				t.Errorf("other text (-before +after):\n%s", d)
			}
		})
	}

	t.Run("watching without a change", func(t *testing.T) {
		t.Parallel()
		f := open(t, t.TempDir(), 0)
		if _, err := f.source.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		text, _ := snapshotFile(t, f.path)
		write(t, f.path, text)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			ended <- f.source.Watch(ctx, func() {
				if now, _ := snapshotFile(t, f.path); bytes.Equal(now, text) {
					t.Error("told, and nothing changed")
				}
				cancel()
			})
		}()
		for n := 0; ; n++ { // writes the same text again until it has changed
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
				return
			case <-time.After(5 * time.Millisecond):
				if now := text; n < 60 {
					write(t, f.path, now)
				} else if n == 60 {
					write(t, f.path, f.edit(text, "at last"))
				}
			}
		}
	})

	t.Run("watching", func(t *testing.T) {
		t.Parallel()
		f := open(t, t.TempDir(), 0)
		if _, err := f.source.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		// A change between Read and Watch counts, too.
		text, _ := snapshotFile(t, f.path)
		write(t, f.path, f.edit(text, "before"))
		ctx, cancel := context.WithCancel(t.Context())
		changed, ended := make(chan struct{}, 100), make(chan error, 1)
		go func() { ended <- f.source.Watch(ctx, func() { changed <- struct{}{} }) }()
		wait := func(what string) {
			t.Helper()
			select {
			case <-changed:
			case err := <-ended:
				t.Fatalf("%s: watching ended: %v", what, err)
			case <-time.After(3 * time.Minute):
				t.Fatalf("%s: not told", what)
			}
		}
		wait("changed before")
		now, _ := snapshotFile(t, f.path)
		write(t, f.path, now) // writing the same text is no change: the next report must be about the next change
		write(t, f.path, f.edit(now, "in place"))
		wait("in place")
		write(t, f.path+".new", text)
		if err := os.Rename(f.path+".new", f.path); err != nil {
			t.Fatal(err)
		}
		wait("renamed over")
		if err := os.Remove(f.path); err != nil {
			t.Fatal(err)
		}
		wait("removed")
		write(t, f.path, text)
		wait("made again")
		dir := filepath.Dir(f.path)
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		wait("folder gone")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, f.path, f.edit(text, "new folder"))
		wait("in a new folder of the same name")
		text2, _ := snapshotFile(t, f.path)
		write(t, f.path, f.edit(text2, "once more"))
		wait("in the new folder, once more")
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		if n := len(changed); n > 0 {
			t.Errorf("told %d times too often", n)
		}
	})
}

// testingT is the common part of *testing.T and *rapid.T.
type testingT interface {
	Helper()
	Fatal(args ...any)
}

func snapshotFile(t testingT, path string) ([]byte, os.FileInfo) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return text, info
}

// sameState reports whether a file was neither replaced nor written.
func sameState(a, b os.FileInfo) bool { return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) }

// write writes a file whose time is old enough that it counts as complete.
func write(t testingT, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	setOld(t, path)
}

func setOld(t testingT, path string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}

func entries(t testingT, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// writeBelow writes a file of a repository and creates its folders.
func writeBelow(t *testing.T, repo, path, text string) {
	t.Helper()
	path = filepath.Join(repo, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, []byte(text))
}

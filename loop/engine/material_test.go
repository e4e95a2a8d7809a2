package engine_test

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
)

// fakeFiles is a commit or a notebook: contents by path.
type fakeFiles struct {
	engine.Files
	files map[string]string
	broke bool
}

func (s fakeFiles) Read(_ context.Context, rev, path string) ([]byte, error) {
	text, ok := s.files[path]
	if !ok {
		return nil, nil
	}
	if rev != "c0" {
		return nil, errors.New("no such commit: " + rev)
	}
	return []byte(text), nil
}

// fakeNotebook is a Notebook.
type fakeNotebook struct {
	engine.Notebook
	fakeFiles
}

func (n fakeNotebook) Read(_ context.Context, path string) ([]byte, error) {
	if n.broke {
		return nil, errors.New("permission denied")
	}
	if text, ok := n.files[path]; ok {
		return []byte(text), nil
	}
	return nil, nil
}

// TestMaterial checks that .ralph is read from the notebooks only, and every
// other path from the attempt's start commit.
func TestMaterial(t *testing.T) {
	var s loop.State
	s.Project.Name = "shop"
	s = loop.PreviewRun(s, ledger.Settings{
		Project: "shop", Pattern: ledger.Pattern{Start: "builder"},
		Hats: map[string]ledger.Hat{"builder": {Name: "builder", Load: []string{".ralph/agent/decisions.md", "./.ralph/agent/none.md", "docs/a.md", ".ralphs/b.md"}}},
	}, ledger.Snapshot{Tasks: []ledger.Task{{ID: "Task 1", Mark: ledger.MarkOpen}}}, ledger.Base{Commit: "c0", Tree: "c0"})
	s, session, err := loop.Preview(s, "Task 1", "")
	if err != nil {
		t.Fatal(err)
	}
	commit := fakeFiles{files: map[string]string{"AGENTS.md": "Run gofmt.", "docs/a.md": "a", ".ralphs/b.md": "b\xff", ".ralph/agent/decisions.md": "planted in the commit"}}
	own := fakeNotebook{fakeFiles: fakeFiles{files: map[string]string{".ralph/agent/decisions.md": "- decided", "docs/a.md": "not from here"}}}
	broken := fakeNotebook{fakeFiles: fakeFiles{broke: true}}
	a, b := prompt.File{Path: "docs/a.md", Text: "a"}, prompt.File{Path: ".ralphs/b.md", Text: "b\uFFFD"}
	for _, c := range []struct {
		name  string
		notes engine.Notebook
		want  []prompt.File
	}{
		{"notebook", own, []prompt.File{{Path: ".ralph/agent/decisions.md", Text: "- decided"}, a, b}},
		{"no notebook", nil, []prompt.File{a, b}},
		{"broken", broken, []prompt.File{
			{Path: ".ralph/agent/decisions.md", Text: "(cannot be read: permission denied)"}, {Path: "./.ralph/agent/none.md", Text: "(cannot be read: permission denied)"}, a, b,
		}},
	} {
		m, err := engine.Material(t.Context(), s, session, commit, c.notes, fakeAttachments{})
		if err != nil {
			t.Fatal(err)
		}
		want := prompt.Material{Conventions: []prompt.File{{Path: "AGENTS.md", Text: "Run gofmt."}}, Loaded: c.want}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

// fakeAttachments are bytes by hash; a missing hash "broken" cannot be read for now.
type fakeAttachments map[string]string

func (f fakeAttachments) Read(hash string) ([]byte, error) {
	if hash == "broken" {
		return nil, &fs.PathError{Op: "read", Path: hash, Err: syscall.EIO}
	}
	data, ok := f[hash]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(data), nil
}

func (f fakeAttachments) Erase(hash string) error {
	delete(f, hash)
	return nil
}

func (f fakeAttachments) Put(data []byte) (string, error) {
	hash := attachment.Hash(data)
	f[hash] = string(data)
	return hash, nil
}

func (f fakeAttachments) Settle(string) error { return nil }

func (f fakeAttachments) Leave(string) {}

// TestPictures: a prompt gets the pictures that are there, and waits for a disk that
// cannot be read for now.
func TestPictures(t *testing.T) {
	var s loop.State
	s.Project.Name = "shop"
	s = loop.PreviewRun(s, ledger.Settings{
		Project: "shop", Pattern: ledger.Pattern{Start: "builder"}, Hats: map[string]ledger.Hat{"builder": {Name: "builder"}},
	}, ledger.Snapshot{Tasks: []ledger.Task{{ID: "Task 1", Mark: ledger.MarkOpen}}}, ledger.Base{Commit: "c0", Tree: "c0"})
	s, session, err := loop.Preview(s, "Task 1", "")
	if err != nil {
		t.Fatal(err)
	}
	with := func(hashes ...string) loop.State {
		s := s
		a := loop.Attached{To: "a1", Tasks: []string{"task 1"}, Source: s.Project.Source}
		for _, hash := range hashes {
			a.Files = append(a.Files, ledger.Attachment{Hash: hash, Type: "image/png"})
		}
		s.Project.Attached = []loop.Attached{a}
		return s
	}
	files := fakeAttachments{"h1": "one"}
	m, err := engine.Material(t.Context(), with("h1", "gone"), session, fakeFiles{}, nil, files)
	if diff := cmp.Diff(map[string][]byte{"h1": []byte("one")}, m.Pictures); diff != "" || err != nil {
		t.Errorf("(-want +got) %v\n%s", err, diff)
	}
	if _, err := engine.Material(t.Context(), with("h1", "broken"), session, fakeFiles{}, nil, files); err == nil {
		t.Error("a session begins without a picture that is there")
	}
}

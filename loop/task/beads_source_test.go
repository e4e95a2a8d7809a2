package task

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// newBeads makes a repository with an export of two open issues and a closed one, and a
// program bd that records its calls and ends as its repository says.
func newBeads(t *testing.T, opts Options) (repo string, s Source, calls func() string) {
	t.Helper()
	repo = t.TempDir()
	writeBelow(t, repo, beadsFile, `{"id":"bd-1","title":"One","status":"open","issue_type":"task"}
{"id":"bd-2","title":"Two","status":"in_progress","issue_type":"task"}
{"id":"bd-3","title":"Three","status":"closed","issue_type":"task"}
`)
	bin := t.TempDir()
	const program = "#!/bin/sh\nprintf '%s|' \"$PWD\" \"$@\" >>calls\necho >>calls\n[ -e broken ] && { echo 'no database' >&2; exit 3; }\nexit 0\n"
	if err := os.WriteFile(filepath.Join(bin, bdProgram), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s, err := Open(KindBeads, beadsFile, repo, opts)
	if err != nil {
		t.Fatal(err)
	}
	return repo, s, func() string {
		data, _ := os.ReadFile(filepath.Join(repo, "calls"))
		real, _ := filepath.EvalSymlinks(repo)
		return strings.ReplaceAll(string(data), real, "REPO")
	}
}

// TestBeadsClose: with bd_write a done issue is closed through bd, once, and nothing
// else is; without it nothing runs.
func TestBeadsClose(t *testing.T) {
	marks := []ledger.Marking{
		{Task: "bd-1", Mark: ledger.MarkWorking}, {Task: "BD-1", Mark: ledger.MarkDone}, {Task: "bd-2", Mark: ledger.MarkBlocked}, {Task: "bd-3", Mark: ledger.MarkDone},
	}
	repo, s, calls := newBeads(t, Options{BdWrite: true})
	before := textOf(t, repo, beadsFile)
	if _, err := s.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	if want := "REPO|close|bd-1|--reason|Done and verified by nightporter|\n"; calls() != want || textOf(t, repo, beadsFile) != before {
		t.Errorf("bd was called as %q, want %q", calls(), want)
	}
	gone := (*GoneError)(nil)
	if err := s.Mark(t.Context(), []ledger.Marking{{Task: "bd-9", Mark: ledger.MarkDone}, {Task: "bd-2", Mark: ledger.MarkDone}}); !errors.As(err, &gone) || !strings.Contains(calls(), "|bd-2|") || strings.Contains(calls(), "bd-9") {
		t.Errorf("%v, %q", err, calls())
	}
	_, s, calls = newBeads(t, Options{})
	if err := s.Mark(t.Context(), marks); err != nil || calls() != "" {
		t.Errorf("without bd_write: %v, bd was called as %q", err, calls())
	}
	_, s, calls = newBeads(t, Options{BdWrite: true, CommitStatus: true})
	if err := s.Mark(t.Context(), marks); err != nil || calls() == "" {
		t.Errorf("with commit_status, which is about files: %v, %q", err, calls())
	}
}

// TestBeadsFaults: bd that is missing is told before a run, and one that fails with its
// words.
func TestBeadsFaults(t *testing.T) {
	repo, s, _ := newBeads(t, Options{BdWrite: true})
	writeBelow(t, repo, "broken", "")
	err := s.Mark(t.Context(), []ledger.Marking{{Task: "bd-1", Mark: ledger.MarkDone}})
	if input := (*ledger.InputError)(nil); !errors.As(err, &input) || !strings.Contains(err.Error(), "bd close bd-1 failed: no database (exit status 3)") || !strings.Contains(err.Error(), "Close it yourself: bd close bd-1") {
		t.Errorf("a bd that fails: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	for name, call := range map[string]func() error{
		"Read": func() error { _, err := s.Read(t.Context()); return err },
		"Mark": func() error { return s.Mark(t.Context(), []ledger.Marking{{Task: "bd-1", Mark: ledger.MarkDone}}) },
	} {
		if err := call(); !errors.As(err, new(*ledger.InputError)) || !strings.Contains(err.Error(), "bd is not on PATH") {
			t.Errorf("%s without bd: %v", name, err)
		}
	}
	without, err := Open(KindBeads, beadsFile, repo, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := without.Read(t.Context()); err != nil {
		t.Errorf("without bd_write bd is not needed: %v", err)
	}
}

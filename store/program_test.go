package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestNewerProgram refuses a ledger that a later program wrote, and names it. The
// same program, a later one and one without a format open it.
func TestNewerProgram(t *testing.T) {
	dir := t.TempDir()
	openAs := func(version string, format int) error {
		s, err := OpenAs(dir, Program{Version: version, Format: format})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	if err := openAs("0.9", 9); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, Name))
	err := openAs("0.8", 8)
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "nightporter 0.9 wrote it in form 4.9, and this program (0.8) knows 4.8: install nightporter 0.9 or a later one") {
		t.Errorf("an earlier program: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, Name)); string(after) != string(before) {
		t.Error("the file was changed")
	}
	for _, p := range []Program{{Version: "0.9", Format: 9}, {}, {Version: "1.0", Format: 10}} {
		if err := openAs(p.Version, p.Format); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := openAs("0.9", 9); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "nightporter 1.0 wrote it") {
		t.Errorf("after a later program: %v", err)
	}
}

// TestBeforeChange gives a copy of an earlier database before it is changed, and
// changes nothing when that fails.
func TestBeforeChange(t *testing.T) {
	fixture, err := os.ReadFile(filepath.Join("testdata", "v1.db"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Name), fixture, 0o600); err != nil {
		t.Fatal(err)
	}
	var calls []Program
	path := filepath.Join(t.TempDir(), "copy.db")
	failed := errors.New("no space")
	p := Program{Version: "0.9", Format: 9, BeforeChange: func(_ context.Context, by Program, copyTo func(string) error) error {
		calls = append(calls, by)
		if len(calls) == 1 {
			return failed
		}
		return copyTo(path)
	}}
	if _, err := OpenAs(dir, p); !errors.Is(err, failed) {
		t.Fatalf("without a copy: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, Name)); string(after) != string(fixture) {
		t.Error("the database was changed without a copy")
	}
	for range 2 { // the second time there is nothing to change
		s, err := OpenAs(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
	}
	if len(calls) != 2 || calls[1].Format != 0 {
		t.Errorf("called for %+v, want twice", calls)
	}
	copied := written{}
	if copied, err = readWritten(t.Context(), path); err != nil || copied.schema != 1 || !copied.entries {
		t.Errorf("the copy: %+v, %v; want schema 1 with entries", copied, err)
	}
	path = filepath.Join(t.TempDir(), "copy.db")
	p.Version, p.Format = "1.0", 10
	if s, err := OpenAs(dir, p); err != nil || len(calls) != 3 || calls[2].Version != "0.9" || calls[2].Format != 9 {
		t.Fatalf("a later format: %v, called for %+v", err, calls)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
	// A database without entries has nothing to go back to.
	s, err := OpenAs(t.TempDir(), p)
	if err != nil || len(calls) != 3 {
		t.Fatalf("a new one: %v, called for %+v", err, calls)
	}
	if _, err := s.Commit(t.Context(), ledger.Batch{Time: entryTime, Records: []ledger.Record{rec("project/shop", "x")}}); err != nil {
		t.Error(err)
	}
	_ = s.Close()
}

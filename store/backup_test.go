package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestBackup copies the ledger while other goroutines commit to it: the copy is
// consistent.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	writeEntries(t, s)
	commitLines(t, s, "q5 ask", "q6 ask")
	settle(t, s, mira, "100")

	ctx, stop := context.WithCancel(t.Context())
	wrote := make(chan int)
	began := make(chan struct{})
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			key := fmt.Sprintf("busy:%d", n)
			_, err := s.Commit(t.Context(), ledger.Batch{
				Key: key, Records: []ledger.Record{rec("project/busy", "a"), rec("project/busy", "b")},
				Effects:  []ledger.PendingEffect{effect("project/busy", "start", key)},
				Messages: []ledger.Outgoing{{Chat: group, Class: ledger.ClassNotice}},
			})
			if err != nil {
				t.Error(err)
				break
			}
			if n == 10 {
				close(began)
			}
		}
		wrote <- n
	}()
	<-began
	copies := t.TempDir()
	path := filepath.Join(copies, Name)
	err := s.Backup(t.Context(), path)
	stop()
	n := <-wrote
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v, %v", info.Mode(), err)
	}
	heads, found, err := Check(t.Context(), path)
	if err != nil || len(found) > 0 {
		t.Fatalf("Check: %v, %v", found, err)
	}
	if files, _ := os.ReadDir(copies); len(files) != 1 {
		t.Errorf("beside the copy: %v", files)
	}

	c := mustOpen(t, copies)
	wantEqual(t, "breaks", breaks(t, c, heads...), "")
	entries, effects, messages := records(t, c, "project/busy", 0), pending(t, c), queue(t, c, group)
	if k := len(messages); k < 10 || k > n || len(entries) != 2*k {
		t.Errorf("the copy has %d entries, %d messages; %d inputs were committed", len(entries), k, n)
	}
	k := 0
	for _, e := range effects {
		if e.Stream == "project/busy" {
			k++
		}
	}
	if k != len(messages) {
		t.Errorf("the copy has %d effects and %d messages of the same inputs", k, len(messages))
	}
	wantEqual(t, "queue", lines(t, c, mira), lines(t, s, mira))
	wantEqual(t, "shop", records(t, c, shop, 0), records(t, s, shop, 0))
	for _, a := range heads {
		if seq, _, err := c.Head(t.Context(), a.Stream); err != nil || seq != a.Seq {
			t.Errorf("%s ends with %d, %v; Check said %d", a.Stream, seq, err, a.Seq)
		}
	}
	// Ids continue in the copy, so that none is used twice.
	old := next(t, c, mira)
	commitLines(t, c, "q6+ answered")
	if got := next(t, c, mira); got.ID <= old.ID {
		t.Errorf("id %d after %d", got.ID, old.ID)
	}
}

func TestBackupRefuses(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	writeEntries(t, s)
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.db")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file became %q, %v", text, err)
	}
	if err := s.Backup(t.Context(), filepath.Join(dir, "none", "x.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ctx, filepath.Join(dir, "late.db")); err == nil {
		t.Error("an ended context made a copy")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestCheck(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	writeEntries(t, s)
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.db")
	if err := s.Backup(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	damage := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, _, err := Check(t.Context(), damage("text.db", []byte(strings.Repeat("no database\n", 500)))); !errors.Is(err, ErrForeign) {
		t.Errorf("a text file: %v, want ErrForeign", err)
	}
	if _, _, err := Check(t.Context(), filepath.Join(dir, "none.db")); err == nil {
		t.Error("a file that is not there was checked")
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); err == nil {
		t.Error("Check made the file")
	}
	changed := strings.Replace(string(file), `{"n": 1}`, `{"n": 2}`, 1)
	if changed == string(file) {
		t.Fatal("the ledger holds no such body")
	}
	if _, found, err := Check(t.Context(), damage("changed.db", []byte(changed))); err != nil || len(found) != 1 {
		t.Errorf("a changed entry: %v, %v; want one break", found, err)
	}
	_, found, err := Check(t.Context(), damage("cut.db", file[:len(file)/2]))
	if err == nil && len(found) == 0 {
		t.Error("half a file is whole")
	}
	if _, found, err := Check(t.Context(), whole); err != nil || len(found) > 0 {
		t.Errorf("the whole one: %v, %v", found, err)
	}
}

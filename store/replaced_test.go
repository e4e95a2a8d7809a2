package store_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// TestReplacedFile takes the database away from a store, and puts others in its
// place: nothing is accepted until the file that it opened is back.
func TestReplacedFile(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	path, aside := filepath.Join(dir, store.Name), filepath.Join(dir, "aside")
	commit := func() error {
		r, err := ledger.Entry{Stream: ledger.SharedStream, Time: time.Now(), Body: ledger.SharedSet{MaxSessions: 2}}.Record()
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Commit(t.Context(), ledger.Batch{Time: time.Now(), Records: []ledger.Record{r}})
		return err
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(why string) {
		t.Helper()
		if err := commit(); !errors.Is(err, store.ErrDisk) || fault.Of(err) != ledger.FaultDisk || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want ErrDisk: %s", err, why)
		}
	}
	do(commit())
	do(os.Rename(path, aside))
	refused("moved away")
	data, err := os.ReadFile(aside)
	do(err)
	do(os.WriteFile(path, data, 0o600))
	refused("replaced")
	do(os.Rename(aside, path))
	do(commit())
	n := 0
	do(s.Records(t.Context(), ledger.SharedStream, 0, func(ledger.Record) error { n++; return nil }))
	if n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}

// TestDeletedLog deletes the write-ahead log of a store, and puts another file in its
// place, while readers are at work. What is accepted before and after survives a
// crash, which leaves only what is in the folder.
func TestDeletedLog(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := 0
	commit := func() error {
		r, err := ledger.Entry{Stream: ledger.SharedStream, Time: time.Now(), Body: ledger.SharedSet{MaxSessions: 2}}.Record()
		do(err)
		if _, err = s.Commit(t.Context(), ledger.Batch{Time: time.Now(), Records: []ledger.Record{r}}); err == nil {
			want++
		}
		return err
	}
	count := func(s *store.Store, visit func() error) (n int) {
		t.Helper()
		do(s.Records(t.Context(), ledger.SharedStream, 0, func(ledger.Record) error { n++; return visit() }))
		return n
	}
	none := func() error { return nil }
	crash := func(what string) {
		t.Helper()
		if n := count(s, none); n != want {
			t.Errorf("%s: %d entries are shown, want %d", what, n, want)
		}
		copied := t.TempDir()
		for _, name := range []string{store.Name, store.Name + "-wal"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			do(err)
			do(os.WriteFile(filepath.Join(copied, name), data, 0o600))
		}
		after, err := store.Open(copied)
		do(err)
		defer func() { _ = after.Close() }()
		if n := count(after, none); n != want {
			t.Errorf("%s: %d entries after a crash, want %d", what, n, want)
		}
	}
	log := filepath.Join(dir, store.Name+"-wal")
	do(commit())
	do(commit())
	do(os.Remove(log))
	do(commit())
	crash("deleted")
	do(os.Remove(log))
	do(os.Remove(filepath.Join(dir, store.Name+"-shm")))
	do(commit())
	crash("deleted with the index")
	do(os.Rename(log, log+".aside"))
	do(os.WriteFile(log, nil, 0o600))
	do(commit())
	do(commit())
	crash("replaced")

	first := true
	count(s, func() error { // a reader that lasts, and may hold the log
		if first {
			first = false
			do(os.Remove(log))
			_ = commit()
		}
		return nil
	})
	do(commit())
	crash("deleted under a reader")
}

// TestLogCopiedByAnother: a tool that copies databases writes the log into the
// database file and cuts it. Nothing is lost by that, and nothing is refused.
func TestLogCopiedByAnother(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	commit := func() {
		t.Helper()
		r, err := ledger.Entry{Stream: ledger.SharedStream, Time: time.Now(), Body: ledger.SharedSet{MaxSessions: 2}}.Record()
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Commit(t.Context(), ledger.Batch{Time: time.Now(), Records: []ledger.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
	tool, err := sql.Open("sqlite3", filepath.Join(dir, store.Name))
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	copyLog := func() {
		t.Helper()
		var busy, frames, copied int
		if err := tool.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied); err != nil || busy != 0 {
			t.Fatal(err, busy)
		}
		if info, err := os.Stat(filepath.Join(dir, store.Name+"-wal")); err != nil || info.Size() != 0 {
			t.Fatalf("the log has %d bytes, %v", info.Size(), err)
		}
	}
	commit()
	commit()
	copyLog()
	commit()
	copyLog()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	if err := s.Records(t.Context(), ledger.SharedStream, 0, func(ledger.Record) error { n++; return nil }); err != nil || n != 3 {
		t.Errorf("%d entries, want 3: %v", n, err)
	}
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestOpenMakesPrivateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder?x=1#100%", "state")
	s := mustOpen(t, dir)
	mustCommit(t, s, ledger.Batch{Records: []ledger.Record{rec(shop, "a")}})
	for _, name := range []string{"", Name, Name + "-wal"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q has mode %v: others can look in", name, info.Mode())
		}
	}
}

func TestCloseLeavesOneWholeFile(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	writeEntries(t, s)
	want := records(t, s, shop, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := s.Commit(t.Context(), ledger.Batch{Key: "k"}); !errors.Is(err, errClosed) {
		t.Errorf("Commit after Close = %v", err)
	}
	if err := s.Records(t.Context(), shop, 0, func(ledger.Record) error { return nil }); err == nil {
		t.Error("Records after Close gave no error")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "files", names, []string{filepath.Join(dir, Name)})

	s = mustOpen(t, dir)
	wantEqual(t, "records", records(t, s, shop, 0), want)
	if n := len(pending(t, s)); n != 1 {
		t.Errorf("%d effects are pending, want 1", n)
	}
	wantEqual(t, "breaks", breaks(t, s), "")
}

// TestCloseWithOnlooker closes the database while another program has it open.
// SQLite writes its log back on the last close only; Close must do it before.
func TestCloseWithOnlooker(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	writeEntries(t, s)
	db := raw(t, dir)
	var n int
	if err := db.QueryRow("SELECT count(*) FROM entries").Scan(&n); err != nil || n == 0 {
		t.Fatalf("onlooker: %d entries, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, Name+"-wal"))
	if err == nil && info.Size() > 0 {
		t.Errorf("%d bytes are still in the log", info.Size())
	}
}

// endsOnErr is a context that ends at the first call of Err or Done.
type endsOnErr struct {
	context.Context
	end context.CancelFunc
}

func (c endsOnErr) Err() error {
	defer c.end()
	return c.Context.Err()
}

// TestCommitIsNotCutOff ends the context during a commit: the outcome is known
// all the same.
func TestCommitIsNotCutOff(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	ctx, end := context.WithCancel(t.Context())
	r, err := s.Commit(endsOnErr{ctx, end}, ledger.Batch{Key: "k", Records: []ledger.Record{rec(shop, "a"), rec(shop, "b")}})
	if ctx.Err() == nil {
		t.Fatal("the context did not end on the way")
	}
	if err != nil || len(r.Records) != 2 {
		t.Errorf("Commit = %+v, %v", r, err)
	}
}

// TestSettledOnce settles an effect twice: the time of the first call stays.
func TestSettledOnce(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	id := mustCommit(t, s, ledger.Batch{Effects: []ledger.PendingEffect{effect(shop, "start", "1")}}).Effects[0].ID
	for _, at := range []time.Time{entryTime, entryTime.Add(time.Hour)} {
		mustCommit(t, s, ledger.Batch{Time: at, Settles: []int64{id}})
	}
	var got string
	if err := raw(t, dir).QueryRow("SELECT settled_at FROM effects").Scan(&got); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "settled_at", got, "2026-11-20T22:04:05.120000000Z")
}

func TestOpenRefuses(t *testing.T) {
	write := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(query string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			s, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execSQL(t, raw(t, dir), query)
		}
	}
	for name, c := range map[string]struct {
		prepare func(*testing.T, string)
		want    error
		text    string
	}{
		"text file":        {write("# tasks\n" + strings.Repeat("- [ ] one\n", 200)), ErrForeign, "not a nightporter database"},
		"short text file":  {write("hello"), ErrForeign, "not a nightporter database"},
		"a folder":         {func(t *testing.T, dir string) { _ = os.Mkdir(filepath.Join(dir, Name), 0o700) }, ErrForeign, "no regular file"},
		"another's tables": {func(t *testing.T, dir string) { execSQL(t, raw(t, dir), "CREATE TABLE songs (name TEXT)") }, ErrForeign, "another program's (application id 0, 1 tables)"},
		"another's id":     {change("PRAGMA application_id = 7"), ErrForeign, "application id 7"},
		"later schema":     {change("INSERT INTO migrations (version_id, is_applied) VALUES (99, 1)"), ErrNewer, "a later nightporter wrote it in form 99.0, and this program () knows 4.0: install"},
		"later chain":      {change("UPDATE meta SET value = '2' WHERE key = 'chain'"), ErrNewer, `chained by rule "2", this program knows "1"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(t, dir)
			before, _ := os.ReadFile(filepath.Join(dir, Name))
			s, err := Open(dir)
			if err == nil {
				_ = s.Close()
				t.Fatal("was opened")
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %q, want %q with %q and the path", err, c.want, c.text)
			}
			if after, _ := os.ReadFile(filepath.Join(dir, Name)); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestOpenAfterCutOffStart opens the files of a first start that was cut off
// after each of its steps.
func TestOpenAfterCutOffStart(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"empty file": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, Name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"only the table of versions": func(t *testing.T, dir string) {
			db := raw(t, dir)
			p, err := provider(db)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := p.GetVersions(t.Context()); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := db.QueryRow("SELECT count(*) FROM migrations").Scan(&n); err != nil || n == 0 {
				t.Fatalf("the table of versions is not there: %d, %v", n, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			prepare(t, dir)
			writeEntries(t, mustOpen(t, dir))
		})
	}
}

// TestOpenUnwritable refuses an unwritable folder at start, not at the first
// commit.
func TestOpenUnwritable(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"folder missing": func(*testing.T, string) {},
		"folder empty":   func(t *testing.T, dir string) { _ = os.Mkdir(dir, 0o755) },
		"database there": func(t *testing.T, dir string) {
			s, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			writeEntries(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, Name), 0o444); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "state")
			prepare(t, dir)
			if _, err := os.Stat(dir); err == nil {
				if err := os.Chmod(dir, 0o555); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
			}
			for p := top; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
				if err := os.Chmod(p, 0o555); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Chmod(p, 0o755) })
			}
			err := asUnprivileged(func() error {
				s, err := Open(dir)
				if err == nil {
					_ = s.Close()
				}
				return err
			})
			if !errors.Is(err, ErrDisk) {
				t.Errorf("Open = %v, want ErrDisk", err)
			}
		})
	}
}

// asUnprivileged runs f without root's permission to write everywhere; as a normal
// user it simply runs f. It changes the file-system user of a thread, which is
// discarded afterwards.
func asUnprivileged(f func() error) error {
	if os.Geteuid() != 0 {
		return f()
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if _, err := unix.SetfsuidRetUid(65534); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}

// TestDiskFull fills the disk: the whole batch is refused with ErrDisk, and
// commits succeed again once there is room.
func TestDiskFull(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	writeEntries(t, s)
	var pages int
	if err := s.writer.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := func(n int) {
		if _, err := s.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages + 2)
	big := rec(shop, "big")
	big.Body = make([]byte, 64<<10)
	b := ledger.Batch{Key: "big", Records: []ledger.Record{rec(shop, "small"), big}}
	before := records(t, s, shop, 0)
	for range 2 {
		if _, err := s.Commit(t.Context(), b); !errors.Is(err, ErrDisk) || !strings.Contains(err.Error(), "disk is full") {
			t.Fatalf("Commit = %v, want ErrDisk", err)
		}
		wantEqual(t, "records", records(t, s, shop, 0), before)
	}
	limit(pages + 1000)
	if r := mustCommit(t, s, b); r.Repeated || len(r.Records) != 2 {
		t.Errorf("after there was room: %+v", r)
	}
	wantEqual(t, "breaks", breaks(t, s), "")
}

func TestPragmas(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if err := checkPragmas(t.Context(), s.writer, writerPragmas); err != nil {
		t.Error(err)
	}
	if _, err := s.readers.Exec("DELETE FROM snapshots"); err == nil {
		t.Error("the read-only pool can write")
	}
	// checkPragmas exists to find misspelt parameters.
	path := filepath.Join(t.TempDir(), "x.db")
	for _, c := range []struct{ key, misspelt, names string }{
		{"_synchronous", "_syncronous", "pragma synchronous is"},
		{"_recursive_triggers", "_recursive_trigger", "pragma recursive_triggers is"},
		{"_foreign_keys", "_foreign_key", "pragma foreign_keys is"},
	} {
		db, err := sql.Open("sqlite3", strings.Replace(writerDSN(path), c.key, c.misspelt, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPragmas(t.Context(), db, writerPragmas); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("with %s: %v, want %q", c.misspelt, err, c.names)
		}
		_ = db.Close()
	}
	db := raw(t, t.TempDir())
	if err := checkPragmas(t.Context(), db, map[string]string{"journal_mode": "wal"}); err == nil || !strings.Contains(err.Error(), "local disk") {
		t.Errorf("without WAL: %v", err)
	}
}

// TestLockedByAnotherProgram waits for another program that holds the
// database's lock, and names the lock in the error after the wait.
func TestLockedByAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	db := raw(t, dir)
	execSQL(t, db, "BEGIN IMMEDIATE")
	if _, err := s.writer.ExecContext(t.Context(), "PRAGMA busy_timeout = 20"); err != nil {
		t.Fatal(err)
	}
	b := ledger.Batch{Key: "k", Records: []ledger.Record{rec(shop, "a")}}
	if _, err := s.Commit(t.Context(), b); err == nil || !strings.Contains(err.Error(), "another program keeps the database locked") {
		t.Errorf("Commit = %v", err)
	}
	execSQL(t, db, "ROLLBACK")
	mustCommit(t, s, b)
}

// TestMigrationsLeaveEntriesAlone checks that only the first migration mentions
// the table of entries.
func TestMigrationsLeaveEntriesAlone(t *testing.T) {
	ledgerStore := regexp.MustCompile(`(?i)\bentries\b`)
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("migrations %q, %v", names, err)
	}
	for i, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("migrations/%05d_", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("%s: want a name that begins with %s", name, want)
		}
		if touches := ledgerStore.Match(text); touches != (i == 0) {
			t.Errorf("%s: speaks of the table entries: %v", name, touches)
		}
	}
}

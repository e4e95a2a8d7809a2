package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// raw opens a second connection without our settings, as another program would.
func raw(t testing.TB, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, Name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execSQL(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// writeEntries writes six entries of shop, two of house, two effects and a
// snapshot.
func writeEntries(t testing.TB, s *Store) {
	t.Helper()
	mustCommit(t, s, ledger.Batch{Records: []ledger.Record{rec(shop, "a"), rec(shop, "b"), rec(ledger.SharedStream, "h")}})
	mustCommit(t, s, ledger.Batch{Records: []ledger.Record{rec(shop, "c")}, Effects: []ledger.PendingEffect{effect(shop, "start", "r14-25")}})
	if err := s.SaveSnapshot(t.Context(), ledger.SnapshotRow{Stream: shop, Seq: 2, Version: 1, Body: []byte("s")}); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, ledger.Batch{Records: []ledger.Record{rec(shop, "d"), rec(shop, "e"), rec(ledger.SharedStream, "i")}})
	mustCommit(t, s, ledger.Batch{Records: []ledger.Record{rec(shop, "f")}})
}

// breaks returns the breaks found by Verify, one per line.
func breaks(t testing.TB, s *Store, known ...Anchor) string {
	t.Helper()
	found, err := s.VerifyAgainst(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, b := range found {
		lines = append(lines, b.String())
	}
	return strings.Join(lines, "\n")
}

func TestVerifyFindsNothing(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	wantEqual(t, "empty", breaks(t, s), "")
	writeEntries(t, s)
	seq, hash, err := s.Head(t.Context(), shop)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "after an evening", breaks(t, s, Anchor{Stream: shop, Seq: seq, Hash: hash}), "")
}

// TestLedgerRefuses tries to change entries by plain SQL, which the database
// refuses.
func TestLedgerRefuses(t *testing.T) {
	const values = ` (stream, seq, time, type, v, run, task, attempt, session, actor, cause, body, prev, hash)
		SELECT stream, ?1, time, 'forged', v, run, task, attempt, session, actor, cause, body, prev, hash FROM entries WHERE stream = 'project/shop' AND seq = 6`
	for name, c := range map[string]struct {
		query string
		args  []any
	}{
		"update":               {`UPDATE entries SET body = x'00' WHERE seq = 2`, nil},
		"update of the last":   {`UPDATE entries SET type = 'x' WHERE stream = 'house' AND seq = 2`, nil},
		"update or replace":    {`UPDATE OR REPLACE entries SET seq = 3 WHERE stream = 'project/shop' AND seq = 2`, nil},
		"delete":               {`DELETE FROM entries WHERE seq = 2`, nil},
		"delete of all":        {`DELETE FROM entries`, nil},
		"insert again":         {`INSERT INTO entries` + values, []any{6}},
		"insert or replace":    {`INSERT OR REPLACE INTO entries` + values, []any{6}},
		"replace":              {`REPLACE INTO entries` + values, []any{2}},
		"insert or ignore":     {`INSERT OR IGNORE INTO entries` + values, []any{2}},
		"insert or fail":       {`INSERT OR FAIL INTO entries` + values, []any{9}},
		"upsert":               {`INSERT INTO entries` + values + ` ON CONFLICT DO UPDATE SET body = x'00'`, []any{6}},
		"out of order":         {`INSERT INTO entries` + values, []any{8}},
		"seq 0":                {`INSERT INTO entries` + values, []any{0}},
		"next, but not linked": {`INSERT INTO entries` + values, []any{7}},
		"replace, not linked":  {`INSERT OR REPLACE INTO entries` + values, []any{7}},
		"new stream at 2":      {`INSERT INTO entries SELECT 'new', 2, time, type, v, run, task, attempt, session, actor, cause, body, x'', hash FROM entries WHERE stream = 'house' AND seq = 1`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := mustOpen(t, dir)
			writeEntries(t, s)
			before := append(records(t, s, shop, 0), records(t, s, ledger.SharedStream, 0)...)
			_, err := raw(t, dir).Exec(c.query, c.args...)
			if err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("error %v, want one that says append-only", err)
			}
			wantEqual(t, "entries", append(records(t, s, shop, 0), records(t, s, ledger.SharedStream, 0)...), before)
			wantEqual(t, "breaks", breaks(t, s), "")
		})
	}
}

// guardNames names the triggers that protect the entries.
var guardNames = []string{"entries_no_update", "entries_no_delete", "entries_next_only", "entries_head"}

// tamper changes the ledger with its guards removed, and restores the guards,
// so that only the chain can reveal the change.
func tamper(t *testing.T, dir string, do func(db *sql.DB)) {
	t.Helper()
	db := raw(t, dir)
	defs := map[string]string{}
	for _, name := range guardNames {
		var text string
		if err := db.QueryRow(`SELECT sql FROM sqlite_schema WHERE name = ?`, name).Scan(&text); err != nil {
			t.Fatal(err)
		}
		defs[name] = text
		execSQL(t, db, "DROP TRIGGER "+name)
	}
	do(db)
	for _, name := range guardNames {
		execSQL(t, db, defs[name])
	}
}

func TestVerifyFindsTampering(t *testing.T) {
	run := func(queries ...string) func(*testing.T, *sql.DB) {
		return func(t *testing.T, db *sql.DB) {
			for _, q := range queries {
				execSQL(t, db, q)
			}
		}
	}
	const shop4 = ` WHERE stream = 'project/shop' AND seq = 4`
	cases := map[string]struct {
		do   func(*testing.T, *sql.DB)
		want []string // parts of the expected breaks, in order
	}{
		"missing":          {run(`DELETE FROM entries` + shop4), []string{"project/shop entry 4: it is missing"}},
		"several missing":  {run(`DELETE FROM entries WHERE stream = 'project/shop' AND seq IN (2, 3, 4)`), []string{"entry 2: it is missing, with all up to entry 4"}},
		"first missing":    {run(`DELETE FROM entries WHERE stream = 'project/shop' AND seq = 1`), []string{"entry 1: it is missing"}},
		"tail cut":         {run(`DELETE FROM entries WHERE stream = 'project/shop' AND seq > 4`), []string{"project/shop entry 5: the end is cut off: the ledger holds 4 of at least 6"}},
		"stream gone":      {run(`DELETE FROM entries WHERE stream = 'house'`), []string{"house entry 1: the end is cut off: the ledger holds 0 of at least 2"}},
		"tail and head":    {run(`DELETE FROM entries WHERE stream = 'project/shop' AND seq > 2`, `UPDATE heads SET seq = 2, hash = (SELECT hash FROM entries WHERE stream = 'project/shop' AND seq = 2) WHERE stream = 'project/shop'`), []string{"entry 3: the end is cut off: the ledger holds 2 of at least 3 entries, as effect 1 (start r14-25) shows"}},
		"tail to snapshot": {run(`DELETE FROM entries WHERE stream = 'project/shop' AND seq > 1`, `DELETE FROM heads`, `DELETE FROM effects`), []string{"project/shop entry 2: the end is cut off: the ledger holds 1 of at least 2 entries, as a snapshot shows"}},
		"head forged":      {run(`UPDATE heads SET hash = zeroblob(32) WHERE stream = 'house'`), []string{"house entry 2: it is not the entry that the record of its head names"}},
		"head gone":        {run(`DELETE FROM heads WHERE stream = 'house'`), []string{"house entry 1: the record of its head ends before it"}},
		"swapped":          {run(`UPDATE entries SET seq = 99`+shop4, `UPDATE entries SET seq = 4 WHERE stream = 'project/shop' AND seq = 5`, `UPDATE entries SET seq = 5 WHERE seq = 99`), []string{"entry 4: it was changed", "entry 5: it was changed"}},
		"moved stream":     {run(`UPDATE entries SET stream = 'project/blog' WHERE stream = 'house'`), []string{"house entry 1: the end is cut off", "project/blog entry 1: it was changed"}},
		"entry 0":          {run(`INSERT INTO entries SELECT stream, 0, time, type, v, run, task, attempt, session, actor, cause, body, prev, hash FROM entries` + shop4), []string{"project/shop: an entry numbered 0 was put in"}},
	}
	for column, value := range map[string]string{
		"time": `'2026-11-20T22:04:05.130000000Z'`, "type": `'x'`, "v": `2`, "run": `'r13'`, "task": `'Task 6'`, "attempt": `'a2'`,
		"session": `'r14-26'`, "actor": `'daemon'`, "cause": `''`, "body": `x'7b7d'`, "prev": `zeroblob(32)`, "hash": `zeroblob(32)`,
	} {
		cases["column "+column] = struct {
			do   func(*testing.T, *sql.DB)
			want []string
		}{run(`UPDATE entries SET ` + column + ` = ` + value + shop4), []string{"project/shop entry 4: it was changed after it was written"}}
	}
	cases["unreadable time"] = struct {
		do   func(*testing.T, *sql.DB)
		want []string
	}{run(`UPDATE entries SET time = 'yesterday'` + shop4), []string{"project/shop entry 4: it was changed after it was written"}}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := mustOpen(t, dir)
			writeEntries(t, s)
			tamper(t, dir, func(db *sql.DB) { c.do(t, db) })
			got := breaks(t, s)
			rest := got
			for _, want := range c.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("found:\n%s\nwant %q", got, want)
				}
				rest = after
			}
		})
	}
}

// TestVerifyFindsForgedHash rewrites an entry with a matching hash. The next
// entry reveals it; for a stream's last entry, only an anchor does.
func TestVerifyFindsForgedHash(t *testing.T) {
	forge := func(t *testing.T, dir string, seq int64) {
		t.Helper()
		tamper(t, dir, func(db *sql.DB) {
			var r row
			if err := r.scan(db.QueryRow(`SELECT `+columns+` FROM entries WHERE stream = ? AND seq = ?`, shop, seq)); err != nil {
				t.Fatal(err)
			}
			r.body = []byte(`{"forged":true}`)
			execSQL(t, db, `UPDATE entries SET body = ?, hash = ? WHERE stream = ? AND seq = ?`, r.body, r.sum(), shop, seq)
			execSQL(t, db, `UPDATE heads SET hash = (SELECT hash FROM entries e WHERE e.stream = heads.stream AND e.seq = heads.seq)`)
		})
	}
	t.Run("in the middle", func(t *testing.T) {
		dir := t.TempDir()
		s := mustOpen(t, dir)
		writeEntries(t, s)
		forge(t, dir, 4)
		if got := breaks(t, s); !strings.Contains(got, "project/shop entry 5: it does not follow") {
			t.Errorf("found %q", got)
		}
	})
	t.Run("the last", func(t *testing.T) {
		dir := t.TempDir()
		s := mustOpen(t, dir)
		writeEntries(t, s)
		_, hash, err := s.Head(t.Context(), shop)
		if err != nil {
			t.Fatal(err)
		}
		forge(t, dir, 6)
		wantEqual(t, "without an anchor", breaks(t, s), "")
		footer := Anchor{Stream: shop, Seq: 6, Hash: hash, Source: "commit 3f2c1d0"}
		wantEqual(t, "with one", breaks(t, s, footer), "project/shop entry 6: it is not the entry that commit 3f2c1d0 names: it was rewritten")
	})
	t.Run("cut with all records of it", func(t *testing.T) {
		dir := t.TempDir()
		s := mustOpen(t, dir)
		writeEntries(t, s)
		_, hash, err := s.Head(t.Context(), shop)
		if err != nil {
			t.Fatal(err)
		}
		tamper(t, dir, func(db *sql.DB) {
			execSQL(t, db, `DELETE FROM entries WHERE stream = 'project/shop' AND seq > 3`)
			execSQL(t, db, `UPDATE heads SET seq = 3, hash = (SELECT hash FROM entries WHERE stream = 'project/shop' AND seq = 3) WHERE stream = 'project/shop'`)
		})
		wantEqual(t, "without an anchor", breaks(t, s), "")
		wantEqual(t, "with one", breaks(t, s, Anchor{Stream: shop, Seq: 6, Hash: hash}),
			"project/shop entry 4: the end is cut off: the ledger holds 3 of at least 6 entries, as an anchor shows")
	})
}

func TestVerifyFindsMissingGuard(t *testing.T) {
	for _, name := range guardNames {
		dir := t.TempDir()
		s := mustOpen(t, dir)
		execSQL(t, raw(t, dir), "DROP TRIGGER "+name)
		if got := breaks(t, s); !strings.Contains(got, "guard "+name+" is missing") {
			t.Errorf("without %s found %q", name, got)
		}
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		mustCommit(t, s, ledger.Batch{Records: slices.Repeat([]ledger.Record{rec(shop, "a")}, 5)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, Name)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Overwrite the middle of the file: pages of entries, but neither of the schema
	// nor of the last ones, which an opening reads.
	for i := len(file) * 2 / 5; i < len(file)*3/5; i++ {
		file[i] = 0xa5
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir)
	if got := breaks(t, s); !strings.Contains(got, "the database file is damaged") {
		t.Errorf("found %q", got)
	}
}

// TestCommitRefusesBrokenLedger cuts off a stream's end: Commit must refuse to
// append, which would hide the cut.
func TestCommitRefusesBrokenLedger(t *testing.T) {
	for name, query := range map[string]string{
		"cut":       `DELETE FROM entries WHERE stream = 'project/shop' AND seq = 6`,
		"rewritten": `UPDATE entries SET hash = zeroblob(32) WHERE stream = 'project/shop' AND seq = 6`,
		"no head":   `DELETE FROM heads`,
	} {
		dir := t.TempDir()
		s := mustOpen(t, dir)
		writeEntries(t, s)
		tamper(t, dir, func(db *sql.DB) { execSQL(t, db, query) })
		_, err := s.Commit(t.Context(), ledger.Batch{Key: "k", Records: []ledger.Record{rec(shop, "g")}})
		if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "nightporter verify") {
			t.Errorf("%s: Commit = %v, want ErrBroken with what to do", name, err)
		}
		if name == "no head" {
			continue
		}
		_, err = s.Commit(t.Context(), ledger.Batch{Effects: []ledger.PendingEffect{effect(shop, "end", "r14-25")}})
		if want := "stream project/shop does not end with its entry 6 any more"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: an effect alone: %v, want %q", name, err, want)
		}
		// Other streams are not affected.
		mustCommit(t, s, ledger.Batch{Records: []ledger.Record{rec(ledger.SharedStream, "j")}})
	}
}

// TestSnapshotOfOtherHistory checks that a snapshot is ignored if its entry was
// replaced.
func TestSnapshotOfOtherHistory(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	writeEntries(t, s)
	tamper(t, dir, func(db *sql.DB) {
		execSQL(t, db, `UPDATE entries SET hash = zeroblob(32) WHERE stream = 'project/shop' AND seq = 2`)
	})
	r, err := s.Snapshot(context.Background(), shop, 1)
	if err != nil || r.Seq != 0 {
		t.Errorf("Snapshot = %+v, %v, want none", r, err)
	}
}

// TestVerifySharedHead rewrites the shared stream with matching hashes and
// heads. The entry of a project that names its head reveals that, and a changed
// entry of that kind names nothing.
func TestVerifySharedHead(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	writeEntries(t, s)
	seq, hash, err := s.Head(t.Context(), ledger.SharedStream)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ledger.Entry{Stream: shop, Time: entryTime, Body: ledger.SharedHead{Seq: seq, Hash: hex.EncodeToString(hash)}}.Record()
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, ledger.Batch{Records: []ledger.Record{r}})
	wantEqual(t, "untouched", breaks(t, s), "")
	if found, end, err := s.VerifyStream(t.Context(), ledger.SharedStream, nil); err != nil || end != 2 || len(found) != 0 {
		t.Errorf("the stream alone: %v, %d, %v", found, end, err)
	}

	tamper(t, dir, func(db *sql.DB) {
		var r row
		if err := r.scan(db.QueryRow(`SELECT ` + columns + ` FROM entries WHERE stream = 'house' AND seq = 2`)); err != nil {
			t.Fatal(err)
		}
		r.body = []byte(`{"forged":true}`)
		execSQL(t, db, `UPDATE entries SET body = ?, hash = ? WHERE stream = 'house' AND seq = 2`, r.body, r.sum())
		execSQL(t, db, `UPDATE heads SET hash = (SELECT hash FROM entries e WHERE e.stream = heads.stream AND e.seq = heads.seq)`)
		execSQL(t, db, `DELETE FROM snapshots`)
	})
	const want = "house entry 2: it is not the entry that entry 7 of project/shop names: it was rewritten"
	wantEqual(t, "rewritten", breaks(t, s), want)
	found, _, err := s.VerifyStream(t.Context(), ledger.SharedStream, nil)
	if err != nil || len(found) != 1 || found[0].String() != want {
		t.Errorf("the stream alone: %v, %v", found, err)
	}
	if found, end, err := s.VerifyStream(t.Context(), shop, nil); err != nil || end != 7 || len(found) != 0 {
		t.Errorf("the other stream: %v, %d, %v", found, end, err)
	}

	tamper(t, dir, func(db *sql.DB) { execSQL(t, db, `UPDATE entries SET body = x'7b7d' WHERE type = 'shared.head'`) })
	wantEqual(t, "changed", breaks(t, s), "project/shop entry 7: it was changed after it was written: its content does not match its hash")
}

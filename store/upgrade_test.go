package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUpgrade opens the database of every earlier release. Beside each database
// lies a file with the heads of its streams. Neither is written again once its
// schema was released.
//
//	go test ./store -run TestUpgrade -update
//
// writes both for the current schema, if they do not exist.
func TestUpgrade(t *testing.T) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	current := filepath.Join("testdata", fmt.Sprintf("v%d.db", len(names)))
	if _, err := os.Stat(current); errors.Is(err, fs.ErrNotExist) && *update {
		writeFixture(t, current)
	}
	fixtures, err := filepath.Glob(filepath.Join("testdata", "v*.db"))
	if err != nil {
		t.Fatal(err)
	}
	if len(fixtures) != len(names) {
		t.Fatalf("%d fixtures for %d schemas: go test ./store -run TestUpgrade -update", len(fixtures), len(names))
	}
	for _, fixture := range fixtures {
		t.Run(filepath.Base(fixture), func(t *testing.T) { upgrade(t, fixture) })
	}
}

func upgrade(t *testing.T, fixture string) {
	file, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	heads, err := os.ReadFile(headsOf(fixture))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Name), file, 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir)
	var known []Anchor
	for line := range strings.Lines(string(heads)) {
		a, err := ParseAnchor(line)
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, a)
	}
	wantEqual(t, "breaks", breaks(t, s, known...), "")

	for _, a := range known {
		if seq, _, err := s.Head(t.Context(), a.Stream); err != nil || seq != a.Seq {
			t.Errorf("%s ends with %d, %v; want %d", a.Stream, seq, err, a.Seq)
		}
		if n := len(records(t, s, a.Stream, 0)); int64(n) != a.Seq {
			t.Errorf("%s: %d entries can be read, want %d", a.Stream, n, a.Seq)
		}
		r := mustCommit(t, s, ledger.Batch{Time: entryTime, Records: []ledger.Record{rec(a.Stream, "later")}})
		if r.Records[0].Seq != a.Seq+1 {
			t.Errorf("%s goes on with %d, want %d", a.Stream, r.Records[0].Seq, a.Seq+1)
		}
	}
	effects := pending(t, s)
	if len(effects) != 1 || effects[0].Kind != "start" || effects[0].Key != "r14-26" {
		t.Errorf("pending: %+v, want start r14-26", effects)
	}
	if r := mustCommit(t, s, ledger.Batch{Key: "emit:r14-25"}); !r.Repeated || string(r.Answer) != `{"ok":true}` {
		t.Errorf("an old input again: %+v", r)
	}
	// The first schema had no messages.
	if filepath.Base(fixture) != "v1.db" {
		wantEqual(t, "queue", lines(t, s, mira), []string{"q8? in doubt", "q7+100 answered"})
		wantEqual(t, "shown", shown(t, s, mira, "q7"), "100 ask")
		if c, ok, err := s.Cursor(t.Context(), "telegram:1"); !ok || err != nil || c.Value != "8124" {
			t.Errorf("cursor %+v, %v", c, err)
		}
	}
	commitLines(t, s, "q9 later")
	wantEqual(t, "breaks after", breaks(t, s, known...), "")
}

func headsOf(fixture string) string { return strings.TrimSuffix(fixture, ".db") + ".heads" }

// writeFixture makes a small database with a row in every table.
func writeFixture(t *testing.T, path string) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, ledger.Batch{
		Key: "run:r14", Time: entryTime, Records: []ledger.Record{rec(shop, "run.started"), rec(ledger.SharedStream, "lease.given")},
		Effects: []ledger.PendingEffect{effect(shop, "start", "r14-25")},
	})
	mustCommit(t, s, ledger.Batch{
		Key: "emit:r14-25", Time: entryTime, Records: []ledger.Record{rec(shop, "event.accepted"), rec(shop, "session.planned")},
		Effects: []ledger.PendingEffect{effect(shop, "start", "r14-26")}, Settles: []int64{1}, Answer: []byte(`{"ok":true}`),
	})
	if err := s.SaveSnapshot(t.Context(), ledger.SnapshotRow{Stream: shop, Seq: 3, Version: 1, Body: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, ledger.Batch{
		Key: "tg:8123", Time: entryTime, Messages: []ledger.Outgoing{line("q7 ask")}, Cursor: &ledger.Cursor{Name: "telegram:1", Value: "8124", Time: entryTime},
	})
	settle(t, s, mira, "100")
	commitLines(t, s, "q7+ answered", "q8 in doubt", "- dropped")
	begin(t, s, next(t, s, mira).ID)
	if err := s.Drop(t.Context(), queue(t, s, mira)[1].ID, "refused"); err != nil {
		t.Fatal(err)
	}
	var heads strings.Builder
	for _, stream := range []string{ledger.SharedStream, shop} {
		seq, hash, err := s.Head(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&heads, Anchor{Stream: stream, Seq: seq, Hash: hash})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, Name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, file, 0o644), os.WriteFile(headsOf(path), []byte(heads.String()), 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %s: commit it, and never make it again", path)
}

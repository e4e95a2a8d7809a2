package store

import (
	"errors"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSnapshotAltered changes a stored snapshot by plain SQL, as a program with
// access to the file could. It is not returned, and the next one that is saved
// replaces it.
func TestSnapshotAltered(t *testing.T) {
	for name, query := range map[string]string{
		"body":         `UPDATE snapshots SET body = x'7b7d'`,
		"sum":          `UPDATE snapshots SET sum = zeroblob(32)`,
		"later entry":  `UPDATE snapshots SET seq = 4, hash = (SELECT hash FROM entries WHERE stream = 'project/shop' AND seq = 4)`,
		"other stream": `UPDATE snapshots SET stream = 'house', hash = (SELECT hash FROM entries WHERE stream = 'house' AND seq = 2)`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := mustOpen(t, dir)
			writeEntries(t, s)
			stream := shop
			if name == "other stream" {
				stream = ledger.SharedStream
			}
			execSQL(t, raw(t, dir), query)
			r, err := s.Snapshot(t.Context(), stream, 1)
			if !errors.Is(err, ledger.ErrSnapshotAltered) || r.Seq != 0 || r.Body != nil {
				t.Errorf("Snapshot = %+v, %v, want none and ErrSnapshotAltered", r, err)
			}
			if err := s.SaveSnapshot(t.Context(), ledger.SnapshotRow{Stream: stream, Seq: 2, Version: 1, Body: []byte("anew")}); err != nil {
				t.Fatal(err)
			}
			if err := s.DropSnapshots(t.Context(), "project/other"); err != nil {
				t.Fatal(err)
			}
			if name == "later entry" {
				return // it stays the newest until a later one is saved
			}
			if r, err := s.Snapshot(t.Context(), stream, 1); err != nil || string(r.Body) != "anew" {
				t.Errorf("after the next one: %+v, %v", r, err)
			}
		})
	}
}

// TestSnapshotWithoutSum checks that a snapshot of a release that stored no sum
// is not used.
func TestSnapshotWithoutSum(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	writeEntries(t, s)
	execSQL(t, raw(t, dir), `UPDATE snapshots SET sum = x''`)
	if r, err := s.Snapshot(t.Context(), shop, 1); err != nil || r.Seq != 0 {
		t.Errorf("Snapshot = %+v, %v, want none", r, err)
	}
}

func TestDropSnapshots(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	writeEntries(t, s)
	if err := s.DropSnapshots(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Snapshot(t.Context(), shop, 1); err != nil || r.Seq != 0 {
		t.Errorf("Snapshot = %+v, %v, want none", r, err)
	}
}

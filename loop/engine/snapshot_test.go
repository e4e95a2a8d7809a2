package engine_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// alteredSnapshots is a ledger whose snapshots were all altered.
type alteredSnapshots struct{ *store.Store }

func (alteredSnapshots) Snapshot(_ context.Context, stream string, _ int) (ledger.SnapshotRow, error) {
	return ledger.SnapshotRow{Stream: stream, Seq: 3, Body: []byte(`{"Project":{"Name":"forged"}}`)}, fmt.Errorf("at entry 3: %w", ledger.ErrSnapshotAltered)
}

// TestAlteredSnapshot opens an engine whose snapshots were altered: the state is
// folded from the entries, and the log says so once a stream.
func TestAlteredSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		want, err := json.Marshal(f.state())
		if err != nil {
			t.Fatal(err)
		}
		f.stop()
		var log bytes.Buffer
		e, err := engine.Open(t.Context(), engine.Options{Ledger: alteredSnapshots{f.ledger}, Log: slog.New(slog.NewTextHandler(&log, nil))}, []string{ledger.ProjectStream("p")})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := e.State("p")
		got, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("the state (-want +got):\n%s", diff)
		}
		if n := strings.Count(log.String(), "snapshot thrown away"); n != 2 {
			t.Errorf("%d lines in the log, want one for each of the two streams:\n%s", n, &log)
		}
	})
}

// TestDistrust checks that a stream whose state is wrong gets no snapshot, so
// that the next start folds it anew.
func TestDistrust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		f.current().Distrust(ledger.ProjectStream("p"))
		f.stop()
		for stream, want := range map[string]bool{ledger.ProjectStream("p"): false, ledger.SharedStream: true} {
			r, err := f.ledger.Snapshot(t.Context(), stream, loop.StateVersion)
			if err != nil || (r.Seq > 0) != want {
				t.Errorf("%s: snapshot at %d, %v; want one: %v", stream, r.Seq, err, want)
			}
		}
	})
}

// TestSharedHead checks that the shared stream's head is named before each
// commit, below the head that the commit names, and before the run's end.
func TestSharedHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		hashes := map[int64]string{}
		if err := f.ledger.Records(t.Context(), ledger.SharedStream, 0, func(r ledger.Record) error {
			hashes[r.Seq] = hex.EncodeToString(r.Hash)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var named []int64
		types := map[int64]string{}
		if err := f.ledger.Records(t.Context(), ledger.ProjectStream("p"), 0, func(r ledger.Record) error {
			types[r.Seq] = r.Type
			e, err := r.Entry()
			if err != nil {
				return err
			}
			if head, ok := e.Body.(ledger.SharedHead); ok {
				if named = append(named, r.Seq); hashes[head.Seq] != head.Hash || head.Hash == "" || r.Run != "r1" {
					t.Errorf("entry %d of %q names %d with %s, which has %s", r.Seq, r.Run, head.Seq, head.Hash, hashes[head.Seq])
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(named) != 3 {
			t.Fatalf("entries %v name the shared head, want three: two commits and the end", named)
		}
		for n, c := range f.ports.Commits() {
			var seq int64
			if _, err := fmt.Sscanf(c.Footers, "Nightporter-Head: project/p@%d:", &seq); err != nil {
				t.Fatal(err)
			}
			if seq < named[n] || n+1 < len(named) && seq > named[n+1] {
				t.Errorf("commit %d names entry %d, and the shared head stands at %d", n+1, seq, named[n])
			}
		}
		if last := named[2]; types[int64(len(types))] == (ledger.SharedHead{}).EntryType() {
			t.Errorf("nothing follows entry %d", last)
		}
	})
}

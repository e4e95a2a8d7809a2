package engine_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
	"github.com/nightporter/nightporter/store/storetest"
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

// slowLedger is a ledger whose start is ended after some entries, as by the time
// limit of a unit. read is the number of the first entry that was read.
type slowLedger struct {
	*store.Store
	limit int
	read  int64
}

var errStartEnded = errors.New("the start was ended")

func (l *slowLedger) Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error {
	n := 0
	return l.Store.Records(ctx, stream, after, func(r ledger.Record) error {
		if l.read == 0 {
			l.read = r.Seq
		}
		if n++; n > l.limit {
			return errStartEnded
		}
		return yield(r)
	})
}

// TestFoldGoesOn ends each start after 25,000 of 70,000 entries: the next one
// goes on from a snapshot that the fold saved on the way.
func TestFoldGoesOn(t *testing.T) {
	t.Parallel()
	const entries, limit = 70_000, 25_000
	stream := ledger.ProjectStream("p")
	s := storetest.Open(t, t.TempDir())
	var b ledger.Batch
	for n := range entries {
		r, err := ledger.Entry{Stream: stream, Time: time.Unix(int64(n), 0), Body: ledger.GuidanceChanged{ID: "g1", Text: "x"}}.Record()
		if err != nil {
			t.Fatal(err)
		}
		b.Records = append(b.Records, r)
	}
	if _, err := s.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	var began []int64
	for {
		l := &slowLedger{Store: s, limit: limit}
		e, err := engine.Open(t.Context(), engine.Options{Ledger: l}, []string{stream})
		began = append(began, l.read)
		if err == nil {
			if _, head := e.Folded(stream); head != entries {
				t.Errorf("folded up to %d of %d", head, entries)
			}
			break
		}
		if !errors.Is(err, errStartEnded) || len(began) > 5 {
			t.Fatal(err)
		}
	}
	if want := []int64{1, 20_001, 40_001, 60_001}; !slices.Equal(began, want) {
		t.Errorf("the starts began at %v, want %v", began, want)
	}
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

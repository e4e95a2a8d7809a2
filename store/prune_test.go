package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

const day = 24 * time.Hour

// pruneStore is a store in which a test commits inputs and effects by key.
type pruneStore struct {
	*Store
	t *testing.T
}

func newPruneStore(t *testing.T) pruneStore {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return pruneStore{s, t}
}

func (s pruneStore) commit(b ledger.Batch) ledger.Receipt {
	s.t.Helper()
	r, err := s.Commit(s.t.Context(), b)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// repeated reports whether an input is known.
func (s pruneStore) repeated(key string) bool {
	s.t.Helper()
	return s.commit(ledger.Batch{Key: key, Time: entryTime, Answer: []byte("{}")}).Repeated
}

// TestPruneInputs deletes inputs that nothing can deliver again; every other key
// is still known.
func TestPruneInputs(t *testing.T) {
	s := newPruneStore(t)
	for n := range 2*pruneBatch + 1 {
		s.commit(ledger.Batch{Key: fmt.Sprintf("telegram:1:%d", n), Time: entryTime.Add(-31 * day), Answer: []byte("{}")})
		if n%100 == 0 {
			s.commit(ledger.Batch{Key: fmt.Sprintf("telegram:1:%d:young", n), Time: entryTime.Add(-29 * day), Answer: []byte("{}")})
		}
	}
	s.repeated("new")
	n, err := s.PruneInputs(t.Context(), entryTime.Add(time.Second), 30*day)
	if err != nil || n != 2*pruneBatch+1 {
		t.Errorf("%d were forgotten, %v; want %d", n, err, 2*pruneBatch+1)
	}
	for n := 0; n < 2*pruneBatch+1; n += 100 {
		if !s.repeated(fmt.Sprintf("telegram:1:%d:young", n)) {
			t.Errorf("young input %d was forgotten", n)
		}
	}
	if s.repeated("telegram:1:7") {
		t.Error("an old one is still known")
	}
}

// TestPruneInputsTimeOff keeps the inputs of the last days before a time off.
func TestPruneInputsTimeOff(t *testing.T) {
	s := newPruneStore(t)
	s.commit(ledger.Batch{Key: "old", Time: entryTime.Add(-40 * day), Answer: []byte("{}")})
	s.repeated("last") // at entryTime
	if n, err := s.PruneInputs(t.Context(), entryTime.Add(90*day), 30*day); n != 1 || err != nil {
		t.Errorf("%d were forgotten, %v; want 1", n, err)
	}
	if !s.repeated("last") {
		t.Error("the last input before the time off was forgotten")
	}
}

// TestPruneEffects deletes old settled effects, and none without a result.
func TestPruneEffects(t *testing.T) {
	s := newPruneStore(t)
	const effects = pruneBatch + 10
	var open []int64
	for n := range effects {
		at := entryTime.Add(-40 * day)
		r := s.commit(ledger.Batch{Time: at, Effects: []ledger.PendingEffect{{
			Stream: "project/shop", Kind: "mark", Class: "repeatable", Key: fmt.Sprint(n), Time: at,
		}}})
		switch id := r.Effects[0].ID; {
		case n%100 == 7:
			open = append(open, id)
		case n == effects-1:
			s.commit(ledger.Batch{Time: entryTime, Settles: []int64{id}}) // old, and settled just now
		default:
			s.commit(ledger.Batch{Time: at, Settles: []int64{id}})
		}
	}
	n, err := s.PruneEffects(t.Context(), entryTime.Add(-30*day))
	if want := effects - len(open) - 1; err != nil || n != want {
		t.Errorf("%d were deleted, %v; want %d", n, err, want)
	}
	pending, err := s.Pending(t.Context())
	if err != nil || len(pending) != len(open) {
		t.Fatalf("%d are pending, %v; want %d", len(pending), err, len(open))
	}
	for i, e := range pending {
		if e.ID != open[i] {
			t.Errorf("effect %d is pending, want %d", e.ID, open[i])
		}
		s.commit(ledger.Batch{Time: entryTime, Settles: []int64{e.ID}})
	}
	if breaks, err := s.Verify(t.Context()); err != nil || len(breaks) > 0 {
		t.Errorf("verify: %v, %v", breaks, err)
	}
}

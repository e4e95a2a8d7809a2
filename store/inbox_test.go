package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPruneInputs deletes inputs that a platform cannot deliver again; every
// other key is still known.
func TestPruneInputs(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	old := entryTime.Add(-31 * 24 * time.Hour)
	commit := func(key string, at time.Time) bool {
		t.Helper()
		r, err := s.Commit(t.Context(), ledger.Batch{Key: key, Time: at, Answer: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		return r.Repeated
	}
	for n := range pruneBatch + 1 {
		commit(fmt.Sprintf("telegram:1:%d", n), old)
	}
	commit("telegram:1:new", entryTime)
	for _, key := range []string{"telegram:", "telegram", "telegram;", "exit:r1-1", "away:shop:1", "telegraM:1"} {
		commit(key, old)
	}
	n, err := s.PruneInputs(t.Context(), "telegram:", entryTime.Add(-24*time.Hour))
	if err != nil || n != pruneBatch+2 {
		t.Errorf("%d were forgotten, %v; want %d", n, err, pruneBatch+2)
	}
	for _, key := range []string{"telegram:1:new", "telegram", "telegram;", "exit:r1-1", "away:shop:1", "telegraM:1"} {
		if !commit(key, entryTime) {
			t.Errorf("%s was forgotten", key)
		}
	}
	if commit("telegram:1:7", entryTime) {
		t.Error("an old one is still known")
	}
	if _, err := s.PruneInputs(t.Context(), "", entryTime); err == nil {
		t.Error("all keys were forgotten")
	}
}

package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestRetention removes what is older than the configuration says, each by its
// own key, and keeps the rest.
func TestRetention(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Now()
	cfg := daemontest.Config(t, "manual")
	cfg.Retention = config.Retention{Sessions: 3, Effects: 5, Inputs: 7, CacheSize: 1e6}
	d, _ := daemontest.Open(t, cfg)
	state := d.Projects.State()
	put := func(name string, age time.Duration) {
		t.Helper()
		path := filepath.Join(state, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat("x", 1<<20)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, filepath.Dir(path)} {
			if err := os.Chtimes(p, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("sessions/r8-1/exit.json", 4*day)
	put("sessions/r9-1/exit.json", 2*day)
	put("caches/shop/old/file", 9*day)
	put("caches/shop/new/file", time.Hour)
	commit := func(key string, age time.Duration) {
		t.Helper()
		at := now.Add(-age)
		r, err := d.Store.Commit(t.Context(), ledger.Batch{Key: key, Time: at, Effects: []ledger.PendingEffect{{
			Stream: ledger.ProjectStream("shop"), Kind: "mark", Class: "repeatable", Key: key, Time: at,
		}}})
		if err == nil && key != "open" {
			_, err = d.Store.Commit(t.Context(), ledger.Batch{Time: at, Settles: []int64{r.Effects[0].ID}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	commit("open", 50*day)
	commit("old", 8*day)
	commit("middle", 6*day)
	commit("new", 0)

	d.Prune(t.Context(), now)

	for name, want := range map[string]bool{"sessions/r8-1": false, "sessions/r9-1": true, "caches/shop/old": false, "caches/shop/new": true} {
		if _, err := os.Stat(filepath.Join(state, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it: %v", name, err, want)
		}
	}
	for key, want := range map[string]bool{"open": false, "old": false, "middle": true, "new": true} {
		r, err := d.Store.Commit(t.Context(), ledger.Batch{Key: key, Time: now})
		if err != nil || r.Repeated != want {
			t.Errorf("input %s is known: %v, %v; want %v", key, r.Repeated, err, want)
		}
	}
	if pending, err := d.Store.Pending(t.Context()); err != nil || len(pending) != 1 || pending[0].Key != "open" {
		t.Errorf("pending %+v, %v; want the one without a result", pending, err)
	}
	// An effect that was settled less than five days ago is there, and refused
	// once more.
	for key, want := range map[string]bool{"middle": false, "new": true} {
		_, err := d.Store.Commit(t.Context(), ledger.Batch{Time: now, Effects: []ledger.PendingEffect{{
			Stream: ledger.ProjectStream("shop"), Kind: "mark", Class: "repeatable", Key: key, Time: now,
		}}})
		if (err != nil) != want {
			t.Errorf("effect %s is there: %v, want %v", key, err, want)
		}
	}
}

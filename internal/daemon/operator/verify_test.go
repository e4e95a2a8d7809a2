package operator_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// TestVerifyLiveState checks a daemon at work, whose states were never stored
// and whose times are in the project's zone.
func TestVerifyLiveState(t *testing.T) {
	p, client := daemontest.Open(t, daemontest.Config(t, "manual"))
	settings, err := p.Projects.Resolve("shop", config.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.Engine.Do(t.Context(), loop.Input{Actor: "console", Project: "shop", Idle: true, Body: loop.StartRun{Settings: settings, MaxSessions: 1}}); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	r, err := client.View(t.Context(), api.View{Name: "verify"})
	if err != nil || !r.OK {
		t.Fatalf("%+v, %v", r, err)
	}
	var got struct {
		Streams []struct {
			Stream   string `json:"stream"`
			Entries  int64  `json:"entries"`
			Snapshot int64  `json:"snapshot"`
			StateOK  *bool  `json:"state_ok"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(r.Data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Streams) != 2 {
		t.Errorf("%s", r.Data)
	}
	for _, s := range got.Streams {
		if s.Entries == 0 || s.Snapshot != 0 || s.StateOK == nil || !*s.StateOK {
			t.Errorf("%+v: want a state that is compared with its entries", s)
		}
	}

	p.Engine.Distrust(ledger.SharedStream) // as for a state that differs
	p.Stop()
	again, err := store.Open(p.Projects.State())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	for stream, want := range map[string]bool{ledger.SharedStream: false, ledger.ProjectStream("shop"): true} {
		row, err := again.Snapshot(t.Context(), stream, loop.StateVersion)
		if err != nil || (row.Seq > 0) != want {
			t.Errorf("%s: a snapshot at %d, %v; want one: %v", stream, row.Seq, err, want)
		}
	}
}

// TestVerifyStoredState stops a daemon whose zone is not UTC and asks again: the
// snapshot that it left is what its entries give.
func TestVerifyStoredState(t *testing.T) {
	cfg := daemontest.Config(t, "manual")
	first, _ := daemontest.Open(t, cfg)
	settings, err := first.Projects.Resolve("shop", config.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := first.Engine.Do(t.Context(), loop.Input{Actor: "console", Project: "shop", Idle: true, Body: loop.StartRun{Settings: settings, MaxSessions: 1}}); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	first.Stop()
	err = daemon.Ask(t.Context(), daemon.Options{State: first.Projects.State(), Config: cfg}, func(a daemon.Asker) error {
		for _, view := range []string{"verify", "replay"} {
			r, err := a.View(t.Context(), api.View{Name: view, Project: "shop"})
			if err != nil || !r.OK {
				t.Errorf("%s: %s, %v", view, r.Text, err)
			}
			if view == "verify" && strings.Count(string(r.Data), `"snapshot_ok":true`) != 2 {
				t.Errorf("%s", r.Data)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

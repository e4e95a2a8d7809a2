package autostart_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

func starter(d *daemon.Daemon, plans autostart.Schedules, off time.Time) *autostart.Autostarter {
	return autostart.New(autostart.Options{Engine: d.Engine, Projects: d.Projects, Sessions: noSessions{}, Changes: d.Changes, Log: d.Log}, plans, off)
}

// noSessions are the Sessions of a daemon that runs no session.
type noSessions struct{}

func (noSessions) End(context.Context, string, ledger.Duration) error { return nil }

// TestCron checks that a tick starts due projects in the configured zone, and
// that starts missed while the daemon was off or the machine slept are reported
// and not made up.
func TestCron(t *testing.T) {
	p, _ := daemontest.Open(t, daemontest.Config(t, "0 22 * * *"))
	plans, err := autostart.SchedulesOf(p.Projects.Config())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s := starter(p, plans, now.Add(-48*time.Hour))
	if got := strings.Join(p.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, "22:00 missed: nightporter was off") || !strings.Contains(got, "/run shop") {
		t.Errorf("remarks: %q", got)
	}
	state := func() *loop.Run { st, _ := p.Engine.State("shop"); return st.Project.Run }
	berlin, _ := p.Projects.Config().Zone()
	due := time.Date(2027, 3, 1, 22, 0, 0, 0, berlin)
	s.SetSeen(due.Add(-90 * time.Second))
	s.Tick(t.Context(), due.Add(-30*time.Second))
	if state() != nil {
		t.Fatal("started before it was due")
	}
	s.Tick(t.Context(), due.Add(30*time.Second))
	if r := state(); r == nil || !r.Settings.Stays {
		t.Fatalf("not started: %+v %q", r, p.Projects.WarningsOf("shop"))
	}
	if got := p.Projects.WarningsOf("shop"); len(got) > 0 {
		t.Errorf("remarks after a start: %q", got)
	}
	ended := func() {
		t.Helper()
		late := time.After(daemontest.Patience)
		for {
			rung := p.Changes.Next()
			if state().Over() {
				return
			}
			select {
			case <-rung:
			case <-late:
				t.Fatal("the run has not ended")
			}
		}
	}
	ended()
	if r := state(); r.Ended.Reason != ledger.ReasonPreflight {
		t.Fatalf("%+v", r.Ended)
	}
	s.Tick(t.Context(), due.Add(90*time.Second))
	if r := state(); r.ID != "r1" {
		t.Error("one tick started two runs")
	}
	s.Tick(t.Context(), due.Add(33*time.Hour)) // 22:00 was nine hours ago
	if r := state(); r.ID != "r1" {
		t.Error("a missed start was made up")
	}
	if got := strings.Join(p.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, "asleep") {
		t.Errorf("remarks: %q", got)
	}
	if err := os.WriteFile(filepath.Join(p.Projects.Config().Projects[0].Repo, "plan.md"), []byte("- [x] **Task 1: One**\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Tick(t.Context(), due.Add(48*time.Hour))
	if r := state(); r.ID != "r1" {
		t.Error("started though nothing is ready")
	}
}

// TestCronOnce sets the clock back after a start: the same time of day comes again,
// and starts nothing. A day later it does.
func TestCronOnce(t *testing.T) {
	for _, back := range []time.Duration{20 * time.Minute, 2 * time.Hour, 23 * time.Hour} {
		p, _ := daemontest.Open(t, daemontest.Config(t, "0 22 * * *"))
		plans, err := autostart.SchedulesOf(p.Projects.Config())
		if err != nil {
			t.Fatal(err)
		}
		s := starter(p, plans, time.Time{})
		berlin, _ := p.Projects.Config().Zone()
		began := time.Date(2027, 3, 1, 21, 59, 0, 0, berlin)
		s.SetSeen(began)
		shift, due := time.Duration(0), 0
		for n := range 26 * 60 {
			if n == 15 {
				shift = -back
			}
			at := began.Add(time.Duration(n)*time.Minute + shift)
			due += len(s.Due(at))
		}
		// 26 hours by the clock of the room: the second start is due where the clock
		// shows the next 22:00 by then.
		want := 2
		if back == 2*time.Hour {
			want = 1
		}
		if due != want {
			t.Errorf("set back by %s: due %d times, want %d", back, due, want)
		}
	}
}

// TestAuto checks that start = "auto" begins with the daemon, and that a failed
// start is retried only after a change of the source.
func TestAuto(t *testing.T) {
	p, _ := daemontest.Open(t, daemontest.Config(t, "auto"))
	s := starter(p, nil, time.Time{})
	state := func() *loop.Run { st, _ := p.Engine.State("shop"); return st.Project.Run }
	ctx := t.Context()
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	until := func(what string, ok func() bool) {
		t.Helper()
		late := time.After(daemontest.Patience)
		for !ok() {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-late:
				t.Fatalf("%s: %+v", what, state())
			}
		}
	}
	until("r1 ends", func() bool { r := state(); return r != nil && r.Over() })
	// The failed start is not repeated by itself.
	for range 20 {
		if _, err := p.Engine.Do(ctx, loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleAdmin}}); err != nil {
			t.Fatal(err)
		}
	}
	until("it was looked at", func() bool {
		look, again, watched := s.Known("shop")
		return !look && !again.IsZero() && watched
	})
	if state().ID != "r1" {
		t.Fatal("started in a circle")
	}
	if err := os.WriteFile(filepath.Join(p.Projects.Config().Projects[0].Repo, "plan.md"), []byte("- [ ] **Task 1: One**\n- [ ] **Task 2: Two**\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	until("r2 ends", func() bool { r := state(); return r.ID == "r2" && r.Over() })
}

// TestAutoLater checks that a plan that was missing is found when it appears,
// although it could not be watched.
func TestAutoLater(t *testing.T) {
	cfg := daemontest.Config(t, "auto")
	plan := filepath.Join(cfg.Projects[0].Repo, "plan.md")
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(plan); err != nil {
		t.Fatal(err)
	}
	p, _ := daemontest.Open(t, cfg)
	s := starter(p, nil, time.Time{})
	s.Consider(t.Context(), "shop")
	if got := strings.Join(p.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, "no such file") {
		t.Errorf("remarks %q", got)
	}
	if _, again, _ := s.Known("shop"); !again.Before(time.Now().Add(time.Minute)) || again.IsZero() {
		t.Fatalf("looked at again at %v", again)
	}
	if err := os.WriteFile(plan, []byte("- [x] **Task 1: One**\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.SetRetry("shop", time.Now())
	s.Consider(t.Context(), "shop")
	if got := p.Projects.WarningsOf("shop"); len(got) > 0 {
		t.Errorf("remarks %q", got)
	}
	if err := os.WriteFile(plan, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.MarkDirty("shop") // the watch may have reported it already
	s.Consider(t.Context(), "shop")
	if st, _ := p.Engine.State("shop"); st.Project.Run == nil {
		t.Error("it was not started")
	}
	s.Unwatch()
}

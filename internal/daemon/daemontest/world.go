package daemontest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// World is a daemon with a fake Telegram, two paired people and one project.
type World struct {
	*daemon.Daemon
	T   testing.TB
	Far *telegram.Server
	Now atomic.Int64 // the daemon's clock, in nanoseconds since 1970
}

// Morning sets the clock and sends the digests that are due then.
func (w *World) Morning(now time.Time) {
	w.Now.Store(now.UnixNano())
	w.Digests.Send(w.T.Context(), now)
}

// People of a World.
const (
	Admin  = "telegram:1"
	Viewer = "telegram:2"
)

// New starts a World with a paused daemon. It stops at the end of the test.
func New(t testing.TB) *World {
	t.Helper()
	far, err := telegram.Start(telegram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(far.Close)
	cfg := Config(t, "manual")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(far.Token()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Telegram = &config.Telegram{API: far.URL(), TokenFile: token}
	cfg.Digest.At = config.Clock{Set: true, Hour: 7, Minute: 30}
	w := &World{T: t, Far: far}
	w.Now.Store(time.Now().UnixNano())
	w.Daemon = start(t, daemon.Options{Config: cfg, Clock: func() time.Time { return time.Unix(0, w.Now.Load()) }})
	for id, role := range map[string]ledger.Role{Admin: ledger.RoleAdmin, Viewer: ledger.RoleView} {
		w.Input(loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: role}})
		w.Input(loop.Input{Actor: id, Name: "Mira", Body: people.TryPairing{Hash: "h"}})
	}
	return w
}

// Input decides an input that must be accepted.
func (w *World) Input(in loop.Input) {
	w.T.Helper()
	if a, err := w.Engine.Do(w.T.Context(), in); err != nil || !a.OK {
		w.T.Fatal(a, err)
	}
}

// Ran starts a run: only a project that has had a run gets a digest.
func (w *World) Ran() {
	w.T.Helper()
	settings, err := w.Projects.Resolve("shop", config.Overrides{})
	if err != nil {
		w.T.Fatal(err)
	}
	w.Input(loop.Input{Actor: "console", Project: "shop", Idle: true, Body: loop.StartRun{Settings: settings, MaxSessions: 1}})
}

// Digested returns the digests queued for a chat.
func (w *World) Digested(chat string) []bot.Message {
	w.T.Helper()
	queue, err := w.Store.Queued(w.T.Context(), chat)
	if err != nil {
		w.T.Fatal(err)
	}
	var out []bot.Message
	for _, o := range queue {
		if !strings.HasPrefix(o.Key, "digest/") {
			continue
		}
		var m bot.Message
		if err := json.Unmarshal(o.Body, &m); err != nil {
			w.T.Fatal(err)
		}
		if (m.Key == bot.KeyDigestIdle) != o.Silent {
			w.T.Errorf("%s: silent %v", m.Key, o.Silent)
		}
		out = append(out, m)
	}
	return out
}

// Worked writes three sessions in the hours before due to the ledger.
func (w *World) Worked(due time.Time) {
	w.T.Helper()
	var records []ledger.Record
	for n, hat := range []string{"planner", "builder", "reviewer"} {
		at := due.Add(time.Duration(n-9) * time.Hour)
		id := "r1-" + strconv.Itoa(n+1)
		for _, e := range []ledger.Entry{
			{Time: at, Body: ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: hat, Agent: "gone"}},
			{Time: at.Add(40 * time.Minute), Body: ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Counts: ledger.CountsAsSuccess, Exit: ledger.Exit{Started: at, Ended: at.Add(40 * time.Minute), CostUSD: 0.5}}},
		} {
			e.Stream, e.Run, e.Task, e.Session = ledger.ProjectStream("shop"), "r1", "Task 1", id
			r, err := e.Record()
			if err != nil {
				w.T.Fatal(err)
			}
			records = append(records, r)
		}
	}
	if _, err := w.Store.Commit(w.T.Context(), ledger.Batch{Time: due.Add(-time.Hour), Records: records}); err != nil {
		w.T.Fatal(err)
	}
}

package daemon_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
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

// TestUnreadProject: a project whose entries cannot be read is the only one that
// is not worked on, and is taken up when they can be read again.
func TestUnreadProject(t *testing.T) {
	cfg := daemontest.Config(t, "manual")
	state := filepath.Join(daemontest.ShortDir(t), "s")
	other := cfg.Projects[0]
	other.Name, other.Source.Path = "other", "other.md"
	if err := os.WriteFile(filepath.Join(other.Repo, "other.md"), []byte("- [ ] **Task 2: Two**\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Projects = append(cfg.Projects, other)
	o := daemon.Options{State: state, Config: cfg, Stays: true, Paused: true, Reload: func() (*config.Config, error) { return cfg, nil }}
	open := func() *daemon.Daemon {
		t.Helper()
		d := daemon.New(o)
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Stop)
		return d
	}
	start := func(d *daemon.Daemon, name string) error {
		s, err := d.Projects.Resolve(name, config.Overrides{})
		if err == nil {
			_, err = d.Engine.Do(t.Context(), loop.Input{Actor: "console", Project: name, Idle: true, Body: loop.StartRun{Settings: s, MaxSessions: 1}})
		}
		return err
	}
	d := open()
	for _, name := range []string{"shop", "other"} {
		if err := start(d, name); err != nil {
			t.Fatal(err)
		}
	}
	d.Stop()

	alter := func(body string) (old string) {
		t.Helper()
		db, err := sql.Open("sqlite3", filepath.Join(state, store.Name))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.QueryContext(t.Context(), "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'entries'")
		if err != nil {
			t.Fatal(err)
		}
		triggers := map[string]string{}
		for rows.Next() {
			var name, text string
			if err := rows.Scan(&name, &text); err != nil {
				t.Fatal(err)
			}
			triggers[name] = text
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		run := func(query string, args ...any) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		const where = " WHERE stream = ? AND seq = 1"
		stream := ledger.ProjectStream("shop")
		if err := db.QueryRowContext(t.Context(), "SELECT body FROM entries"+where, stream).Scan(&old); err != nil {
			t.Fatal(err)
		}
		for name := range triggers {
			run("DROP TRIGGER " + name)
		}
		run("UPDATE entries SET body = CAST(? AS BLOB)"+where, body, stream)
		run("DELETE FROM snapshots")
		for _, text := range triggers {
			run(text)
		}
		return old
	}
	body := alter("{no entry")
	d = open()
	if r := view(t, state, api.View{Name: "status"}); !r.OK || !strings.Contains(r.Text, "! shop waits: its ledger cannot be read, see: nightporter verify.") || strings.Contains(r.Text, "shop idle") {
		t.Errorf("status: %s", r.Text)
	}
	if r := view(t, state, api.View{Name: "status"}); !strings.Contains(string(r.Data), `"state":"unknown"`) {
		t.Errorf("status: %s", r.Data)
	}
	if err := start(d, "shop"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a start on an unread ledger: %v", err)
	}
	if _, err := d.Engine.Do(t.Context(), loop.Input{Actor: "console", Project: "shop", Body: loop.Wake{}}); err == nil {
		t.Error("an input for an unread ledger is decided")
	}
	if err := start(d, "other"); err != nil {
		t.Errorf("the other project: %v", err)
	}
	alter(body)
	if err := start(d, "shop"); err != nil {
		t.Errorf("the ledger is mended: %v", err)
	}
	if r := view(t, state, api.View{Name: "status"}); strings.Contains(r.Text, "cannot be read") {
		t.Errorf("status: %s", r.Text)
	}
	d.Stop()
	// A command without a daemon stops with the places.
	alter("{no entry")
	o.Stays = false
	single := daemon.New(o)
	var damaged *daemon.DamagedError
	if err := single.Start(t.Context()); !errors.As(err, &damaged) || len(damaged.Breaks) != 1 || !strings.Contains(err.Error(), "nightporter restore") {
		t.Errorf("a command on an unread ledger: %v", err)
	}
}

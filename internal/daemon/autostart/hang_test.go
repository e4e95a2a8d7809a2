//go:build linux

package autostart_test

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/fake/netfs"
)

// TestHangingSource lets the file system of one project hang after the daemon
// began: the other project starts, and the first one once its files answer.
func TestHangingSource(t *testing.T) {
	cfg := daemontest.Config(t, "auto")
	other := daemontest.Config(t, "auto").Projects[0]
	f := netfs.Mount(t, cfg.Projects[0].Repo, netfs.Limits{})
	cfg.Projects[0].Repo, other.Name = f.Dir, "blog"
	cfg.Projects = append(cfg.Projects, other)
	p, _ := daemontest.Open(t, cfg)
	s := starter(p, nil, time.Time{})
	f.Hang()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	t.Cleanup(f.Resume)
	started := func(name string) bool {
		st, _ := p.Engine.State(name)
		return st.Project.Run != nil
	}
	await := func(name string) {
		t.Helper()
		late := time.After(daemontest.Patience)
		for !started(name) {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-late:
				t.Fatalf("%s was not started; %q", name, p.Projects.WarningsOf(name))
			}
		}
	}
	await("blog")
	if started("shop") {
		t.Error("shop was started while its files do not answer")
	}
	f.Resume()
	await("shop")
}

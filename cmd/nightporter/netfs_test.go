//go:build linux

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fake/netfs"
	"github.com/nightporter/nightporter/internal/programtest"
)

// TestNetworkFileSystems runs two tasks with the repository, and then the state
// folder, on file systems with the limits of NFS: the work is committed and marked,
// and a state folder there is warned of or refused.
func TestNetworkFileSystems(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root may mount")
	}
	worst := netfs.Limits{NoLocks: true, NoLinks: true, Flat: true, NoChown: true, Late: time.Second}
	ready := worst
	ready.NoLocks, ready.NoChown, ready.Late = false, false, 0 // sessions get files, and NFS shows a program its own writes
	for name, c := range map[string]struct {
		repo, state *netfs.Limits
		exit        int
		says        string
	}{
		"repository":                       {&worst, nil, 0, "2/2 done"},
		"repository, names without case":   {&netfs.Limits{NoCase: true}, nil, 0, "2/2 done"},
		"state folder":                     {nil, &ready, 0, "2/2 done"},
		"state folder, and it has no lock": {nil, &worst, 3, "its file system has no locks"},
	} {
		t.Run(name, func(t *testing.T) {
			m := programtest.NewTwoTasks(t)
			repo, state := m.Path("repo"), m.State()
			if c.repo != nil {
				repo = netfs.Mount(t, repo, *c.repo).Dir
			}
			if c.state != nil {
				dir := m.Path("below")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				state = netfs.Mount(t, dir, *c.state).Dir
				if err := os.Chmod(filepath.Dir(state), 0o755); err != nil { // for sessions
					t.Fatal(err)
				}
			}
			out, exit, err := m.Output("nightporter", "run", "--repo", repo, "--source", "plan:plan.md", "--agent", "demo", "--yes-demo", "--verify", "sh ./verify.sh", "--pattern", "single", "--state", state)
			if err != nil || exit != c.exit || !strings.Contains(out, c.says) {
				t.Fatalf("exit code %d, %v:\n%s", exit, err, out)
			}
			if c.exit != 0 {
				return
			}
			text, err := os.ReadFile(m.Path("repo", "plan.md"))
			if err != nil || strings.Count(string(text), "[x]") != 2 {
				t.Errorf("the plan: %v\n%s", err, text)
			}
			if out, exit, err := m.Output("nightporter", "verify", "--state", state); err != nil || exit != 0 {
				t.Errorf("verify: exit code %d, %v\n%s", exit, err, out)
			}
		})
	}
}

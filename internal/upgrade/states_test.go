//go:build linux

package upgrade

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/store"
)

// earlierStates are the commits whose programs wrote a fixture in a folder of
// testdata, the oldest first: the first commit that could be run, and the last
// one before each large change.
var earlierStates = []string{"c7bd1f8", "541ae77", "f0072ee", "fe3c123", "7a9c966", "0e1c333", "032eae3"}

// shown are the fields of status that every release printed.
type shown struct {
	Project  string `json:"project"`
	Run      string `json:"run"`
	State    string `json:"state"`
	Done     int    `json:"done"`
	Total    int    `json:"total"`
	Branch   string `json:"branch"`
	Sessions int    `json:"sessions"`
	Exit     int    `json:"exit"`
}

// TestEarlierEnded opens the finished run of every earlier state: status shows
// what it showed, the ledger verifies and folds anew to the same, and a backup
// of it can be restored.
func TestEarlierEnded(t *testing.T) {
	t.Parallel()
	programtest.DependOnSources(t)
	for _, commit := range earlierStates {
		t.Run(commit, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			unpack(t, filepath.Join("testdata", commit, "demo.tar.gz"), dir)
			m := machine{dir}
			m.shows(t, commit, "demo")
			m.isWhole(t, 4)
			m.comesBack(t)
		})
	}
}

// TestEarlierInterrupted goes on with a run whose daemon was killed by every
// earlier state: it is brought to its end, with one commit a task.
func TestEarlierInterrupted(t *testing.T) {
	programtest.DependOnSources(t)
	lockFixtureDir(t)
	for _, commit := range earlierStates {
		t.Run(commit, func(t *testing.T) {
			if err := os.RemoveAll(fixtureDir); err != nil {
				t.Fatal(err)
			}
			unpack(t, filepath.Join("testdata", commit, "killed.tar.gz"), fixtureDir)
			m := machine{fixtureDir}
			m.shows(t, commit, "killed")
			out := m.output(t, "run")
			if s := m.status(t); s.State != "ended" || s.Exit != 0 || s.Done != 2 || s.Run != "r2" || s.Sessions != 6 {
				t.Errorf("status %+v, want r2 ended with 2 done by 6 sessions\n%s", s, out)
			}
			for _, task := range []string{"1", "2"} {
				if n := len(linesWith(m.output(t, "evidence", task, "--json"), `"type":"task.committed"`)); n != 1 {
					t.Errorf("task %s has %d commits", task, n)
				}
			}
			m.isWhole(t, 2)
			m.comesBack(t)
		})
	}
}

func (m machine) status(t *testing.T, flags ...string) (s shown) {
	t.Helper()
	if err := json.Unmarshal([]byte(m.output(t, append([]string{"status", "--json"}, flags...)...)), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// shows compares status with what the program that wrote a fixture printed.
func (m machine) shows(t *testing.T, commit, fixture string) {
	t.Helper()
	var want shown
	if err := json.Unmarshal([]byte(golden(t, filepath.Join(commit, fixture), "status")), &want); err != nil {
		t.Fatal(err)
	}
	if got := m.status(t); got != want {
		t.Errorf("status %+v\nwant   %+v", got, want)
	}
}

// isWhole verifies the ledger against the commits of tasks, and folds it anew.
func (m machine) isWhole(t *testing.T, commits int, flags ...string) {
	t.Helper()
	if got, want := m.output(t, append([]string{"verify"}, flags...)...), fmt.Sprintf("ledger whole, checked against %d commits", commits); !strings.Contains(got, want) {
		t.Errorf("verify:\n%swant %q", got, want)
	}
	replay := m.output(t, append([]string{"replay", "--json"}, flags...)...)
	if strings.Count(replay, `"same":true`) != 2 || strings.Contains(replay, `"same":false`) {
		t.Errorf("replay: %s", replay)
	}
}

// comesBack backs the state folder up and restores it to another one, which
// shows the same.
func (m machine) comesBack(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	file, state := filepath.Join(dir, "backup.tar.gz"), filepath.Join(dir, "state")
	m.output(t, "backup", file)
	m.output(t, "restore", file, "--state", state)
	if got, want := m.status(t, "--state", state), m.status(t); got != want {
		t.Errorf("restored: status %+v\nwant %+v", got, want)
	}
	if got, want := m.output(t, "tasks", "--json", "--state", state), m.output(t, "tasks", "--json"); got != want {
		t.Errorf("restored: tasks\n%swant\n%s", got, want)
	}
	m.isWhole(t, strings.Count(m.output(t, "tasks", "--json"), `"commit":"`), "--state", state)
}

// TestBack goes the way that docs/operating.md says from a later program back to
// an earlier one: the ledger is copied by itself before its form changes, a
// program that is too old says where the copy is, and the copy can be used with
// the repositories of today.
func TestBack(t *testing.T) {
	t.Parallel()
	programtest.DependOnSources(t)
	dir := t.TempDir()
	unpack(t, "testdata/0e1c333/demo.tar.gz", dir)
	m := machine{dir}
	copies := func() []string {
		files, err := filepath.Glob(filepath.Join(m.state(), "backups", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	for range 2 { // the second time nothing changes
		m.shows(t, "0e1c333", "demo")
	}
	files := copies()
	if len(files) != 1 || !strings.Contains(files[0], "-before-") {
		t.Fatalf("copies %v, want one", files)
	}
	// A later release has written the ledger since.
	s, err := store.OpenAs(m.state(), store.Program{Version: "99.1", Format: 99})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"status", "verify", "up"} {
		out, err := m.command(command).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "nightporter 99.1 wrote it") || !strings.Contains(string(out), "install nightporter 99.1 or a later one") || !strings.Contains(string(out), files[0]) {
			t.Errorf("%s: %v\n%swant a refusal that names 99.1 and %s", command, err, out, files[0])
		}
	}
	aside := m.state() + ".newer"
	if err := os.Rename(m.state(), aside); err != nil {
		t.Fatal(err)
	}
	m.output(t, "restore", filepath.Join(aside, "backups", filepath.Base(files[0])))
	if err := os.Rename(filepath.Join(aside, "repos"), filepath.Join(m.state(), "repos")); err != nil {
		t.Fatal(err)
	}
	m.shows(t, "0e1c333", "demo")
	m.isWhole(t, 4)
}

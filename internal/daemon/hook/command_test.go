package hook_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/hook"
	"github.com/nightporter/nightporter/internal/multicall"
	"github.com/nightporter/nightporter/loop/agent"
)

// TestMain lets the test program act as nightporter, from which sessions start.
func TestMain(m *testing.M) {
	if code, is := multicall.Run(); is {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestCommand: a command gets each event in its input, once, in order, inside the
// boundary. One that fails is run again; what it refuses is left out.
func TestCommand(t *testing.T) {
	p := newPlace(t)
	state, shared, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{shared, outside} {
		if err := os.Chmod(dir, 0o777); err != nil { // sessions may be another user's
			t.Fatal(err)
		}
	}
	script := `
		cmp -s - event.json || exit 1
		echo x >"$1/outside" && exit 1
		cat event.json >>"$2/tried"
		case $(wc -l <"$2/tried") in 1) exit 7;; 3) exit 65;; esac
		cat event.json >>"$2/taken"
	`
	p.hooks = []config.Hook{{On: []string{hook.TaskDone}, Run: []string{"/bin/sh", "-c", script, "it's", outside, shared}}}
	grants := map[string]agent.Grant{"hooks_" + p.hooks[0].Key(): {Shared: []string{shared}}} // a project of the hook's own
	runner, err := agent.New(agent.Options{State: state, Projects: grants})
	if err != nil {
		t.Fatal(err)
	}
	p.runner, p.folder = runner, filepath.Join(state, "runs")
	p.begin()
	for _, task := range []string{"Task 1", "Task 2", "Task 3"} {
		p.commit(task, done(""))
	}
	stop := p.run()
	for left := 1; left > 0 || len(texts(t, filepath.Join(shared, "taken"))) < 2; runtime.Gosched() {
		folders, err := os.ReadDir(p.folder)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		left = len(folders) // each command's own is removed after it
	}
	stop()
	if got, want := texts(t, filepath.Join(shared, "tried")), []string{"shop #1 done", "shop #1 done", "shop #2 done", "shop #3 done"}; !slices.Equal(got, want) {
		t.Errorf("tried %q, want %q", got, want)
	}
	if got, want := texts(t, filepath.Join(shared, "taken")), []string{"shop #1 done", "shop #3 done"}; !slices.Equal(got, want) {
		t.Errorf("taken %q, want %q", got, want)
	}
	if level, _ := runner.Level(); level >= 2 {
		if _, err := os.Stat(filepath.Join(outside, "outside")); err == nil {
			t.Error("the command wrote outside of its folder")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if log := p.logged.String(); !strings.Contains(log, "exit code 7") || !strings.Contains(log, "refused: exit code 65") {
		t.Error(log)
	}
}

// TestCommandFolders: of a command's calls only the last ones stay in the state folder,
// however often it fails.
func TestCommandFolders(t *testing.T) {
	p := newPlace(t)
	state := t.TempDir()
	runner, err := agent.New(agent.Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	p.runner, p.folder = runner, filepath.Join(state, "runs")
	p.hooks = []config.Hook{{On: []string{hook.TaskDone}, Run: []string{"/bin/sh", "-c", "exit 65"}}}
	p.begin()
	const calls, kept = 23, 20
	for range calls {
		p.commit("Task 1", done(""))
	}
	stop := p.run()
	for {
		p.mu.Lock()
		refused := strings.Count(p.logged.String(), "refused: exit code 65")
		p.mu.Unlock()
		if refused == calls {
			break
		}
		runtime.Gosched()
	}
	stop()
	if folders, err := filepath.Glob(filepath.Join(state, "sessions", "hook-*")); err != nil || len(folders) != kept {
		t.Errorf("%d folders of sessions stay, %v; want %d", len(folders), err, kept)
	}
}

// texts returns the texts of the events in a file.
func texts(t *testing.T, file string) (out []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e hook.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Text)
	}
	return out
}

//go:build e2e

package main_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/programtest"
)

// TestToken: nightporter continues its work when Telegram refuses the token, at
// the start or later. It reports that, and resumes chatting once the token is
// accepted. The token appears nowhere.
func TestToken(t *testing.T) {
	t.Parallel()
	t.Run("wrong", func(t *testing.T) {
		t.Parallel()
		const wrong = "7999456789:AAH-of-somebody-else_0123456789abcdefg"
		e := newNightFixture(t, nightOptions{token: wrong, project: "start = \"auto\"\n"})
		e.hold("Task 1 planner")
		e.up()
		e.ready()
		e.awaitHeld("Task 1 planner") // the run works without chat
		e.awaitReport("Telegram refuses the token")
		e.checkTokenHidden(wrong)
		e.runCommand("stop", "--now")
		if code := e.down(); code != 0 {
			t.Errorf("nightporter up ended with %d", code)
		}
		e.checkTokenHidden(wrong)
	})
	t.Run("revoked", func(t *testing.T) {
		t.Parallel()
		e := newNightFixture(t, nightOptions{})
		e.hold("Task 1 planner")
		e.up()
		e.ready()
		e.pair(mira, "admin")
		e.sayAndAwait(mira, "/run", "? Start shop?")
		e.press(mira, "Start", "? Start shop?")
		e.awaitMessage(mira, "● shop r1 started")
		e.awaitHeld("Task 1 planner")
		revoked := telegram.Unauthorized()
		revoked.Times = -1
		e.far.Fault("*", revoked)
		e.far.PollElsewhere() // ends the current poll with a conflict
		e.awaitReport("Telegram refuses the token")
		e.far.Say(mira, mira.ID, "/guidance Sent while the token was refused")
		e.checkTokenHidden(e.far.Token())
		e.release("Task 1 planner")
		e.noError(programtest.WaitFor("the work to go on", func() (bool, error) { return e.sessionCount("Task 1 builder") > 0, nil }))
		e.far.ClearFaults()
		if code := e.down(); code != 0 { // a restart reads the new token
			t.Errorf("nightporter up ended with %d", code)
		}
		e.up()
		e.ready()
		e.awaitMessage(mira, "g1 ", "Sent while")
		e.runCommand("stop", "--now")
		if code := e.down(); code != 0 {
			t.Errorf("nightporter up ended with %d", code)
		}
		e.checkTokenHidden(e.far.Token())
	})
}

// awaitReport waits until the daemon's log and its status contain the text.
func (e *nightFixture) awaitReport(text string) {
	e.t.Helper()
	e.noError(programtest.WaitFor(fmt.Sprintf("%q in the log", text), func() (bool, error) { return strings.Contains(e.daemon.Out.String(), text), nil }))
	out := e.runCommand("status")
	e.t.Logf("$ nightporter status\n%s", out)
}

// checkTokenHidden searches for a token in all of nightporter's output and
// files, and in environment and arguments of its processes. Only the part
// behind the colon is secret.
func (e *nightFixture) checkTokenHidden(token string) {
	e.t.Helper()
	_, secret, _ := strings.Cut(token, ":")
	find := func(where string, data []byte) {
		e.t.Helper()
		if bytes.Contains(data, []byte(secret)) {
			e.t.Errorf("the token is in %s", where)
		}
	}
	files := 0
	e.noError(filepath.WalkDir(e.Path("state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what is gone by now holds nothing
		}
		data, err := os.ReadFile(path)
		if err == nil {
			files++
			find(path, data)
		}
		return nil
	}))
	for n, r := range e.errs {
		find(fmt.Sprintf("the output of start %d", n+1), []byte(r.String()))
	}
	for _, c := range e.chats() {
		find("a chat", []byte(e.far.Transcript(c)))
	}
	children := e.processes("")
	for _, pid := range children {
		for _, name := range []string{"environ", "cmdline"} {
			if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)); err == nil {
				find(fmt.Sprintf("/proc/%d/%s", pid, name), data)
			}
		}
	}
	e.t.Logf("looked for the token in %d files and %d processes", files, len(children))
}

// processes returns the processes that mention the test's folder in their
// arguments, variables or working directory: nightporter, its shims and the
// programs of sessions. A name selects the processes of that program.
func (e *nightFixture) processes(name string) []int {
	entries, err := os.ReadDir("/proc")
	e.noError(err)
	var out []int
	for _, d := range entries {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		comm, _ := os.ReadFile(filepath.Join("/proc", d.Name(), "comm"))
		if name != "" && strings.TrimSpace(string(comm)) != name {
			continue
		}
		var all []byte
		for _, file := range []string{"cmdline", "environ"} {
			data, _ := os.ReadFile(filepath.Join("/proc", d.Name(), file)) // it may have ended or belong to another user
			all = append(all, data...)
		}
		cwd, _ := os.Readlink(filepath.Join("/proc", d.Name(), "cwd"))
		if bytes.Contains(append(all, cwd...), []byte(e.Dir)) {
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out
}

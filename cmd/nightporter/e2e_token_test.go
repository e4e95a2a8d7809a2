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

// TestToken: a token that Telegram refuses, from the start or from some moment
// on, does not keep nightporter from its work; it says so, and goes on talking
// when the token is taken again. The token itself appears nowhere.
func TestToken(t *testing.T) {
	t.Parallel()
	t.Run("wrong", func(t *testing.T) {
		t.Parallel()
		const wrong = "7999456789:AAH-of-somebody-else_0123456789abcdefg"
		e := newE2EFixture(t, setting{token: wrong, project: "start = \"auto\"\n"})
		e.hold("Task 1 planner")
		e.up()
		e.ready()
		e.held("Task 1 planner") // it works
		e.says("Telegram refuses the token")
		e.neverShown(wrong)
		e.np("stop", "--now")
		if code := e.down(); code != 0 {
			t.Errorf("nightporter up ended with %d", code)
		}
		e.neverShown(wrong)
	})
	t.Run("revoked", func(t *testing.T) {
		t.Parallel()
		e := newE2EFixture(t, setting{})
		e.hold("Task 1 planner")
		e.up()
		e.ready()
		e.pair(mira, "admin")
		e.answers(mira, "/run", "? Start shop?")
		e.press(mira, "Start", "? Start shop?")
		e.shows(mira, "● shop r1 started")
		e.held("Task 1 planner")
		revoked := telegram.Unauthorized()
		revoked.Times = -1
		e.far.Fault("*", revoked)
		e.far.PollElsewhere() // ends the poll that waits
		e.says("Telegram refuses the token")
		e.far.Say(mira, mira.ID, "/guidance Sent while the token was refused")
		e.neverShown(e.far.Token())
		e.release("Task 1 planner")
		e.must(programtest.WaitFor("the work to go on", func() (bool, error) { return e.asked("Task 1 builder") > 0, nil }))
		e.far.ClearFaults()
		if code := e.down(); code != 0 { // a new token is read at the start
			t.Errorf("nightporter up ended with %d", code)
		}
		e.up()
		e.ready()
		e.shows(mira, "g1 ", "Sent while")
		e.np("stop", "--now")
		if code := e.down(); code != 0 {
			t.Errorf("nightporter up ended with %d", code)
		}
		e.neverShown(e.far.Token())
	})
}

// says waits until the daemon's log and its status say so.
func (e *e2eFixture) says(text string) {
	e.t.Helper()
	e.must(programtest.WaitFor(fmt.Sprintf("%q in the log", text), func() (bool, error) { return strings.Contains(e.daemon.Out.String(), text), nil }))
	out := e.np("status")
	e.t.Logf("$ nightporter status\n%s", out)
}

// neverShown looks for a token in everything that nightporter wrote, and in
// the environment and arguments of every process below it. The secret is what
// stands behind the colon.
func (e *e2eFixture) neverShown(token string) {
	e.t.Helper()
	_, secret, _ := strings.Cut(token, ":")
	find := func(where string, data []byte) {
		e.t.Helper()
		if bytes.Contains(data, []byte(secret)) {
			e.t.Errorf("the token is in %s", where)
		}
	}
	files := 0
	e.must(filepath.WalkDir(e.Path("state"), func(path string, d fs.DirEntry, err error) error {
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
	children := e.children("")
	for _, pid := range children {
		for _, name := range []string{"environ", "cmdline"} {
			if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)); err == nil {
				find(fmt.Sprintf("/proc/%d/%s", pid, name), data)
			}
		}
	}
	e.t.Logf("looked for the token in %d files and %d processes", files, len(children))
}

// children are the processes that have the world's folder among their
// arguments, variables or in their working folder: nightporter, its shims and
// what sessions run. With a name, only those whose program is called so.
func (e *e2eFixture) children(name string) []int {
	entries, err := os.ReadDir("/proc")
	e.must(err)
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
			data, _ := os.ReadFile(filepath.Join("/proc", d.Name(), file)) // it may end, or be another user's
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

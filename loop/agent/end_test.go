package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// endFixture is a fixture whose agent leaves a file when it runs.
func endFixture(t *testing.T, change ...func(*Options)) *fixture {
	t.Helper()
	h := newFixture(t, 1, change...)
	h.script("touch " + filepath.Join(h.out, "ran") + "; sleep 30")
	return h
}

// endBefore asks for a session's end, as the daemon does after it has recorded the cut.
func (h *fixture) endBefore(session string) {
	h.t.Helper()
	if err := h.runner.End(context.Background(), session, 0); err != nil {
		h.t.Fatal(err)
	}
}

// notRun fails if the session's agent has run, or if its exit says so.
func (h *fixture) notRun(session string) {
	h.t.Helper()
	x := h.wait(session)
	if x.Reason != ledger.ExitAsked || !x.NotBegun {
		h.t.Errorf("exit = %+v\n%s", x, h.log(session))
	}
	if _, err := os.Stat(filepath.Join(h.out, "ran")); !isGone(err) {
		h.t.Error("the agent ran after its end had been asked for")
	}
	if held, err := lockHeld(h.runner.folder(session)); held || err != nil {
		h.t.Errorf("its folder is locked: %v %v", held, err)
	}
}

// restart replaces the runner by that of another daemon on the same state folder.
func (h *fixture) restart() {
	h.t.Helper()
	h.opts = h.runner.o
	h.runner = h.open()
}

// TestEndBeforeStart asks for the end of a session before there is a process to
// end: in each gap, its agent never runs, also after a restart of the daemon.
func TestEndBeforeStart(t *testing.T) {
	for _, restart := range []bool{false, true} {
		name := map[bool]string{false: "same daemon", true: "restarted"}[restart]
		between := func(h *fixture) {
			if restart {
				h.restart()
			}
		}
		t.Run("before its folder/"+name, func(t *testing.T) {
			h := endFixture(t)
			h.endBefore("r1-1")
			between(h)
			if h.runner.Known("r1-1") {
				t.Error("a session that was never started is known")
			}
			h.start(h.launch("r1-1"))
			h.notRun("r1-1")
			h.start(h.launch("r1-1"))
			h.notRun("r1-1")
		})
		t.Run("while it is prepared/"+name, func(t *testing.T) {
			h := endFixture(t)
			h.runner.o.BeforeStart = func(context.Context, string, string) error {
				h.endBefore("r1-1")
				if restart {
					return errors.New("the daemon dies here")
				}
				return nil
			}
			if err := h.runner.Start(context.Background(), h.launch("r1-1")); (err != nil) != restart {
				t.Fatal(err)
			}
			h.runner.o.BeforeStart = nil
			if restart {
				h.restart()
				h.start(h.launch("r1-1"))
			}
			h.notRun("r1-1")
		})
		t.Run("its supervisor has not begun/"+name, func(t *testing.T) {
			h := newFixture(t, 1, slowShim(t))
			h.script("touch " + filepath.Join(h.out, "ran") + "; sleep 30")
			h.start(h.launch("r1-1"))
			if _, err := os.Stat(filepath.Join(h.runner.folder("r1-1"), filePID)); !isGone(err) {
				t.Fatal("the supervisor has begun")
			}
			between(h)
			if !h.runner.Known("r1-1") {
				t.Fatal("a starting session is not known")
			}
			h.endBefore("r1-1")
			if err := os.WriteFile(filepath.Join(h.state, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			h.notRun("r1-1")
		})
	}
}

// slowShim lets supervisors begin once the state folder has a file named go.
func slowShim(t *testing.T) func(*Options) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) {
		o.Hat, o.Self = self, filepath.Join(filepath.Dir(o.State), "slow")
		script := "#!/bin/sh\n[ \"$1\" = shim ] && case $2 in */r1-1) until [ -e " + o.State + "/go ]; do sleep 0.02; done;; esac\nexec " + self + " \"$@\"\n"
		if err := os.WriteFile(o.Self, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStartCancelled: cancelling the preparation of a session starts nothing, and
// another Start begins the session.
func TestStartCancelled(t *testing.T) {
	h := endFixture(t)
	ctx, cancel := context.WithCancel(context.Background())
	h.runner.o.BeforeStart = func(context.Context, string, string) error {
		cancel()
		return nil
	}
	if err := h.runner.Start(ctx, h.launch("r1-1")); !errors.Is(err, context.Canceled) {
		t.Fatalf("Start: %v", err)
	}
	if h.runner.Known("r1-1") {
		t.Error("a cancelled session is known")
	}
	h.runner.o.BeforeStart = nil
	h.script("touch " + filepath.Join(h.out, "ran"))
	h.start(h.launch("r1-1"))
	if x := h.wait("r1-1"); x.Reason != ledger.ExitSelf || x.NotBegun {
		t.Errorf("exit = %+v", x)
	}
}

package daemon_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/demo"
	"github.com/nightporter/nightporter/loop/ledger"
)

// stopTime is the longest time that Stop may take in a test.
const stopTime = 9 * time.Second

// TestDaemon runs a whole daemon in this process, with a database, git,
// sessions of the scripted agent and a fake Telegram. The daemon must start
// ready work, answer at the host and in the chat, end in time and leave no
// goroutine. A second daemon in the same process and folder must resume its
// work.
func TestDaemon(t *testing.T) {
	dir := daemontest.ShortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil { // if the test runs as root, sessions run as another user, who needs access
		t.Fatal(err)
	}
	repo, state := filepath.Join(dir, demo.Name), filepath.Join(dir, "s")
	if err := demo.WriteRepository(t.Context(), repo); err != nil {
		t.Fatal(err)
	}
	far, err := telegram.Start(telegram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(far.Close)
	for name, text := range map[string]string{
		"telegram.token": far.Token() + "\n",
		"nightporter.toml": `[telegram]
api = "` + far.URL() + `"
[[project]]
name = "shop"
repo = "` + repo + `"
source = "plan:` + demo.Plan + `"
agent = "demo"
verify = ["` + demo.Verify + `"]
start = "auto"
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(filepath.Join(dir, "nightporter.toml"))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	options := daemon.Options{
		Version: "test", State: state, Config: cfg, Person: "mira", Stays: true,
		Agents: map[string]agent.Definition{demo.Agent: {Name: demo.Agent, Command: []string{self, demo.Command, "--pace", "0s"}, Dir: "/", Output: demo.Agent}},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	mira := telegram.User{ID: 7, Name: "Mira"}
	before := goroutines()
	for n := range 2 {
		d := daemon.New(options)
		if err := d.Start(ctx); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Stop)
		if n == 0 {
			if err := far.WaitPolling(ctx); err != nil {
				t.Fatal(err)
			}
			key, err := socket.OperatorKey(state)
			if err != nil {
				t.Fatal(err)
			}
			pair := api.View{Name: "pair", Args: map[string]string{"hash": operator.PairingHash(key, "K7QX-M2PD"), "key": "k1", "by": "mira"}}
			if r := view(t, state, pair); !r.OK {
				t.Fatal(r.Text)
			}
			far.Say(mira, mira.ID, "/pair K7QX-M2PD")
		}
		waitUntil(ctx, t, d, func(s loop.State) bool { done, _ := s.Project.Count(); return done > n }) // one task each
		if r := view(t, state, api.View{Name: "status"}); !r.OK || !strings.Contains(r.Text, "shop") {
			t.Errorf("status: %+v", r)
		}
		far.Say(mira, mira.ID, "/status")
		if _, err := far.WaitFor(ctx, mira.ID, func(c telegram.Chat) bool {
			return len(c.Messages) > 0 && strings.Contains(c.Messages[len(c.Messages)-1].Text, "shop")
		}); err != nil {
			t.Fatal(err)
		}
		if err := d.Start(ctx); !errors.Is(err, service.ErrStarted) {
			t.Errorf("a second start: %v", err)
		}
		var inUse *statelock.InUseError
		if other := daemon.New(options); !errors.As(other.Start(ctx), &inUse) {
			t.Error("two daemons have one state folder")
		}
		if n == 1 { // no session may outlive the test
			if _, err := d.Engine.Do(ctx, loop.Input{Project: "shop", Actor: "console", Body: loop.Stop{Now: true}}); err != nil {
				t.Fatal(err)
			}
			waitUntil(ctx, t, d, func(s loop.State) bool { return s.Project.Run.Over() && len(s.Project.Sessions) == 0 })
		}
		began := time.Now()
		d.Stop()
		d.Stop()
		if took := time.Since(began); took > stopTime {
			t.Errorf("it took %v to end", took)
		}
		if n == 0 {
			checkNoneLeft(t, before, sessionWait)
		} else {
			checkNoneLeft(t, before)
		}
	}
	if out, err := exec.Command("git", "-C", repo, "log", "--format=%s", "nightporter/shop/r1").CombinedOutput(); err != nil || strings.Count(string(out), "\n") < 3 {
		t.Errorf("%s%v", out, err)
	}
}

// view sends a request for a view over the operator's socket.
func view(t *testing.T, state string, v api.View) api.Reply {
	t.Helper()
	c, err := socket.Operator(state)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.View(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// waitUntil waits until the state of shop meets a condition.
func waitUntil(ctx context.Context, t *testing.T, d *daemon.Daemon, is func(loop.State) bool) {
	t.Helper()
	for {
		rung := d.Changes.Next()
		s, _ := d.Engine.State("shop")
		if is(s) {
			return
		}
		select {
		case <-rung:
		case <-ctx.Done():
			t.Fatalf("it never came to it: run %+v, warnings %q", s.Project.Run, d.Projects.WarningsOf("shop"))
		}
	}
}

// TestStopFirst checks that a daemon holds nothing after Stop or a failed
// Start.
func TestStopFirst(t *testing.T) {
	before := goroutines()
	o := daemon.Options{State: filepath.Join(daemontest.ShortDir(t), "s"), Config: config.Empty(), Stays: true}
	d := daemon.New(o)
	d.Stop()
	if err := d.Start(t.Context()); !errors.Is(err, service.ErrStopped) {
		t.Errorf("start after stop: %v", err)
	}
	broken := o
	broken.Config = &config.Config{Telegram: &config.Telegram{TokenFile: filepath.Join(o.State, "nowhere")}}
	var in *ledger.InputError
	if err := daemon.New(broken).Start(t.Context()); !errors.As(err, &in) {
		t.Errorf("without a token: %v", err)
	}
	checkNoneLeft(t, before)
	again := daemon.New(o) // the folder is free
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	again.Stop()
	checkNoneLeft(t, before)
}

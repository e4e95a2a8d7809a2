package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop/ledger"
)

// processTreeScript returns a script that starts a session leader, a daemon
// that forked twice, a process that ignores TERM, and a plain child. The mark
// identifies their sleeps.
func processTreeScript(mark string) string {
	return fmt.Sprintf(`
setsid sleep %[1]s >/dev/null 2>&1 &
( ( setsid nohup sleep %[1]s >/dev/null 2>&1 & ) & )
( trap '' TERM; setsid sh -c 'trap "" TERM; sleep %[1]s; sleep %[1]s' & )
sleep %[1]s &
until [ $(pgrep -cf 'sleep %[1]s') -ge 5 ] 2>/dev/null || [ $((n=n+1)) -gt 100 ]; do sleep 0.02; done
echo ready >ready
`, mark)
}

// uniqueSleep returns a duration for sleep that no other process uses.
func uniqueSleep(t *testing.T) string {
	m := fmt.Sprintf("98765.%d%d", os.Getpid(), time.Now().UnixNano()%1e6)
	t.Cleanup(func() {
		for _, pid := range processesWith(m) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return m
}

func (h *fixture) ready() {
	h.t.Helper()
	awaitChange(h.t, h.work, "the agent is ready", func() bool {
		_, err := os.Stat(filepath.Join(h.work, "ready"))
		return err == nil
	})
}

func none(t *testing.T, mark string) {
	t.Helper()
	if pids := processesWith(mark); len(pids) > 0 {
		t.Errorf("survivors: %v", pids)
	}
}

func TestTreeAfterSuccess(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		m := uniqueSleep(t)
		x := h.run("r1-1", processTreeScript(m)+"exit 0")
		none(t, m)
		if x.Reason != ledger.ExitSelf || x.Code != 0 || x.Killed < 5 {
			t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
		}
	})
}

func TestEnds(t *testing.T) {
	t.Parallel()
	second := ledger.Duration(time.Second)
	for _, c := range []struct {
		name   string
		change func(*ledger.Launch)
		do     func(*fixture)
		why    ledger.ExitReason
	}{
		{"stall", func(l *ledger.Launch) { l.Stall = second / 3 }, nil, ledger.ExitStall},
		{"wall", func(l *ledger.Launch) { l.Wall = second }, nil, ledger.ExitWall},
		{"now", nil, func(h *fixture) { h.end(0) }, ledger.ExitAsked},
		{"grace", nil, func(h *fixture) { h.end(second / 5) }, ledger.ExitAsked},
		{"sooner", nil, func(h *fixture) { h.end(600 * second); h.awaitEndRequestRead(); h.end(0) }, ledger.ExitAsked},
	} {
		t.Run(c.name, func(t *testing.T) {
			atEachLevel(t, func(t *testing.T, level int) {
				h := newFixture(t, level)
				m := uniqueSleep(t)
				h.script(processTreeScript(m) + "trap '' TERM; while :; do sleep " + m + "; done")
				l := h.launch("r1-1")
				if c.change != nil {
					c.change(&l)
				}
				h.start(l)
				if c.do != nil {
					h.ready()
					c.do(h)
				}
				x := h.wait("r1-1")
				none(t, m)
				if x.Reason != c.why {
					t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
				}
				// Ending an ended session does nothing.
				h.end(0)
			})
		})
	}
}

func (h *fixture) end(grace ledger.Duration) {
	h.t.Helper()
	if err := h.runner.End(context.Background(), "r1-1", grace); err != nil {
		h.t.Fatal(err)
	}
}

// awaitEndRequestRead waits until the shim has read the last request to end.
func (h *fixture) awaitEndRequestRead() {
	h.t.Helper()
	awaitChange(h.t, filepath.Join(h.runner.folder("r1-1"), dirEndRequest), "the shim reads the ask", func() bool {
		_, err := os.Stat(filepath.Join(h.runner.folder("r1-1"), fileEndRequest))
		return isGone(err)
	})
}

// TestSignsOfLife: output, hat calls and CPU use each count as a sign of life.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{"output", `for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done`},
		{"cpu", `timeout 3 sh -c 'while :; do :; done'; exit 0`},
		{"hat", `sleep 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFixture(t, 0, func(o *Options) {
				// What a busy machine grants in the usual 50 ms is too little to count.
				o.Timing.Check = ledger.Duration(500 * time.Millisecond)
			})
			h.script(c.script)
			l := h.launch("r1-1")
			l.Stall = ledger.Duration(2 * time.Second) // even a busy machine schedules a session more often than that
			h.start(l)
			if c.name == "hat" {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				go func() {
					for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-tick.C {
						h.runner.Touch("r1-1")
					}
				}()
			}
			if x := h.wait("r1-1"); x.Reason != ledger.ExitSelf || x.Code != 0 {
				t.Errorf("exit = %+v", x)
			}
		})
	}
}

func (h *fixture) pids() pidFile {
	h.t.Helper()
	var p pidFile
	awaitChange(h.t, h.runner.folder("r1-1"), "pid.json names the reaper", func() bool {
		return readJSON(filepath.Join(h.runner.folder("r1-1"), filePID), &p) == nil && p.Inner > 0
	})
	return p
}

// TestShimKilled: after the supervisor is killed the session is lost and its
// tree gone.
func TestShimKilled(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		m := uniqueSleep(t)
		h.script(processTreeScript(m) + "sleep " + m)
		h.start(h.launch("r1-1"))
		h.ready()
		if err := syscall.Kill(h.pids().PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		x := h.wait("r1-1")
		none(t, m)
		if x.Reason != ledger.ExitLost || x.Boundary != level {
			t.Errorf("exit = %+v", x)
		}
	})
}

// TestReaperKilled: at level 1 an agent of the same user can kill the reaper.
func TestReaperKilled(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		m := uniqueSleep(t)
		h.script(processTreeScript(m) + "sleep " + m)
		h.start(h.launch("r1-1"))
		h.ready()
		if err := syscall.Kill(h.pids().Inner, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		x := h.wait("r1-1")
		none(t, m)
		if x.Reason != ledger.ExitLost || x.Text == "" {
			t.Errorf("exit = %+v", x)
		}
	})
}

// TestShimAndReaperKilled: both are killed at once, and Wait ends the remaining
// processes.
func TestShimAndReaperKilled(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		m := uniqueSleep(t)
		h.script(processTreeScript(m) + "sleep " + m)
		h.start(h.launch("r1-1"))
		h.ready()
		p := h.pids()
		// Both are stopped first, so that neither reacts to the other's end.
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, pid := range []int{p.PID, p.Inner} {
				_ = syscall.Kill(pid, sig)
			}
		}
		x := h.wait("r1-1")
		none(t, m)
		if x.Reason != ledger.ExitLost {
			t.Errorf("exit = %+v", x)
		}
	})
}

// daemonConfig is the input of daemonHelper.
type daemonConfig struct {
	State    string
	MaxLevel int
	Agents   map[string]Definition
	Timing   Timing
	Launch   ledger.Launch
}

// daemonHelper is a daemon that starts one session and runs until it is killed.
func daemonHelper(config string) int {
	var c daemonConfig
	if err := readJSON(config, &c); err != nil {
		fmt.Println(err)
		return 1
	}
	lock, err := statelock.Take(c.State)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = lock.Release() }()
	r, err := New(Options{State: c.State, MaxLevel: c.MaxLevel, Agents: c.Agents, Timing: c.Timing})
	if err == nil {
		err = r.Start(context.Background(), c.Launch)
	}
	fmt.Println("started", err)
	select {}
}

// startFromKilledDaemon starts a session from a daemon and kills the daemon.
func (h *fixture) startFromKilledDaemon(l ledger.Launch) {
	h.t.Helper()
	data, err := json.Marshal(daemonConfig{h.state, h.opts.MaxLevel, h.runner.o.Agents, h.opts.Timing, l})
	if err != nil {
		h.t.Fatal(err)
	}
	config := filepath.Join(h.out, "daemon.json")
	if err := os.WriteFile(config, data, 0o600); err != nil {
		h.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(self, "daemon", config)
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "started <nil>\n" {
		h.t.Errorf("daemon said %q, %v", line, err)
	}
	h.ready()
	if err := cmd.Process.Kill(); err != nil {
		h.t.Fatal(err)
	}
	_ = cmd.Wait()
}

func TestAdoption(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		h.script(`echo ready >ready; until [ -e go ]; do sleep 0.01; done; echo went on; exit 7`)
		h.startFromKilledDaemon(h.launch("r1-1"))
		if s, err := h.runner.State("r1-1"); s != Running || err != nil {
			t.Fatalf("State = %v, %v", s, err)
		}
		h.start(h.launch("r1-1")) // as a daemon does that is unaware of the session
		short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if _, err := h.runner.Wait(short, "r1-1"); err == nil {
			t.Error("Wait returned while it runs")
		}
		if err := os.WriteFile(filepath.Join(h.work, "go"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		x := h.wait("r1-1")
		if x.Reason != ledger.ExitSelf || x.Code != 7 || x.Tail != "went on\n" {
			t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
		}
		if s, err := h.runner.State("r1-1"); s != Ended || err != nil {
			t.Errorf("State = %v, %v", s, err)
		}
	})
}

// TestAdoptedEnd: an adopted session can be ended, too.
func TestAdoptedEnd(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	m := uniqueSleep(t)
	h.script(processTreeScript(m) + "sleep " + m)
	h.startFromKilledDaemon(h.launch("r1-1"))
	h.end(0)
	x := h.wait("r1-1")
	none(t, m)
	if x.Reason != ledger.ExitAsked {
		t.Errorf("exit = %+v", x)
	}
}

// TestAbandoned: without a daemon, the shim ends the session.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0, func(o *Options) { o.Timing.Abandon = ledger.Duration(300 * time.Millisecond) })
	m := uniqueSleep(t)
	h.script(processTreeScript(m) + "sleep " + m)
	h.startFromKilledDaemon(h.launch("r1-1"))
	x := h.wait("r1-1")
	none(t, m)
	if x.Reason != ledger.ExitAbandoned {
		t.Errorf("exit = %+v", x)
	}
}

// TestNotAbandoned: no session is abandoned while a daemon runs.
func TestNotAbandoned(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0, func(o *Options) { o.Timing.Abandon = ledger.Duration(300 * time.Millisecond) })
	lock, err := statelock.Take(h.state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	if x := h.run("r1-1", "sleep 1"); x.Reason != ledger.ExitSelf {
		t.Errorf("exit = %+v", x)
	}
}

func TestParseStat(t *testing.T) {
	p, err := parseStat(42, []byte("42 (a) R 9 (b c) S 7 42 42 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 987 1 2\n"))
	if err != nil || p.parent != 7 || p.state != 'S' || p.cpu != 100 || p.start != 987 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"", "42 (a", "42 (a) S", "42 (a) S x" + strings.Repeat(" 1", 30)} {
		if _, err := parseStat(42, []byte(bad)); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}

// TestLeftoverKeepsExit: processes that a session leaves behind do not change
// its exit.
func TestLeftoverKeepsExit(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0, func(o *Options) { o.Timing.Rest = ledger.Duration(3 * time.Second) })
	m := uniqueSleep(t)
	h.script(`( trap '' TERM; setsid sh -c 'trap "" TERM; echo >ready; sleep ` + m + `; sleep ` + m + `' & ); until [ -e ready ]; do echo; sleep 0.01; done; exit 4`)
	l := h.launch("r1-1")
	l.Stall = ledger.Duration(time.Second) // shorter than the rest, and longer than a busy machine takes to start the script
	h.start(l)
	x := h.wait("r1-1")
	none(t, m)
	if x.Reason != ledger.ExitSelf || x.Code != 4 || x.Killed == 0 {
		t.Errorf("exit = %+v", x)
	}
}

// TestTreeBelow: lists of children show the same processes as all of /proc, also those of
// other threads, and those whose parent has ended below a subreaper.
func TestTreeBelow(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", "sleep 60 & (sleep 61 & sleep 62) & echo begun; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, p := range append(descendants(cmd.Process.Pid), process{pid: cmd.Process.Pid}) {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	ids := func(tree []process) (all []int) {
		for _, p := range tree {
			all = append(all, p.pid)
		}
		slices.Sort(all)
		return all
	}
	want := ids(descendants(cmd.Process.Pid))
	for range 1000 { // until the shell is done with its children
		if len(want) >= 3 {
			break
		}
		want = ids(descendants(cmd.Process.Pid))
	}
	if got := ids(treeBelow(cmd.Process.Pid)); !slices.Equal(got, want) {
		t.Errorf("by lists %v, by all of /proc %v", got, want)
	}
	if got := treeBelow(1 << 30); len(got) > 0 {
		t.Errorf("below a process that is not there: %v", got)
	}
}

// TestNextMeter: a session that uses no CPU is measured less often, and one that does
// every second.
func TestNextMeter(t *testing.T) {
	wait, last := meterInterval, usage{}
	for n, c := range []struct {
		use  usage
		want time.Duration
	}{{usage{tasks: 3, cpu: 7}, 1}, {usage{tasks: 3, cpu: 7}, 2}, {usage{tasks: 3, cpu: 7}, 4}, {usage{tasks: 3, cpu: 7}, 5}, {usage{tasks: 3, cpu: 7}, 5}, {usage{tasks: 3, cpu: 8}, 1}, {usage{tasks: 3, cpu: 8}, 2}, {usage{tasks: 4, cpu: 8}, 1}} {
		if wait = nextMeter(wait, last, c.use); wait != c.want*time.Second {
			t.Errorf("after measurement %d: %s, want %d s", n+1, wait, c.want)
		}
		last = c.use
	}
}

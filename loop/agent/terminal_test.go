package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens a terminal like that of a window of the user's. Its device
// belongs to the user that sessions run as, as it does for a daemon that its
// user starts. It returns the master and the device's path.
func openTerminal(t *testing.T) (*os.File, string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: this machine has no terminals: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/dev/pts/%d", n)
	if os.Geteuid() == 0 {
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return master, path
}

// TestTerminals: a session reaches no terminal of the user, and has terminals of
// its own where its boundary can give it some.
func TestTerminals(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level int) {
		if level == 1 {
			t.Skip("SKIPPED: level 1 refuses nothing, it compares")
		}
		master, tty := openTerminal(t)
		if _, err := master.WriteString("s3cret\n"); err != nil { // what the user types there
			t.Fatal(err)
		}
		h := newFixture(t, level)
		x := h.run("r1-1", "TTY="+tty+`
could() { name=$1; shift; if timeout 5 "$@" >/dev/null 2>&1; then echo "BAD $name"; fi; }
could read sh -c "head -n 1 <$TTY"
could read-by-proc sh -c "grep -q . /proc/[0-9]*/fd/[0-9]* <$TTY"
could write sh -c "echo 'Password: ' >$TTY"
could echo stty -F $TTY -echo
could list sh -c "ls $TTY"
could controlling sh -c ": </dev/tty"
could console sh -c ": </dev/console"
could virtual sh -c ": </dev/tty1"
for d in null zero full random urandom; do head -c 0 /dev/$d || echo "BAD no /dev/$d"; done
echo x >/dev/null && echo x | cat /dev/stdin >/dev/null && echo y >/dev/stderr || echo "BAD no standard streams"
[ "$(cat <<X
here
X
)" = here ] || echo "BAD no here-document"
script -qec "tty; stty -echo && echo own" /dev/null 2>&1 | tr -d '\r'
echo end`)
		tail := x.Tail
		if level == 2 {
			// Seeing that a file exists is no right that Landlock controls.
			tail = strings.Replace(tail, "BAD list\n", "", 1)
		}
		tail = strings.Replace(tail, "y\n", "", 1)
		// The terminal echoes the prompt, which is script's standard input, at any time.
		own := strings.Contains(tail, "/dev/pts/0\n") && strings.Contains(tail, "\nown\n")
		if x.Code != 0 || strings.Contains(tail, "BAD") || !strings.HasSuffix(tail, "end\n") {
			t.Errorf("exit %+v", x)
		}
		if _, err := exec.LookPath("script"); err == nil && own != (level == 3) {
			t.Errorf("a terminal of the session's own at level %d: %v\n%s", level, own, tail)
		}
	})
}

// TestNeedsTerminal: an agent that needs a terminal is refused, with the remedy,
// where sessions have none.
func TestNeedsTerminal(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		h.script("exit 0")
		d := h.runner.o.Agents["mine"]
		d.Terminal = true
		h.runner.o.Agents["mine"] = d
		err := h.runner.Check(t.Context(), "mine")
		if level != 2 && err != nil || level == 2 && (err == nil || !strings.Contains(err.Error(), "level 2") || !strings.Contains(err.Error(), "[agents.mine]")) {
			t.Errorf("level %d: %v", level, err)
		}
	})
}

// TestLimitsOfOthers: a session changes neither the limits nor the priority of the
// daemon's process, and sends it no signal.
func TestLimitsOfOthers(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	atEachLevel(t, func(t *testing.T, level int) {
		if level == 1 {
			t.Skip("SKIPPED: level 1 refuses nothing, it compares")
		}
		h := newFixture(t, level)
		// A process in the daemon's place; at level 2 it has the user of sessions.
		victim := exec.Command("sleep", "600")
		if os.Geteuid() == 0 {
			victim.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = victim.Process.Kill(); _ = victim.Wait() })
		before, err := unix.Getpriority(unix.PRIO_PROCESS, victim.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		x := h.run("r1-1", fmt.Sprintf("PID=%d\n", victim.Process.Pid)+`
could() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "BAD $name"; fi; }
could limit prlimit --pid $PID --nofile=3:3
could look prlimit --pid $PID --nofile
could renice renice 19 -p $PID
renice 19 -u $(id -u) >/dev/null 2>&1
could ionice ionice -c 3 -p $PID
could signal kill -0 $PID
could environ grep -q . /proc/$PID/environ
ulimit -n 64 && [ "$(ulimit -n)" = 64 ] || echo "BAD cannot lower its own"
prlimit --nofile=32:32 sh -c 'ulimit -n' | grep -qx 32 || echo "BAD prlimit of its own"
nice -n 5 true && ionice -c 3 true || echo "BAD nice of its own"
echo end`)
		if x.Code != 0 || x.Tail != "end\n" {
			t.Errorf("exit %+v\n%s", x, h.log("r1-1"))
		}
		status, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(victim.Process.Pid), "limits"))
		if err != nil || !strings.Contains(string(status), "Max open files") || strings.Contains(string(status), "Max open files            3 ") {
			t.Errorf("limits of the other process: %v\n%s", err, status)
		}
		if prio, err := unix.Getpriority(unix.PRIO_PROCESS, victim.Process.Pid); err != nil || prio != before {
			t.Errorf("priority of the other process: %d, was %d, %v", 20-prio, 20-before, err)
		}
	})
}

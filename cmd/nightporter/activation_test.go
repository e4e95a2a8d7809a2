package main_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/programtest"
)

// testSystemd takes systemd's role for the daemon: it holds the operator's
// listener, passes it on at each start, and receives the daemon's
// notifications.
type testSystemd struct {
	t *testing.T
	programtest.TwoTasks
	listener          *os.File
	notifications     *programtest.Buffer // the daemon's notifications, one per line
	notificationsRead int                 // number of bytes of notifications that a test has checked
	notifyPath        string              // path of NOTIFY_SOCKET
}

func newTestSystemd(t *testing.T) *testSystemd {
	t.Helper()
	m := &testSystemd{t: t, TwoTasks: programtest.NewTwoTasks(t)}
	if err := os.MkdirAll(m.State(), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(m.State(), "nightporter.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if m.listener, err = l.File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.listener.Close() })
	m.notifyPath = m.Path("notify")
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.notifyPath, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	m.notifications = &programtest.Buffer{}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		b := make([]byte, 4096)
		for {
			n, err := notify.Read(b)
			if err != nil {
				return // the socket is closed
			}
			_, _ = m.notifications.Write(append(b[:n:n], '\n')) // a Buffer never fails
		}
	}()
	t.Cleanup(func() {
		_ = notify.Close()
		<-heard
	})
	return m
}

// up starts the daemon as a service. A shell sets LISTEN_PID to the process's
// own id, as systemd does.
func (m *testSystemd) up() *programtest.Process {
	m.t.Helper()
	cmd := m.Command(context.Background(), "sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec nightporter up`)
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+m.notifyPath, "WATCHDOG_USEC=2000000")
	cmd.ExtraFiles = []*os.File{m.listener}
	p := &programtest.Process{Cmd: cmd, Out: &programtest.Buffer{}, Done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Out, p.Out
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.Done)
	}()
	m.t.Cleanup(p.Kill)
	return p
}

// awaitNotification waits for a new notification with the prefix what.
func (m *testSystemd) awaitNotification(what string, p *programtest.Process) {
	m.t.Helper()
	if err := programtest.WaitFor(what, func() (bool, error) {
		text := "\n" + m.notifications.String()
		n := strings.Index(text[m.notificationsRead:], "\n"+what)
		if n < 0 {
			return false, nil
		}
		m.notificationsRead += n + 1
		return true, nil
	}); err != nil {
		m.t.Fatalf("%v\n%s", err, p.Out)
	}
}

// stop sends a signal to the daemon and waits for its exit code.
func (m *testSystemd) stop(p *programtest.Process, sig syscall.Signal, want int) {
	m.t.Helper()
	began := time.Now()
	if err := p.Cmd.Process.Signal(sig); err != nil {
		m.t.Fatal(err)
	}
	code, err := p.Wait()
	if err != nil {
		m.t.Fatal(err)
	}
	if code != want {
		m.t.Fatalf("exit %d, want %d\n%s", code, want, p.Out)
	}
	if took := time.Since(began); took > 10*time.Second {
		m.t.Errorf("it took %v to go", took)
	}
}

// emitCount is the number of times that the session emits its event. All of them, and
// the restarts, have to fit in the minute that a session has after its event, on a slow
// machine too.
const emitCount = 120

// TestRestartUnderEmits restarts the daemon repeatedly with a passed socket,
// while a session calls hat emit emitCount times and a person asks for the status.
// No call is refused, and all receipts are equal.
func TestRestartUnderEmits(t *testing.T) {
	t.Parallel()
	m := newTestSystemd(t)
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(m.Path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(m.Path(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(m.Path(name), mode); err != nil { // regardless of the umask
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(m.Path("notes"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(m.Path("notes"), 0o777); err != nil {
		t.Fatal(err)
	}
	write("agents/many.sh", fmt.Sprintf(`#!/bin/sh
cat >/dev/null
notes=$1
mkdir -p src && echo done >src/task.txt
n=0
while [ $n -lt %d ]; do
	hat emit build.complete --data '{"summary":"built","files_modified":["src/task.txt"]}' >>"$notes/receipts" 2>>"$notes/refused" || echo "exit $? at $n" >>"$notes/refused"
	n=$((n+1))
	echo $n >"$notes/count.new" && mv "$notes/count.new" "$notes/count"
done
: >"$notes/through"
`, emitCount), 0o755)
	write("config/nightporter/nightporter.toml", strings.ReplaceAll(`timezone = "UTC"
[agents.many]
command = ["DIR/agents/many.sh", "DIR/notes"]
[[project]]
name = "shop"
repo = "DIR/repo"
source = "plan:plan.md"
agent = "many"
pattern = "single"
unproved = "allow"
start = "auto"
max_tasks = 1
shared = ["DIR/notes"]
`, "DIR", m.Dir), 0o644)

	p := m.up()
	m.awaitNotification("READY=1", p)
	m.awaitNotification("WATCHDOG=1", p)
	read := func(name string) string {
		text, err := os.ReadFile(m.Path("notes", name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	reached := func(n int) {
		t.Helper()
		if err := programtest.WaitFor(fmt.Sprintf("%d emits", n), func() (bool, error) {
			var have int
			_, _ = fmt.Sscan(read("count"), &have)
			return have >= n, nil
		}); err != nil {
			t.Fatalf("%v\n%s\n%s", err, read("refused"), p.Out)
		}
	}
	restarts := 0
	for n := 20; n < emitCount; n += 35 {
		reached(n)
		if restarts%2 == 0 {
			m.stop(p, syscall.SIGTERM, 0)
			m.awaitNotification("STOPPING=1", p)
		} else {
			m.stop(p, syscall.SIGKILL, -9)
		}
		// A request sent while no daemon runs waits at the socket and is
		// answered later.
		asked := make(chan string, 1)
		go func() {
			out, code, err := m.Output("nightporter", "status", "--json")
			if err != nil || code != 0 {
				out = fmt.Sprintf("exit %d, %v: %s", code, err, out)
			}
			asked <- out
		}()
		p = m.up()
		m.awaitNotification("READY=1", p)
		if got := <-asked; !strings.HasPrefix(got, `{"project":"shop","daemon":true`) {
			t.Errorf("status during a restart: %s", got)
		}
		restarts++
	}
	reached(emitCount)
	if got := read("refused"); got != "" {
		t.Errorf("refused:\n%s", got)
	}
	// The first line of hat's output is the receipt.
	receipts := read("receipts")
	first, _, _ := strings.Cut(receipts, "\n")
	if n := strings.Count(receipts+"\n", first+"\n"); n != emitCount || !strings.HasPrefix(first, "Accepted build.complete: ") || strings.Count(receipts, "Accepted ") != emitCount {
		t.Errorf("%d times the receipt %q, want %d", n, first, emitCount)
	}
	if err := programtest.WaitFor("the task", func() (bool, error) {
		return strings.Contains(m.Out("nightporter", "tasks", "--json"), `"status":"done"`), nil
	}); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
	if out := m.Out("nightporter", "evidence", "1", "--json"); strings.Count(out, `"type":"event.accepted"`) != 1 || strings.Count(out, `"type":"session.planned"`) != 1 {
		t.Errorf("accepted or planned more than once:\n%s", out)
	}
	m.stop(p, syscall.SIGTERM, 0)
	if _, err := os.Lstat(filepath.Join(m.State(), "nightporter.sock")); err != nil {
		t.Errorf("the manager's socket was taken away: %v", err)
	}
	t.Logf("%d restarts", restarts)
}

// TestUpWrongSocketPath: a passed listener at another path than the operator's
// is refused with a remedy.
func TestUpWrongSocketPath(t *testing.T) {
	t.Parallel()
	m := newTestSystemd(t)
	cmd := m.Command(context.Background(), "sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec nightporter up --state `+m.Path("other"))
	cmd.ExtraFiles = []*os.File{m.listener}
	out, err := cmd.CombinedOutput()
	exit, ok := err.(*exec.ExitError) //nolint:errorlint // of exec itself
	if !ok || exit.ExitCode() != 3 || !strings.Contains(string(out), "change ListenStream= or --state") {
		t.Errorf("%v\n%s", err, out)
	}
}

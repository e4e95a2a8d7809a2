package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// File descriptors of the reaper besides 0, 1 and 2, which belong to the agent.
const (
	reaperPlan    = 3 // the plan as JSON
	reaperReport  = 4 // reports, one JSON object per line
	reaperControl = 5 // orders; end of file means that the supervisor is gone
	reaperNetwork = 6 // leads to the supervisor, for the descriptors of a closed network; only there if the session has one
)

// report is a message from the reaper to the supervisor. Later reports set
// further fields.
type report struct {
	Failed  string       `json:"failed,omitempty"` // why the session could not be started
	Fault   ledger.Fault `json:"fault,omitempty"`  // with Failed: what keeps the machine from it for now
	Exec    bool         `json:"exec,omitempty"`   // with Failed: the program failed to start, not the boundary
	Started bool         `json:"started,omitempty"`
	Exited  bool         `json:"exited,omitempty"`
	Code    int          `json:"code,omitempty"`
	Signal  int          `json:"signal,omitempty"`
	Done    bool         `json:"done,omitempty"` // the whole tree has ended
	Killed  int          `json:"killed,omitempty"`
}

// Orders of the supervisor.
const (
	orderEnd  = 'T' // end the process tree
	orderKill = 'K' // end it without time for its processes: they use more than they may
)

// shimInner implements `shim-inner STAGE`, with the stages "tree" and "confine" of a
// session inside its boundary, and "dial", which is a trial session by itself. It
// returns the process's exit code.
func shimInner(stage string) int {
	switch stage {
	case "tree":
		return runReaper()
	case "confine":
		err := confine()
		status := os.NewFile(confineStatus, "status")
		if _, werr := fmt.Fprintf(status, "%s\x00%s", fault.Of(err), err); werr != nil {
			fmt.Fprintln(os.Stderr, "nightporter:", err)
		}
		return 127
	case "dial":
		if err := tryDial(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	fmt.Fprintln(os.Stderr, "nightporter shim-inner is started by nightporter itself")
	return 2
}

// reaper owns the session's process tree. As PID 1 or a subreaper it is an
// ancestor of every process in it, even of detached ones.
type reaper struct {
	plan    plan
	reports *json.Encoder
	deaths  chan death // closed when no child is left
	orders  chan byte  // closed when the supervisor is gone
	killed  map[int]bool
}

type death struct {
	pid    int
	status syscall.WaitStatus
}

func runReaper() int {
	runtime.LockOSThread()
	for _, fd := range []int{reaperPlan, reaperReport, reaperControl} {
		unix.CloseOnExec(fd)
	}
	// Ignored signals would stay ignored in the agent, so they are caught
	// instead.
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE, syscall.SIGALRM)
	go func() {
		for range caught { // only the supervisor decides when the session ends
		}
	}()
	k := &reaper{
		reports: json.NewEncoder(os.NewFile(reaperReport, "report")),
		deaths:  make(chan death), orders: make(chan byte),
		killed: map[int]bool{},
	}
	in := os.NewFile(reaperPlan, "plan")
	data, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return k.fail(err, false)
	}
	if err := json.Unmarshal(data, &k.plan); err != nil {
		return k.fail(err, false)
	}
	if err := becomeSubreaper(); err != nil {
		return k.fail(fmt.Errorf("become subreaper: %w", err), false)
	}
	if k.plan.Closed {
		unix.CloseOnExec(reaperNetwork)
	}
	if k.plan.Closed && k.plan.Level >= 3 {
		if err := setUpNetwork(k.plan.Listen, os.NewFile(reaperNetwork, "network")); err != nil {
			return k.fail(err, false)
		}
	}
	if k.plan.Level >= 3 {
		if err := setUpMounts(k.plan); err != nil {
			return k.fail(err, false)
		}
	}
	pid, err, exec := k.start()
	if err != nil {
		return k.fail(err, exec)
	}
	k.send(report{Started: true})
	go k.reap()
	go k.listen()
	k.run(pid)
	return 0
}

// start starts the confine stage. It returns when that stage has become the
// agent or has failed.
func (k *reaper) start() (int, error, bool) {
	planOut, planIn, err := os.Pipe()
	if err != nil {
		return 0, err, false
	}
	statusOut, statusIn, err := os.Pipe()
	if err != nil {
		return 0, err, false
	}
	// /proc/self/exe is the running program, whose path may be hidden.
	files := []uintptr{0, 1, 2, planOut.Fd(), statusIn.Fd()}
	if k.plan.Closed && k.plan.Level == 2 {
		files = append(files, reaperNetwork)
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"nightporter", "shim-inner", "confine"}, &syscall.ProcAttr{
		Env: []string{}, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	err = errors.Join(err, planOut.Close(), statusIn.Close())
	if len(files) > confineSocket {
		err = errors.Join(err, unix.Close(reaperNetwork))
	}
	if err != nil {
		return 0, fmt.Errorf("start the confine stage: %w", err), false
	}
	sent := json.NewEncoder(planIn).Encode(k.plan)
	if err := errors.Join(sent, planIn.Close()); err != nil {
		return 0, fmt.Errorf("hand over the plan: %w", err), false
	}
	failed, err := io.ReadAll(statusOut)
	if err := errors.Join(err, statusOut.Close()); err != nil {
		return 0, err, false
	}
	if len(failed) > 0 {
		is, text, _ := strings.Cut(string(failed), "\x00")
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(pid, &status, 0, nil)
		// An error of exec begins with the program's name.
		exec := len(k.plan.Argv) > 0 && strings.HasPrefix(text, k.plan.Argv[0])
		return 0, confineError{text, ledger.Fault(is)}, exec
	}
	return pid, nil, false
}

func (k *reaper) fail(err error, exec bool) int {
	k.send(report{Failed: err.Error(), Exec: exec, Fault: machineFault(err)})
	return 1
}

// send sends a report. It ignores errors, because without a supervisor nobody
// reads reports.
func (k *reaper) send(r report) { _ = k.reports.Encode(r) }

// reap collects exited processes: the agent and all orphans of the tree.
func (k *reaper) reap() {
	defer close(k.deaths)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return // ECHILD: no process of the tree is left
		}
		k.deaths <- death{pid, status}
	}
}

func (k *reaper) listen() {
	defer close(k.orders)
	control := os.NewFile(reaperControl, "control")
	b := make([]byte, 1)
	for {
		if n, err := control.Read(b); n == 0 || err != nil {
			return
		}
		k.orders <- b[0]
	}
}

// run waits for the agent and then ends all remaining processes. Agents leave
// servers and watchers running even after success.
func (k *reaper) run(agent int) {
	var kill <-chan time.Time // fires when the time after TERM is over
	var nextKill <-chan time.Time
	exited := false
	orders := k.orders
	for {
		select {
		case d, ok := <-k.deaths:
			if !ok {
				k.send(report{Done: true, Killed: len(k.killed)})
				return
			}
			if d.pid != agent {
				continue
			}
			exited, agent = true, 0 // the kernel may reuse the process number
			r := report{Exited: true, Code: -1}
			if d.status.Signaled() {
				r.Signal = int(d.status.Signal())
			} else {
				r.Code = d.status.ExitStatus()
			}
			k.send(r)
			k.signal(syscall.SIGTERM, true)
			if kill == nil { // even for an empty list: a process may be about to fork
				kill = time.After(k.plan.Rest.D())
			}
		case order, ok := <-orders:
			if !ok || order == orderKill {
				// The supervisor is gone, or the tree must end at once for
				// another reason.
				if !ok {
					orders = nil
				}
				kill = time.After(0)
				continue
			}
			if kill == nil {
				k.signal(syscall.SIGTERM, exited)
				kill = time.After(k.plan.Grace.D())
			}
		case <-kill:
			nextKill = time.After(0)
			kill = make(chan time.Time) // fires only once
		case <-nextKill:
			// Repeated while processes are left: one may fork between listing
			// and killing.
			k.killAll(exited)
			nextKill = time.After(20 * time.Millisecond)
		}
	}
}

// killAll kills every process of the tree. Without a PID namespace it stops them
// first: they may fork faster than they are found, and each one that is killed
// makes room for another below the limit, while a stopped one keeps its room. A
// process that waits for a disk does not stop, so the rounds are bounded.
func (k *reaper) killAll(count bool) {
	for round := 0; k.plan.Level < 3 && round < 100; round++ {
		running := 0
		for _, p := range descendants(os.Getpid()) {
			if !p.gone() && p.state != 'T' {
				running++
				_ = syscall.Kill(p.pid, syscall.SIGSTOP) // the process may have ended
			}
		}
		if running == 0 {
			break
		}
	}
	k.signal(syscall.SIGKILL, count)
	if k.plan.Level >= 3 {
		_ = syscall.Kill(-1, syscall.SIGKILL) // all of the namespace but this process; none may be left
	}
}

// signal sends sig to every living process of the tree. With count it adds them
// to killed.
func (k *reaper) signal(sig syscall.Signal, count bool) {
	for _, p := range descendants(os.Getpid()) {
		if p.gone() {
			continue
		}
		if count {
			k.killed[p.pid] = true
		}
		_ = syscall.Kill(p.pid, sig) // the process may have ended
	}
}

// machineFault returns the Fault that made err, if it is the machine's. A full
// disk has a reason of its own, by the free space (judgeDisk).
func machineFault(err error) ledger.Fault {
	if f := fault.Of(err); f != ledger.FaultDisk {
		return f
	}
	return ""
}

// confineError is an error of the confine stage.
type confineError struct {
	text  string
	fault ledger.Fault
}

// Error returns its text.
func (e confineError) Error() string { return e.text }

// Fault makes it a fault.Error.
func (e confineError) Fault() ledger.Fault { return e.fault }

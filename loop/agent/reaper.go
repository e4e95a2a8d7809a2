package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Open files of the reaper besides 0, 1 and 2, which are the agent's.
const (
	reaperPlan    = 3 // JSON of a plan
	reaperReport  = 4 // reports, one JSON a line
	reaperControl = 5 // orders; its end means that the supervisor is gone
)

// report is what the reaper tells the supervisor. The fields fill up in
// the order in which a session goes.
type report struct {
	Failed  string `json:"failed,omitempty"` // it could not be started, and why
	Exec    bool   `json:"exec,omitempty"`   // with Failed: the program, not the boundary, is to blame
	Started bool   `json:"started,omitempty"`
	Exited  bool   `json:"exited,omitempty"`
	Code    int    `json:"code,omitempty"`
	Signal  int    `json:"signal,omitempty"`
	Done    bool   `json:"done,omitempty"` // the tree is gone
	Killed  int    `json:"killed,omitempty"`
}

// orderEnd is the byte that asks for the end of the tree.
const orderEnd = 'T'

// ShimInner is `nightporter shim-inner STAGE`, the stages of a session inside
// its boundary: "tree" and "confine". It returns the process's exit code.
func ShimInner(stage string) int {
	switch stage {
	case "tree":
		return keep()
	case "confine":
		err := confine()
		status := os.NewFile(confineStatus, "status")
		if _, werr := io.WriteString(status, err.Error()); werr != nil {
			fmt.Fprintln(os.Stderr, "nightporter:", err)
		}
		return 127
	}
	fmt.Fprintln(os.Stderr, "nightporter shim-inner is started by nightporter itself")
	return 2
}

// reaper owns the session's process tree: every process of it is its
// descendant, whatever they do, because it is PID 1 or a subreaper.
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

func keep() int {
	runtime.LockOSThread()
	for _, fd := range []int{reaperPlan, reaperReport, reaperControl} {
		unix.CloseOnExec(fd)
	}
	// Caught, not ignored: ignored signals would stay so in the agent.
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE, syscall.SIGALRM)
	go func() {
		for range caught { // nobody but the supervisor decides about the end
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
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return k.fail(fmt.Errorf("become subreaper: %w", err), false)
	}
	if k.plan.Level >= 3 {
		if err := mounts(k.plan); err != nil {
			return k.fail(err, false)
		}
	}
	pid, err, exec := k.start()
	if err != nil {
		return k.fail(err, exec)
	}
	k.tell(report{Started: true})
	go k.reap()
	go k.listen()
	k.run(pid)
	return 0
}

// start starts the agent and returns when it is one, or failed to become one.
func (k *reaper) start() (int, error, bool) {
	planOut, planIn, err := os.Pipe()
	if err != nil {
		return 0, err, false
	}
	statusOut, statusIn, err := os.Pipe()
	if err != nil {
		return 0, err, false
	}
	// The running program itself, whose path may be hidden by now.
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"nightporter", "shim-inner", "confine"}, &syscall.ProcAttr{
		Env:   []string{},
		Files: []uintptr{0, 1, 2, planOut.Fd(), statusIn.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	err = errors.Join(err, planOut.Close(), statusIn.Close())
	if err != nil {
		return 0, fmt.Errorf("start the confine stage: %w", err), false
	}
	sent := json.NewEncoder(planIn).Encode(k.plan)
	if err := errors.Join(sent, planIn.Close()); err != nil {
		return 0, fmt.Errorf("hand over the plan: %w", err), false
	}
	text, err := io.ReadAll(statusOut)
	if err := errors.Join(err, statusOut.Close()); err != nil {
		return 0, err, false
	}
	if len(text) > 0 {
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(pid, &status, 0, nil)
		// Only the program's own name stands at the front of exec's error.
		exec := len(k.plan.Argv) > 0 && len(text) > len(k.plan.Argv[0]) && string(text[:len(k.plan.Argv[0])]) == k.plan.Argv[0]
		return 0, errors.New(string(text)), exec
	}
	return pid, nil, false
}

func (k *reaper) fail(err error, exec bool) int {
	k.tell(report{Failed: err.Error(), Exec: exec})
	return 1
}

// tell cannot fail in a way that matters: without a supervisor nobody asks.
func (k *reaper) tell(r report) { _ = k.reports.Encode(r) }

// reap collects the dead, the agent and every orphan of the tree.
func (k *reaper) reap() {
	defer close(k.deaths)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return // ECHILD: nothing is left of the tree
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

// run waits for the agent and then ends what is left, always: agents leave
// servers and watchers behind also when all went well.
func (k *reaper) run(agent int) {
	var kill <-chan time.Time // due after TERM was sent
	var again <-chan time.Time
	exited := false
	orders := k.orders
	for {
		select {
		case d, ok := <-k.deaths:
			if !ok {
				k.tell(report{Done: true, Killed: len(k.killed)})
				return
			}
			if d.pid != agent {
				continue
			}
			exited, agent = true, 0 // its number may come again
			r := report{Exited: true, Code: -1}
			if d.status.Signaled() {
				r.Signal = int(d.status.Signal())
			} else {
				r.Code = d.status.ExitStatus()
			}
			k.tell(r)
			k.signal(syscall.SIGTERM, true)
			if kill == nil { // also when nobody was seen: one may be about to fork
				kill = time.After(k.plan.Rest.D())
			}
		case _, ok := <-orders:
			if !ok {
				// Nobody is left to tell anything to.
				orders = nil
				kill = time.After(0)
				continue
			}
			if kill == nil {
				k.signal(syscall.SIGTERM, exited)
				kill = time.After(k.plan.Grace.D())
			}
		case <-kill:
			again = time.After(0)
			kill = make(chan time.Time) // once
		case <-again:
			// Once more as long as there is anybody: a process may fork
			// between the look and the kill.
			k.signal(syscall.SIGKILL, exited)
			again = time.After(20 * time.Millisecond)
		}
	}
}

// signal sends sig to every living process of the tree, and counts them as
// killed where that is wanted.
func (k *reaper) signal(sig syscall.Signal, count bool) {
	for _, p := range descendants(os.Getpid()) {
		if p.gone() {
			continue
		}
		if count {
			k.killed[p.pid] = true
		}
		_ = syscall.Kill(p.pid, sig) // gone meanwhile, which is as well
	}
}

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// File descriptors of the confine stage besides 0, 1 and 2.
const (
	confinePlan   = 3 // the plan as JSON
	confineStatus = 4 // receives an error, as its fault, a zero byte and its text; closed without one when the agent starts
	confineSocket = 5 // leads to the supervisor; only there if it supervises the session's sockets
)

// confine drops the process's rights and executes the agent. The order leaves
// each step the rights that it needs. It returns only after a failure.
func confine() error {
	// Landlock, user id and capabilities belong to a thread: all steps must run
	// on the thread that executes the agent.
	runtime.LockOSThread()
	unix.CloseOnExec(confineStatus)
	unix.CloseOnExec(confineSocket) // harmless where it is not there
	in := os.NewFile(confinePlan, "plan")
	data, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	var p plan
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	// When memory runs out, the kernel should kill the session rather than the
	// daemon. Later the process has no right to write this file; a failure is
	// harmless.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("300"), 0)
	yield()
	if p.Level >= 2 {
		if err := applyLandlock(p); err != nil {
			return err
		}
	}
	// Core dumps would end up in the work folder.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("set core limit: %w", err)
	}
	if err := p.Limits.apply(p.Others); err != nil {
		return err
	}
	if err := dropUser(p.UID, p.GID); err != nil {
		return fmt.Errorf("become user %d: %w", p.UID, err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if err := gainNoPrivileges(); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if p.Level >= 2 {
		if err := applySeccomp(); err != nil {
			return err
		}
	}
	if p.Closed && p.Level == 2 { // level 3 has a network of its own
		if err := superviseSockets(os.NewFile(confineSocket, "network")); err != nil {
			return fmt.Errorf("close the network: %w", err)
		}
	}
	unix.Umask(0o022)
	// The folder is entered after the user change, so that the session needs
	// its own right to it.
	if err := os.Chdir(p.Dir); err != nil {
		return fmt.Errorf("enter the work folder: %w", err)
	}
	if err := syscall.Exec(p.Argv[0], p.Argv, p.Env); err != nil {
		return fmt.Errorf("%s: %w", p.Argv[0], err)
	}
	return nil
}

// niceness is what sessions are nicer than the daemon: where both want a processor,
// the daemon with its git commands gets about three times as much.
const niceness = 5

// yield lets this process, and what it starts, leave the processor to the daemon: a
// session that computes on every core would delay all other projects, and the
// answers on the phone. A failure is harmless.
func yield() {
	if prio, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-prio+niceness, 19)) // the kernel returns 20 minus the niceness
	}
	// Where the kernel divides the processor among sessions of terminals first,
	// the niceness counts only within one. This process leads its own.
	_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(niceness)), 0)
}

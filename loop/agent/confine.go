package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Open files of the confine stage besides 0, 1 and 2.
const (
	confinePlan   = 3 // JSON of a plan
	confineStatus = 4 // an error's text; closed without one when the agent runs
)

// confine gives up its rights in the order that leaves each step the rights
// it needs, and becomes the agent. It returns only when that failed.
func confine() error {
	// Rights are a thread's: all that follows has to happen on the one that
	// becomes the agent.
	runtime.LockOSThread()
	unix.CloseOnExec(confineStatus)
	in := os.NewFile(confinePlan, "plan")
	data, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	var p plan
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	// Where memory runs out, the session is to go and not the daemon. Later
	// it has no right to write this file; where it cannot now, no harm is done.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("300"), 0)
	if p.Level >= 2 {
		if err := restrict(p); err != nil {
			return err
		}
	}
	// A crash leaves no memory image in the work folder.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("set core limit: %w", err)
	}
	if err := dropUser(p.UID, p.GID); err != nil {
		return fmt.Errorf("become user %d: %w", p.UID, err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	unix.Umask(0o022)
	// After the user is dropped: the session enters its folder by its own right.
	if err := os.Chdir(p.Dir); err != nil {
		return fmt.Errorf("enter the work folder: %w", err)
	}
	if err := syscall.Exec(p.Argv[0], p.Argv, p.Env); err != nil {
		return fmt.Errorf("%s: %w", p.Argv[0], err)
	}
	return nil
}

// dropUser changes to another user for good. The system calls are made
// directly: the standard library's would change every thread, with signals
// that a Landlock domain may refuse.
func dropUser(uid, gid int) error {
	if uid < 0 {
		return nil
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0); e != 0 {
		return fmt.Errorf("setgroups: %w", e)
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)); e != 0 {
		return fmt.Errorf("setresgid: %w", e)
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
		return fmt.Errorf("setresuid: %w", e)
	}
	return nil
}

// dropCapabilities leaves none, also those that the mounts needed in a user
// namespace.
func dropCapabilities() error {
	err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err != nil && !errors.Is(err, unix.EINVAL) { // a kernel before ambient capabilities
		return err
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&head, &none[0])
}

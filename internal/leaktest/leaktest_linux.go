package leaktest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inChild tells the test program that it is the child.
const inChild = "NIGHTPORTER_LEAKTEST"

// grace is how long a process may take to end after the tests did. It is long
// because a busy machine is slow at ending processes, and costs nothing where
// none is left.
var grace = 15 * time.Second

// Main runs the tests and exits with their code, or with 1 where they passed
// and left processes behind. Those are listed on standard error and killed in
// any case. A test program that is a helper of a test, and runs no tests, does
// not call it.
func Main(tests func() int) {
	if os.Getenv(inChild) != "" || isFuzzWorker(os.Args) {
		_ = os.Unsetenv(inChild) // the tests' processes know nothing of it
		os.Exit(tests())
	}
	code, err := supervise(os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "leaktest:", err)
		code = 1
	}
	os.Exit(code)
}

// isFuzzWorker reports whether a fuzzing test program started this one. It has
// pipes to that one, which a child would not inherit.
func isFuzzWorker(args []string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "-test.fuzzworker") {
			return true
		}
	}
	return false
}

// supervise runs this program again, as the child, and ends what it leaves.
func supervise(report io.Writer) (code int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("adopt processes of tests: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	// Pdeathsig is about the thread that starts the child.
	runtime.LockOSThread()
	cmd := exec.Command(self)
	cmd.Args = os.Args
	cmd.Env = append(os.Environ(), inChild+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

	// go test sends SIGQUIT to this process alone, for the stacks of the tests.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	child := cmd.Process.Pid
	go func() {
		for s := range signals {
			_ = syscall.Kill(child, s.(syscall.Signal)) // it may have ended
		}
	}()
	status := reapUntil(child)
	code = status.ExitStatus()
	if status.Signaled() {
		fmt.Fprintf(report, "leaktest: the tests were ended by signal %v\n", status.Signal())
		code = 2
	}
	patience := grace
	if code != 0 {
		patience = 0 // a failed test need not have cleaned up
	}
	if left := endAll(patience); len(left) > 0 {
		fmt.Fprintf(report, "leaktest: processes were left behind, and are killed:\n")
		for _, p := range left {
			fmt.Fprintf(report, "\t%v\n", p)
		}
		if code == 0 {
			code = 1
		}
	}
	return code, nil
}

// reapUntil waits for all children that end, adopted ones too, until the one
// with this id is among them. A zombie would look alive to a test.
func reapUntil(pid int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		switch got, err := syscall.Wait4(-1, &status, 0, nil); {
		case err == syscall.EINTR:
		case err != nil:
			panic(fmt.Sprintf("leaktest: wait: %v", err)) // there is a child
		case got == pid:
			return status
		}
	}
}

// endAll waits for all descendants to end, kills those that are left after
// patience, and returns them.
func endAll(patience time.Duration) []process {
	deadline := time.Now().Add(patience)
	for {
		reapEnded()
		left := descendants(os.Getpid())
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			killAll(left)
			return left
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// killAll kills processes and whatever they start meanwhile.
func killAll(left []process) {
	for range 1000 {
		for _, p := range left {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may have ended
		}
		time.Sleep(10 * time.Millisecond)
		reapEnded()
		if left = descendants(os.Getpid()); len(left) == 0 {
			return
		}
	}
}

func reapEnded() {
	for {
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err != nil && err != syscall.EINTR || err == nil && pid == 0 {
			return
		}
	}
}

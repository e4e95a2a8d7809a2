package daemon_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// goroutines returns the stacks of all goroutines by their number.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	all := map[string]string{}
	for _, g := range strings.Split(string(buf), "\n\n") {
		head, _, _ := strings.Cut(g, " [") // "goroutine 17"
		all[head] = g
	}
	return all
}

// logMill is the goroutine that a lumberjack.Logger starts at its first write
// and that its Close does not end (natefinch/lumberjack issue 56). It holds no
// file, and a process opens one log.
const logMill = "lumberjack%2ev2.(*Logger).millRun("

// sessionWait is the goroutine that waits for the process of a session. A
// session outlives a stopped daemon.
const sessionWait = "agent.(*Runner).spawn.func"

// checkNoneLeft fails for each new goroutine that does not end within a minute,
// except for a logMill and goroutines whose stack contains one of except. It
// waits, because the runtime lists a goroutine for some time after its function
// has returned.
func checkNoneLeft(t *testing.T, before map[string]string, except ...string) {
	t.Helper()
	except = append(except, logMill, "checkNoneLeft")
	excepted := func(stack string) bool {
		return slices.ContainsFunc(except, func(part string) bool { return strings.Contains(stack, part) })
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	var left []string
	for end := time.Now().Add(time.Minute); ; {
		left = nil
		for name, stack := range goroutines() {
			if _, was := before[name]; !was && !excepted(stack) {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(end) {
			break
		}
		<-again.C
	}
	for _, stack := range left {
		t.Errorf("a goroutine is left:\n%s", stack)
	}
}

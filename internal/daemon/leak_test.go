package daemon_test

import (
	"runtime"
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

// checkNoneLeft fails for each new goroutine that does not end, except for a
// logMill. It waits a moment, because the runtime lists a goroutine for some
// time after its function has returned.
func checkNoneLeft(t *testing.T, before map[string]string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(5 * time.Second); ; {
		left = nil
		for name, stack := range goroutines() {
			if _, was := before[name]; !was && !strings.Contains(stack, "noneLeft") && !strings.Contains(stack, logMill) {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(end) {
			break
		}
		runtime.Gosched()
	}
	for _, stack := range left {
		t.Errorf("a goroutine is left:\n%s", stack)
	}
}

// Package crash ends the process by SIGKILL at a named point, so that tests
// can show what the real program does when it dies exactly there. It does
// nothing unless the environment names a point.
package crash

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Env names the point, and after a colon which passing of it (1 = the first):
// "after-commit:3".
const Env = "NIGHTPORTER_CRASH"

var state struct {
	sync.Once
	sync.Mutex
	point string
	left  int
}

// Point ends the process when the environment names it.
func Point(name string) {
	state.Do(func() {
		point, n, _ := strings.Cut(os.Getenv(Env), ":")
		left, err := strconv.Atoi(n)
		if err != nil {
			left = 1
		}
		state.point, state.left = point, left
	})
	if state.point != name {
		return
	}
	state.Lock()
	defer state.Unlock()
	if state.left--; state.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal arrives before anything else happens
	}
}

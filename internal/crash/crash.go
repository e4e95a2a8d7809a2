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

// Env names the point, and after its last colon which passing of it (1 = the
// first): "after-commit:3", "after-commit:emit:1". Without a number it is the
// first.
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
		state.point, state.left = os.Getenv(Env), 1
		// A name can hold colons itself.
		if at := strings.LastIndexByte(state.point, ':'); at >= 0 {
			if n, err := strconv.Atoi(state.point[at+1:]); err == nil {
				state.point, state.left = state.point[:at], n
			}
		}
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

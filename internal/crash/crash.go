// Package crash ends the process by SIGKILL at a named point, so that tests can
// show how the real program recovers from dying there. It does nothing unless
// the environment names a point.
package crash

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Env is the variable that names the point. A number after its last colon says
// at which passing the process ends: "after-commit:3", "after-commit:emit:1".
// Without a number it is the first.
const Env = "NIGHTPORTER_CRASH"

var state struct {
	sync.Once
	sync.Mutex
	point string
	left  int
}

// Point ends the process if the environment names this point.
func Point(name string) {
	state.Do(func() {
		state.point, state.left = os.Getenv(Env), 1
		// A name may contain colons.
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
		select {} // wait for the signal
	}
}

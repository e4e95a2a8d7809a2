// Package crash ends the process by SIGKILL at a named point, so that tests can
// show how the real program recovers from dying there, or holds a goroutine at
// one, so that they can act between two steps. It does nothing unless the
// environment names a point.
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

// HoldEnv is the variable that names a point at which one goroutine waits, and a
// file: "before-start:2=FILE". The goroutine makes a named pipe of that name when it
// comes there, and goes on once somebody opens it for writing.
const HoldEnv = "NIGHTPORTER_HOLD"

// passing is a point and the number of times until its turn.
type passing struct {
	point string
	left  int
}

// parse reads a point with an optional number. A name may contain colons.
func parse(name string) passing {
	if at := strings.LastIndexByte(name, ':'); at >= 0 {
		if n, err := strconv.Atoi(name[at+1:]); err == nil {
			return passing{name[:at], n}
		}
	}
	return passing{name, 1}
}

var state struct {
	sync.Once
	sync.Mutex
	kill, hold passing
	file       string // of hold
}

// Point ends the process if the environment names this point, or waits.
func Point(name string) {
	state.Do(func() {
		state.kill = parse(os.Getenv(Env))
		point, file, _ := strings.Cut(os.Getenv(HoldEnv), "=")
		state.hold, state.file = parse(point), file
	})
	if state.hold.point == name && state.file != "" && turn(&state.hold) {
		wait(state.file)
	}
	if state.kill.point == name && turn(&state.kill) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // wait for the signal
	}
}

// turn counts a passing and reports whether it is the one that is named.
func turn(p *passing) bool {
	state.Lock()
	defer state.Unlock()
	p.left--
	return p.left == 0
}

// wait makes the pipe and returns once it is opened for writing.
func wait(file string) {
	if syscall.Mkfifo(file, 0o600) != nil {
		return
	}
	if pipe, err := os.Open(file); err == nil { // which waits for the other end
		_ = pipe.Close()
	}
}

package leaktest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// scenario says, to the test program that a test starts, what its tests do.
const scenario = "LEAKTEST_SCENARIO"

func TestMain(m *testing.M) {
	name := os.Getenv(scenario)
	if scenarios[name] == nil {
		Main(m.Run)
	}
	if name == "child" || name == "daemon" {
		grace = 50 * time.Millisecond
	}
	Main(scenarios[name])
}

// scenarios are what the tests of a package may do, each with their exit code.
var scenarios = map[string]func() int{
	"clean":  func() int { return 0 },
	"failed": func() int { return 3 },
	"child":  func() int { start("sleep", "1000"); return 0 },
	// As a session does that outlives its daemon.
	"daemon": func() int {
		_ = exec.Command("setsid", "--fork", "sh", "-c", "sleep 1001 & sleep 1002").Run()
		for range 6000 { // until the shell has started both
			left := 0
			for _, p := range descendants(os.Getppid()) {
				if strings.HasPrefix(p.command, "sleep 100") {
					left++
				}
			}
			if left == 2 {
				return 0
			}
			time.Sleep(10 * time.Millisecond)
		}
		return 6
	},
	"failed with a child": func() int { start("sleep", "1000"); return 3 },
	"panic":               func() int { start("sleep", "1000"); panic("at the disco") },
	"killed": func() int {
		start("sleep", "1000")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	},
	"ends soon": func() int { start("sleep", "0.1"); return 0 },
	// An adopted process that ended is reaped while the tests still run.
	"reaped": func() int {
		out, err := exec.Command("setsid", "--fork", "sh", "-c", "echo $$").Output()
		if err != nil {
			return 4
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil {
			return 5
		}
		for range 6000 {
			if syscall.Kill(pid, 0) == syscall.ESRCH {
				return 0
			}
			time.Sleep(10 * time.Millisecond)
		}
		return 6
	},
	"environment": func() int {
		if os.Getenv(inChild) != "" {
			return 4
		}
		return 0
	},
}

func start(name string, args ...string) {
	if err := exec.Command(name, args...).Start(); err != nil {
		panic(err)
	}
}

func TestLeaks(t *testing.T) {
	for _, c := range []struct {
		scenario string
		code     int
		left     []string // commands, "" for none
	}{
		{"clean", 0, nil},
		{"failed", 3, nil},
		{"child", 1, []string{"sleep 1000"}},
		{"daemon", 1, []string{"sh -c sleep 1001 & sleep 1002", "sleep 1001", "sleep 1002"}},
		{"failed with a child", 3, []string{"sleep 1000"}},
		{"panic", 2, []string{"sleep 1000"}},
		{"killed", 2, []string{"sleep 1000"}},
		{"ends soon", 0, nil},
		{"reaped", 0, nil},
		{"environment", 0, nil},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), scenario+"="+c.scenario)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			_ = cmd.Run() // the code is looked at
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, errs.String())
			}
			var left []string
			for _, line := range strings.Split(errs.String(), "\n") {
				if pid, command, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(line, "\t") {
					left = append(left, command)
					// One that ended may still wait for its new parent to reap it.
					if _, lives := readProcess("/proc/" + strings.TrimSpace(pid) + "/stat"); lives {
						t.Errorf("%s lives", line)
					}
				}
			}
			if fmt.Sprint(left) != fmt.Sprint(c.left) {
				t.Errorf("left behind are %q, want %q\n%s", left, c.left, errs.String())
			}
		})
	}
}

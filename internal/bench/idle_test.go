package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// watched is how long an idle night is looked at.
const watched = 12 * time.Second

// sleeper is an agent that does nothing.
const sleeper = "#!/bin/sh\nexec sleep 600\n"

// BenchmarkIdle is what nightporter itself takes while an agent is silent: CPU
// of all its threads, read from the kernel's scheduler in nanoseconds, and
// memory. The session's supervisors, two small processes of the same program,
// are shown beside it. Figures: below 0.05 s of CPU a minute and 40 MB.
func BenchmarkIdle(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("what a process takes is read from Linux's /proc")
	}
	bin := program(b, "nightporter", "./cmd/nightporter", true)
	for b.Loop() {
	}
	dir := shared(b)
	repo, state := filepath.Join(dir, "shop"), filepath.Join(dir, "state")
	repository(b, repo, repoFolders)
	cmd := exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--source", "plan:plan.md", "--profile", "overnight",
		"--agent", "mine", "--config", agentConfig(b, dir, sleeper), "--state", state)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		// SIGTERM cuts the session off; its tree is gone when run has ended.
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	shims := supervisors(b, state)
	for patience := 60; len(shims) == 0; patience-- {
		if patience == 0 {
			b.Fatal("no session was started")
		}
		wait(b, time.Second)
		shims = supervisors(b, state)
	}
	wait(b, 3*time.Second) // until all that belongs to a start is over

	daemon, session := cpu(b, cmd.Process.Pid), cpu(b, shims...)
	began := time.Now()
	wait(b, watched)
	minutes := time.Since(began).Minutes()
	b.ReportMetric((cpu(b, cmd.Process.Pid)-daemon).Seconds()/minutes, "cpu-s/min")
	b.ReportMetric((cpu(b, shims...)-session).Seconds()/minutes, "session-cpu-s/min")
	b.ReportMetric(memory(b, cmd.Process.Pid), "rss-MB")
	b.ReportMetric(memory(b, shims...), "session-rss-MB")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

func wait(b *testing.B, d time.Duration) {
	select {
	case <-time.After(d):
	case <-b.Context().Done():
	}
}

// supervisors finds the two processes of nightporter that look after the
// session in a state folder: the one that has the folder on its command line,
// and its child.
func supervisors(b *testing.B, state string) []int {
	b.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		args := strings.Split(string(text), "\x00")
		if len(args) < 3 || args[1] != "shim" || !strings.HasPrefix(args[2], state) {
			continue
		}
		pid := filepath.Base(filepath.Dir(name))
		pids, err := filepath.Glob("/proc/" + pid + "/task/*/children")
		if err != nil {
			b.Fatal(err)
		}
		all := []string{pid}
		for _, children := range pids {
			text, err := os.ReadFile(children)
			if err != nil {
				continue
			}
			all = append(all, strings.Fields(string(text))...)
		}
		var found []int
		for _, p := range all {
			n, err := strconv.Atoi(p)
			if err != nil {
				b.Fatal(err)
			}
			found = append(found, n)
		}
		return found
	}
	return nil
}

// cpu sums the time that all threads of the processes were on a processor.
func cpu(b *testing.B, pids ...int) time.Duration {
	b.Helper()
	var sum time.Duration
	for _, pid := range pids {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil || len(tasks) == 0 {
			b.Fatalf("threads of process %d: %v", pid, err)
		}
		for _, name := range tasks {
			text, err := os.ReadFile(name)
			if err != nil {
				continue // the thread has ended
			}
			var ran int64
			if _, err := fmt.Sscan(string(text), &ran); err != nil {
				b.Fatalf("%s: %v", name, err)
			}
			sum += time.Duration(ran)
		}
	}
	return sum
}

// memory sums what the processes have in memory, in MB.
func memory(b *testing.B, pids ...int) float64 {
	b.Helper()
	sum := 0.0
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")))
				if err != nil {
					b.Fatalf("%q: %v", line, err)
				}
				sum += float64(kb) / 1024
			}
		}
	}
	return sum
}

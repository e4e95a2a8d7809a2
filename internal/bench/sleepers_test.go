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

// sleepers is the number of sessions at a time.
const sleepers = 200

// BenchmarkSleepers supervises 200 sessions that do nothing, as many lanes of one run:
// memory by the share that each process has of it (PSS), and CPU of all supervisors and
// of the daemon.
//
// Figures: ≤ 14 MB a session beyond the agent's own, < 2 % of a core for all.
func BenchmarkSleepers(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("what a process takes is read from Linux's /proc")
	}
	bin := program(b, "nightporter", "./cmd/nightporter", true)
	for b.Loop() {
	}
	dir := shared(b)
	repo, state := filepath.Join(dir, "shop"), filepath.Join(dir, "state")
	repository(b, repo, repoFolders)
	var plan strings.Builder
	for n := 1; n <= sleepers; n++ {
		fmt.Fprintf(&plan, "- [ ] **Task %d: Write a line**\n  - Scope: `new/%d/`\n", n, n)
	}
	if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte(plan.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	runGit(b, repo, "-c", "user.name=Mira", "-c", "user.email=mira@example.com", "commit", "--quiet", "-am", "Plan")
	conf := agentConfig(b, dir, "#!/bin/sh\nexec sleep 3600\n")
	cmd := exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--source", "plan:plan.md", "--profile", "overnight", "--pattern", "single",
		"--verify", "true", "--parallel", fmt.Sprint(sleepers), "--agent", "mine", "--config", conf, "--state", state)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	var agents, own []int
	for patience := 600; len(agents) < sleepers; patience-- {
		if patience == 0 || b.Context().Err() != nil {
			b.Fatalf("%d sessions were started\n%s", len(agents), out.String())
		}
		wait(b, time.Second)
		agents, own = below(b, cmd.Process.Pid, state)
	}
	started := time.Since(began)
	wait(b, 5*time.Second) // until all that belongs to a start is over

	_, own = below(b, cmd.Process.Pid, state)
	daemon, session := cpu(b, cmd.Process.Pid), cpu(b, own...)
	from := time.Now()
	wait(b, 30*time.Second)
	took := time.Since(from).Seconds()
	b.ReportMetric(100*(cpu(b, cmd.Process.Pid)-daemon).Seconds()/took, "daemon-%")
	b.ReportMetric(100*(cpu(b, own...)-session).Seconds()/took, "supervisors-%")
	b.ReportMetric(share(b, own...)/sleepers, "PSS-MB/session")
	b.ReportMetric(share(b, cmd.Process.Pid), "daemon-PSS-MB")
	b.ReportMetric(float64(len(own))/sleepers, "processes/session")
	b.ReportMetric(started.Seconds(), "start-s")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// below returns the agents of a state folder's sessions, which sleep, and the processes
// that look after them.
func below(b *testing.B, daemon int, state string) (agents, own []int) {
	b.Helper()
	parents, names := map[int]int{}, map[int]string{}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	shims := map[int]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			b.Fatal(err)
		}
		name, rest, _ := strings.Cut(string(text), ") ")
		_, names[pid], _ = strings.Cut(name, "(")
		if fields := strings.Fields(rest); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
		args, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && strings.Contains(string(args), "\x00shim\x00"+state) {
			shims[pid] = true
		}
	}
	for pid := range parents {
		in := false
		for p := pid; p > 1 && p != daemon && !in; p = parents[p] {
			in = shims[p]
		}
		switch {
		case !in:
		case names[pid] == "sleep":
			agents = append(agents, pid)
		default:
			own = append(own, pid)
		}
	}
	return agents, own
}

// share sums what the processes have in memory, in MB, each page of several processes by
// its share.
func share(b *testing.B, pids ...int) float64 {
	b.Helper()
	sum := 0.0
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if v, ok := strings.CutPrefix(line, "Pss:"); ok {
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

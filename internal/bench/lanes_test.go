package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Tasks, lanes, and how long each session works.
const (
	laneTasks = 20
	lanes     = 5
	laneWork  = 10 * time.Second
)

// BenchmarkLanes is a night of 20 tasks that write apart, with a session of 10 seconds
// each and a verification that takes no time, in one lane and in five.
//
// Figure: five lanes take ≤ 0.24 of the time; 0.20 is what sessions alone would take.
func BenchmarkLanes(b *testing.B) {
	bin := programs(b)
	var one, five time.Duration
	for b.Loop() {
		if one != 0 {
			continue // one pair of nights is enough
		}
		one, five = laneNight(b, bin, 1), laneNight(b, bin, lanes)
	}
	b.ReportMetric(one.Seconds(), "one-s")
	b.ReportMetric(five.Seconds(), "five-s")
	b.ReportMetric(float64(five)/float64(one), "five/one")
	b.ReportMetric((one-laneTasks*laneWork).Seconds()/laneTasks, "own-one-s")
	b.ReportMetric((five-laneTasks/lanes*laneWork).Seconds()/laneTasks, "own-five-s")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// laneNight returns how long a night in so many lanes takes. A commit for each task has
// to come of it.
func laneNight(b *testing.B, bin string, lanes int) time.Duration {
	b.Helper()
	dir := b.TempDir()
	repo := filepath.Join(dir, "shop")
	repository(b, repo, repoFolders)
	var plan strings.Builder
	for n := 1; n <= laneTasks; n++ {
		fmt.Fprintf(&plan, "- [ ] **Task %d: Write a line**\n  - Scope: `folder%d/`\n  - Acceptance:\n    - it is there\n", n, n)
	}
	if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte(plan.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	runGit(b, repo, "-c", "user.name=Mira", "-c", "user.email=mira@example.com", "commit", "--quiet", "-am", "Plan")
	conf := agentConfig(b, dir, fmt.Sprintf(`#!/bin/sh
set -e
cat >/dev/null
sleep %g
n=${HAT_TASK#Task }
echo "$HAT_TASK" >>folder$n/file7.txt
exec hat emit build.complete --data '{"summary":"wrote it","files_modified":["folder'$n'/file7.txt"]}'
`, laneWork.Seconds()))
	cmd := exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--source", "plan:plan.md", "--profile", "overnight", "--pattern", "single",
		"--verify", "true", "--parallel", fmt.Sprint(lanes), "--agent", "mine", "--config", conf, "--state", filepath.Join(dir, "state"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("nightporter run: %v\n%s", err, out.String())
	}
	took := time.Since(began)
	log, err := exec.CommandContext(b.Context(), "git", "-C", repo, "rev-list", "--count", "main..nightporter/shop/r1").Output()
	if err != nil || strings.TrimSpace(string(log)) != fmt.Sprint(laneTasks) {
		b.Fatalf("%d tasks made %s commits: %v\n%s", laneTasks, log, err, out.String())
	}
	return took
}

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

const (
	manyFiles  = 300_000
	manyFolder = 1000 // files in each folder
)

// filler is an agent that makes very many small files.
const filler = `package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	for i := range %d {
		dir := filepath.Join("gen", fmt.Sprint(i/%d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%%d.js", i)), fmt.Appendf(nil, "module.exports = %%d\n", i), 0o644); err != nil {
			panic(err)
		}
	}
	cmd := exec.Command("hat", "emit", "build.complete", "--data", "{\"summary\":\"made them\",\"files_modified\":[\"gen\"]}")
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(string(out))
	}
}
`

// BenchmarkManyFiles is a session that leaves 300,000 small files, with the real
// programs and boundary, in a repository of 1,000 files.
//
// "counted" is the time from the session's end until a person is asked about them,
// with the largest memory of nightporter until then. The baseline is `git ls-files --others` in the same folder, which counts them too.
// "stop" and "stop-storing" are the times from SIGTERM until `run` has ended, one
// and three seconds after the session's end: while it counts, and, with
// max_new_files = 0, while it stores them.
//
// Figures: counted ≤ 30 s, ended ≤ 2 s after the signal.
func BenchmarkManyFiles(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("processor time and memory are read from Linux's /proc")
	}
	bin := programs(b)
	agent := source(b, "filler", fmt.Sprintf(filler, manyFiles, manyFolder))
	for b.Loop() {
	}
	start := func(most string) *manyRun { return startMany(b, bin, agent, most) }

	r := start("20000")
	ended := r.sessionEnded()
	asked := r.waitFor("the question", func() bool { return strings.Contains(r.output(), "300,000 new files") })
	b.ReportMetric(asked.Sub(ended).Seconds(), "counted-s")
	b.ReportMetric(memoryPeak(b, r.cmd.Process.Pid), "counted-peak-MB")
	b.ReportMetric(r.stop().Seconds(), "stop-asked-s")
	began := time.Now()
	list := exec.CommandContext(b.Context(), "git", "-c", "safe.directory=*", "-C", filepath.Join(r.state, "runs", "r1", "work"), "ls-files", "--others")
	if out, err := list.Output(); err != nil || bytes.Count(out, []byte("\n")) != manyFiles {
		b.Fatalf("git ls-files: %v, %d files", err, bytes.Count(out, []byte("\n")))
	}
	b.ReportMetric(time.Since(began).Seconds(), "ls-files-s")

	r = start("20000")
	r.sessionEnded()
	wait(b, time.Second)
	b.ReportMetric(r.stop().Seconds(), "stop-s")

	r = start("0")
	r.sessionEnded()
	r.waitFor("update-index", func() bool { return r.runsGit("update-index") })
	wait(b, 3*time.Second)
	b.ReportMetric(memoryPeak(b, r.cmd.Process.Pid), "storing-peak-MB")
	b.ReportMetric(r.stop().Seconds(), "stop-storing-s")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// manyRun is a `nightporter run` whose agent is the filler.
type manyRun struct {
	b     *testing.B
	state string
	log   string
	cmd   *exec.Cmd
}

func startMany(b *testing.B, bin, agent, most string) *manyRun {
	b.Helper()
	dir := shared(b)
	repo := filepath.Join(dir, "shop")
	repository(b, repo, repoFolders)
	runGit(b, repo, "rm", "--quiet", "plan.md")
	plan := "- [ ] **Task 1: Make files**\n  - Scope: `gen/`, `folder1/`\n  - Acceptance:\n    - they are there\n"
	if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte(plan), 0o644); err != nil {
		b.Fatal(err)
	}
	runGit(b, repo, "add", "plan.md")
	runGit(b, repo, "-c", "user.name=Mira", "-c", "user.email=mira@example.com", "commit", "--quiet", "-m", "Plan")
	conf := filepath.Join(dir, "nightporter.toml")
	text := fmt.Sprintf("question_timeout = \"1h\"\n[agents.mine]\ncommand = [%q]\n[[project]]\nname = \"shop\"\nrepo = %q\nsource = \"plan:plan.md\"\nagent = \"mine\"\npattern = \"single\"\nunproved = \"allow\"\nmax_new_files = %s\n",
		agent, repo, most)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	r := &manyRun{b: b, state: filepath.Join(dir, "state"), log: filepath.Join(dir, "log")}
	r.cmd = exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--config", conf, "--state", r.state)
	out, err := os.Create(r.log)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	r.cmd.Stdout, r.cmd.Stderr = out, out
	if err := r.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return r
}

func (r *manyRun) output() string {
	text, err := os.ReadFile(r.log)
	if err != nil {
		r.b.Fatal(err)
	}
	return string(text)
}

// waitFor waits until something is so, and returns when it was.
func (r *manyRun) waitFor(what string, is func() bool) time.Time {
	r.b.Helper()
	for began := time.Now(); !is(); wait(r.b, 10*time.Millisecond) {
		if _, alive := usedBy(r.cmd.Process.Pid); !alive || time.Since(began) > 10*time.Minute {
			r.b.Fatalf("waited for %s:\n%s", what, r.output())
		}
	}
	return time.Now()
}

// sessionEnded waits until the agent's process tree has ended.
func (r *manyRun) sessionEnded() time.Time {
	return r.waitFor("the session's end", func() bool {
		_, err := os.Stat(filepath.Join(r.state, "sessions", "r1-1", "exit.json"))
		return err == nil
	})
}

// runsGit reports whether the run's git executes a command now.
func (r *manyRun) runsGit(command string) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", r.cmd.Process.Pid))
	if err != nil {
		r.b.Fatal(err)
	}
	var pids []byte
	for _, name := range threads {
		of, _ := os.ReadFile(name) // a thread may have ended
		pids = append(append(pids, ' '), of...)
	}
	for _, pid := range strings.Fields(string(pids)) {
		line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		if bytes.Contains(line, []byte("\x00"+command+"\x00")) {
			return true
		}
	}
	return false
}

// stop sends SIGTERM and returns how long the run still took to end.
func (r *manyRun) stop() time.Duration {
	r.b.Helper()
	began := time.Now()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.b.Fatalf("SIGTERM: %v\n%s", err, r.output())
	}
	_ = r.cmd.Wait() // its exit code tells of the signal
	return time.Since(began)
}

// memoryPeak returns the most that a process had in memory, in MB.
func memoryPeak(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")))
			if err != nil {
				b.Fatal(err)
			}
			return float64(kb) / 1024
		}
	}
	b.Fatal("the kernel tells no VmHWM")
	return 0
}

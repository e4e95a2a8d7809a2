package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// How large the repository is, and how many tasks its plan has.
const (
	repoFolders = 50
	repoFiles   = 20 // in each
	repoTasks   = 6
)

// recorder stands on PATH in git's place: it runs the real one and notes from
// when to when, and its arguments. git itself writes down the processes that it
// starts in turn.
const recorder = `package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

func main() {
	cmd := exec.Command(%[1]q, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GIT_TRACE2_EVENT="+%[2]q+".trace")
	began := time.Now()
	err := cmd.Run()
	ended := time.Now()
	if f, err := os.OpenFile(%[2]q, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintf(f, "%%d %%d %%q\n", began.UnixNano(), ended.UnixNano(), os.Args[1:])
		f.Close()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(127)
	}
}
`

// script is an agent that does at once what its hat is for.
const script = `#!/bin/sh
set -e
cat >/dev/null
case $HAT_NAME in
planner) exec hat emit plan.complete --data '{"summary":"one line more","steps":["write it"]}' ;;
builder)
	echo "$HAT_TASK" >>folder7/file7.txt
	exec hat emit build.complete --data '{"summary":"wrote it","files_modified":["folder7/file7.txt"]}' ;;
reviewer) exec hat emit review.verdict --data '{"summary":"fine","issues":[]}' ;;
esac
`

// span is from the end of one session's process to the start of the next one's.
type span struct {
	from     string // the earlier session's hat
	began    time.Time
	ended    time.Time
	gitTime  time.Duration
	gitCalls int
	gitProcs int // the calls, and what they started
}

func (s span) took() time.Duration { return s.ended.Sub(s.began) }

// BenchmarkNight is the whole gap between two sessions of the real program,
// with git, the end of the process tree and the shim's start, in a repository
// of 1,000 files: a night of six tasks, twice. The second night has a recorder
// in git's place, and its git commands alone are the baseline.
//
// There is no verification, whose length is the project's own.
func BenchmarkNight(b *testing.B) {
	bin := programs(b)
	var plain, recorded []span
	for b.Loop() {
		if plain != nil {
			continue // one pair of nights is enough
		}
		repo := filepath.Join(shared(b), "shop")
		repository(b, repo, repoFolders)
		plain, _ = night(b, bin, os.Getenv("PATH"), repo)
		path, log := record(b)
		recorded, _ = night(b, bin, path, repo)
		attribute(b, log, recorded)
	}
	for _, from := range []string{"planner", "builder", "reviewer"} {
		whole, _ := median(tookOf(plain, from))
		var git []time.Duration
		var count []int
		for _, s := range recorded {
			if s.from == from {
				git, count = append(git, s.gitTime), append(count, s.gitCalls)
			}
		}
		gitTime, _ := median(git)
		gitCalls, _ := median(count)
		b.ReportMetric(ms(whole), from+"-gap-ms")
		b.ReportMetric(ms(gitTime), from+"-git-ms")
		b.ReportMetric(float64(gitCalls), from+"-git-calls")
		if gitTime > 0 {
			b.ReportMetric(float64(whole)/float64(gitTime), from+"-gap/git")
		}
	}
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// programs compiles both programs, one beside the other, and returns the path of
// nightporter.
func programs(b *testing.B) string {
	b.Helper()
	bin := program(b, "nightporter", "./cmd/nightporter", true)
	hat := program(b, "hat", "./cmd/hat", false)
	if err := os.Rename(hat, filepath.Join(filepath.Dir(bin), "hat")); err != nil {
		b.Fatal(err)
	}
	return bin
}

// record returns a PATH with a recorder in git's place, and the recorder's log.
func record(b *testing.B) (path, log string) {
	b.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		b.Fatal(err)
	}
	log = filepath.Join(b.TempDir(), "git.log")
	fake := source(b, "git", fmt.Sprintf(recorder, git, log))
	return filepath.Dir(fake) + ":" + os.Getenv("PATH"), log
}

func tookOf(spans []span, from string) []time.Duration {
	var out []time.Duration
	for _, s := range spans {
		if s.from == from {
			out = append(out, s.took())
		}
	}
	return out
}

// night works through the plan of a repository, with a state folder of its own, and
// returns the preflight and the gaps, and the processor time of nightporter and of
// what it started meanwhile. The repository keeps its plan.
func night(b *testing.B, bin, path, repo string) ([]span, *usage) {
	b.Helper()
	dir := shared(b)
	state := filepath.Join(dir, "state")
	conf := agentConfig(b, dir, script)
	cmd := exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--source", "plan:plan.md", "--profile", "overnight",
		"--agent", "mine", "--config", conf, "--state", state)
	cmd.Env = append(os.Environ(), "PATH="+path)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	used := watchUsage(cmd.Process.Pid)
	err := cmd.Wait()
	used.stop()
	if err != nil {
		b.Fatalf("nightporter run: %v\n%s", err, out.String())
	}
	// The next night finds the repository as this one did.
	runGit(b, repo, "checkout", "--quiet", "--", "plan.md")
	runGit(b, repo, "clean", "--quiet", "-fdx")
	runGit(b, repo, "branch", "--quiet", "-D", "nightporter/shop/r1")
	return gapsOf(b, state), used
}

// agentConfig writes a program that plays the agent "mine", and the
// configuration that names it.
func agentConfig(b *testing.B, dir, text string) string {
	b.Helper()
	agent, conf := filepath.Join(dir, "agent"), filepath.Join(dir, "nightporter.toml")
	if err := os.WriteFile(agent, []byte(text), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(conf, []byte("[agents.mine]\ncommand = [\"./agent\"]\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return conf
}

// repository makes one with a plan and 20 files in each folder.
func repository(b *testing.B, repo string, folders int) {
	b.Helper()
	for d := range folders {
		folder := filepath.Join(repo, fmt.Sprintf("folder%d", d))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range repoFiles {
			text := strings.Repeat(fmt.Sprintf("line of file %d in folder %d\n", f, d), 50)
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("file%d.txt", f)), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	writePlan(b, repo)
	commitAll(b, repo)
}

// writePlan writes the tasks of a night.
func writePlan(b *testing.B, repo string) {
	b.Helper()
	var plan strings.Builder
	for n := 1; n <= repoTasks; n++ {
		fmt.Fprintf(&plan, "- [ ] **Task %d: Write a line**\n  - Scope: `folder7/`\n  - Acceptance:\n    - it is there\n", n)
	}
	if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte(plan.String()), 0o644); err != nil {
		b.Fatal(err)
	}
}

// commitAll makes a folder a repository with one commit.
func commitAll(b *testing.B, repo string) {
	b.Helper()
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "--all"},
		{"-c", "user.name=Mira", "-c", "user.email=mira@example.com", "commit", "--quiet", "-m", "First commit"},
	} {
		runGit(b, repo, args...)
	}
}

func runGit(b *testing.B, dir string, args ...string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "git", append([]string{"-C", dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// gapsOf reads from the ledger when sessions ended and the next ones started. The
// first span is the preflight.
func gapsOf(b *testing.B, state string) []span {
	b.Helper()
	spans := spansOf(b, state, "shop")
	if len(spans) != 3*repoTasks {
		b.Fatalf("%d gaps in a night of %d sessions", len(spans)-1, 3*repoTasks)
	}
	return spans
}

// spansOf is gapsOf for a project and any number of sessions.
func spansOf(b *testing.B, state, project string) []span {
	b.Helper()
	ledgerStore, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer ledgerStore.Close()
	hats := map[string]string{}
	spans := []span{{from: "preflight"}}
	var last *span
	err = ledgerStore.Records(b.Context(), ledger.ProjectStream(project), 0, func(r ledger.Record) error {
		e, err := r.Entry()
		if err != nil {
			return err
		}
		switch body := e.Body.(type) {
		case ledger.RunPlanned:
			spans[0].began = e.Time
		case ledger.RunStarted:
			spans[0].ended = e.Time
		case ledger.SessionPlanned:
			hats[e.Session] = body.Hat
		case ledger.SessionEnded:
			if hats[e.Session] == "" {
				return nil // a command, such as the setup that preflight tries
			}
			if last != nil {
				last.ended = body.Exit.Started
				spans = append(spans, *last)
			}
			last = &span{from: hats[e.Session], began: body.Exit.Ended}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return spans
}

// attribute adds the recorded git commands to the spans that they lie in, and the
// processes that git wrote down. Where some ran at the same time, their time counts
// once.
func attribute(b *testing.B, log string, spans []span) {
	b.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		b.Fatalf("the recorder was passed by: %v", err)
	}
	type call struct{ began, ended int64 }
	var calls []call
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var c call
		if _, err := fmt.Sscan(lines.Text(), &c.began, &c.ended); err != nil {
			b.Fatalf("recorder wrote %q: %v", lines.Text(), err)
		}
		calls = append(calls, c)
	}
	procs := startsOf(b, log+".trace")
	for i := range spans {
		s := &spans[i]
		for _, at := range procs {
			if !at.Before(s.began) && !at.After(s.ended) {
				s.gitProcs++
			}
		}
		// Lines are in the order of ends, so one pass from behind finds the union.
		until := s.ended.UnixNano()
		for n := len(calls) - 1; n >= 0; n-- {
			c := calls[n]
			if c.began < s.began.UnixNano() || c.ended > s.ended.UnixNano() {
				continue
			}
			s.gitCalls++
			if ended := min(c.ended, until); ended > c.began {
				s.gitTime += time.Duration(ended - c.began)
				until = c.began
			}
		}
	}
}

// startsOf reads from a trace of git when each of its processes began.
func startsOf(b *testing.B, trace string) []time.Time {
	b.Helper()
	data, err := os.ReadFile(trace)
	if err != nil {
		b.Fatal(err)
	}
	var starts []time.Time
	for line := range bytes.Lines(data) {
		var e struct {
			Event string
			Time  time.Time
		}
		if err := json.Unmarshal(line, &e); err != nil {
			b.Fatalf("git wrote %q: %v", line, err)
		}
		if e.Event == "start" {
			starts = append(starts, e.Time)
		}
	}
	return starts
}

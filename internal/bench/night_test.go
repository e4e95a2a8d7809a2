package bench

import (
	"bufio"
	"bytes"
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
	repoFolders  = 50
	largeFolders = 750
	repoFiles    = 20 // in each
	repoTasks    = 6
)

// recorder stands on PATH in git's place: it runs the real one and notes from
// when to when.
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
	began := time.Now()
	err := cmd.Run()
	ended := time.Now()
	if f, err := os.OpenFile(%[2]q, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintf(f, "%%d %%d\n", began.UnixNano(), ended.UnixNano())
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
}

func (s span) took() time.Duration { return s.ended.Sub(s.began) }

// BenchmarkNight is the whole gap between two sessions of the real program,
// with git, the end of the process tree and the shim's start, in a repository
// of 1,000 files: a night of six tasks, twice. The second night has a recorder
// in git's place, and its git commands alone are the baseline.
//
// There is no verification, whose length is the project's own. "large" is the same
// in a repository of 15,000 files; figures: preflight ≤ 5 s, the gap after a builder
// ≤ 1.5 s with ≤ 20 git commands.
func BenchmarkNight(b *testing.B) {
	b.Run("ordinary", func(b *testing.B) { nightPair(b, repoFolders) })
	b.Run("large", func(b *testing.B) { nightPair(b, largeFolders) })
}

func nightPair(b *testing.B, folders int) {
	bin := program(b, "nightporter", "./cmd/nightporter", true)
	hat := program(b, "hat", "./cmd/hat", false)
	beside := filepath.Join(filepath.Dir(bin), "hat")
	if err := os.Rename(hat, beside); err != nil {
		b.Fatal(err)
	}
	var plain, recorded []span
	var calls int
	var preflight time.Duration
	for b.Loop() {
		if plain != nil {
			continue // one pair of nights is enough
		}
		plain, preflight = night(b, bin, os.Getenv("PATH"), folders)

		git, err := exec.LookPath("git")
		if err != nil {
			b.Fatal(err)
		}
		log := filepath.Join(b.TempDir(), "git.log")
		fake := source(b, "git", fmt.Sprintf(recorder, git, log))
		recorded, _ = night(b, bin, filepath.Dir(fake)+":"+os.Getenv("PATH"), folders)
		calls = attribute(b, log, recorded)
	}
	if calls == 0 {
		b.Fatal("git was never called: the recorder was passed by")
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
	b.ReportMetric(ms(preflight), "preflight-ms")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
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

// night works through a plan in a new repository and returns its gaps, and how long
// it took until the run had started.
func night(b *testing.B, bin, path string, folders int) ([]span, time.Duration) {
	b.Helper()
	dir := shared(b)
	repo, state := filepath.Join(dir, "shop"), filepath.Join(dir, "state")
	repository(b, repo, folders)
	conf := agentConfig(b, dir, script)
	cmd := exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--source", "plan:plan.md", "--profile", "overnight",
		"--agent", "mine", "--config", conf, "--state", state)
	cmd.Env = append(os.Environ(), "PATH="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("nightporter run: %v\n%s", err, out)
	}
	return gapsOf(b, state)
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
	var plan strings.Builder
	for n := 1; n <= repoTasks; n++ {
		fmt.Fprintf(&plan, "- [ ] **Task %d: Write a line**\n  - Scope: `folder7/`\n  - Acceptance:\n    - it is there\n", n)
	}
	if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte(plan.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	commitAll(b, repo)
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

// gapsOf reads from the ledger when sessions ended and the next ones started, and
// how long the preflight took.
func gapsOf(b *testing.B, state string) ([]span, time.Duration) {
	b.Helper()
	spans, preflight := spansOf(b, state, "shop")
	if len(spans) != 3*repoTasks-1 {
		b.Fatalf("%d gaps in a night of %d sessions", len(spans), 3*repoTasks)
	}
	return spans, preflight
}

// spansOf is gapsOf for a project and any number of sessions.
func spansOf(b *testing.B, state, project string) ([]span, time.Duration) {
	b.Helper()
	ledgerStore, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer ledgerStore.Close()
	hats := map[string]string{}
	var spans []span
	var last *span
	var planned, started time.Time
	err = ledgerStore.Records(b.Context(), ledger.ProjectStream(project), 0, func(r ledger.Record) error {
		e, err := r.Entry()
		if err != nil {
			return err
		}
		switch body := e.Body.(type) {
		case ledger.RunPlanned:
			planned = e.Time
		case ledger.RunStarted:
			started = e.Time
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
	return spans, started.Sub(planned)
}

// attribute adds the recorded git commands to the gaps that they lie in and
// returns how many there were in all. Where some ran at the same time, their
// time counts once.
func attribute(b *testing.B, log string, spans []span) int {
	b.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
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
	for i := range spans {
		s := &spans[i]
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
	return len(calls)
}

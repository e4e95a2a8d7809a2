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

	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// requestNights is how many pairs of nights BenchmarkRequest measures.
const requestNights = 5

// BenchmarkRequest is the time from the last commit of a run until its pull request
// is open: real program, git and forge (git's own server and a GitHub of ours on
// loopback), in a repository of 1,000 files, with a verification command that takes no
// time. The tip is verified in a room before it is pushed. In every other night a
// recorder is in git's place, and the length of its pushes is the baseline, with the
// forge's answers.
//
// Figure: 2 s without the pushes and the forge's answers.
func BenchmarkRequest(b *testing.B) {
	bin := programs(b)
	for b.Loop() {
	}
	repo := filepath.Join(shared(b), "shop")
	repository(b, repo, repoFolders)
	path, log := record(b)
	var whole, cpu, own, answers, push, git []time.Duration
	for range requestNights {
		n := publishedNight(b, bin, os.Getenv("PATH"), repo)
		whole, cpu, answers = append(whole, n.took()), append(cpu, n.used.of(n.span)), append(answers, n.answers)
		n = publishedNight(b, bin, path, repo)
		pushes, others := gitIn(b, log, n.span)
		push, git = append(push, pushes), append(git, others)
		own = append(own, n.took()-pushes-n.answers)
		if pushes == 0 {
			b.Fatal("the push was not recorded")
		}
	}
	for _, m := range []struct {
		name  string
		times []time.Duration
	}{{"whole", whole}, {"cpu", cpu}, {"answers", answers}, {"push", push}, {"own", own}, {"other-git", git}} {
		middle, _ := median(m.times)
		b.ReportMetric(ms(middle), m.name+"-ms")
	}
	ours, _ := median(own)
	pushes, _ := median(push)
	asked, _ := median(answers)
	b.ReportMetric(float64(ours)/float64(pushes+asked), "own/(push+answers)")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// published is the span from the last commit of a night to its open request.
type published struct {
	span
	used    *usage
	answers time.Duration // of the forge, within the span
}

// publishedNight works through the plan of a repository and pushes the branch to a
// forge of its own. The repository keeps its plan, and has no remote after it.
func publishedNight(b *testing.B, bin, path, repo string) published {
	b.Helper()
	dir := shared(b)
	state := filepath.Join(dir, "state")
	forge := programtest.StartForge(b, filepath.Join(dir, "forge"), repo)
	conf := forgeConfig(b, dir, repo, forge)
	cmd := exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--config", conf, "--state", state)
	cmd.Env = append(os.Environ(), "PATH="+path)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	n := published{used: watchUsage(cmd.Process.Pid)}
	err := cmd.Wait()
	n.used.stop()
	if err != nil || forge.Pushes.Load() != 1 || len(forge.Pulls()) != 1 {
		b.Fatalf("nightporter run: %v, %d pushes\n%s", err, forge.Pushes.Load(), out.String())
	}
	n.span = openedAfter(b, state)
	for _, c := range forge.Calls() {
		if c.At.After(n.began) && c.At.Before(n.ended) {
			n.answers += c.Took
		}
	}
	runGit(b, repo, "checkout", "--quiet", "--", "plan.md")
	runGit(b, repo, "clean", "--quiet", "-fdx")
	runGit(b, repo, "branch", "--quiet", "-D", "nightporter/shop/r1")
	runGit(b, repo, "remote", "remove", "origin")
	return n
}

// forgeConfig writes the agent, the token and the configuration of a project that
// opens a request at the end of each run.
func forgeConfig(b *testing.B, dir, repo string, forge *programtest.Forge) string {
	b.Helper()
	conf := agentConfig(b, dir, script)
	text := fmt.Sprintf(`timezone = "UTC"

[agents.mine]
command = ["./agent"]

[[project]]
name = "shop"
repo = %q
source = "plan:plan.md"
profile = "overnight"
pattern = "single"
agent = "mine"
verify = ["test -f plan.md"]
push = "end"
forge = "github"

[github]
api = %q
token_file = "github.token"
`, repo, forge.URL)
	for file, text := range map[string]string{conf: text, filepath.Join(dir, "github.token"): forge.Token + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return conf
}

// openedAfter reads from the ledger when the last task was committed, and when its
// request was open.
func openedAfter(b *testing.B, state string) (s span) {
	b.Helper()
	ledgerStore, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer ledgerStore.Close()
	if err := ledgerStore.Records(b.Context(), ledger.ProjectStream("shop"), 0, func(r ledger.Record) error {
		e, err := r.Entry()
		switch e.Body.(type) {
		case ledger.TaskCommitted:
			s.began = e.Time
		case ledger.RequestOpened:
			s.ended = e.Time
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	if !s.ended.After(s.began) || s.began.IsZero() {
		b.Fatalf("the last commit was made at %s, and the request opened at %s", s.began, s.ended)
	}
	return s
}

// gitIn returns how long the recorded pushes within a span took, and the other
// commands of git.
func gitIn(b *testing.B, log string, s span) (pushes, others time.Duration) {
	b.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		b.Fatalf("the recorder was passed by: %v", err)
	}
	for line := range strings.Lines(string(data)) {
		var began, ended int64
		if _, err := fmt.Sscan(line, &began, &ended); err != nil {
			b.Fatalf("recorder wrote %q: %v", line, err)
		}
		switch took := time.Duration(ended - began); {
		case began < s.began.UnixNano() || ended > s.ended.UnixNano():
		case strings.Contains(line, `"push"`):
			pushes += took
		default:
			others += took
		}
	}
	return pushes, others
}

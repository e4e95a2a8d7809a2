package main_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	killSeed  = flag.Uint64("kill.seed", 0, "seed of the random kills; 0 = a new one")
	killCount = flag.Int("kill.count", 6, "how often a run is killed at random")
	crashAll  = flag.Bool("crash.all", false, "also crash at the second and third passing of each point")
)

// crashSteps are the places at which the real program is killed, in the order
// in which a run comes to them first. Each has a point before and one after it.
// Together they are every step for every input and every effect that a run of
// two tasks with one guidance has.
var crashSteps = []string{
	"commit:start_run", "effect:preflight", "commit:preflighted", "effect:session.start", "start", "commit:guidance", "commit:emit",
	"commit:session_exited", "effect:session.end", "effect:takeover", "commit:tree_taken", "effect:commit", "commit:commit_made", "effect:mark",
	"commit:mark_made", "effect:progress",
}

// Points of the second agent session, the one that has the guidance.
var guidedPoints = []string{"before-start:3", "after-start:3", "before-commit:emit:2", "after-commit:emit:2", "after-commit:session_exited:3", "after-commit:session_exited:4"}

// crashRuns returns the runs, each with the points at which it is killed: one
// after another, each by the process that was started after the one before.
// Neighbours are in different runs, so that each crash has a recovery of its
// own. With -crash.all each point has a run, and the second and the third
// passing of it, too.
//
// extra are points that a run need not come to.
func crashRuns() (runs [][]string, extra map[string]bool) {
	extra = map[string]bool{}
	for _, p := range guidedPoints {
		runs = append(runs, []string{p})
	}
	if *crashAll {
		for _, step := range crashSteps {
			for _, p := range []string{"before-" + step, "after-" + step} {
				runs = append(runs, []string{p}, []string{p + ":2"}, []string{p + ":3"})
				extra[p+":2"], extra[p+":3"] = true, true
			}
		}
		return runs, extra
	}
	chains := make([][]string, 4)
	for n, step := range crashSteps {
		before, after := n%2*2, n%2*2+1
		chains[before] = append(chains[before], "before-"+step)
		chains[after] = append(chains[after], "after-"+step)
	}
	return append(runs, chains...), extra
}

// guided is what the person says while the first task's builder is at work.
const guided = "Keep the old function names"

// twoTasks is a run of two tasks through the pattern "single", so that each
// task is one session and its verification. The first builder is held until
// the person's guidance is in the ledger: it is for the second.
type twoTasks struct {
	t *testing.T
	world
}

func newTwoTasks(t *testing.T) twoTasks {
	t.Helper()
	dir, err := os.MkdirTemp(root, "crash") //nolint:usetesting // sessions run as another user, and have to get there
	if err != nil {
		t.Fatal(err)
	}
	n := twoTasks{t, world{dir}}
	t.Cleanup(n.cleanUp)
	for name, text := range map[string]string{
		"repo/plan.md":   "# Plan\n\n- [ ] **Task 1: First**\n  - Scope: `src`\n- [ ] **Task 2: Second**\n  - Scope: `src`\n  - Depends on: Task 1\n",
		"repo/verify.sh": "! grep -rq BROKEN src\n",
		"repo/src/a.txt": "a\n",
	} {
		if err := os.MkdirAll(filepath.Dir(n.path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(n.path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.furnish(); err != nil {
		t.Fatal(err)
	}
	if err := n.repo("repo"); err != nil {
		t.Fatal(err)
	}
	if err := n.takeInstalled(); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n twoTasks) out(name string, args ...string) string {
	n.t.Helper()
	out, code, err := n.output(name, args...)
	if err != nil {
		n.t.Fatal(err)
	}
	if code != 0 {
		n.t.Fatalf("%s %s: exit %d\n%s", name, strings.Join(args, " "), code, out)
	}
	return out
}

func (n twoTasks) start(crash string) *process {
	n.t.Helper()
	var env []string
	if crash != "" {
		env = []string{"NIGHTPORTER_CRASH=" + crash}
	}
	p, err := n.world.start(env, "run", "--agent", "held", "--pattern", "single")
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(p.kill)
	return p
}

// through starts the run again and again, as a person would, until it has
// ended, and returns how many of crashes it came to: each start dies at the
// next of them. Each round, the person looks whether the guidance is there, and
// says it where it is not.
func (n twoTasks) through(crashes ...string) (crashed int) {
	n.t.Helper()
	for round := 0; ; round++ {
		if round > len(crashes)+5 {
			n.t.Fatal("it never ends")
		}
		crash := ""
		if crashed < len(crashes) {
			crash = crashes[crashed]
		}
		p := n.start(crash)
		if err := n.say(p); err != nil {
			n.t.Fatal(err)
		}
		code, err := p.wait()
		if err != nil {
			n.t.Fatal(err)
		}
		switch code {
		case -9:
			if crash == "" {
				n.t.Fatalf("killed by somebody else\n%s", p.out)
			}
			crashed++
		case 0:
			return crashed
		default:
			n.t.Fatalf("exit %d\n%s", code, p.out)
		}
	}
}

var queued = regexp.MustCompile(`g\d+ queued`)

// say types the guidance once the first builder is at work, unless it is in
// the ledger already, and then lets the builder go on.
func (n twoTasks) say(p *process) error {
	if _, err := os.Stat(n.path("notes", "go")); err == nil {
		return nil // said, and the builder knows
	}
	typed := false
	err := waitFor("the guidance to be queued", func() (bool, error) {
		select {
		case <-p.done:
			return true, nil
		default:
		}
		if queued.MatchString(p.out.String()) {
			return true, nil
		}
		if _, err := os.Stat(n.path("notes", "at-go")); err != nil || typed {
			return false, nil //nolint:nilerr // it is not there yet
		}
		if n.items() > 0 {
			return true, nil
		}
		typed = true
		_ = p.write("/guidance " + guided) // it may be dead by now
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, p.out)
	}
	select {
	case <-p.done:
		return nil
	default:
	}
	return os.WriteFile(n.path("notes", "go"), nil, 0o644)
}

// items is how many directives are in the ledger.
func (n twoTasks) items() int {
	out, code, err := n.output("nightporter", "queue")
	if err != nil || code != 0 {
		return 0 // it died while it was asked: the next look will tell
	}
	return strings.Count(out, guided)
}

// result is what must be the same with and without crashes.
type result struct {
	Trees    []string // of our branch, newest first
	Subjects []string
	Plan     string
	Tasks    []string // what the progress log tells of
	Guidance string
	Prompts  int // sessions of which the guidance is in the prompt
	Branches string
}

func (n twoTasks) result() result {
	n.t.Helper()
	plan, err := os.ReadFile(n.path("repo", "plan.md"))
	if err != nil {
		n.t.Fatal(err)
	}
	log, err := os.ReadFile(n.path("repo", "plan.progress.md"))
	if err != nil {
		n.t.Fatal(err)
	}
	r := result{
		Trees:    strings.Fields(n.out("git", "-C", "repo", "log", "--format=%T", "nightporter/shop/r1")),
		Subjects: strings.Split(strings.TrimSpace(n.out("git", "-C", "repo", "log", "--format=%s", "nightporter/shop/r1")), "\n"),
		Plan:     string(plan),
		Tasks:    regexp.MustCompile(`(?m)^## .*$`).FindAllString(string(log), -1),
		Branches: n.out("git", "-C", "repo", "for-each-ref", "--format=%(refname)"),
	}
	for _, line := range strings.Split(n.out("nightporter", "evidence", "2", "--json"), "\n") {
		if m := regexp.MustCompile(`"type":"guidance.reported".*"id":"(g\d+)","state":"(\w+)"`).FindStringSubmatch(line); m != nil {
			r.Guidance += m[1] + " " + m[2] + "\n"
		}
	}
	return r
}

// check holds the run against the invariants of SPEC 13.
func (n twoTasks) check(want result) {
	n.t.Helper()
	if diff := cmp.Diff(want, n.result()); diff != "" {
		n.t.Errorf("not the same as without a crash (-want +got):\n%s", diff)
	}
	log, err := os.ReadFile(n.path("notes", "log"))
	if err != nil {
		n.t.Fatal(err)
	}
	// No session was started twice, and the guidance is, once each, in the
	// prompts of those that had it.
	started := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		f := strings.Fields(line)
		if started[f[0]] {
			n.t.Errorf("session %s was started twice:\n%s", f[0], log)
		}
		started[f[0]] = true
		prompt, err := os.ReadFile(n.path("notes", "prompt-"+f[0]))
		if err != nil {
			n.t.Fatal(err)
		}
		times := 0
		if f[3] == "2" {
			times = 1
		}
		if got := strings.Count(string(prompt), guided); got != times {
			n.t.Errorf("the guidance is %d times in the prompt of %s, want %d:\n%s", got, f[0], times, prompt)
		}
	}
	if out := n.out("nightporter", "verify"); !strings.Contains(out, "ledger whole, checked against 2 commits") {
		n.t.Errorf("verify: %s", out)
	}
	if out := n.out("nightporter", "status", "--json"); !strings.Contains(out, `"reason":"all tasks done","exit":0,"done":2,"total":2`) {
		n.t.Errorf("status: %s", out)
	}
}

// undisturbed is the result of the run without a crash.
func undisturbed(t *testing.T) result {
	t.Helper()
	n := newTwoTasks(t)
	n.through()
	want := n.result()
	if len(want.Subjects) != 3 || want.Guidance != "g1 addressed\n" || len(want.Tasks) != 2 {
		t.Fatalf("without a crash: %+v", want)
	}
	n.check(want)
	return want
}

// TestCrashPoints kills the real program at every step that an input or an
// effect goes through, and starts it again.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	want := undisturbed(t)
	runs, extra := crashRuns()
	for _, points := range runs {
		t.Run(points[0], func(t *testing.T) {
			t.Parallel()
			t.Logf("crashes: %v", points)
			n := newTwoTasks(t)
			if crashed := n.through(points...); crashed < len(points) {
				if missed := points[crashed]; extra[missed] {
					t.Logf("the run never came to %s", missed) // it has no third commit, for example
				} else {
					t.Errorf("the run never came to %s", missed)
				}
			}
			n.check(want)
		})
	}
}

// TestRandomKills kills the real program again and again at any time.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	want := undisturbed(t)
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with: -kill.seed=%d -kill.count=%d", seed, *killCount)
	random := rand.New(rand.NewPCG(seed, 0))
	n := newTwoTasks(t)
	for kill := range *killCount {
		p := n.start("")
		said := make(chan error, 1)
		go func() { said <- n.say(p) }()
		// A run without kills takes about a second.
		select {
		case <-p.done:
		case <-time.After(time.Duration(random.Int64N(int64(400 * time.Millisecond)))):
		}
		p.kill()
		if err := <-said; err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		switch code, err := p.wait(); {
		case err != nil || code != -9 && code != 0:
			t.Fatalf("kill %d: exit %d, %v\n%s", kill, code, err, p.out)
		case code == 0:
			t.Logf("through after %d kills", kill)
			n.check(want)
			n = newTwoTasks(t)
		}
	}
	n.through()
	n.check(want)
}

package crash

import (
	"flag"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/programtest"
)

var (
	killSeed  = flag.Uint64("kill.seed", 0, "seed of the random kills; 0 = a new one")
	killCount = flag.Int("kill.count", 6, "how often a run is killed at random")
	crashAll  = flag.Bool("crash.all", false, "crash at all points, and at the second and third passing of each")
)

// sampled returns a random half of the points of a test, each of which plays a night
// of its own: what one run leaves out the next one has. With -crash.all it is all of
// them.
func sampled[P any](t *testing.T, points []P) []P {
	t.Helper()
	if *crashAll {
		return points
	}
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	some := slices.Clone(points)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	some = some[:(len(some)+1)/2]
	t.Logf("%d of %d points, with -kill.seed=%d; -crash.all has all: %v", len(some), len(points), seed, some)
	return some
}

// crashSteps are the steps at which the real program is killed, in the order in
// which a run first reaches them. Each step has a point before and one after
// it. Together they cover every input and every effect in a run of two tasks
// with one guidance.
var crashSteps = []string{
	"commit:start_run", "effect:preflight", "commit:preflighted", "effect:session.start", "start", "commit:guidance", "commit:emit",
	"commit:session_exited", "effect:session.end", "effect:takeover", "commit:tree_taken", "effect:commit", "commit:commit_made", "effect:mark",
	"commit:mark_made", "effect:progress",
}

// guidedPoints are points of the second agent session, which has the guidance.
var guidedPoints = []string{"before-start:3", "after-start:3", "before-commit:emit:2", "after-commit:emit:2", "after-commit:session_exited:3", "after-commit:session_exited:4"}

// crashRuns returns the runs, each with its list of points. The process started
// after one kill is killed at the next point of the list. Adjacent points are
// in different runs, so that each crash has a recovery of its own. With
// -crash.all each point has a run of its own, and so have its second and third
// occurrence.
//
// extra contains points that a run may never reach.
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

// run is a run of two tasks, whose result can be compared with that of a run
// without crashes.
type run struct{ programtest.TwoTasks }

func newRun(t *testing.T) run { return run{programtest.NewTwoTasks(t)} }

// result is the part of a run's outcome that crashes must not change.
type result struct {
	Trees    []string // trees of our branch, newest first
	Subjects []string
	Plan     string
	Tasks    []string // tasks in the progress log
	Guidance string
	Prompts  int // number of sessions with the guidance in their prompt
	Branches string
}

func (n run) result() result {
	n.T.Helper()
	plan, err := os.ReadFile(n.Path("repo", "plan.md"))
	if err != nil {
		n.T.Fatal(err)
	}
	log, err := os.ReadFile(n.Path("repo", "plan.progress.md"))
	if err != nil {
		n.T.Fatal(err)
	}
	r := result{
		Trees:    strings.Fields(n.Out("git", "-C", "repo", "log", "--format=%T", "nightporter/shop/r1")),
		Subjects: strings.Split(strings.TrimSpace(n.Out("git", "-C", "repo", "log", "--format=%s", "nightporter/shop/r1")), "\n"),
		Plan:     string(plan),
		Tasks:    regexp.MustCompile(`(?m)^## .*$`).FindAllString(string(log), -1),
		Branches: n.Out("git", "-C", "repo", "for-each-ref", "--format=%(refname)"),
	}
	for _, line := range strings.Split(n.Out("nightporter", "evidence", "2", "--json"), "\n") {
		if m := regexp.MustCompile(`"type":"guidance.reported".*"id":"(g\d+)","state":"(\w+)"`).FindStringSubmatch(line); m != nil {
			r.Guidance += m[1] + " " + m[2] + "\n"
		}
	}
	return r
}

// check compares the run with the guarantees of docs/spec 13.
func (n run) check(want result) {
	n.T.Helper()
	if diff := cmp.Diff(want, n.result()); diff != "" {
		n.T.Errorf("not the same as without a crash (-want +got):\n%s", diff)
	}
	log, err := os.ReadFile(n.Path("notes", "log"))
	if err != nil {
		n.T.Fatal(err)
	}
	// No session was started twice, and the prompts of guided sessions contain
	// the guidance once.
	started := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		f := strings.Fields(line)
		if started[f[0]] {
			n.T.Errorf("session %s was started twice:\n%s", f[0], log)
		}
		started[f[0]] = true
		prompt, err := os.ReadFile(n.Path("notes", "prompt-"+f[0]))
		if err != nil {
			n.T.Fatal(err)
		}
		times := 0
		if f[3] == "2" {
			times = 1
		}
		if got := strings.Count(string(prompt), programtest.Guided); got != times {
			n.T.Errorf("the guidance is %d times in the prompt of %s, want %d:\n%s", got, f[0], times, prompt)
		}
	}
	if out := n.Out("nightporter", "verify"); !strings.Contains(out, "ledger whole, checked against 2 commits") {
		n.T.Errorf("verify: %s", out)
	}
	if out := n.Out("nightporter", "status", "--json"); !strings.Contains(out, `"reason":"all tasks done","exit":0,"done":2,"total":2`) {
		n.T.Errorf("status: %s", out)
	}
}

// resultWithoutCrash returns the result of a run without crashes.
func resultWithoutCrash(t *testing.T) result {
	t.Helper()
	n := newRun(t)
	n.Through()
	want := n.result()
	if len(want.Subjects) != 3 || want.Guidance != "g1 addressed\n" || len(want.Tasks) != 2 {
		t.Fatalf("without a crash: %+v", want)
	}
	n.check(want)
	return want
}

// TestCrashPoints kills and restarts the real program at every step of inputs
// and effects.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	want := resultWithoutCrash(t)
	runs, extra := crashRuns()
	for _, points := range runs {
		t.Run(points[0], func(t *testing.T) {
			t.Parallel()
			t.Logf("crashes: %v", points)
			n := newRun(t)
			if crashed := n.Through(points...); crashed < len(points) {
				if missed := points[crashed]; extra[missed] {
					t.Logf("the run never came to %s", missed) // for example, a run has no third commit
				} else {
					t.Errorf("the run never came to %s", missed)
				}
			}
			n.check(want)
		})
	}
}

// TestRandomKills kills the real program repeatedly at random times.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	want := resultWithoutCrash(t)
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with: -kill.seed=%d -kill.count=%d", seed, *killCount)
	random := rand.New(rand.NewPCG(seed, 0))
	n := newRun(t)
	for kill := range *killCount {
		p := n.Start("")
		sayErr := make(chan error, 1)
		go func() { sayErr <- n.Say(p) }()
		// A run without kills takes about a second.
		select {
		case <-p.Done:
		case <-time.After(time.Duration(random.Int64N(int64(400 * time.Millisecond)))):
		}
		p.Kill()
		if err := <-sayErr; err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		switch code, err := p.Wait(); {
		case err != nil || code != -9 && code != 0:
			t.Fatalf("kill %d: exit %d, %v\n%s", kill, code, err, p.Out)
		case code == 0:
			t.Logf("through after %d kills", kill)
			n.check(want)
			n = newRun(t)
		}
	}
	n.Through()
	n.check(want)
}

package crash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// stepsTogether are steps of runs with several sessions at a time at which the process is
// killed with -crash.all, before and after each, at the first and third passing.
var stepsTogether = []string{
	"effect:session.start", "start", "spawn", "commit:emit", "commit:session_exited", "effect:takeover", "commit:tree_taken",
	"effect:merge", "commit:tree_laid", "effect:chain", "commit:chain_made", "effect:commit", "commit:commit_made", "effect:mark", "commit:mark_made", "effect:progress",
}

// killsTogether returns the kills of each run of a kind, and which of them a run may never
// come to.
func killsTogether(t *testing.T, of together) (runs [][]string, extra map[string]bool) {
	t.Helper()
	if !*crashAll {
		return sampled(t, of.kills), nil
	}
	extra = map[string]bool{}
	runs = append(runs, of.kills...)
	for _, p := range of.phases {
		runs = append(runs, []string{"kill at " + p.name, "kill at " + p.name}, []string{"cut at " + p.name, "lose at " + p.name})
	}
	for passing := range 5 {
		point := fmt.Sprint("seal:", passing+1)
		runs, extra[point] = append(runs, []string{point}), true
	}
	for _, step := range stepsTogether {
		for _, when := range []string{"before-", "after-"} {
			for _, passing := range []int{1, 3} {
				point := fmt.Sprint(when, step, ":", passing)
				runs, extra[point] = append(runs, []string{point}), true
			}
		}
	}
	return runs, extra
}

// testKills kills runs of a kind where several sessions are in hand, and at random.
func testKills(t *testing.T, of together) {
	n := newSeveralRun(t, of)
	began := time.Now()
	n.through()
	took := time.Since(began)
	want := n.result()
	if got := strings.Join(want.Messages, ""); strings.Count(got, "Nightporter-Proof: ") != of.commits || strings.Contains(got, "Nightporter-Batch: ") != of.batch {
		t.Fatalf("without a kill: %+v", want)
	}
	n.check(want)
	runs, extra := killsTogether(t, of)
	for _, kills := range runs {
		t.Run(strings.Join(kills, ", "), func(t *testing.T) {
			t.Parallel()
			n := newSeveralRun(t, of)
			if all := n.through(kills...); all < len(kills) {
				if missed := kills[all]; extra[missed] {
					t.Logf("the run never came to %s", missed)
				} else {
					t.Errorf("the run never came to %s", missed)
				}
			}
			n.check(want)
		})
	}
	t.Run("random", func(t *testing.T) {
		t.Parallel()
		seed := *killSeed
		if seed == 0 {
			seed = rand.Uint64()
		}
		kills := *killCount
		if !*crashAll {
			kills /= 2
		}
		t.Logf("again with: -crash.all -kill.seed=%d -kill.count=%d", seed, kills)
		random := rand.New(rand.NewPCG(seed, 1))
		n, here := newSeveralRun(t, of), 0
		for range kills {
			came, ended := n.round(randomKill(random, took))
			here += came
			if ended {
				t.Logf("through after %d kills", here)
				n.check(want)
				n, here = newSeveralRun(t, of), 0
			}
		}
		n.through()
		n.check(want)
	})
	if of.moved {
		t.Run("branch moved", func(t *testing.T) {
			t.Parallel()
			moveBranch(t, of, want)
		})
	}
}

// randomKill draws a kill of a run that takes about so long. Where no phase ends before
// it, it comes with all sessions of one in hand.
func randomKill(random *rand.Rand, took time.Duration) kill {
	when := []string{"before-", "after-"}[random.IntN(2)]
	switch random.IntN(4) {
	case 0:
		return kill{point: fmt.Sprint(when, "commit:", 1+random.IntN(40))}
	case 1:
		return kill{point: fmt.Sprint(when, stepsTogether[random.IntN(len(stepsTogether))], ":", 1+random.IntN(3))}
	}
	of := []string{killProcess, killProcess, killProcess, killSessions, killAll, killAll}[random.IntN(6)]
	return kill{after: time.Duration(random.Int64N(int64(took))), of: of, holds: random.IntN(4) == 0}
}

// TestKillsTogether kills runs with several sessions at a time.
func TestKillsTogether(t *testing.T) {
	t.Parallel()
	for _, of := range sampled(t, []together{lanes, laneBatch, ultrawork, team}) {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			testKills(t, of)
		})
	}
}

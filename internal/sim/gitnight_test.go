package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	gitNights = flag.Uint64("git.nights", 2, "nights of lanes in a real git repository")
	gitSeed   = flag.Uint64("git.seed", 1, "the seed of the first of them")
)

// playGit plays a night and returns the commits that its run made, the first one first:
// tree, author, time and message. The message is without the hash of the ledger, in
// which things of one moment may have another order.
func playGit(t *testing.T, dir string, seed uint64, change func(*gitNight)) ([]string, *gitNight, *broken) {
	t.Helper()
	n, err := newGitNight(seed, dir)
	if err != nil {
		t.Fatal(err)
	}
	change(n)
	b := n.run()
	var commits []string
	if b == nil {
		log := n.mustGit(n.repo(), "log", "--reverse", "--format=%x00%T %an %at %cn %ct %B", "main..nightporter/"+gitProject+"/r1")
		for _, c := range strings.Split(log, "\x00")[1:] {
			lines := slices.DeleteFunc(strings.Split(c, "\n"), func(l string) bool { return strings.HasPrefix(l, "Nightporter-Head: ") })
			commits = append(commits, strings.Join(lines, "\n"))
		}
	}
	if err := n.close(); err != nil {
		t.Error(err)
	}
	return commits, n, b
}

// TestLines plays nights of two to eight lanes whose sessions edit the same lines, each
// three times: as it is, with a daemon that is killed again and again and starts at the
// same moment, and with one that stays away. No line is lost in any of them, and the
// first two come to the same commits. While a daemon is away, sessions go on and wait
// for it together, so the order of their commits is another one.
//
// A seed is replayed with: go test ./internal/sim -run TestLines -args -git.nights=1 -git.seed=N
func TestLines(t *testing.T) {
	dir, err := os.MkdirTemp(memoryFolder(), "nightporter-git-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var mu sync.Mutex
	calm, killed, away := gitCounts{}, gitCounts{}, gitCounts{}
	played := func(sum gitCounts, n *gitNight) {
		mu.Lock()
		defer mu.Unlock()
		sum.add(n.counts)
	}
	parallel(*gitSeed, *gitSeed+*gitNights, func(seed uint64) {
		want, n, b := playGit(t, dir, seed, func(*gitNight) {})
		if played(calm, n); b != nil {
			t.Errorf("seed %d broke %s", seed, b)
			return
		}
		got, n, b := playGit(t, dir, seed, func(n *gitNight) { n.kills = rand.New(rand.NewPCG(seed, 0xdead)) })
		if played(killed, n); b != nil {
			t.Errorf("seed %d, killed, broke %s", seed, b)
		} else if !slices.Equal(got, want) {
			t.Errorf("seed %d, killed %d times, has other commits:\n%s\nwithout that:\n%s", seed, n.counts["kills"], strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if seed%4 != 1 {
			return
		}
		_, n, b = playGit(t, dir, seed, func(n *gitNight) { n.kills, n.away = rand.New(rand.NewPCG(seed, 0xa3a1)), true })
		if played(away, n); b != nil {
			t.Errorf("seed %d, with a daemon that stays away, broke %s", seed, b)
		}
	})
	t.Logf("as it is: %s\nkilled: %s\naway: %s", calm, killed, away)
	if *gitNights > 1 && (calm["conflicts"] == 0 || killed["kills"] == 0 || away["nights"] > 0 && away["kills"] == 0) {
		t.Error("no change met another, or nobody was killed: the test shows nothing")
	}
}

// TestLinesLost plays nights whose merges take the branch's side of a conflict: the
// audit has to find it in each that has a conflict.
func TestLinesLost(t *testing.T) {
	dir, err := os.MkdirTemp(memoryFolder(), "nightporter-git-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	_, _, b := playGit(t, dir, 1, func(n *gitNight) { n.loses = true })
	if b == nil || b.name != "no line lost" {
		t.Errorf("a merge that drops a line broke %v", b)
	} else {
		t.Log(b)
	}
}

package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// BenchmarkFetchAfterAYear compares a fetch into a repository with the refs of a
// year, 73,000 sessions with a commit each, with one into a fresh repository, in
// turns. Goal: 1.2 times.
func BenchmarkFetchAfterAYear(b *testing.B) {
	repo := b.TempDir()
	for _, args := range [][]string{{"init", "--quiet"}, {"-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--allow-empty", "-m", "First"}} {
		if out, err := exec.CommandContext(b.Context(), "git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	var all []*Workspace
	for _, sessions := range []int{0, 73_000} {
		state := filepath.Join(b.TempDir(), "state")
		err := os.Mkdir(state, 0o700)
		if err != nil {
			b.Fatal(err)
		}
		w, err := Open(b.Context(), Options{State: state, Project: "shop", Repo: repo, SessionUID: -1, SessionGID: -1})
		if err != nil {
			b.Fatal(err)
		}
		base, err := w.Begin(b.Context(), ledger.Begin{Run: "r1"})
		if err != nil {
			b.Fatal(err)
		}
		ownCommits(b, w, base, sessions)
		all = append(all, w)
	}
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, w := range all {
			began := time.Now()
			u, err := w.inspect(b.Context())
			if err == nil {
				err = w.fetch(b.Context(), u, "HEAD", w.hiddenRef("r1", "head"), u.head)
			}
			if err != nil {
				b.Fatal(err)
			}
			best[i] = min(best[i], time.Since(began))
		}
	}
	for i, unit := range []string{"fresh-ms", "year-ms"} {
		b.ReportMetric(float64(best[i].Microseconds())/1000, unit)
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "year/fresh")
	b.ReportMetric(0, "ns/op") // of both: says nothing
}

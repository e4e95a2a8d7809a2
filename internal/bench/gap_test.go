package bench

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkGap is nightporter's own time from the end of a session's process
// to the order to start the next session: deciding, the durable transactions,
// the effects' way, the prompt. Git, verification, the end of a process tree
// and the start of one are left out: what stands for them answers at once.
//
// "plain" is without verification commands; "verified" has one, so that after
// each builder two sessions are started and two more results committed. Each
// with a plan of 200 tasks and with one of 2,000.
//
// Figure: the median ≤ 6 bare transactions of the store plain and ≤ 8 verified,
// the least that a durable decision can take being one; with 2,000 tasks ≤ 1.15
// times that.
func BenchmarkGap(b *testing.B) {
	for _, n := range lengths {
		b.Run(fmt.Sprintf("plain/%d", n), func(b *testing.B) { gaps(b, newFixtureOf(b, n)) })
		b.Run(fmt.Sprintf("verified/%d", n), func(b *testing.B) { gaps(b, newFixtureOf(b, n, "go test ./...")) })
	}
}

func gaps(b *testing.B, w *fixture) {
	all := map[string][]time.Duration{}
	var commits []time.Duration
	l := w.next()
	for b.Loop() {
		w.emit(l)
		commits = append(commits, w.commit())
		from := l.Hat
		ended := w.exit(l.Session)
		l = w.next()
		all[from] = append(all[from], l.at.Sub(ended))
		all[""] = append(all[""], l.at.Sub(ended))
	}
	middle, high := median(all[""])
	commit, _ := median(commits)
	b.ReportMetric(ms(middle), "gap-ms")
	b.ReportMetric(ms(high), "gap-p95-ms")
	b.ReportMetric(ms(commit), "commit-ms")
	b.ReportMetric(float64(middle)/float64(commit), "gap/commit")
	for _, hat := range []string{"planner", "builder", "reviewer"} {
		at, _ := median(all[hat])
		b.ReportMetric(ms(at), "after-"+hat+"-ms")
	}
	b.ReportMetric(0, "ns/op") // of a whole turn: says nothing
}

package bench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// How much there is in the ledger of years.
const (
	years        = 1_000_000 // entries, at least
	manyProjects = 20        // projects
	working      = 10        // of them are at work while people ask
	spread       = 7 * time.Hour
)

// BenchmarkLedger is BenchmarkCommand on a ledger of a million entries: years of
// nights in 20 projects, each night a run of 600 sessions that the real core
// decided once and that is written again and again through the store's own
// Commit, 5,000 entries a transaction, with other names and times. Ten projects
// are at work, ten ended their last run in the morning.
//
// Figure: p99 ≤ 50 ms. /digest is told apart: what it draws has a figure of its
// own, 300 ms. Baseline: one bare transaction of the store, in turns with the
// commands. "open" is what a start takes to fold the whole ledger.
func BenchmarkLedger(b *testing.B) {
	night, repos := aNight(b)
	var written, opened time.Duration
	entries := 0
	begun := time.Now()
	h := newChatFixtureOn(b, manyProjects, working, func(w *fixture) {
		began := time.Now()
		entries = nights(w, night, repos)
		written = time.Since(began)
	})
	opened = time.Since(begun) - written
	h.agents(1)
	took := map[string][]time.Duration{}
	var all, commits []time.Duration
	turn := 0
	for b.Loop() {
		h.project = h.names[turn%len(h.names)]
		who, to := admins[turn%len(admins)], h.project+": "
		asked := []request{
			{"guidance", who, to + "/guidance Sums are rounded once, at the end, and never before."},
			{"status", who, to + "/status"}, {"tasks", who, to + "/tasks"}, {"queue", who, to + "/queue"}, {"cost", who, to + "/cost"},
		}
		if turn++; turn%4 == 0 {
			asked = append(asked, request{"digest", who, to + "/digest"})
		}
		for _, c := range asked {
			wait(b, time.Duration(rand.IntN(6000))*time.Microsecond)
			commits = append(commits, h.commit())
			d := h.receive(c)
			if took[c.kind] = append(took[c.kind], d); c.kind != "digest" {
				all = append(all, d)
			}
		}
	}
	h.replied()
	p50, p99, most := tail(all)
	commit, slow, _ := tail(commits)
	b.ReportMetric(float64(entries), "entries")
	b.ReportMetric(written.Seconds(), "write-s")
	b.ReportMetric(opened.Seconds(), "open-s")
	b.ReportMetric(float64(len(all)), "commands")
	b.ReportMetric(ms(p50), "p50-ms")
	b.ReportMetric(ms(p99), "p99-ms")
	b.ReportMetric(ms(most), "max-ms")
	b.ReportMetric(ms(commit), "commit-ms")
	b.ReportMetric(ms(slow), "commit-p99-ms")
	b.ReportMetric(float64(p50)/float64(commit), "p50/commit")
	b.ReportMetric(float64(p99)/float64(slow), "p99/commit-p99")
	took["digest-text"] = h.read
	for kind, each := range took {
		p50, p99, _ := tail(each)
		b.ReportMetric(ms(p50), kind+"-ms")
		b.ReportMetric(ms(p99), kind+"-p99-ms")
	}
	b.ReportMetric(0, "ns/op") // of a whole round: says nothing
}

// aNight is a run of 200 tasks from its first entry to its last, as the real
// core decided it: the project's and the shared entries, in order.
func aNight(b *testing.B) (all []ledger.Record, repos string) {
	return nightOf(b, newFixture(b), defaultTasks)
}

// nightOf plays a fixture's run of a number of tasks to its end.
func nightOf(b *testing.B, w *fixture, tasks int) (all []ledger.Record, repos string) {
	for range tasks * len(events) {
		l := w.next()
		w.emit(l)
		w.exit(l.Session)
	}
	for patience := 200; ; patience-- {
		s, _ := w.engine.State(w.project)
		if s.Project.Run.Over() {
			break
		}
		if patience == 0 {
			b.Fatalf("the run does not end: %+v", s.Project.Run)
		}
		wait(b, 10*time.Millisecond)
	}
	for _, stream := range []string{ledger.SharedStream, ledger.ProjectStream(w.project)} {
		err := w.ledger.Records(b.Context(), stream, 0, func(r ledger.Record) error {
			all = append(all, r)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	slices.SortStableFunc(all, func(x, y ledger.Record) int { return x.Time.Compare(y.Time) })
	return all, w.repos
}

// nights fills a ledger: every project has the same run each night, up to the
// last one, which ended this morning. repos is where the run had its
// repository. It returns the number of entries.
func nights(w *fixture, night []ledger.Record, repos string) (written int) {
	each := years/len(night)/manyProjects + 1
	last := time.Now().Add(-spread - 3*time.Hour)
	batch := ledger.Batch{}
	flush := func() {
		if _, err := w.ledger.Commit(w.b.Context(), batch); err != nil {
			w.b.Fatal(err)
		}
		written += len(batch.Records)
		batch.Records = batch.Records[:0]
	}
	for n := range each {
		begins := last.AddDate(0, 0, n+1-each)
		var copies []ledger.Record
		for project := range manyProjects {
			name, run := fmt.Sprintf("shop-%d", project+1), fmt.Sprintf("r%d", 1000*(project+1)+n)
			names := strings.NewReplacer(
				`"`+repos+`/shop"`, `"`+w.repos+"/"+name+`"`, `"shop"`, `"`+name+`"`, `"r1"`, `"`+run+`"`, `"r1-`, `"`+run+`-`, `"cost_usd":-1`, `"cost_usd":0.35`,
				`"Task `, `"Old `, // this night's plan is another one
			)
			copies = append(copies, again(night, name, run, names, begins)...)
		}
		slices.SortStableFunc(copies, func(x, y ledger.Record) int { return cmp.Compare(x.Time.UnixNano(), y.Time.UnixNano()) })
		for _, r := range copies {
			if batch.Records = append(batch.Records, r); len(batch.Records) == 5000 {
				flush()
			}
		}
	}
	flush()
	return written
}

// again is a night once more, of another project, run and time.
func again(night []ledger.Record, project, run string, names *strings.Replacer, begins time.Time) []ledger.Record {
	out := make([]ledger.Record, 0, len(night))
	id := func(s string) string {
		if s == "r1" || strings.HasPrefix(s, "r1-") {
			return run + s[len("r1"):]
		}
		return s
	}
	for n, r := range night {
		if r.Stream != ledger.SharedStream {
			r.Stream = ledger.ProjectStream(project)
		}
		r.Time = begins.Add(spread * time.Duration(n) / time.Duration(len(night)))
		if number, ok := strings.CutPrefix(r.Task, "Task "); ok {
			r.Task = "Old " + number
		}
		r.Run, r.Session, r.Seq, r.Prev, r.Hash = id(r.Run), id(r.Session), 0, nil, nil
		r.Body = []byte(names.Replace(string(r.Body)))
		out = append(out, r)
	}
	return out
}

package bench

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store/storetest"
)

// foreseen is the number of tasks that are open when the outlook is asked for.
const foreseen = 30

// BenchmarkForecast is the outlook of /plan night: what will probably get done. It is asked
// for in a run that has 30 tasks left and whose agent has a usage window, on a ledger of a
// million entries. The core decided the entries of one night; they are written again and
// again as other nights.
//
// Figure: ≤ 50 ms. Baseline: the same on the ledger of that one night, in turns.
func BenchmarkForecast(b *testing.B) {
	p := newPlayer(b, defaultTasks)
	for range defaultTasks - foreseen {
		p.task()
	}
	open := func(entries int) (loop.State, int) {
		ledgerStore := storetest.Open(b, b.TempDir())
		wrote := nightsOf(b, ledgerStore, p.entries, entries)
		e, err := engine.Open(b.Context(), engine.Options{Ledger: ledgerStore}, []string{ledger.ProjectStream("shop")})
		if err != nil {
			b.Fatal(err)
		}
		s, _ := e.State("shop")
		return s, wrote
	}
	night, few := open(len(p.entries))
	all, many := open(years/len(p.entries)*len(p.entries) + len(p.entries)) // whole nights: the last one is where the first one is
	ask := func(s loop.State) time.Duration {
		s.Shared.Windows = map[string][]loop.UsedWindow{"claude": {{UsageWindow: ledger.UsageWindow{Name: "five_hour", Used: 0.4, Resets: p.now.Add(time.Hour)}, At: p.now, Parts: []float64{0.02, 0.05, 0.03, 0.02, 0.04}}}}
		began := time.Now()
		o := loop.OutlookOf(s, p.now)
		took := time.Since(began)
		if o.Total != foreseen {
			b.Fatalf("%+v", o)
		}
		return took
	}
	var one, million []time.Duration
	for b.Loop() {
		one, million = append(one, ask(night)), append(million, ask(all))
	}
	p50, p99, _ := tail(million)
	base, _, _ := tail(one)
	b.ReportMetric(float64(few), "entries-night")
	b.ReportMetric(float64(many), "entries")
	b.ReportMetric(ms(base), "night-ms")
	b.ReportMetric(ms(p50), "p50-ms")
	b.ReportMetric(ms(p99), "p99-ms")
	b.ReportMetric(float64(p50)/float64(base), "p50/night")
	b.ReportMetric(0, "ns/op") // of a turn of both: says nothing
}

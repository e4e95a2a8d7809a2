package bench

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
	"github.com/nightporter/nightporter/store/storetest"
)

// folded is how many entries are folded for one figure. (BenchmarkLedger folds
// a million, as it opens.)
const folded = 200_000

// BenchmarkFold is the start of an engine that finds no snapshot: reading every
// entry of a ledger on the disk, decoding and folding it. The ledger has nights
// of one project, as the core decided them.
//
// Figure: 12 µs an entry, and no more with a plan of 2,000 tasks than with one
// of 200.
func BenchmarkFold(b *testing.B) {
	for _, n := range lengths {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
			}
			p := newPlayer(b, n)
			for range n {
				p.task()
			}
			ledgerStore := storetest.Open(b, b.TempDir())
			wrote := nightsOf(b, ledgerStore, p.entries, folded)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			began := time.Now()
			e, err := engine.Open(b.Context(), engine.Options{Ledger: ledgerStore}, []string{ledger.ProjectStream("shop")})
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if err != nil {
				b.Fatal(err)
			}
			if s, _ := e.State("shop"); len(s.Project.Run.DoneNow) == 0 {
				b.Fatal("nothing was folded")
			}
			b.ReportMetric(float64(wrote), "entries")
			b.ReportMetric(float64(took.Microseconds())/float64(wrote), "µs/entry")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(wrote), "B/entry")
			b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
		})
	}
}

// nightsOf writes the entries of a run again and again, each time as a run of
// another number, until there are enough. It returns how many it wrote.
func nightsOf(b *testing.B, ledgerStore *store.Store, entries []ledger.Entry, enough int) (wrote int) {
	batch := ledger.Batch{}
	flush := func() {
		if _, err := ledgerStore.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		wrote += len(batch.Records)
		batch.Records = batch.Records[:0]
	}
	for night := 0; wrote < enough; night++ {
		run := fmt.Sprintf("r%d", night+1)
		names := strings.NewReplacer(`"r1"`, `"`+run+`"`, `"r1-`, `"`+run+`-`)
		for _, e := range entries {
			if wrote+len(batch.Records) >= enough {
				break
			}
			e.Run = strings.Replace(e.Run, "r1", run, 1)
			if e.Session != "" {
				e.Session = run + strings.TrimPrefix(e.Session, "r1")
			}
			e.Time = e.Time.AddDate(0, 0, night)
			r, err := e.Record()
			if err != nil {
				b.Fatal(err)
			}
			r.Body = []byte(names.Replace(string(r.Body)))
			if batch.Records = append(batch.Records, r); len(batch.Records) == 5000 {
				flush()
			}
		}
		flush()
	}
	return wrote
}

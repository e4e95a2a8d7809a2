package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/stats"
	"github.com/nightporter/nightporter/store"
)

// statsNights are the nights of a person after which a ledger has 10⁶ entries.
const statsNights = 436

// BenchmarkStats folds a ledger of 10⁶ entries to figures: what the first /stats after a
// start takes, and the next one. The baseline reads the ledger and does nothing with it.
//
// Figure: the first at most 3 times as long as reading.
func BenchmarkStats(b *testing.B) {
	night, _ := nightOf(b, newFixtureOf(b, yearTasks), yearTasks)
	state := filepath.Join(shared(b), "state")
	entries := writeYear(b, state, night, statsNights)
	s, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	stream := ledger.ProjectStream("shop")
	var read, first, next []time.Duration
	var folded *stats.Fold
	for b.Loop() {
		began := time.Now()
		if err := s.Records(b.Context(), stream, 0, func(ledger.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
		read = append(read, time.Since(began))
		seq := int64(0)
		folded = stats.New(time.UTC)
		for _, took := range []*[]time.Duration{&first, &next} {
			began = time.Now()
			err := s.RecordsAfter(b.Context(), stream, seq, stats.Types(), func(r ledger.Record) error {
				seq = r.Seq
				e, err := r.Entry()
				folded.Apply(e)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			folded.Report(stats.Since{}, time.Now())
			*took = append(*took, time.Since(began))
		}
	}
	all := folded.Report(stats.Since{}, time.Now()).All
	if all.Done != statsNights*yearTasks || all.Sessions != 3*all.Done {
		b.Fatalf("%+v", all)
	}
	reading, _ := median(read)
	folding, _ := median(first)
	again, _ := median(next)
	b.ReportMetric(float64(entries), "entries")
	b.ReportMetric(ms(reading), "read-ms")
	b.ReportMetric(ms(folding), "first-ms")
	b.ReportMetric(float64(folding)/float64(reading), "first/read")
	b.ReportMetric(ms(again), "next-ms")
	b.ReportMetric(0, "ns/op") // of the turns: says nothing
}

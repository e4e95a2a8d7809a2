package store

import (
	"fmt"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// BenchmarkCommit is what an accepted event costs: a durable transaction with
// an entry, an effect, a settled one and the answer. On the path
// of every `hat emit`, so it counts for the figure of a call (DESIGN 4).
func BenchmarkCommit(b *testing.B) {
	for name, open := range map[string]func() ledgerStore{
		"Store":  func() ledgerStore { return mustOpen(b, b.TempDir()) },
		"Memory": func() ledgerStore { return NewMemory() },
	} {
		b.Run(name, func(b *testing.B) {
			l := open()
			var last []int64
			i := 0
			for b.Loop() {
				key := fmt.Sprintf("emit:r14-%d", i)
				i++
				r := mustCommit(b, l, ledger.Batch{
					Key: key, Time: night, Records: []ledger.Record{rec(shop, "event.accepted")},
					Effects: []ledger.PendingEffect{effect(shop, "start", key)}, Settles: last,
					Answer: []byte(`{"ok":true}`),
				})
				last = []int64{r.Effects[0].ID}
			}
		})
	}
}

// BenchmarkRepeated is what a retry of the same event costs.
func BenchmarkRepeated(b *testing.B) {
	s := mustOpen(b, b.TempDir())
	batch := ledger.Batch{Key: "emit:r14-25", Records: []ledger.Record{rec(shop, "event.accepted")}}
	mustCommit(b, s, batch)
	for b.Loop() {
		mustCommit(b, s, batch)
	}
}

// BenchmarkVerify is a ledger of 10,000 entries.
func BenchmarkVerify(b *testing.B) {
	s := mustOpen(b, b.TempDir())
	batch := ledger.Batch{}
	for range 1000 {
		batch.Records = append(batch.Records, rec(shop, "event.accepted"))
	}
	for range 10 {
		mustCommit(b, s, batch)
	}
	for b.Loop() {
		if got := breaks(b, s); got != "" {
			b.Fatal(got)
		}
	}
}

// BenchmarkOpen is what every command pays that finds no daemon.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	evening(b, mustOpen(b, dir))
	for b.Loop() {
		s, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

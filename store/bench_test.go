package store

import (
	"fmt"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// BenchmarkCommit measures the commit of an accepted event: a durable
// transaction with an entry, an effect, a settled effect and the answer. Every
// `hat emit` waits for one.
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
					Key: key, Time: entryTime, Records: []ledger.Record{rec(shop, "event.accepted")},
					Effects: []ledger.PendingEffect{effect(shop, "start", key)}, Settles: last,
					Answer: []byte(`{"ok":true}`),
				})
				last = []int64{r.Effects[0].ID}
			}
		})
	}
}

// BenchmarkRepeated measures the retry of an event that was committed.
func BenchmarkRepeated(b *testing.B) {
	s := mustOpen(b, b.TempDir())
	batch := ledger.Batch{Key: "emit:r14-25", Records: []ledger.Record{rec(shop, "event.accepted")}}
	mustCommit(b, s, batch)
	for b.Loop() {
		mustCommit(b, s, batch)
	}
}

// BenchmarkVerify verifies a ledger of 10,000 entries.
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

// BenchmarkOpen measures the start of a command that finds no daemon.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	writeEntries(b, mustOpen(b, dir))
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

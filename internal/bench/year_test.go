package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// A year of one person.
const (
	yearNights   = 365
	yearTasks    = 67 // a night, each with three sessions
	yearGuidance = 5  // items a night
	nightInputs  = 8  // inputs and effects for each session
	keptNights   = 30 // nights whose inputs and effects the daemon keeps
)

// BenchmarkYear is the start and the memory of a daemon after a year: 200
// sessions each night on a plan of its own, with guidance, written through the
// store's own Commit and pruned each night as the daemon does. The entries of a
// night are those that the real core decided once.
//
// Figures: a start within 0.5 s, 40 MB idle. "first" is the start that folds the
// whole year, because there is no snapshot. The baseline is a state folder with
// one night.
func BenchmarkYear(b *testing.B) {
	bin := program(b, "nightporter", "./cmd/nightporter", true)
	night, _ := nightOf(b, newFixtureOf(b, yearTasks), yearTasks)
	for name, nights := range map[string]int{"one": 1, "quarter": 90, "year": yearNights} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
			}
			state := filepath.Join(shared(b), "state")
			began := time.Now()
			entries := writeYear(b, state, night, nights)
			written := time.Since(began)
			first, _ := startOf(b, bin, state)
			again, rss := startOf(b, bin, state)
			b.ReportMetric(float64(entries), "entries")
			b.ReportMetric(written.Seconds(), "write-s")
			b.ReportMetric(first.Seconds(), "first-s")
			b.ReportMetric(again.Seconds(), "start-s")
			b.ReportMetric(rss, "rss-MB")
			snapshots, database := sizes(b, state)
			b.ReportMetric(snapshots, "snapshot-MB")
			b.ReportMetric(database, "database-MB")
			b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
		})
	}
}

// writeYear writes the nights of one project, the last of which ended this
// morning, and returns the number of entries.
func writeYear(b *testing.B, state string, night []ledger.Record, nights int) (written int) {
	s, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	commit := func(batch ledger.Batch) ledger.Receipt {
		r, err := s.Commit(b.Context(), batch)
		if err != nil {
			b.Fatal(err)
		}
		written += len(batch.Records)
		return r
	}
	last := time.Now().Add(-spread - 3*time.Hour)
	for n := range nights {
		begins := last.AddDate(0, 0, n+1-nights)
		run := fmt.Sprintf("r%d", n+1)
		names := strings.NewReplacer(`"plan.md"`, fmt.Sprintf(`"plan-%d.md"`, n+1), `"r1"`, `"`+run+`"`, `"r1-`, `"`+run+`-`, `"Task `, `"Old `)
		records := again(night, "shop", run, names, begins)
		for g := range yearGuidance {
			id := fmt.Sprintf("g%d", n*yearGuidance+g+1)
			for _, body := range []ledger.Body{
				ledger.GuidanceQueued{Item: guidance.Item{ID: id, Text: "Sums are rounded once, at the end, and never before.", By: "Mira", At: begins}},
				ledger.GuidanceExpired{ID: id, Why: "its task was done"},
			} {
				r, err := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: begins.Add(spread), Body: body}.Record()
				if err != nil {
					b.Fatal(err)
				}
				records = append(records, r)
			}
		}
		for at := 0; at < len(records); at += 5000 {
			commit(ledger.Batch{Time: begins, Records: records[at:min(at+5000, len(records))]})
		}
		if nights-n > keptNights {
			continue // they would be pruned
		}
		for i := range 3 * yearTasks * nightInputs {
			key := fmt.Sprintf("%s-%d", run, i)
			r := commit(ledger.Batch{Key: key, Time: begins, Answer: []byte(`{"ok":true}`), Effects: []ledger.PendingEffect{{
				Stream: ledger.ProjectStream("shop"), Kind: "session.start", Class: "findable", Key: key, Time: begins, Body: bytes.Repeat([]byte("x"), 300),
			}}})
			commit(ledger.Batch{Time: begins, Settles: []int64{r.Effects[0].ID}})
		}
	}
	return written
}

// startOf starts the daemon and stops it again. It returns the time until the
// daemon answers, and the memory that it takes some seconds later.
func startOf(b *testing.B, bin, state string) (took time.Duration, rss float64) {
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "up", "--state", state)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+state)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	changes, err := fsnotify.NewWatcher()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = changes.Close() }()
	if err := changes.Add(state); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	socket := filepath.Join(state, "nightporter.sock")
	for made := false; !made; {
		select {
		case <-changes.Events:
			_, err := os.Stat(socket)
			made = err == nil
		case <-ctx.Done():
			b.Fatalf("up does not answer: %s", out.String())
		}
	}
	took = time.Since(began)
	wait(b, 5*time.Second) // until all that belongs to a start is over
	rss = memory(b, cmd.Process.Pid)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		b.Fatalf("up: %v\n%s", err, out.String())
	}
	return took, rss
}

// sizes returns the sizes of the project's snapshot and of the database, in MB.
func sizes(b *testing.B, state string) (snapshot, database float64) {
	info, err := os.Stat(filepath.Join(state, store.Name))
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	row, err := s.Snapshot(b.Context(), ledger.ProjectStream("shop"), loop.StateVersion)
	if err != nil || row.Seq == 0 {
		b.Fatalf("no snapshot: %v", err)
	}
	return float64(len(row.Body)) / 1e6, float64(info.Size()) / 1e6
}

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// BenchmarkAdd is from the moment when an /add is handed to the engine until its task
// is durable and visible in the file, and the ledger says so: two transactions, and a
// file that is read, parsed, written anew and synced. "small" is a plan of ten tasks,
// "large" one of 1,500. Figure: p99 ≤ 50 ms. Baseline: one bare transaction of the
// store, in turns with the adds.
func BenchmarkAdd(b *testing.B) {
	b.Run("small", func(b *testing.B) { adds(b, 10) })
	b.Run("large", func(b *testing.B) { adds(b, 1500) })
}

func adds(b *testing.B, tasks int) {
	dir := b.TempDir()
	var plan strings.Builder
	for n := range tasks {
		fmt.Fprintf(&plan, "- [ ] **Task %d: Number %d**\n  - Scope: `src/`\n", n+1, n+1)
	}
	whole := []byte(plan.String())
	path := filepath.Join(dir, "plan.md")
	st, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	e, _ := scenario.RunEngine(b, engine.Options{Ledger: st, Adder: (&project.Adders{Sources: &project.Sources{Config: config.Empty}}).Open}, nil, false)
	source := ledger.SourceRef{Kind: "plan", Path: "plan.md"}
	var all, commits []time.Duration
	for b.Loop() {
		for n := range 200 {
			if n%100 == 0 { // the plan does not grow beyond what is measured
				if err := os.WriteFile(path, whole, 0o644); err != nil {
					b.Fatal(err)
				}
				wait(b, 100*time.Millisecond) // nobody has the file in hand when an /add comes
			}
			key := fmt.Sprintf("add %d", len(all))
			begun := time.Now()
			if _, err := st.Commit(b.Context(), ledger.Batch{Key: "bare " + key, Time: begun, Answer: []byte("{}")}); err != nil {
				b.Fatal(err)
			}
			commits = append(commits, time.Since(begun))
			begun = time.Now()
			a, err := e.Do(b.Context(), loop.Input{Key: key, Project: "shop", Actor: "console", Body: loop.AddTasks{
				Tasks: []ledger.Task{{Title: key}}, Repo: dir, Source: source,
			}})
			all = append(all, time.Since(begun))
			s, _ := e.State("shop")
			if added, ok := s.Project.Addition(a.ID); err != nil || !ok || len(added.IDs) != 1 || added.Found {
				b.Fatalf("%v %+v %+v", err, a, added)
			}
			if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), key+"**") {
				b.Fatalf("%s is not in the file: %v", key, err)
			}
		}
	}
	p50, p99, most := tail(all)
	commit, slow, _ := tail(commits)
	b.ReportMetric(ms(p50), "p50-ms")
	b.ReportMetric(ms(p99), "p99-ms")
	b.ReportMetric(ms(most), "max-ms")
	b.ReportMetric(ms(commit), "commit-ms")
	b.ReportMetric(ms(slow), "commit-p99-ms")
	b.ReportMetric(0, "ns/op")
}

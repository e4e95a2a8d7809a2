package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// besieged are the attacks of BenchmarkSiege, each as internal/siege names it.
var besieged = []string{"idle", "slow", "connect", "large", "stream", "deep", "odd", "emit", "events", "note", "tasks", "token", "files", "lines", "oneline", "escapes"}

const (
	siegeTurn   = 3 * time.Second // of each attack, and of peace after it
	siegeRounds = 2
	siegeTasks  = 400
)

// phase is a time of an attack, or of peace before it.
type phase struct {
	attack       string
	peace        bool
	began, ended time.Time
	replies      []time.Duration
	cpu          time.Duration
}

// BenchmarkSiege is a night of one project, and replies on the phone, while the
// session of another project attacks the daemon: each attack in turns with
// peace, in the same daemon. Everything is real but Telegram.
//
// Figure: no attack makes the median gap more than 1.5 times as long.
func BenchmarkSiege(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("what a process takes is read from Linux's /proc")
	}
	for b.Loop() {
	}
	attacks := besieged
	if only := os.Getenv("SIEGE"); only != "" {
		attacks = strings.Fields(only)
	}
	p := startDaemonWith(b, script, func(dir string) string {
		for name, tasks := range map[string]int{"shop": siegeTasks, "tea": 1} {
			repo := filepath.Join(dir, name)
			if name != "shop" {
				repository(b, repo, 1)
			}
			longPlan(b, repo, tasks)
		}
		siege := program(b, "siege", "./internal/siege", false)
		control := filepath.Join(dir, "control")
		for name, text := range map[string]string{"control": "", "attacker": "#!/bin/sh\nexec " + siege + " -control " + control + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		return fmt.Sprintf("\n[agents.siege]\ncommand = [\"./attacker\"]\n\n[[project]]\nname = \"tea\"\nrepo = %q\nsource = \"plan:plan.md\"\nprofile = \"overnight\"\nagent = \"siege\"\nstart = \"auto\"\n", filepath.Join(dir, "tea"))
	})
	p.projects = append(p.projects, "tea")
	users := []far.User{{ID: 48213377, Name: "Mira"}}
	for n := range 5 {
		users = append(users, far.User{ID: int64(51120934 + n), Name: fmt.Sprintf("Ben %d", n+1)})
	}
	for _, u := range users {
		p.pair(u)
	}
	p.session()
	wait(b, 10*time.Second) // until all that belongs to a start is over

	pid := p.cmd.Process.Pid
	var phases []phase
	most, files := 0.0, 0
	said := 0
	for range siegeRounds {
		for _, attack := range attacks {
			for _, peace := range []bool{true, false} {
				name := attack
				if peace {
					name = ""
				}
				if err := os.WriteFile(filepath.Join(p.dir, "control"), []byte(name), 0o600); err != nil {
					b.Fatal(err)
				}
				wait(b, 300*time.Millisecond) // until it has begun
				ph := phase{attack: attack, peace: peace, began: time.Now()}
				before := cpu(b, pid)
				var asked sync.WaitGroup
				asked.Go(func() {
					for time.Since(ph.began) < siegeTurn {
						said++
						ph.replies = append(ph.replies, answered(b, p.far, users[said%len(users)], "/guidance Sums are rounded once, at the end."))
						wait(b, 350*time.Millisecond)
					}
				})
				for time.Since(ph.began) < siegeTurn {
					most, files = max(most, memory(b, pid)), max(files, open(b, pid))
					wait(b, 100*time.Millisecond)
				}
				ph.ended = time.Now()
				ph.cpu = cpu(b, pid) - before
				asked.Wait()
				phases = append(phases, ph)
			}
		}
	}
	spans, _ := spansOf(b, p.state, "shop")
	worst, worstReply := 0.0, 0.0
	for _, attack := range attacks {
		var gaps, replies [2][]time.Duration
		var used [2]time.Duration
		for _, ph := range phases {
			if ph.attack != attack {
				continue
			}
			at := 0
			if ph.peace {
				at = 1
			}
			used[at] += ph.cpu
			replies[at] = append(replies[at], ph.replies...)
			for _, s := range spans {
				if s.began.After(ph.began) && s.ended.Before(ph.ended) {
					gaps[at] = append(gaps[at], s.took())
				}
			}
		}
		gap, _ := median(gaps[0])
		base, _ := median(gaps[1])
		reply, _ := median(replies[0])
		way, _ := median(replies[1])
		ratio, replyRatio := float64(gap)/float64(max(base, 1)), float64(reply)/float64(max(way, 1))
		b.Logf("%-8s gap %6.0f ms (%d) / %6.0f ms (%d) = %.2f   reply %6.0f / %6.0f = %.2f   cpu %.1f / %.1f s", attack, ms(gap), len(gaps[0]), ms(base), len(gaps[1]), ratio, ms(reply), ms(way), replyRatio, used[0].Seconds(), used[1].Seconds())
		worst, worstReply = max(worst, ratio), max(worstReply, replyRatio)
	}
	b.ReportMetric(worst, "worst-gap/peace")
	b.ReportMetric(worstReply, "worst-reply/peace")
	b.ReportMetric(most, "rss-MB")
	b.ReportMetric(float64(files), "files")
	b.ReportMetric(float64(recordsOf(b, p.state, "tea")), "entries-of-attacker")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
	if os.Getenv("SIEGE") != "" {
		b.Logf("%s", p.out)
	}
}

// longPlan commits a plan of so many tasks.
func longPlan(b *testing.B, repo string, tasks int) {
	b.Helper()
	var plan strings.Builder
	for n := 1; n <= tasks; n++ {
		fmt.Fprintf(&plan, "- [ ] **Task %d: Write a line**\n  - Scope: `folder7/`\n  - Acceptance:\n    - it is there\n", n)
	}
	if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte(plan.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	runGit(b, repo, "-c", "user.name=Mira", "-c", "user.email=mira@example.com", "commit", "--quiet", "-am", "A longer plan")
}

// open is how many files a process has open.
func open(b *testing.B, pid int) int {
	b.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		b.Fatal(err)
	}
	return len(names)
}

// recordsOf is how many entries of a project the ledger has.
func recordsOf(b *testing.B, state, project string) int {
	b.Helper()
	ledgerStore, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer ledgerStore.Close()
	n := 0
	if err := ledgerStore.Records(b.Context(), ledger.ProjectStream(project), 0, func(ledger.Record) error { n++; return nil }); err != nil {
		b.Fatal(err)
	}
	return n
}

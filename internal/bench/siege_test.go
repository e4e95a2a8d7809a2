package bench

import (
	"fmt"
	"math"
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

// besieged are the attacks of BenchmarkSiege, each as internal/siege names it;
// strangers are people who are not paired and write to the bot.
var besieged = []string{"idle", "slow", "connect", "large", "stream", "deep", "odd", "emit", "note", "tasks", "token", "files", "lines", "oneline", "escapes", strangers}

const strangers = "strangers"

const (
	siegeTurn   = 3 * time.Second // of each attack, and of peace after it
	siegeRounds = 2
	siegeTasks  = 1500 // more than a fast machine does meanwhile
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
		for _, attack := range besieged {
			for _, peace := range []bool{true, false} {
				name := attack
				if peace || attack == strangers {
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
				if attack == strangers && !peace {
					asked.Go(func() {
						for n := 0; time.Since(ph.began) < siegeTurn; n++ {
							who := far.User{ID: int64(90000000 + n%200), Name: "Somebody"}
							p.far.Say(who, who.ID, strings.Repeat("/pair ABCD-EFGH ", 250))
							wait(b, time.Millisecond)
						}
					})
				}
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
	spans := spansOf(b, p.state, "shop")
	var allGaps, allReplies [2][]time.Duration // under attack, in peace
	worst, worstReply := 0.0, 0.0
	for _, attack := range besieged {
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
		for at := range gaps {
			allGaps[at], allReplies[at] = append(allGaps[at], gaps[at]...), append(allReplies[at], replies[at]...)
		}
		gap, reply := ratio(gaps), ratio(replies)
		b.Logf("%-9s gap × %.2f (%d and %d gaps)  reply × %.2f  the daemon's CPU %.1f and %.1f s", attack, gap, len(gaps[0]), len(gaps[1]), reply, used[0].Seconds(), used[1].Seconds())
		worst, worstReply = max(worst, gap), max(worstReply, reply)
	}
	b.ReportMetric(ratio(allGaps), "gap/peace")
	b.ReportMetric(worst, "worst-gap/peace")
	b.ReportMetric(ratio(allReplies), "reply/peace")
	b.ReportMetric(worstReply, "worst-reply/peace")
	b.ReportMetric(most, "rss-MB")
	b.ReportMetric(float64(files), "files")
	b.ReportMetric(float64(recordsOf(b, p.state, ledger.ProjectStream("tea"))), "attacker-entries")
	b.ReportMetric(float64(recordsOf(b, p.state, ledger.SharedStream)), "shared-entries")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// ratio is the first median by the second one; without one of them, infinite.
func ratio(took [2][]time.Duration) float64 {
	first, _ := median(took[0])
	second, _ := median(took[1])
	if first == 0 || second == 0 {
		return math.Inf(1)
	}
	return float64(first) / float64(second)
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

// recordsOf is how many entries of a stream the ledger has.
func recordsOf(b *testing.B, state, stream string) int {
	b.Helper()
	ledgerStore, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer ledgerStore.Close()
	n := 0
	if err := ledgerStore.Records(b.Context(), stream, 0, func(ledger.Record) error { n++; return nil }); err != nil {
		b.Fatal(err)
	}
	return n
}

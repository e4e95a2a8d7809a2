package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	gh "github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/github"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Figures of BenchmarkFifty.
const (
	fifty        = 50
	fiftyPending = 10 // of them, with pending checks
	fiftyMinutes = 3
)

// BenchmarkFifty is `nightporter up` with fifty open requests of earlier runs in which
// nothing changes: in "quiet" all checks are done, in "pending" ten requests have one
// that is not. The baseline "none" is the same daemon with no open request. All three
// are measured at the same time.
//
// Figures: 4 calls a minute, all conditional, and one for each request with pending
// checks; 0.05 s of CPU a minute.
func BenchmarkFifty(b *testing.B) {
	bin := programs(b)
	for b.Loop() {
	}
	all := []*watcher{newWatcher(b, bin, "none", 0, 0), newWatcher(b, bin, "quiet", fifty, 0), newWatcher(b, bin, "pending", fifty, fiftyPending)}
	for _, w := range all {
		w.start(bin)
	}
	for _, w := range all {
		w.settle()
	}
	for _, w := range all {
		w.used, w.whole = w.cpu()
		w.forge.Calls()
	}
	began := time.Now()
	calls := map[*watcher][]gh.Call{}
	most := map[*watcher]int{}
	for minute := 1; minute <= fiftyMinutes; minute++ {
		wait(b, time.Until(began.Add(time.Duration(minute)*time.Minute)))
		for _, w := range all {
			now := w.forge.Calls()
			calls[w], most[w] = append(calls[w], now...), max(most[w], len(now))
		}
	}
	minutes := time.Since(began).Minutes()
	for _, w := range all {
		used, whole := w.cpu()
		b.ReportMetric((used-w.used).Seconds()/minutes, w.name+"-cpu-s/min")
		b.ReportMetric((whole-w.whole).Seconds()/minutes, w.name+"-cpu-with-git-s/min")
		b.ReportMetric(memory(b, w.cmd.Process.Pid), w.name+"-rss-MB")
		b.ReportMetric(float64(len(calls[w]))/minutes, w.name+"-calls/min")
		b.ReportMetric(float64(most[w]), w.name+"-most-calls")
		for _, c := range calls[w] {
			if !c.Conditional || c.Status != http.StatusNotModified {
				b.Errorf("%s: %s %s was answered with %d, conditional: %v", w.name, c.Method, c.Path, c.Status, c.Conditional)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// watcher is a daemon that watches requests.
type watcher struct {
	b     *testing.B
	name  string
	open  int // requests
	dir   string
	conf  string
	forge *programtest.Forge
	cmd   *exec.Cmd
	out   output
	used  time.Duration // processor time at the beginning
	whole time.Duration // with what it started
}

// newWatcher makes the state folder of a project whose last run has ended, with open
// requests of runs before it.
func newWatcher(b *testing.B, bin, name string, open, pending int) *watcher {
	b.Helper()
	w := &watcher{b: b, name: name, open: open, dir: shared(b)}
	repo := filepath.Join(w.dir, "shop")
	repository(b, repo, repoFolders)
	w.forge = programtest.StartForge(b, filepath.Join(w.dir, "forge"), repo)
	w.conf = forgeConfig(b, w.dir, repo, w.forge)
	var out bytes.Buffer
	run := exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--config", w.conf, "--state", w.state())
	run.Stdout, run.Stderr = &out, &out
	if err := run.Run(); err != nil {
		b.Fatalf("nightporter run: %v\n%s", err, out.String())
	}
	w.forge.SetState(1, "closed")
	w.add(open, pending)
	return w
}

func (w *watcher) state() string { return filepath.Join(w.dir, "state") }

// add opens requests on the forge, and writes what the ledger has of each. One of
// their checks passed; some have one that is pending.
func (w *watcher) add(open, pending int) {
	w.b.Helper()
	hub, err := github.New(github.Options{API: w.forge.URL, Owner: "acme", Name: "shop", Token: forge.Token(w.forge.Token)})
	if err != nil {
		w.b.Fatal(err)
	}
	ledgerStore, err := store.Open(w.state())
	if err != nil {
		w.b.Fatal(err)
	}
	defer ledgerStore.Close()
	var records []ledger.Record
	for n := range open {
		run := fmt.Sprintf("r%d", 100+n)
		branch := "nightporter/shop/" + run
		commit := w.forge.Commit(branch, w.forge.Login)
		w.forge.Run(commit, "test", "completed", "success", "")
		if n < pending {
			w.forge.Run(commit, "slow", "in_progress", "", "")
		}
		r, err := hub.Request(w.b.Context(), ledger.RequestDraft{Head: branch, Base: "main", Title: run, Body: "text"})
		if err != nil {
			w.b.Fatal(err)
		}
		for _, body := range []ledger.Body{
			ledger.PushBegun{Run: run, Branch: branch, Commit: commit}, ledger.BranchPushed{Run: run, Branch: branch, Commit: commit, Forge: ledger.ForgeGitHub},
			ledger.RequestBegun{Run: run, N: 1, Print: "t"}, ledger.RequestOpened{Run: run, Request: r, Print: "t"},
		} {
			rec, err := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: time.Now(), Actor: "daemon", Body: body}.Record()
			if err != nil {
				w.b.Fatal(err)
			}
			records = append(records, rec)
		}
	}
	if _, err := ledgerStore.Commit(w.b.Context(), ledger.Batch{Time: time.Now(), Records: records}); err != nil && open > 0 {
		w.b.Fatal(err)
	}
}

// start starts the daemon.
func (w *watcher) start(bin string) {
	w.b.Helper()
	w.forge.Calls()
	w.cmd = exec.CommandContext(context.WithoutCancel(w.b.Context()), bin, "up", "--config", w.conf, "--state", w.state())
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.out
	if err := w.cmd.Start(); err != nil {
		w.b.Fatal(err)
	}
	w.b.Cleanup(func() {
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
		if err := w.cmd.Wait(); err != nil {
			w.b.Errorf("nightporter up: %v\n%s", err, &w.out)
		}
	})
}

// settle waits until each request was looked at, and until all were asked about
// together twice: what the daemon learns once, and what it asks unconditionally once,
// is over.
func (w *watcher) settle() {
	w.b.Helper()
	looked, rounds := map[string]bool{}, 0
	for began := time.Now(); len(looked) <= w.open || w.open > 0 && rounds < 2; wait(w.b, time.Second) {
		if time.Since(began) > 5*time.Minute {
			w.b.Fatalf("%s: %d requests were looked at, and %d times all together\n%s", w.name, len(looked), rounds, &w.out)
		}
		for _, c := range w.forge.Calls() {
			of, isPull := strings.CutPrefix(c.Path, "/repos/acme/shop/pulls")
			if number, _, more := strings.Cut(strings.TrimPrefix(of, "/"), "/"); isPull && number == "" {
				rounds++
			} else if isPull && !more {
				looked[number] = true
			}
		}
	}
}

// cpu returns the processor time of the daemon, alone and with the processes that it
// waited for, which the kernel counts in hundredths of a second.
func (w *watcher) cpu() (alone, whole time.Duration) {
	w.b.Helper()
	whole, alive := usedBy(w.cmd.Process.Pid)
	if !alive {
		w.b.Fatalf("%s: the daemon has ended\n%s", w.name, &w.out)
	}
	return cpu(w.b, w.cmd.Process.Pid), whole
}

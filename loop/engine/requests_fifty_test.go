package engine_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/forge/memory"
	"github.com/nightporter/nightporter/loop/ledger"
)

// meter counts the calls that GitHub takes for looks (TestFigures of
// loop/forge/github) over time.
type meter struct {
	pending map[int]bool // requests with pending checks

	mu    sync.Mutex
	calls []time.Time
}

func (m *meter) add(calls int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, slices.Repeat([]time.Time{time.Now()}, calls)...)
}

// most returns the largest number of calls in any minute that began after a time.
func (m *meter) most(since time.Time) (calls int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := 0
	for n, at := range m.calls {
		for m.calls[first].Before(since) || at.Sub(m.calls[first]) >= time.Minute {
			if first++; first > n {
				break
			}
		}
		calls = max(calls, n-first+1)
	}
	return calls
}

// withFifty returns a run that has ended with an open request, and 49 requests of
// earlier runs.
func withFifty(t *testing.T) (*fixture, hub) {
	f, h := withRequest(t, "")
	f.stop()
	var records []ledger.Record
	for n := 2; n <= 50; n++ {
		run := fmt.Sprintf("r%d", n)
		commit := h.Forge.Push("b/"+run, "")
		r, err := h.Request(t.Context(), ledger.RequestDraft{Head: "b/" + run, Base: "main", Title: run})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []ledger.Body{
			ledger.PushBegun{Run: run, Branch: "b/" + run, Commit: commit}, ledger.BranchPushed{Run: run, Branch: "b/" + run, Commit: commit, Forge: ledger.ForgeGitHub},
			ledger.RequestBegun{Run: run, N: 1, Print: "t"}, ledger.RequestOpened{Run: run, Request: r, Print: "t"},
		} {
			rec, err := ledger.Entry{Stream: ledger.ProjectStream("p"), Time: time.Now(), Actor: "daemon", Body: b}.Record()
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, rec)
		}
	}
	if _, err := f.ledger.Commit(t.Context(), ledger.Batch{Time: time.Now(), Records: records}); err != nil {
		t.Fatal(err)
	}
	return f, h
}

// TestFiftyRequests watches fifty requests in which nothing changes: four calls a
// minute, and one for each request with pending checks.
func TestFiftyRequests(t *testing.T) {
	for _, pending := range []int{0, 10, 50} {
		t.Run(fmt.Sprint(pending, " with pending checks"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, h := withFifty(t)
				h.meter.pending = map[int]bool{}
				for n := 1; n <= pending; n++ {
					h.meter.pending[n] = true
					h.Check(n, check("lint", ledger.CheckPending))
				}
				f.open(true)
				pass(time.Minute)
				for _, b := range f.state().Project.Requests.Branches {
					if b.Seen == nil {
						t.Fatalf("%s was never looked at", b.Run)
					}
				}
				since := time.Now()
				pass(90 * time.Minute)
				if most := h.meter.most(since); most == 0 || most > 4+pending {
					t.Errorf("%d calls in a minute", most)
				}
				h.Check(33, check("lint", ledger.CheckFailed))
				pass(6 * time.Minute)
				b, _ := f.state().Project.Requests.Numbered(33)
				if b.Seen.Failing != 1 {
					t.Errorf("a check failed, and after 6 minutes it is %+v", b.Seen)
				}
			})
		})
	}
}

// TestRequestsInTurn watches requests that were opened one after the other: they are
// asked about together nevertheless.
func TestRequestsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub{memory.New(), &meter{}}
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			time.Sleep(20 * time.Second)
			return succeeded(f, l)
		})
		f.wrap = func(p engine.Ports) engine.Ports {
			p.Publisher = h
			return p
		}
		f.ports.Plan.Tasks = nil
		for n := 1; n <= 10; n++ {
			f.ports.Plan.Tasks = append(f.ports.Plan.Tasks, scenario.Task(n, fmt.Sprint("Task ", n)))
		}
		f.restart()
		s := settings()
		s.Verify, s.Push, s.Requests.PerTask = nil, ledger.PushTask, true
		f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
		pass(20 * time.Minute)
		if open := f.state().Project.Requests.Open(); len(open) != 10 || !f.state().Project.Run.Over() {
			t.Fatalf("%d requests of 10 tasks", len(open))
		}
		since := time.Now()
		pass(2 * time.Hour)
		if most := h.meter.most(since); most == 0 || most > 4 {
			t.Errorf("%d calls in a minute", most)
		}
	})
}

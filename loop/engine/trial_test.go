package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store/storetest"
)

// TestOneTrial parks an agent for what a command's last line says of a limit of
// seven days. After six hours one session of all projects tries it, and the
// others follow only once that one has worked.
func TestOneTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most, ended := 0, 0, 0
		release := make(chan struct{})
		ports := map[string]*scenario.Ports{}
		var e *engine.Engine
		for _, name := range []string{"p", "q", "r"} {
			ports[name] = scenario.NewPorts(ledger.Snapshot{Name: name, Path: "p.md", Tasks: []ledger.Task{scenario.Task(1, "One")}}, func(l ledger.Launch) ledger.Exit {
				x := scenario.Exited(l.Session, 0)
				if l.Kind != ledger.KindAgent {
					return x
				}
				mu.Lock()
				ended++
				first := ended <= 3
				if !first {
					running++
					most = max(most, running)
				}
				mu.Unlock()
				if first {
					time.Sleep(time.Minute)
					x.Code, x.Failure, x.Unverified, x.Text, x.Until = 1, ledger.FailureLimit, true, "You've hit your weekly limit", time.Now().Add(7*24*time.Hour)
					return x
				}
				<-release
				if l.Hat == "builder" {
					ports[l.Project].Write(ledger.FileChange{Path: "f", Added: 1})
					_ = scenario.Emit(t.Context(), e, l.Project, loop.Emit{Session: l.Session, Type: "build.complete", Data: []byte(`{"summary":"built","files_modified":["f"]}`)})
				} else {
					_ = scenario.Emit(t.Context(), e, l.Project, loop.Emit{Session: l.Session, Type: "review.verdict", Data: []byte(`{"summary":"fine","issues":[]}`)})
				}
				mu.Lock()
				running--
				mu.Unlock()
				return x
			})
		}
		e, _ = scenario.RunEngine(t, engine.Options{
			Ledger: storetest.Open(t, t.TempDir()),
			Ports: func(ctx context.Context, set ledger.Settings) (engine.Ports, error) {
				return ports[set.Project].Project(ctx, set)
			},
		}, nil, true)
		for name := range ports {
			s := settings()
			s.Project, s.Repo = name, "/"+name
			if a, err := e.Do(t.Context(), loop.Input{Project: name, Actor: "console", Body: loop.StartRun{Settings: s, MaxSessions: 3}}); err != nil || !a.OK {
				t.Fatalf("start of %s: %v %s", name, err, a.Text)
			}
		}
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		tried := func() int {
			mu.Lock()
			defer mu.Unlock()
			return most
		}
		if n := tried(); n != 0 {
			t.Errorf("%d sessions within the six hours", n)
		}
		time.Sleep(90 * time.Minute)
		synctest.Wait()
		if n := tried(); n != 1 {
			t.Errorf("%d sessions try the agent, want 1", n)
		}
		close(release)
		time.Sleep(time.Hour)
		synctest.Wait()
		for name := range ports {
			if s, _ := e.State(name); !s.Project.Run.Over() || s.Project.Run.Ended.Reason != ledger.ReasonDone {
				t.Errorf("%s: %+v", name, s.Project.Run)
			}
		}
	})
}

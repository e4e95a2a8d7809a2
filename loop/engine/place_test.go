package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store/storetest"
)

// recordingPlace records which sessions a place is asked for.
type recordingPlace struct {
	engine.Runner
	engine.SessionSockets

	mu    sync.Mutex
	calls []string
}

func (p *recordingPlace) record(call, session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, call+" "+session)
}

func (p *recordingPlace) recorded() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

func (p *recordingPlace) Start(ctx context.Context, l ledger.Launch) error {
	p.record("start", l.Session)
	return p.Runner.Start(ctx, l)
}

func (p *recordingPlace) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	p.record("wait", session)
	return p.Runner.Wait(ctx, session)
}

func (p *recordingPlace) End(_ context.Context, session string, _ ledger.Duration) error {
	p.record("end", session)
	return nil
}

func (p *recordingPlace) Touch(session string) { p.record("touch", session) }

func (p *recordingPlace) Screenshot(session string) ([]byte, error) {
	p.record("screenshot", session)
	return p.Runner.Screenshot(session)
}

func (p *recordingPlace) HostRequests(ctx context.Context, session string, asked func(ledger.HostRequest)) error {
	p.record("host requests", session)
	return p.Runner.HostRequests(ctx, session, asked)
}

func (p *recordingPlace) AnswerHost(session string, a ledger.HostAnswer) error {
	p.record("answer host", session)
	return p.Runner.AnswerHost(session, a)
}

func (p *recordingPlace) Open(session string) error {
	p.record("open", session)
	return nil
}

// TestPlaceOfProject runs two projects at two places. Each session is started,
// adopted after a restart, touched and ended at the place of its project.
func TestPlaceOfProject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledgerStore := storetest.Open(t, t.TempDir())
		places := map[string]*recordingPlace{}
		ports := map[string]*scenario.Ports{}
		for _, name := range []string{"p", "q"} {
			ports[name] = scenario.NewPorts(ledger.Snapshot{Name: name, Path: "p.md", Tasks: []ledger.Task{scenario.Task(1, "One")}}, func(l ledger.Launch) ledger.Exit {
				if l.Kind == ledger.KindAgent {
					<-t.Context().Done() // until the test ends
				}
				return scenario.Exited(l.Session, 0)
			})
			places[name] = &recordingPlace{Runner: ports[name], SessionSockets: ports[name]}
		}
		open := func() (*engine.Engine, func()) {
			streams, err := ledgerStore.Streams(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return scenario.RunEngine(t, engine.Options{
				Ledger: ledgerStore,
				Ports: func(ctx context.Context, set ledger.Settings) (engine.Ports, error) {
					p, err := ports[set.Project].Project(ctx, set)
					p.Place.Runner, p.Place.Sockets = places[set.Project], places[set.Project]
					return p, err
				},
			}, streams, true)
		}
		e, stop := open()
		sessions := map[string]string{}
		for name := range places {
			s := settings()
			s.Project, s.Repo = name, "/"+name
			a, err := e.Do(t.Context(), loop.Input{Project: name, Actor: "console", Body: loop.StartRun{Settings: s, MaxSessions: 2}})
			if err != nil || !a.OK {
				t.Fatalf("start of %s: %v %s", name, err, a.Text)
			}
			synctest.Wait()
			state, _ := e.State(name)
			sessions[name] = state.Project.Sessions[0].ID
		}
		stop()
		e, _ = open()
		synctest.Wait()
		for name, session := range sessions {
			e.Touch(name, session)
			a, err := e.Do(t.Context(), loop.Input{Project: name, Actor: "console", Body: loop.Stop{Now: true}})
			if err != nil || !a.OK {
				t.Fatalf("stop of %s: %v %s", name, err, a.Text)
			}
		}
		synctest.Wait()
		e.Touch("unknown", "s1")
		for name, p := range places {
			var got []string
			for _, call := range p.recorded() {
				verb, session, _ := strings.Cut(call, " ")
				if session == sessions[name] {
					got = append(got, verb)
				}
				for other, theirs := range sessions {
					if other != name && session == theirs {
						t.Errorf("the place of %s was asked: %s", name, call)
					}
				}
			}
			if want := []string{"start", "wait", "open", "wait", "touch", "end"}; !slices.Equal(got, want) {
				t.Errorf("the place of %s was asked to %v, want %v", name, got, want)
			}
		}
	})
}

package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store/storetest"
)

// hostNight runs a project whose agent sessions call do, and returns its engine and
// the launches.
func hostNight(t *testing.T, set ledger.Settings, noClosed string, do func(p *scenario.Ports, l ledger.Launch)) (*engine.Engine, func() []ledger.Launch, ledger.Answer) {
	t.Helper()
	var ports *scenario.Ports
	var launches []ledger.Launch
	ports = scenario.NewPorts(ledger.Snapshot{Name: "p", Path: "p.md", Tasks: []ledger.Task{scenario.Task(1, "One")}}, func(l ledger.Launch) ledger.Exit {
		launches = append(launches, l)
		if l.Kind == ledger.KindAgent {
			do(ports, l)
		}
		return scenario.Exited(l.Session, 0)
	})
	ports.NoClosed = noClosed
	e, _ := scenario.RunEngine(t, engine.Options{Ledger: storetest.Open(t, t.TempDir()), Ports: ports.Project}, nil, true)
	a, err := e.Do(t.Context(), loop.Input{Project: set.Project, Actor: "console", Body: loop.StartRun{Settings: set, MaxSessions: 1}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return e, func() []ledger.Launch { return launches }, a
}

// TestSessionsNetwork: a session starts with the hosts of its settings, its agent and
// the people; what it asks for besides becomes a question, whose answer reaches it.
func TestSessionsNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := settings()
		set.Network = ledger.NetworkRules{
			Mode: ledger.NetworkNone, Hosts: []string{"api.example.org"}, ReadOnly: []string{"registry.example.org"},
			Agents: map[string]ledger.AgentNetwork{set.Agent: {Hosts: []string{"models.example.org"}, Services: []string{"127.0.0.1:4000"}}},
		}
		want := ledger.HostRequest{Host: "cdn.example.org", Port: 443}
		var got ledger.HostAnswer
		e, launches, _ := hostNight(t, set, "", func(p *scenario.Ports, l ledger.Launch) {
			r := want
			r.Session = l.Session
			got, _ = p.Reach(t.Context(), r)
		})
		s, _ := e.State(set.Project)
		if len(s.Project.Questions) != 1 || s.Project.Questions[0].Kind != ledger.AskHost {
			t.Fatalf("questions: %+v", s.Project.Questions)
		}
		if _, err := e.Do(t.Context(), loop.Input{Project: set.Project, Actor: "console", Body: loop.AnswerQuestion{Question: s.Project.Questions[0].ID, Choice: "run"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !got.Allow || got.Host != want.Host {
			t.Errorf("the session was answered %+v", got)
		}
		for n, l := range launches() {
			hosts := []string{"api.example.org"}
			if l.Kind == ledger.KindAgent {
				hosts = append(hosts, "models.example.org")
			}
			if l.Kind == ledger.KindAgent && n > 0 && slices.Contains(l.Network.Hosts, "cdn.example.org") { // after the answer
				hosts = []string{"api.example.org", "cdn.example.org", "models.example.org"}
			}
			if l.Network.Mode != ledger.NetworkNone || !l.Network.Asks || !slices.Equal(l.Network.Hosts, hosts) || !slices.Equal(l.Network.ReadOnly, set.Network.ReadOnly) {
				t.Errorf("%s starts with %+v, want the hosts %v", l.Session, l.Network, hosts)
			}
		}
	})
}

// TestNoClosedNetwork: where a machine has no closed network, a run that needs one
// does not start, and nothing is run with an open one instead.
func TestNoClosedNetwork(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ledger.Settings)
		remedy string
	}{
		"asked for": {func(s *ledger.Settings) { s.Network.Mode = ledger.NetworkNone }, "by level 3"},
		"setup":     {func(s *ledger.Settings) { s.Network.Setup = ledger.NetworkNone }, "by level 3"},
		"strangers": {func(s *ledger.Settings) { s.Source.Foreign = true }, "/net open"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := settings()
				c.change(&set)
				e, launches, _ := hostNight(t, set, "no user namespaces", func(*scenario.Ports, ledger.Launch) {})
				s, _ := e.State(set.Project)
				r := s.Project.Run
				if r == nil || r.Ended == nil || r.Ended.Reason != ledger.ReasonPreflight || !strings.Contains(r.Ended.Text, "no user namespaces") {
					t.Fatalf("the run: %+v", r)
				}
				if n := len(launches()); n > 0 {
					t.Errorf("%d sessions ran", n)
				}
			})
		})
	}
}

// TestKeptOpen: a person who keeps the network open lets such a run work.
func TestKeptOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := settings()
		set.Source.Foreign = true
		e, launches, _ := hostNight(t, set, "no user namespaces", func(*scenario.Ports, ledger.Launch) {})
		for _, b := range []loop.InputBody{loop.KeepNetworkOpen{Until: time.Now().Add(time.Hour)}, loop.StartRun{Settings: set, MaxSessions: 1}} {
			if a, err := e.Do(t.Context(), loop.Input{Project: set.Project, Actor: "console", Body: b}); err != nil || !a.OK {
				t.Fatalf("%T: %v %+v", b, err, a)
			}
		}
		synctest.Wait()
		if len(launches()) == 0 {
			t.Fatal("no session ran")
		}
		for _, l := range launches() {
			if l.Network.Mode != "" {
				t.Errorf("%s: %+v", l.Session, l.Network)
			}
		}
	})
}

// TestHostsMissed: what the start commit's verification lacks in a closed network is
// told before the night, once, whether it passes or not: hosts that nobody allowed
// meanwhile, and services of the machine.
func TestHostsMissed(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		check  bool
		want   ledger.HostsMissed
	}{
		"green":          {"", false, ledger.HostsMissed{Hosts: []string{"cdn.example.org", "git.example.org:8443"}}},
		"green, a check": {"", true, ledger.HostsMissed{Hosts: []string{"cdn.example.org", "git.example.org:8443"}}},
		"red":            {"dial tcp 127.0.0.1:5432: connect: connection refused\ndial tcp 127.0.0.1:4000: connect: connection refused", false, ledger.HostsMissed{Hosts: []string{"cdn.example.org", "git.example.org:8443"}, Services: []string{"127.0.0.1:5432"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := settings()
				set.Network = ledger.NetworkRules{Mode: ledger.NetworkNone, Services: []string{"127.0.0.1:4000"}}
				var ports *scenario.Ports
				ports = scenario.NewPorts(ledger.Snapshot{Name: "p", Path: "p.md", Tasks: []ledger.Task{scenario.Task(1, "One")}}, func(l ledger.Launch) ledger.Exit {
					x := scenario.Exited(l.Session, 0)
					if l.Kind != ledger.KindBaseline {
						return x
					}
					for _, r := range []ledger.HostRequest{{Host: "cdn.example.org", Port: 443}, {Host: "cdn.example.org", Port: 80}, {Host: "npm.example.org", Port: 443}, {Host: "git.example.org", Port: 8443}} {
						r.Session = l.Session
						ctx, stop := context.WithTimeout(t.Context(), time.Minute)
						_, _ = ports.Reach(ctx, r)
						stop()
					}
					if c.output != "" {
						x.Code, x.Tail = 1, c.output
					}
					return x
				})
				db := storetest.Open(t, t.TempDir())
				e, _ := scenario.RunEngine(t, engine.Options{Ledger: db, Ports: ports.Project}, nil, true)
				do := func(b loop.InputBody) {
					if a, err := e.Do(t.Context(), loop.Input{Project: set.Project, Actor: "console", Body: b}); err != nil || !a.OK {
						t.Fatalf("%T: %+v %v", b, a, err)
					}
				}
				do(loop.StartRun{Settings: set, MaxSessions: 1, Check: c.check})
				time.Sleep(150 * time.Second)
				do(loop.AllowHost{Host: "npm.example.org"})
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				var got []ledger.HostsMissed
				if err := db.Records(t.Context(), ledger.ProjectStream(set.Project), 0, func(r ledger.Record) error {
					var m ledger.HostsMissed
					if r.Type != m.EntryType() {
						return nil
					}
					err := json.Unmarshal(r.Body, &m)
					got = append(got, m)
					return err
				}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]ledger.HostsMissed{c.want}, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestHostsWanted: hosts that an agent asks for, and that nobody named or allowed, are
// told before the night; only where its sessions may have a closed network.
func TestHostsWanted(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ledger.Settings)
		want   []ledger.HostsMissed
	}{
		"closed":    {func(s *ledger.Settings) { s.Network.Mode = ledger.NetworkNone }, []ledger.HostsMissed{{Agent: "claude", Hosts: []string{"login.example.org", "models.example.org:8443"}}}},
		"strangers": {func(s *ledger.Settings) { s.Source.Foreign = true }, []ledger.HostsMissed{{Agent: "claude", Hosts: []string{"login.example.org", "models.example.org:8443"}}}},
		"ports":     {func(s *ledger.Settings) { s.Network.Mode = ledger.NetworkPorts }, nil},
		"open":      {func(*ledger.Settings) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := settings()
				set.Agent = "claude"
				set.Network.ReadOnly = []string{"*.registry.example.org"}
				set.Network.Agents = map[string]ledger.AgentNetwork{"claude": {Hosts: []string{"Models.example.org.", "git.intern:2222=10.0.0.5"}}}
				c.change(&set)
				ports := scenario.NewPorts(ledger.Snapshot{Name: "p", Path: "p.md", Tasks: []ledger.Task{scenario.Task(1, "One")}}, func(l ledger.Launch) ledger.Exit { return scenario.Exited(l.Session, 0) })
				ports.Wanted = map[string][]ledger.HostUse{"claude": {
					{Host: "models.example.org", Port: 443}, {Host: "login.example.org", Port: 443}, {Host: "login.example.org", Port: 80},
					{Host: "models.example.org", Port: 8443}, {Host: "a.registry.example.org", Port: 443}, {Host: "git.intern", Port: 2222}, {Host: "allowed.example.org", Port: 443},
				}}
				db := storetest.Open(t, t.TempDir())
				e, _ := scenario.RunEngine(t, engine.Options{Ledger: db, Ports: ports.Project}, nil, true)
				for _, b := range []loop.InputBody{loop.StartRun{Settings: set, MaxSessions: 1, Check: true}, loop.AllowHost{Host: "allowed.example.org"}, loop.StartRun{Settings: set, MaxSessions: 1}} {
					if a, err := e.Do(t.Context(), loop.Input{Project: set.Project, Actor: "console", Body: b}); err != nil || !a.OK {
						t.Fatalf("%T: %+v %v", b, a, err)
					}
					synctest.Wait()
				}
				var got []ledger.HostsMissed
				if err := db.Records(t.Context(), ledger.ProjectStream(set.Project), 0, func(r ledger.Record) error {
					var m ledger.HostsMissed
					if r.Type != m.EntryType() {
						return nil
					}
					err := json.Unmarshal(r.Body, &m)
					got = append(got, m)
					return err
				}); err != nil {
					t.Fatal(err)
				}
				if len(got) > 0 { // of the check, before the host was allowed
					got = got[1:]
				}
				if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

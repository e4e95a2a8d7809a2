package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/tui"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// watchReply is one answer of the view "watch".
type watchReply struct {
	scene tui.Scene
	reply api.Reply
	err   error
}

func watchAnswer(ctx context.Context, d *operator.Service, project, seen string) watchReply {
	l := watchReply{}
	l.reply, l.err = d.View(ctx, api.View{Name: api.ViewWatch, Project: project, Args: map[string]string{api.ArgSeen: seen}})
	if l.err == nil && l.reply.OK {
		l.err = json.Unmarshal(l.reply.Data, &l.scene)
	}
	return l
}

// TestWatch checks that the view answers at once to a new client, and otherwise
// only when the scene has changed.
func TestWatch(t *testing.T) {
	p, _ := daemontest.Open(t, daemontest.Config(t, "manual"))
	d := p.Operator
	first := watchAnswer(t.Context(), d, "", "")
	if first.err != nil || first.scene.Project != "shop" || first.scene.Word != "idle" || first.scene.Zone != "Europe/Berlin" || first.scene.Version == "" {
		t.Fatalf("%+v", first)
	}
	if r := watchAnswer(t.Context(), d, "nope", ""); r.reply.OK || !strings.Contains(r.reply.Text, `no project "nope"`) || !strings.Contains(r.reply.Text, "shop") {
		t.Errorf("%+v", r)
	}
	waits := func(seen string) <-chan watchReply {
		t.Helper()
		got := make(chan watchReply, 1)
		go func() { got <- watchAnswer(t.Context(), d, "shop", seen) }()
		p.Changes.Ring() // a signal alone is no change of the scene
		select {
		case l := <-got:
			t.Fatalf("answered, and nothing has changed: %+v", l)
		case <-time.After(50 * time.Millisecond):
		}
		return got
	}
	comes := func(got <-chan watchReply) watchReply {
		t.Helper()
		select {
		case l := <-got:
			return l
		case <-time.After(daemontest.Patience):
			t.Fatal("not answered")
			return watchReply{}
		}
	}
	// A change that is not in the ledger counts too.
	got := waits(first.scene.Version)
	p.Projects.Warn("shop", project.AboutStart, "! not started: the plan is gone")
	p.Changes.Ring()
	second := comes(got)
	if second.err != nil || second.scene.Version == first.scene.Version || !strings.Contains(strings.Join(second.scene.Remarks, "\n"), "the plan is gone") {
		t.Errorf("%+v", second)
	}
	got = waits(second.scene.Version)
	if a, err := p.Engine.Do(t.Context(), loop.Input{Key: "k1", Actor: "console", Name: "Mira", Project: "shop", Body: loop.Guide{Text: "Keep \x1b[2Jit"}}); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	third := comes(got)
	if third.err != nil || len(third.scene.Guidance) != 1 || third.scene.Guidance[0].Text != "Keep it" || third.scene.Guidance[0].Where != "queued" {
		t.Errorf("%+v", third)
	}
	// A request ends when its client goes away or the daemon stops.
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan watchReply, 1)
	go func() { gone <- watchAnswer(ctx, d, "shop", third.scene.Version) }()
	cancel()
	if l := comes(gone); l.err != nil {
		t.Error(l.err)
	}
	got = waits(third.scene.Version)
	go p.Stop()
	if l := comes(got); !errors.Is(l.err, api.ErrLater) {
		t.Errorf("%+v", l)
	}
}

// TestWatchZone: the screen, its log and what its keys show have the times of the
// configured zone, wherever the daemon and its reader are.
func TestWatchZone(t *testing.T) {
	y, m, d := time.Now().UTC().AddDate(0, 0, -1).Date()
	at := time.Date(y, m, d, 23, 30, 0, 0, time.UTC)
	for _, c := range []struct{ timezone, name, clock string }{
		{"Asia/Tokyo", "Asia/Tokyo", "08:30"},
		{"", "", at.Local().Format("15:04")}, // the zone of the daemon's machine
	} {
		cfg := daemontest.Config(t, "manual")
		cfg.Timezone = c.timezone
		p, _ := daemontest.Open(t, cfg)
		r, err := ledger.Entry{Stream: ledger.ProjectStream("shop"), Run: "r1", Session: "r1-1", Task: "Task 1", Time: at, Body: ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Counts: ledger.CountsAsSuccess}}.Record()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Store.Commit(t.Context(), ledger.Batch{Time: at, Records: []ledger.Record{r}}); err != nil {
			t.Fatal(err)
		}
		l := watchAnswer(t.Context(), p.Operator, "shop", "")
		if l.err != nil || l.scene.Zone != c.name || len(l.scene.Events) != 1 || !strings.Contains(l.scene.Events[0], c.clock+" ") {
			t.Errorf("%q: %+v", c.timezone, l)
		}
		if want := time.Now().In(p.Projects.Zone()).Format("-0700"); time.Now().In(time.FixedZone("", l.scene.Offset)).Format("-0700") != want {
			t.Errorf("%q: offset %d, want %s", c.timezone, l.scene.Offset, want)
		}
		p.Stop()
	}
}

// TestTimelines checks a run's sessions on repeated reads: new sessions are
// added, another run starts over, and an ended session is not shown as running.
func TestTimelines(t *testing.T) {
	p, _ := daemontest.Open(t, daemontest.Config(t, "manual"))
	at := time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)
	keep := func(run, session string, body ledger.Body) {
		t.Helper()
		at = at.Add(time.Minute)
		r, err := ledger.Entry{Stream: ledger.ProjectStream("till"), Run: run, Session: session, Time: at, Body: body}.Record()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Store.Commit(t.Context(), ledger.Batch{Time: at, Records: []ledger.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
	planned := func(hat string) ledger.Body { return ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: hat} }
	ended := ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Counts: ledger.CountsAsSuccess}
	var lines operator.Timelines
	shows := func(run, inHand, want string) {
		t.Helper()
		s := loop.State{}
		s.Project.Name, s.Project.Run = "till", &loop.Run{ID: run}
		if inHand != "" {
			s.Project.Sessions = []loop.Session{{ID: inHand}}
		}
		for range 2 { // looking changes nothing
			all, err := lines.Read(t.Context(), p.Store, s)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range all {
				took := "live"
				if !x.Live {
					took = x.End.Sub(x.Start).String()
				}
				got = append(got, x.Hat+" "+took)
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s shows %q, want %q", run, got, want)
			}
		}
	}
	if all, err := lines.Read(t.Context(), p.Store, loop.State{}); err != nil || len(all) > 0 {
		t.Error("of no run:", all, err)
	}
	shows("r1", "", "")
	keep("r1", "r1-1", planned("planner"))
	shows("r1", "r1-1", "planner live")
	keep("r1", "r1-1", ended)
	keep("r1", "r1-2", planned("builder"))
	shows("r1", "r1-2", "planner 1m0s, builder live")
	keep("r1", "r1-2", ended)
	keep("r2", "r2-1", planned("fixer"))
	keep("r2", "r2-1", ended)
	keep("r2", "r2-2", planned("reviewer"))
	shows("r1", "", "planner 1m0s, builder 1m0s")
	shows("r2", "r2-2", "fixer 1m0s, reviewer live")
	shows("r2", "", "fixer 1m0s") // planned after the state was read
	keep("r2", "r2-2", ended)
	shows("r2", "", "fixer 1m0s, reviewer 1m0s")
}

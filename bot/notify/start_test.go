package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestStart checks what becomes of the message in which Mira confirms a start, and what
// Ana is told.
func TestStart(t *testing.T) {
	preflight := func(p *fixture, boundary int) {
		base := p.Base("r1")
		base.Boundary = boundary
		p.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{Run: "r1", Base: base, Snapshot: ledger.Snapshot{Name: "checkout", Path: p.Settings().Source.Path, Tasks: []ledger.Task{scenario.Task(1, "Extract price rules")}}}})
		p.Until(func() bool { return !p.State.Project.Run.Started.IsZero() })
	}
	started, live := "● shop r1 started, 1 task", "● shop 0/1 · #1 planner · 23:10"
	for _, c := range []struct {
		name, choice string
		then         func(p *fixture)
		mira         []string // all messages of her chat in the end
		miraSound    string   // first line of the one with a sound
		ana          []string
	}{
		{"started", "start", func(p *fixture) { preflight(p, 3) }, []string{started, live}, "", []string{started, live}},
		{"as review", "review", func(p *fixture) { preflight(p, 3) }, []string{started, live}, "", []string{started, live}},
		// Sessions that are not shut in are told with a sound, which no edit makes.
		{"not shut in", "start", func(p *fixture) { preflight(p, 1) }, []string{"✓ q1 Start, by Mira 23:10", started, live}, started, []string{started, live}},
		{"refused", "start", func(p *fixture) {
			p.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{Run: "r1", Problems: []ledger.Diagnostic{{Text: "claude is not logged in"}}}})
		}, []string{"✓ q1 Start, by Mira 23:10", "✗ shop not started: 1 problem"}, "✗ shop not started: 1 problem", []string{"✗ shop not started: 1 problem"}},
		// The run that a terminal starts later is not the one that was confirmed.
		{"canceled, then at the host", "cancel", func(p *fixture) {
			p.Do(loop.Input{Key: "host", Actor: "console", Body: loop.StartRun{Settings: p.Settings()}})
			preflight(p, 3)
		}, []string{"✓ q1 Cancel, by Mira 23:10", started, live}, "", []string{started, live}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newFixture(t)
			set := p.Settings()
			set.Stays = true
			p.Do(loop.Input{Key: "tg:run", Actor: mira, Name: "Mira", Body: loop.OfferRun{Settings: set, Review: &ledger.Limits{Profile: "review", OnBlocked: ledger.OnBlockedStop, MaxTasks: 5}, MaxSessions: 1, Tasks: 1, First: "Task 1"}})
			p.Do(loop.Input{Key: "tg:answer", Actor: mira, Name: "Mira", Body: loop.AnswerQuestion{Question: "q1", Choice: c.choice}})
			c.then(p)
			for _, who := range []struct {
				id   string
				want []string
			}{{mira, c.mira}, {ana, c.ana}} {
				var got []string
				for _, s := range p.chats[who.id].shown {
					got = append(got, s.m.First())
				}
				if diff := cmp.Diff(who.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", who.id, diff)
				}
			}
			sound := ""
			for _, line := range p.chats[mira].log {
				if _, first, ok := strings.Cut(line, " sound "); ok {
					sound = first
				}
			}
			if sound != c.miraSound {
				t.Errorf("Mira hears %q, want %q", sound, c.miraSound)
			}
		})
	}
}

// TestLanesProposed: a run that nobody was asked about, by the clock or by itself, says
// that several lanes would make it faster, if the configuration allows them.
func TestLanesProposed(t *testing.T) {
	for most, want := range map[int]bool{0: true, 1: false} {
		p := newFixture(t)
		p.n = notify.New(notify.Options{ChatsWith: p.where, Zone: func() *time.Location { return zone }, Most: func() int { return most }})
		var tasks []ledger.Task
		for n := range 10 {
			x := scenario.Task(n+1, "Endpoint")
			x.Scope = fmt.Sprintf("`src/%d/`", n)
			tasks = append(tasks, x)
		}
		p.Start(p.Settings(), p.Base("r1"), tasks...)
		p.Until(func() bool { return !p.State.Project.Run.Started.IsZero() })
		said := ""
		for _, s := range p.chats[mira].shown {
			if text := s.m.Text(0); strings.HasPrefix(text, "● shop r1 started") {
				said = text
			}
		}
		if got := strings.Contains(said, "10 tasks are independent: 4 at a time would be faster. Another night: parallel = 4 in its [[project]].\n"); got != want {
			t.Errorf("with %d sessions allowed:\n%s", most, said)
		}
	}
}

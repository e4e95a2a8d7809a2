package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Plans of two lengths: nothing that is done for one task may take longer
// because the plan has ten times as many.
var lengths = []int{defaultTasks, 10 * defaultTasks}

// BenchmarkDecide is the core alone: what loop.Decide takes for each input of
// a run, with verification, and with the source read again after each mark that
// is written into it. Every tenth task depends on the one before. Effects answer
// at once.
//
// Figure: p99 ≤ 5 ms with 2,000 tasks. Baseline: the same with 200.
func BenchmarkDecide(b *testing.B) {
	for _, n := range lengths {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
			}
			p := newPlayer(b, n)
			for range min(n, 2*defaultTasks) { // tasks: after so many, one is like the other
				p.task()
			}
			var all time.Duration
			for _, d := range p.took {
				all += d
			}
			p50, p99, most := tail(p.took)
			b.ReportMetric(float64(len(p.took)), "decisions")
			b.ReportMetric(ms(p50), "p50-ms")
			b.ReportMetric(ms(p99), "p99-ms")
			b.ReportMetric(ms(most), "max-ms")
			b.ReportMetric(ms(all)/float64(len(p.took)), "mean-ms")
			b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
		})
	}
}

// player carries a run on by the core alone: no engine, no store, no time that
// passes.
type player struct {
	b       *testing.B
	state   loop.State
	now     time.Time
	tasks   []ledger.Task
	waiting []ledger.Effect
	session string // of the agent that is at work
	hat     string
	trees   int
	took    []time.Duration
	entries []ledger.Entry
}

func newPlayer(b *testing.B, tasks int) *player {
	b.Helper()
	w := &fixture{b: b, repos: b.TempDir()}
	p := &player{b: b, now: time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC), tasks: planOf(tasks)}
	for n := 9; n < tasks; n += 10 {
		p.tasks[n].DependsOn = []string{p.tasks[n-1].ID}
	}
	p.start(w.settings("shop", []string{"go test ./..."}))
	return p
}

func (p *player) start(s ledger.Settings) {
	p.do(loop.StartRun{Settings: s, MaxSessions: 1})
	p.effects()
}

// read is the source as it is read from its file: no string is shared.
func (p *player) read() ledger.Snapshot {
	s := ledger.Snapshot{Name: "checkout", Path: "plan.md"}
	for _, t := range p.tasks {
		t.ID, t.Title, t.Body, t.Scope = strings.Clone(t.ID), strings.Clone(t.Title), strings.Clone(t.Body), strings.Clone(t.Scope)
		s.Tasks = append(s.Tasks, t)
	}
	return s
}

func (p *player) do(body loop.InputBody) {
	p.now = p.now.Add(time.Second)
	in := loop.Input{Key: fmt.Sprint("i", len(p.took)), Time: p.now, Actor: "daemon", Project: "shop", Body: body}
	began := time.Now()
	d := loop.Decide(p.state, in)
	p.took = append(p.took, time.Since(began))
	p.state, p.waiting = d.State, append(p.waiting, d.Effects...)
	p.entries = append(p.entries, d.Entries...)
}

// effects carries out what was decided until an agent is at work, or nothing
// is left.
func (p *player) effects() {
	for len(p.waiting) > 0 {
		e := p.waiting[0]
		p.waiting = p.waiting[1:]
		switch b := e.Body.(type) {
		case ledger.EffectPreflight:
			p.do(loop.Preflighted{Run: b.Begin.Run, Base: ledger.Base{Commit: "c0", Tree: "t0", Head: "c0", HeadName: "main", Branch: "nightporter/shop/" + b.Begin.Run, Author: "Mira <mira@example.com>"}, Snapshot: p.read()})
		case ledger.EffectStart:
			s, ok := p.state.Project.Session(b.Session)
			switch {
			case !ok:
			case s.Planned.Kind == ledger.KindAgent:
				p.session, p.hat = b.Session, s.Planned.Hat
			default:
				p.exit(b.Session)
			}
		case ledger.EffectCapture:
			p.trees++
			p.do(loop.TreeCaptured{Session: b.Request.Session, Ref: b.Request.Ref, Taken: ledger.Capture{Tree: fmt.Sprint("t", p.trees), Files: []ledger.FileChange{{Path: "cart.go", Added: 12, Removed: 3}}}})
		case ledger.EffectCommit:
			p.do(loop.CommitMade{Task: b.Task, Committed: ledger.Committed{Commit: "c" + b.Commit.Tree, Files: []ledger.FileChange{{Path: "cart.go", Added: 12, Removed: 3}}}})
		case ledger.EffectMark:
			for n := range p.tasks {
				if p.tasks[n].ID == b.Task {
					p.tasks[n].Mark = b.Mark
				}
			}
			p.do(loop.MarkMade{Task: b.Task, Mark: b.Mark})
			p.do(loop.SourceChanged{Snapshot: p.read(), Before: p.state.Project.Tasks})
		case ledger.EffectProgress:
			p.do(loop.Wake{})
		}
	}
}

func (p *player) exit(session string) {
	p.do(loop.SessionExited{Exit: ledger.Exit{Session: session, Reason: ledger.ExitSelf, Turns: 3, Tokens: 1000, CostUSD: 0.35, Started: p.now, Ended: p.now, Boundary: 3}})
}

// task carries one task from its planner to its commit.
func (p *player) task() {
	for range events {
		if p.session == "" {
			p.b.Fatalf("nobody is at work: %+v", p.state.Project.Run)
		}
		session, e := p.session, events[p.hat]
		p.session = ""
		p.do(loop.Emit{Session: session, Type: e.kind, Data: json.RawMessage(e.data)})
		p.exit(session)
		p.effects()
	}
}

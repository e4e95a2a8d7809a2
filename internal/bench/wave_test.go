package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store/storetest"
)

// waveInbox is how many reports the inbox of BenchmarkWave has.
const waveInbox = 500

// reports returns an inbox of which no two reports say the same.
func reports(n int) ledger.Snapshot {
	things := strings.Fields("avatar banner basket coupon currency discount footer gallery header invoice keyboard language margin newsletter overlay payment quantity receipt shipping toolbar wallet voucher")
	faults := strings.Fields("blank broken clipped doubled frozen hidden inverted jumping missing negative overlapping shifted stale tiny unreadable wide wrong")
	s := ledger.Snapshot{Name: "bugs", Path: "bugs.json"}
	for i := range n {
		a, c, f := things[i%22], things[(i/22+i%22+1)%22], faults[(i*5)%17]
		body := fmt.Sprintf("I clicked the %s beside the %s and saw it %s instead of as it was.", a, c, f)
		s.Tasks = append(s.Tasks, ledger.Task{
			ID: fmt.Sprintf("B%d", i+1), Title: body, Body: body, Mark: ledger.MarkOpen, Priority: i % 4,
			Report: &ledger.Report{Untitled: true, Page: "/" + a + "/" + c, Console: []string{fmt.Sprintf("TypeError: %s of %s is undefined", f, a+c)}},
		})
	}
	return s
}

// BenchmarkWave is nightporter's own time for a wave of five reports out of an inbox of
// 500, from its begin to its summary: triage, decisions, durable transactions, effects,
// prompts of the fifteen sessions of five fixes. The sessions, git and the forge answer at
// once.
//
// Figure: ≤ 2 s.
func BenchmarkWave(b *testing.B) {
	var waves []time.Duration
	var commits []time.Duration
	for b.Loop() {
		var e *engine.Engine
		ports := scenario.NewPorts(reports(waveInbox), nil)
		w := &fixture{b: b, ledger: storetest.Open(b, b.TempDir()), project: "shop", repos: b.TempDir()}
		ports.Session = func(l ledger.Launch) ledger.Exit {
			if l.Kind == ledger.KindAgent {
				ports.Write(ledger.FileChange{Path: "cart.go", Added: 1})
				of := events[l.Hat]
				data := json.RawMessage(of.data)
				if l.Hat == "reviewer" {
					data = json.RawMessage(`{"summary":"Does what the report asks for","issues":[],"review":{"passes":[{"pass":"intent","verdict":"ok","note":"read it"},{"pass":"bugs","verdict":"ok","note":"read it"}],"verdict":"ok"}}`)
				}
				if err := scenario.Emit(b.Context(), e, "shop", loop.Emit{Session: l.Session, Type: of.kind, Data: data}); err != nil {
					b.Error(err)
				}
			}
			return scenario.Exited(l.Session, 0)
		}
		set := w.settings("shop", []string{"go test ./..."})
		set.Source, set.Batch, set.MaxWaves, set.Push = ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json"}, 5, 1, ledger.PushNever
		delete(set.Roles, "triage") // rules alone: a triager is a session like others
		var began time.Time
		ended := make(chan ledger.WaveEnded, 1)
		o := engine.Options{Ledger: w.ledger, Ports: ports.Project, Observe: func(_, _ loop.State, e ledger.Entry) {
			switch x := e.Body.(type) {
			case ledger.WaveBegun:
				began = time.Now()
			case ledger.WaveEnded:
				waves = append(waves, time.Since(began))
				ended <- x
			}
		}}
		var stop func()
		e, stop = scenario.RunEngine(b, o, nil, true)
		if a, err := e.Do(b.Context(), loop.Input{Project: "shop", Actor: "console", Body: loop.StartRun{Settings: set, MaxSessions: 1}}); err != nil || !a.OK {
			b.Fatalf("start: %v %s", err, a.Text)
		}
		select {
		case x := <-ended:
			if len(x.Passed) != 5 || x.Sessions != 15 {
				b.Fatalf("the wave: %+v", x)
			}
		case <-time.After(3 * time.Minute):
			s, _ := e.State("shop")
			b.Fatalf("the wave did not end: %+v", s.Project.Run)
		}
		stop()
		commits = append(commits, w.commit())
	}
	middle, high := median(waves)
	commit, _ := median(commits)
	b.ReportMetric(ms(middle), "wave-ms")
	b.ReportMetric(ms(high), "wave-p95-ms")
	b.ReportMetric(float64(middle)/float64(commit), "wave/commit")
	b.ReportMetric(0, "ns/op")
}

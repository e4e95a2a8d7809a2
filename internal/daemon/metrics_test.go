package daemon_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestMetrics checks that the metrics for an operator's dashboard exist and
// that their labels are bounded.
func TestMetrics(t *testing.T) {
	p, _ := daemontest.Open(t, daemontest.Config(t, "manual"))
	settings, err := p.Projects.Resolve("shop", config.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.Engine.Do(t.Context(), loop.Input{Project: "shop", Actor: "daemon", Body: loop.StartRun{Settings: settings, MaxSessions: 1}}); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	for r := (*loop.Run)(nil); r == nil || !r.Over(); {
		rung := p.Changes.Next()
		st, _ := p.Engine.State("shop")
		if r = st.Project.Run; r.Over() {
			break
		}
		<-rung
	}
	// A state can be visible before the observer has seen its last entry. The
	// engine takes the next input after that.
	if err := p.Alive(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := loop.State{Project: loop.Project{Name: "shop", Sessions: []loop.Session{{ID: "r1-1", Planned: ledger.SessionPlanned{Hat: "builder"}}}}}
	p.Counted(before, ledger.Entry{Session: "r1-1", Body: ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Counts: ledger.CountsAsSuccess, Exit: ledger.Exit{CostUSD: 0.5, Tokens: 1200}}})
	p.Counted(before, ledger.Entry{Session: "r1-1", Body: ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedSilent, Counts: ledger.CountsAsFailed, Exit: ledger.Exit{CostUSD: -1, Tokens: -1}}})
	p.Counted(before, ledger.Entry{Session: "r1-1", Body: ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Counts: ledger.CountsAsSuccess, Exit: ledger.Exit{CostUSD: 0.25, Tokens: -1, PricedBy: ledger.PricedByTable, Estimated: true}}})
	p.Counted(before, ledger.Entry{Session: "r1-c1", Body: ledger.SessionEnded{Kind: ledger.KindVerify}})
	text, err := p.Figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`nightporter_run_state{project="shop",state="ended"} 1`,
		`nightporter_runs_ended_total{project="shop",reason="could not start"} 1`,
		`nightporter_sessions_total{counts="success",end="event",hat="builder",project="shop"} 2`,
		`nightporter_sessions_total{counts="failed session",end="no event",hat="builder",project="shop"} 1`,
		`nightporter_cost_usd_total{hat="builder",project="shop"} 0.75`,
		`nightporter_tokens_total{hat="builder",project="shop"} 1200`,
		`nightporter_sessions_unpriced_total{project="shop"} 1`,
		`nightporter_sessions_estimated_total{project="shop"} 1`,
		`nightporter_input_seconds_count{kind="start_run"} 1`,
		`nightporter_questions_open{project="shop"} 0`,
		`nightporter_build_info{`,
		`nightporter_commit_seconds_count `,
		`go_goroutines `, `process_open_fds `,
	} {
		if !strings.Contains(string(text), "\n"+want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(string(text))
	}
}

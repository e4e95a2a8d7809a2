package operator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/tui"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// paneReply is one answer of the view "pane".
type paneReply struct {
	pane tui.Pane
	text string // its lines, with their kinds
	err  error
}

func paneAnswer(ctx context.Context, d *operator.Service, kind tui.PaneKind, task, seen string) paneReply {
	r, err := d.View(ctx, api.View{Name: api.ViewPane, Project: "shop", Args: map[string]string{api.ArgPane: string(kind), api.ArgTask: task, api.ArgSeen: seen}})
	l := paneReply{err: err}
	if err == nil && r.OK {
		l.err = json.Unmarshal(r.Data, &l.pane)
	} else if err == nil {
		l.text = r.Text
	}
	for _, line := range l.pane.Lines {
		l.text += strings.TrimSpace(string(line.Kind)+" "+line.Text) + "\n"
	}
	return l
}

// TestPanes: each pane answers at once to a new client and later only with news, the
// output also with what no entry tells of; a foreign text in it is clean and without
// secrets.
func TestPanes(t *testing.T) {
	p, _ := daemontest.Open(t, daemontest.Config(t, "manual"))
	d := p.Operator
	none := paneAnswer(t.Context(), d, tui.PaneOutput, "", "")
	if none.err != nil || none.pane.Note != "no session has begun" || none.pane.Version == "" {
		t.Errorf("%+v", none)
	}
	if l := paneAnswer(t.Context(), d, tui.PaneDiff, "", ""); l.err != nil || l.pane.Note != "no run yet" {
		t.Errorf("%+v", l)
	}
	if l := paneAnswer(t.Context(), d, "nope", "", ""); l.err != nil || l.text != `✗ there is no pane "nope"` {
		t.Errorf("%+v", l)
	}
	settings, err := p.Projects.Resolve("shop", config.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.Engine.Do(t.Context(), loop.Input{Actor: "console", Project: "shop", Idle: true, Body: loop.StartRun{Settings: settings, MaxSessions: 1}}); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	run := func() string { s, _ := d.State("shop"); return s.Project.Run.ID }()
	at := time.Now()
	plan := func(session, task, hat string) {
		t.Helper()
		at = at.Add(time.Second)
		r, err := ledger.Entry{Stream: ledger.ProjectStream("shop"), Run: run, Session: session, Task: task, Time: at, Body: ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: hat}}.Record()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Store.Commit(t.Context(), ledger.Batch{Time: at, Records: []ledger.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
	prints := func(session, text string) {
		t.Helper()
		folder := filepath.Join(p.Projects.State(), "sessions", session)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"spec.json": `{"kind":"agent","plan":{"dir":"/work"}}`, "output.head": text} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a" // no token of anybody
	plan(run+"-1", "Task 1", "planner")
	prints(run+"-1", `{"type":"text","part":{"text":"I look at\nthe code."}}`+"\n")
	plan(run+"-2", "Task 2", "builder")
	prints(run+"-2", "\x1b[2Jplain \u202eevil\u202c\n"+`{"type":"tool_use","part":{"tool":"bash","state":{"input":{"command":"git push https://x:`+token+`@h"},"output":"done\n"}}}`+"\n")
	seen := paneAnswer(t.Context(), d, tui.PaneOutput, "", none.pane.Version)
	clock := at.Add(-time.Second).In(p.Projects.Zone()).Format("15:04")
	want := "head " + clock + " #1 planner\nI look at\nthe code.\nhead " + at.In(p.Projects.Zone()).Format("15:04") + " #2 builder\nplain evil\naction git push https://x:[secret removed: "
	if seen.err != nil || !strings.HasPrefix(seen.text, want) || !strings.HasSuffix(seen.text, "done\n") || strings.Contains(seen.text, token) || seen.pane.Title != "#2 builder" {
		t.Errorf("%+v\nwant\n%s", seen, want)
	}

	// Without news it waits, and says so to a client that goes away.
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan paneReply, 1)
	go func() { got <- paneAnswer(ctx, d, tui.PaneOutput, "", seen.pane.Version) }()
	p.Changes.Ring()
	cancel()
	if l := <-got; l.err != nil || !l.pane.Same || l.pane.Version != seen.pane.Version || l.text != "" {
		t.Errorf("%+v", l)
	}
	// More output is news once something rings.
	go func() { got <- paneAnswer(t.Context(), d, tui.PaneOutput, "", seen.pane.Version) }()
	var many strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&many, "line %d\n", n)
	}
	prints(run+"-2", many.String())
	p.Changes.Ring()
	l := <-got
	if l.err != nil || len(l.pane.Lines) != tui.MaxOutputLines || !strings.HasSuffix(l.text, "line 999\n") {
		t.Errorf("%d lines, %+v", len(l.pane.Lines), l.err)
	}

	// Without a plan and changes the other panes say so. The list may have been read.
	if l := paneAnswer(t.Context(), d, tui.PanePlan, "", ""); l.err != nil || !strings.HasPrefix(l.pane.Note, "no ") {
		t.Errorf("%+v", l)
	}
	if l := paneAnswer(t.Context(), d, tui.PaneDiff, "", ""); l.err != nil || !strings.HasSuffix(l.pane.Note, "changed yet") && !strings.Contains(l.pane.Note, "has changed nothing yet") || l.pane.Title != run {
		t.Errorf("%+v", l)
	}
	go p.Stop()
	if l := paneAnswer(t.Context(), d, tui.PaneOutput, "", l.pane.Version); l.err == nil {
		t.Errorf("%+v, want api.ErrLater", l)
	}
}

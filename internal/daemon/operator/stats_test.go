package operator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestStats asks for figures on the host and in a chat: both see each new entry once, a
// request that gave up takes nothing away, and requests at the same time count nothing
// twice.
func TestStats(t *testing.T) {
	p, _ := daemontest.Open(t, daemontest.Config(t, "manual"))
	host, sent := p.Operator.Host(), 0
	at := time.Now().Add(-time.Hour)
	add := func(task, session string, b ledger.Body) {
		t.Helper()
		at = at.Add(time.Second)
		r, err := ledger.Entry{Stream: ledger.ProjectStream("shop"), Run: "r1", Session: session, Task: task, Time: at, Body: b}.Record()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Store.Commit(t.Context(), ledger.Batch{Time: at, Records: []ledger.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
	work := func(n int, usd float64, tokens int64) {
		t.Helper()
		task, id := fmt.Sprintf("Task %d", n), fmt.Sprintf("r1-%d", n)
		exit := ledger.Exit{CostUSD: usd, Tokens: tokens}
		if tokens > 0 {
			exit.Usage, exit.Prompt = &ledger.TokenUsage{Input: 100, CacheRead: tokens - 200, CacheWrite: -1, Output: 100, Reasoning: -1}, 3500
		}
		add(task, id, ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "builder", Agent: "claude", Model: "sonnet"})
		add(task, id, ledger.SessionEnded{Kind: ledger.KindAgent, Counts: ledger.CountsAsSuccess, Exit: exit})
		add(task, "", ledger.TaskSet{To: ledger.Done})
	}
	view := func(ctx context.Context, words, look string) (operator.Stats, string, error) {
		r, err := p.Operator.View(ctx, api.View{Name: "stats", Project: "shop", Args: map[string]string{"words": words, "look": look}})
		var s operator.Stats
		if err == nil {
			err = json.Unmarshal(r.Data, &s)
		}
		return s, r.Text, err
	}
	chat := func(line string) string {
		t.Helper()
		sent++
		m := chatAnswer(t, host, line, sent)
		if m.Key == "stats" && (len(m.Picture) == 0 || m.Alt == "") {
			t.Errorf("%s has no picture", line)
		}
		return m.Text(0)
	}

	if s, text, err := view(t.Context(), "7d", "dark"); err != nil || s.All.Sessions != 0 || s.All.CostATask != nil || s.All.ReadASession != nil || s.All.PromptASession != nil || s.Fault == "" || !strings.Contains(text, "shop has no figures") {
		t.Errorf("%+v, %q, %v", s, text, err)
	}
	add("", "", ledger.RunPlanned{Run: "r1"})
	add("", "", ledger.RunStarted{Tasks: 3})
	work(1, 0.5, 1000)
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := view(cut, "", ""); err == nil {
		t.Error("a request that was cut off has an answer")
	}
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if m, err := p.Operator.Stats(late, "shop", bot.ParseStats("7d hat", time.Now())); err != nil || m.Key != "stats.reading" || m.Buttons[0].Command != "/stats 7d hat" {
		t.Errorf("a look without time: %+v, %v", m, err)
	}
	work(2, 0.25, 3000)
	s, text, err := view(t.Context(), "run model", "light")
	if err != nil || s.Run != "r1" || s.All.Done != 2 || s.All.CostATask == nil || *s.All.CostATask != 0.375 || *s.All.TokensASession != 2000 || *s.All.ReadASession != 1900 || *s.All.PromptASession != 1000 || len(s.By) != 1 || s.By[0].Name != "sonnet" || len(s.Picture) == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if !strings.Contains(text, "sonnet\n2 of 2 done · first pass 2\nA task $0.38 · 2 sessions\nGiven ≈1 k each, read 1 k") {
		t.Errorf("%s", text)
	}
	if got := chat("/stats"); !strings.Contains(got, "shop 2 of 2 done · 30 days\nFirst pass 2 of 2\n") || !strings.Contains(got, "A task $0.38, in all $0.75") {
		t.Errorf("%s", got)
	}
	work(3, -1, -1)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if s, _, err := view(t.Context(), "all", ""); err != nil || s.All.Sessions != 3 || s.All.Unpriced != 1 || s.All.CostUSD != nil || s.All.CostATask != nil || s.All.Known != 0.75 || s.All.Unsplit != 1 || s.All.Unsized != 1 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	all.Wait()
	if got := chat("/stats hat"); !strings.Contains(got, "3 sessions, 2 of them of 2 k tokens · $0.75 + unknown (1 session)") {
		t.Errorf("%s", got)
	}
}

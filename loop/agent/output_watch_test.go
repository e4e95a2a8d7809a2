package agent

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// compactsAgain is what opencode prints when it has compacted a conversation.
const compactsAgain = `{"type":"text","part":{"type":"text","metadata":{"compaction_continue":true},"synthetic":true,"text":"Go on."}}`

// TestCircle: a session whose output shows that it goes in a circle is ended, and its
// exit says why, although the stream's last error would be another reason. The same
// output of an agent that prints no such events is text.
func TestCircle(t *testing.T) {
	t.Parallel()
	script := strings.Repeat("echo '"+compactsAgain+"'\n", 3) + `echo '{"type":"error","error":{"name":"ContextOverflowError"}}'` + "\n"
	for output, want := range map[string]ledger.ExitReason{adapter.Opencode: ledger.ExitCircle, adapter.Text: ledger.ExitSelf} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			m := uniqueSleep(t)
			end := ""
			if want == ledger.ExitCircle {
				end = "sleep " + m + "\n"
			}
			h := newFixture(t, supportedLevel())
			path := filepath.Join(h.out, "opencode.sh")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+end), 0o755); err != nil {
				t.Fatal(err)
			}
			h.runner.o.Agents["mine"] = Definition{Name: "mine", Dir: h.out, Command: []string{path, "run"}, Output: output}
			h.start(h.launch("r1-1"))
			x := h.wait("r1-1")
			none(t, m)
			if x.Reason != want || want == ledger.ExitCircle && x.Text != "it compacted its conversation 3 times in a row without a tool call" {
				t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
			}
		})
	}
}

// TestCircleLines: the output is read by lines however it comes, lines that are too long
// to keep come without their end, and a reason is given once.
func TestCircleLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*circleLine)
	output := "first\n\n" + long + "\nbad\nbad\nnever ended"
	for size := 1; size <= len(output); size = size*3/2 + 1 {
		var lines []string
		w := &outputWatch{found: make(chan finding, 1), most: circleLine, circle: func(line []byte) string {
			lines = append(lines, string(line))
			return map[bool]string{true: "a circle"}[string(line) == "bad"]
		}}
		for rest := output; rest != ""; {
			n := min(size, len(rest))
			w.next([]byte(rest[:n]))
			rest = rest[n:]
		}
		if got, want := fmt.Sprint(lines), fmt.Sprint([]string{"first", "", long[:circleLine], "bad", "bad"}); got != want {
			t.Fatalf("in pieces of %d: %.200s", size, got)
		}
		select {
		case why := <-w.reason():
			if why != (finding{ledger.ExitCircle, "a circle"}) {
				t.Errorf("in pieces of %d: %v", size, why)
			}
		default:
			t.Errorf("in pieces of %d: no reason", size)
		}
	}
	var none *outputWatch
	none.next([]byte("x\n"))
	select {
	case <-none.reason():
		t.Error("no watch has a reason")
	case <-time.After(0):
	}
}

// TestBudgetInFlight: a session whose output shows that it has spent what it may is ended,
// by its agent's own figures or by the price of its model. Its exit has what it spent as
// an estimate, and counts as no failure. Without a limit it goes on.
func TestBudgetInFlight(t *testing.T) {
	t.Parallel()
	const (
		step  = `{"type":"step_finish","part":{"id":"ID","messageID":"m","reason":"tool-calls","tokens":{"total":105,"input":100,"output":5,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.5}}`
		event = `{"type":"assistant","message":{"content":[{"type":"text","text":"x"}],"usage":{"input_tokens":100000,"output_tokens":0,"total_tokens":100000}}}`
	)
	for _, c := range []struct {
		name, output string
		lines        []string
		max          float64
		want         ledger.ExitReason
		usd          float64
		by           ledger.CostSource
	}{
		{"by the agent", adapter.Opencode, []string{strings.Replace(step, "ID", "a", 1), strings.Replace(step, "ID", "b", 1)}, 1, ledger.ExitBudget, 1, ledger.PricedByAgent},
		{"by the table", adapter.Qwen, []string{event, `{"type":"user"}`, event}, 0.6, ledger.ExitBudget, 0.6, ledger.PricedByTable},
		{"below it", adapter.Opencode, []string{step}, 1, ledger.ExitSelf, -1, ""},
		{"without a limit", adapter.Opencode, []string{step}, 0, ledger.ExitSelf, -1, ""},
		{"with a model without a price", adapter.Qwen, []string{`{"type":"system","model":"other"}`, event}, 0.1, ledger.ExitSelf, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, script := uniqueSleep(t), ""
			for _, line := range c.lines {
				script += "echo '" + line + "'\n"
			}
			if c.want == ledger.ExitBudget {
				script += "sleep " + m + "\n"
			}
			h := newFixture(t, supportedLevel())
			path := filepath.Join(h.out, "agent.sh")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
				t.Fatal(err)
			}
			h.runner.o.Agents["mine"] = Definition{Name: "mine", Dir: h.out, Command: []string{path, "run"}, Output: c.output}
			h.runner.o.Prices = []ledger.Price{{Model: "m", Input: 3, Output: 15}}
			l := h.launch("r1-1")
			l.Model, l.MaxUSD = "m", c.max
			h.start(l)
			x := h.wait("r1-1")
			none(t, m)
			ended := c.want == ledger.ExitBudget
			if x.Reason != c.want || x.OverBudget != ended || math.Abs(x.CostUSD-c.usd) > 1e-9 || x.PricedBy != c.by || x.Estimated != ended || x.Tokens != -1 || strings.HasPrefix(x.Text, "ended: its answers had cost $") != ended {
				t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
			}
			if end, _ := loop.Classify(x, false, false); (end == ledger.EndedBudget) != ended {
				t.Errorf("it counts as %s", end)
			}
		})
	}
}

// TestTokensInFlight: a session whose output shows that it has used its tokens is ended, also
// where its program keeps to a limit in money by itself. Its exit has the tokens of its
// answers, an answer that is told twice once, and a cost where its agent told one.
func TestTokensInFlight(t *testing.T) {
	t.Parallel()
	const (
		step   = `{"type":"step_finish","part":{"id":"ID","messageID":"m","reason":"tool-calls","tokens":{"total":105,"input":100,"output":5,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.5}}`
		answer = `{"type":"assistant","message":{"id":"ID","model":"m","content":[],"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":900,"output_tokens":1}}}`
	)
	for _, c := range []struct {
		name, output, line string
		max, tokens        int64
		usd                float64
	}{
		{"with a cost", adapter.Opencode, step, 200, 210, 1},
		{"with a limit in money of its own", adapter.Claude, answer, 1500, 2002, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, script := uniqueSleep(t), ""
			for _, id := range []string{"a", "a", "b"} {
				script += "echo '" + strings.Replace(c.line, "ID", id, 1) + "'\n"
			}
			h := newFixture(t, supportedLevel())
			path := filepath.Join(h.out, "agent.sh")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"sleep "+m+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			h.runner.o.Agents["mine"] = Definition{Name: "mine", Dir: h.out, Command: []string{path, "run"}, Output: c.output}
			l := h.launch("r1-1")
			l.MaxUSD, l.MaxTokens = 50, c.max
			h.start(l)
			x := h.wait("r1-1")
			none(t, m)
			if x.Reason != ledger.ExitBudget || !x.OverBudget || !x.OverTokens || x.Tokens != c.tokens || x.CostUSD != c.usd || !strings.HasPrefix(x.Text, "ended: its answers had used ") {
				t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
			}
			if end, counts := loop.Classify(x, false, false); end != ledger.EndedBudget || counts != ledger.CountsAsNothing {
				t.Errorf("it counts as %s, %s", end, counts)
			}
		})
	}
}

// TestBudgetOfItsOwn: an agent that ends at a limit that nightporter did not set has failed.
// It would be begun again for ever if that counted as the budget's end.
func TestBudgetOfItsOwn(t *testing.T) {
	t.Parallel()
	const result = `{"type":"assistant","message":{"id":"a","model":"claude-sonnet-4-5","content":[]}}
{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":0.5,"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}`
	for max, ours := range map[float64]bool{0: false, 0.45: true, 40: false} {
		h := newFixture(t, supportedLevel())
		path := filepath.Join(h.out, "agent.sh")
		if err := os.WriteFile(path, []byte("#!/bin/sh\ncat <<'END'\n"+result+"\nEND\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		h.runner.o.Agents["mine"] = Definition{Name: "mine", Dir: h.out, Command: []string{path, "run"}, Output: adapter.Claude}
		l := h.launch("r1-1")
		l.MaxUSD = max
		h.start(l)
		x := h.wait("r1-1")
		end, counts := loop.Classify(x, false, false)
		if x.OverBudget != ours || (end == ledger.EndedBudget) != ours || (counts == ledger.CountsAsFailed) == ours || strings.Contains(x.Text, "a budget of the agent's own") == ours {
			t.Errorf("with %g it is %s, %s: %+v", max, end, counts, x)
		}
	}
}

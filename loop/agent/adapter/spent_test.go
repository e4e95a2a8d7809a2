package adapter

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSpent reads streams of real sessions line by line: what their answers cost is known
// while they run, is never more than the whole, and is the whole at the end.
func TestSpent(t *testing.T) {
	for _, row := range agents {
		read := row.Spent()
		if read == nil {
			continue
		}
		name := "session"
		if row == &claude {
			name = "works-level3"
		}
		stream := recorded(t, row.Name, name)
		whole := judge(row, stream, ledger.Exit{Reason: ledger.ExitSelf})
		var last Spending
		steps := 0
		for line := range bytes.Lines(stream) {
			sp := read(bytes.TrimSuffix(line, []byte("\n")), false)
			if sp.Tokens > last.Tokens {
				steps++
			}
			if sp.Tokens < last.Tokens || sp.Tokens > whole.Tokens || sp.Usage != nil && sp.Usage.Total() != sp.Tokens {
				t.Errorf("%s: %d tokens after %d, of %d", row.Name, sp.Tokens, last.Tokens, whole.Tokens)
			}
			if sp.USD < last.USD || sp.Usage != nil && (last.Usage != nil && sp.Usage.Total() < last.Usage.Total() || sp.Usage.Total() > whole.Tokens) {
				t.Errorf("%s: %+v (%+v) after %+v (%+v)", row.Name, sp, sp.Usage, last, last.Usage)
			}
			last = sp
		}
		if steps < 3 {
			t.Errorf("%s: %d figures", row.Name, steps)
		}
		if row == &claude { // it keeps to its limit in money by itself, and what its answers say is short
			if last.USD != 0 || last.Usage != nil || last.Tokens*10 < whole.Tokens*9 {
				t.Errorf("%s: %+v of %d tokens", row.Name, last, whole.Tokens)
			}
			continue
		}
		if d := cmp.Diff(whole.Usage, last.Usage); d != "" || whole.CostUSD > 0 && math.Abs(last.USD-whole.CostUSD) > 1e-9 || whole.CostUSD < 0 && last.USD != 0 || last.Model != whole.Model {
			t.Errorf("%s: %+v, model %q, want %+v, model %q; -want +got:\n%s", row.Name, last, last.Model, whole, whole.Model, d)
		}
	}
}

// TestSpentOddly: lines that are cut, broken or of another kind cost nothing, and an
// answer that is told twice costs once.
func TestSpentOddly(t *testing.T) {
	const (
		step   = `{"type":"step_finish","part":{"id":"p1","messageID":"m","reason":"tool-calls","tokens":{"total":105,"input":100,"output":5,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.5}}`
		answer = `{"type":"message_end","message":{"role":"assistant","responseId":"r1","model":"m","stopReason":"toolUse","usage":{"input":100,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":105,"cost":{"total":0.5}}}}`
		event  = `{"type":"assistant","message":{"content":[{"type":"text","text":"x"}],"usage":{"input_tokens":100,"output_tokens":5,"total_tokens":105}}}`
	)
	for row, line := range map[*Agent]string{&opencode: step, &pi: answer, &qwen: event} {
		read := row.Spent()
		for _, odd := range []string{"", "{", "[1]", `{"type":7}`, line[:40], "x" + line, `{"type":"user"}`} {
			if sp := read([]byte(odd), false); sp.USD != 0 || sp.Usage != nil && sp.Usage.Total() != 0 {
				t.Errorf("%s, %q: %+v", row.Name, odd, sp)
			}
		}
		if sp := read([]byte(line), true); sp.USD != 0 || sp.Usage != nil && sp.Usage.Total() != 0 {
			t.Errorf("%s, cut: %+v", row.Name, sp)
		}
		for range 2 {
			sp := read([]byte(line), false)
			if sp.Usage == nil || sp.Usage.Total() != 105 || sp.USD != map[bool]float64{true: 0.5}[row.Cost == CostReported] {
				t.Errorf("%s: %+v, %+v", row.Name, sp, sp.Usage)
			}
		}
	}
}

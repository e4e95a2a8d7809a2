package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestEvidenceChain checks what is told of the hash chain below an attempt that
// passed.
func TestEvidenceChain(t *testing.T) {
	var records []ledger.Record
	for n, b := range []ledger.Body{
		ledger.Commitment{}, ledger.Claim{AgentID: "claude"}, ledger.Submit{Result: "pass", Outcome: ledger.OutcomeConverged, Commit: "3f2c1d0a9b"},
	} {
		r, err := ledger.Entry{Stream: "project/shop", Task: "Task 8", Attempt: "a1", Body: b}.Record()
		if err != nil {
			t.Fatal(err)
		}
		r.Seq = int64(38 + n*2)
		records = append(records, r)
	}
	for name, c := range map[string]struct {
		check   bot.ChainCheck
		records []ledger.Record
		first   string
		end     string // of the text
		refused bool
	}{
		"named":           {bot.ChainCheck{Recomputed: true, Whole: true, End: 57, Named: 44, Commit: "3f2c1d0a9b"}, records, "✓ shop #8 evidence: passed", "\n✓ Chain whole to entry 44 (commit 3f2c1d0)", false},
		"named in part":   {bot.ChainCheck{Recomputed: true, Whole: true, End: 57, Named: 41, Commit: "3f2c1d0a9b"}, records, "✓ shop #8 evidence: passed", "\n✓ Chain whole to entry 41 (commit 3f2c1d0)\nEntries 42 to 57: whole, in no commit yet", false},
		"in no commit":    {bot.ChainCheck{Recomputed: true, Whole: true, End: 57}, records, "✓ shop #8 evidence: passed", "\n✓ Chain whole to entry 57; no commit names it", false},
		"not recomputed":  {bot.ChainCheck{Why: "it took too long"}, records, "✓ shop #8 evidence: passed", "\n! Hash chain not recomputed: it took too long", false},
		"zero value":      {bot.ChainCheck{}, records, "✓ shop #8 evidence: passed", "\n! Hash chain not recomputed: no check was made", false},
		"changed":         {bot.ChainCheck{Recomputed: true, End: 57, Break: &bot.ChainBreak{Seq: 40, Text: "it was changed\x1b[31m"}}, records, "✗ shop #8: ledger altered", "\n✗ Entry 40: it was changed.\nDo not trust what stands above. All places: nightporter verify", true},
		"nothing left":    {bot.ChainCheck{Recomputed: true, End: 57, Break: &bot.ChainBreak{Seq: 40, Text: "it is missing"}}, nil, "✗ task: ledger altered", "\n✗ Entry 40: it is missing.\nDo not trust what stands above. All places: nightporter verify", true},
		"none, but whole": {bot.ChainCheck{Recomputed: true, Whole: true, End: 57}, nil, "○ no evidence yet", "\n✓ Chain whole to entry 57; no commit names it", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := bot.Evidence(c.records, c.check, time.UTC)
			text := m.Text(80)
			if m.First() != c.first || !strings.HasSuffix(text, c.end) || m.Refused != c.refused {
				t.Errorf("refused %v:\n%s", m.Refused, text)
			}
			if c.refused && strings.Contains(text, "passed") {
				t.Errorf("altered, and said to have passed:\n%s", text)
			}
		})
	}
}

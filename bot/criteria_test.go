package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestEvidenceCriteria checks that evidence says of each criterion of a task what became of
// it, and that a check of the tester's own stands for none of them.
func TestEvidenceCriteria(t *testing.T) {
	held := func(n int, text string) ledger.CriterionResult {
		return ledger.CriterionResult{Number: n, Criterion: text, Verdict: ledger.CriterionHeld, How: "ran it"}
	}
	many := []ledger.CriterionResult{}
	for n := range 15 {
		many = append(many, held(n+1, fmt.Sprintf("Case %d", n+1)))
	}
	for name, c := range map[string]struct {
		criteria []ledger.CriterionResult
		want     string
	}{
		"all hold": {[]ledger.CriterionResult{held(1, "It starts"), held(2, "It\x1b stops"), held(0, "starting is fine")},
			"\n✓ tester: 2 of 2 criteria hold, 1 check more\n✓ It starts\n✓ It stops\n"},
		"some are not shown": {[]ledger.CriterionResult{
			{Number: 1, Criterion: "It starts", Verdict: ledger.CriterionFailed, How: "exit 1"}, {Number: 2, Criterion: "It stops", Verdict: ledger.CriterionUntried},
			{Number: 3, Criterion: "It is fast", Verdict: ledger.CriterionLeftOut, By: "Mira", How: "leave it"}, {Number: 4, Criterion: "It is blue", Verdict: ledger.CriterionDropped},
		}, "\n✗ tester: 0 of 4 criteria hold\n✗ It starts\n○ It stops (not tried)\n! It is fast (left out by Mira: leave it)\n! It is blue (dropped by a ruling)\n"},
		"one":                {[]ledger.CriterionResult{held(1, "It starts")}, "\n✓ tester: the criterion holds\n✓ It starts\n"},
		"none":               {[]ledger.CriterionResult{held(0, "It starts"), held(0, "It stops")}, "\n✓ tester: 2 checks hold\n"},
		"none, and it fails": {[]ledger.CriterionResult{{Criterion: "It starts", Verdict: ledger.CriterionFailed}}, "\n✗ tester: 1 check fails\n"},
		"many":               {many, "\n✓ Case 12\nand 3 more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var records []ledger.Record
			for _, b := range []ledger.Body{ledger.Commitment{}, ledger.Evidence{Kind: ledger.EvidenceVerification, Type: "tester", Criteria: c.criteria}} {
				r, err := ledger.Entry{Stream: "project/shop", Task: "Task 8", Attempt: "a1", Body: b}.Record()
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, r)
			}
			if text := bot.Evidence(records, bot.ChainCheck{}, time.UTC).Text(80); !strings.Contains(text, c.want) {
				t.Errorf("%s\nwant %s", text, c.want)
			}
		})
	}
}

package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
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

// TestEvidencePasses: the review of a report's fix shows each of its passes.
func TestEvidencePasses(t *testing.T) {
	var records []ledger.Record
	for _, b := range []ledger.Body{
		ledger.Commitment{}, ledger.Evidence{Kind: "review", Type: "css-style", Issues: []ledger.Issue{{}}, Looks: []ledger.PassResult{
			{Pass: ledger.PassIntent, Verdict: ledger.PassOK, Note: "read it"}, {Pass: ledger.PassVisual, Verdict: ledger.PassIssues, Note: "read it"},
		}},
	} {
		r, err := ledger.Entry{Stream: "project/shop", Task: "B5", Attempt: "a1", Body: b}.Record()
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	if got, want := bot.Evidence(records, bot.ChainCheck{}, time.UTC).Text(80), "\n✓ review css-style: 1 issue\nintent ✓ · visual ✗\n"; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}

// TestEvidenceOutside: an attempt whose sessions had read text by strangers says so.
func TestEvidenceOutside(t *testing.T) {
	var records []ledger.Record
	for n, body := range []ledger.Body{ledger.Commitment{}, ledger.TaskCommitted{Commit: "c1", Outside: true}, ledger.Submit{Result: "pass", Commit: "c1"}} {
		r, err := ledger.Entry{Stream: ledger.ProjectStream("shop"), Task: "B37", Attempt: "a1", Body: body}.Record()
		if err != nil {
			t.Fatal(err)
		}
		r.Seq = int64(n + 1)
		records = append(records, r)
	}
	if text := bot.Evidence(records, bot.ChainCheck{}, time.UTC).Text(0); !strings.Contains(text, "changed after reading strangers' text") {
		t.Error(text)
	}
}

// TestEvidenceOfWave checks the chain of a wave, and how waves are named.
func TestEvidenceOfWave(t *testing.T) {
	var records []ledger.Record
	for n, b := range []ledger.Body{
		ledger.WaveBegun{Wave: 2, Batch: 5},
		ledger.WaveTriaged{Wave: 2, Kept: 2, Asked: []ledger.AskedReport{{Task: "B2"}}},
		ledger.WaveJudged{Wave: 2, Failed: "it said nothing"},
		ledger.WaveTriaged{Wave: 2, Kept: 2, Batch: []string{"B1", "B2"}},
		ledger.WaveEnded{Wave: 2, Passed: []ledger.WaveReport{{Task: "B1", Commit: "71e3348f00"}}, Failed: []ledger.WaveReport{{Task: "B2", Why: "red three times"}}, Aside: map[ledger.Gate]int{ledger.GateDuplicate: 4}, Sessions: 4, Unpriced: 4},
	} {
		r, err := ledger.Entry{Stream: "project/shop", Run: "r1", Time: time.Date(2026, 6, 1, 2, 10+n, 0, 0, time.UTC), Body: b}.Record()
		if err != nil {
			t.Fatal(err)
		}
		r.Seq = int64(n + 1)
		records = append(records, r)
	}
	want := `✓ shop wave 2 evidence: passed
✓ begun, takes up 5 at most (commit) 02:10
✓ wave 2: 2 reports to fix, the triager reads 1 first
! the triager could not decide
┃ it said nothing
✓ wave 2: 2 reports to fix, now B1 B2
✓ B1 71e3348
✗ B2 red three times
set aside 4: 4 said before
✓ 1 of 2 fixed (submit) 02:14 · 4 sessions · tokens and cost unknown
✓ Chain whole to entry 5; no commit names it`
	if got := bot.Evidence(records, bot.ChainCheck{Recomputed: true, Whole: true, End: 5}, time.UTC).Text(0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s := loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14"}}}
	for typed, want := range map[string]string{"wave 2": "r14 2 true", "R3 Wave 11": "r3 11 true", "wave": " 0 false", "wave two": " 0 false", "7": " 0 false"} {
		run, n, ok := bot.FindWave(s, typed)
		if got := fmt.Sprint(run, " ", n, " ", ok); got != want {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}

// TestEvidencePictures: how the result looks beside the start is told once it is known.
func TestEvidencePictures(t *testing.T) {
	a, b := &ledger.Picture{Hash: "a"}, &ledger.Picture{Hash: "b"}
	start := ledger.Shot{Tree: "c0", Picture: a}
	for name, c := range map[string]struct {
		is   ledger.Pictured
		want string
	}{
		"half":      {ledger.Pictured{Start: start}, ""},
		"different": {ledger.Compare(start, ledger.Shot{Tree: "t1", Picture: b}), "✓ pictures: the result looks different from the start"},
		"same":      {ledger.Compare(start, ledger.Shot{Tree: "t1", Picture: a}), "! pictures: the result looks exactly like the start"},
		"new":       {ledger.Compare(ledger.Shot{Tree: "c0", Why: "exit 1: no page"}, ledger.Shot{Tree: "t1", Picture: a}), "! pictures: none of the start: exit 1: no page"},
		"broken":    {ledger.Compare(start, ledger.Shot{Tree: "t1", Why: "exit 1:\x1b[31m <b>"}), "! pictures: none of the result: exit 1: <b>"},
		"none":      {ledger.Compare(ledger.Shot{Tree: "c0"}, ledger.Shot{Tree: "t1", Why: "longer than 1m"}), "! pictures: none: longer than 1m"},
	} {
		var records []ledger.Record
		for _, b := range []ledger.Body{ledger.Commitment{}, ledger.TaskPictured{Pictured: c.is}} {
			r, err := ledger.Entry{Stream: "project/shop", Task: "B5", Attempt: "a1", Body: b}.Record()
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		got := bot.Evidence(records, bot.ChainCheck{}, time.UTC).Text(80)
		if c.want == "" && strings.Contains(got, "pictures") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

func TestWaveTold(t *testing.T) {
	s := loop.State{}
	s.Project.Name, s.Project.Run = "shop", &loop.Run{ID: "r14", Wave: &loop.Wave{N: 3}}
	s.Project.Tasks = loop.NewTaskList(
		loop.TaskState{Task: ledger.Task{ID: "B37", Title: "Pay on /cart says NaN instead of the total"}},
		loop.TaskState{Task: ledger.Task{ID: "B9", Title: "/stop says nothing"}},
	)
	at := time.Date(2026, 11, 26, 2, 10, 0, 0, time.UTC)
	for _, c := range []struct {
		wave ledger.WaveEnded
		want string
	}{
		{
			ledger.WaveEnded{
				Wave: 2, DurationMs: 2_460_000, Sessions: 9, CostUSD: 3.1, Unpriced: 2, Left: 12,
				Tokens: 310_400, Untold: 1,
				Passed:  []ledger.WaveReport{{Task: "B37", Commit: "c0ffee1234567", Number: 142, URL: "https://forge.example/shop/pulls/142"}, {Task: "B4", Commit: "beef123456789"}},
				Failed:  []ledger.WaveReport{{Task: "B9", Why: "cannot be reproduced: /stop says nothing"}},
				Skipped: []ledger.WaveReport{{Task: "B11", Why: "claimed by mira, 3 days ago", Kind: "claimed"}},
				Aside:   map[ledger.Gate]int{ledger.GateDuplicate: 4, ledger.GateTestable: 3},
			},
			`✓ shop wave 2: 2 of 3 fixed
02:10 · 41 min · 9 sessions · 310 k tokens + unknown · $3.10 and 2 sessions of
unknown cost
✓ B37 Pay on /cart says NaN instead… · PR 142
https://forge.example/shop/pulls/142
✓ B4 beef123
✗ B9 /stop says nothing · cannot be reproduced: /stop says nothing
– B11 claimed by mira, 3 days ago
set aside 7: 3 too vague, 4 said before
12 reports left
The next wave has begun.
/waves · /stop`,
		},
		{
			ledger.WaveEnded{Wave: 3, Kept: 1, Left: 1, Skipped: []ledger.WaveReport{{Task: "B11", Why: "claimed by mira", Kind: "claimed"}}},
			"! shop wave 3: nothing tried\n02:10 · 0 s\n– B11 claimed by mira\n1 report left\nThe next wave has begun.\n/waves · /stop",
		},
		{
			ledger.WaveEnded{Wave: 3, Kept: 1, Left: 1, Unclear: 2, NoJudge: "no key: /stop says nothing", Passed: []ledger.WaveReport{{Task: "B4", Commit: "beef123456789"}}},
			"✓ shop wave 3: 1 of 1 fixed\n02:10 · 0 s\n✓ B4 beef123\n! 2 unclear reports kept, nobody sorted them: no key: /stop says nothing\n1 report left\nThe next wave has begun.\n/waves · /stop",
		},
	} {
		if d := cmp.Diff(c.want, WaveTold(s, c.wave, at).Text(80)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
	if m := WaveTold(s, ledger.WaveEnded{Wave: 2, Failed: []ledger.WaveReport{{Task: "B9", Why: "/stop says nothing"}}}, at); strings.Contains(m.Lines[2].Text, " /stop") {
		t.Errorf("a command of a stranger's can be tapped: %q", m.Lines[2].Text)
	}
	s.Project.Run.Wave = nil
	many := ledger.WaveEnded{Wave: 1}
	for range 10 {
		many.Failed = append(many.Failed, ledger.WaveReport{Task: "B1"})
	}
	if got := WaveTold(s, many, at); len(got.Lines) != 2+maxInWave+1+1 || got.Lines[len(got.Lines)-1].Text != "It was the last one." {
		t.Errorf("%s", got.Text(80))
	}
}

// TestWaveFits: a summary stands below a picture whatever its reports say, and still names
// each kind of result.
func TestWaveFits(t *testing.T) {
	s := loop.State{}
	s.Project.Name, s.Project.Run = "shop", &loop.Run{ID: "r14"}
	long := strings.Repeat("https://forge.example/shop ", 9)
	w := ledger.WaveEnded{Wave: 2, Left: 400, Sessions: 40, Unpriced: 3, Tokens: 9e9, CostUSD: 1234.5, Untold: 2}
	var tasks []loop.TaskState
	for n := range 12 {
		id := fmt.Sprintf("B%d", n+100)
		tasks = append(tasks, loop.TaskState{Task: ledger.Task{ID: id, Title: long}})
		switch n % 3 {
		case 0:
			w.Passed = append(w.Passed, ledger.WaveReport{Task: id, Number: 1000 + n, URL: "https://forge.example/some-company/some-repository/pulls/1000"})
		case 1:
			w.Failed = append(w.Failed, ledger.WaveReport{Task: id, Why: long})
		case 2:
			w.Skipped = append(w.Skipped, ledger.WaveReport{Task: id, Why: long})
		}
	}
	s.Project.Tasks = loop.NewTaskList(tasks...)
	m := WaveTold(s, w, time.Unix(1e9, 0))
	if n := captionUnits(m); n > 930 {
		t.Errorf("%d units", n)
	}
	text := m.Text(0)
	for _, want := range []string{"✓ B100 ", "✗ B101 ", "– B102 ", "more", "pulls/1000", "400 reports left"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestWaveJudged(t *testing.T) {
	for want, w := range map[string]ledger.WaveJudged{
		"✓ wave 2: the triager keeps 1, sets 2 aside":                    {Wave: 2, Verdicts: []ledger.ReportVerdict{{}, {Gate: ledger.GateMatch}, {Gate: ledger.GateActionable}}},
		"✓ wave 2: the triager keeps 0, sets 1 aside, leaves 3 unclear":  {Wave: 2, Verdicts: []ledger.ReportVerdict{{Gate: ledger.GateMatch}}, LeftOut: []string{"B1", "B2", "B3"}},
		"! wave 2: unclear reports are kept, nobody sorted them: no key": {Wave: 2, Failed: "no key"},
	} {
		if got := WaveJudged(w); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	asked := WaveSorted(ledger.WaveTriaged{Wave: 1, Kept: 7, Asked: make([]ledger.AskedReport, 3)})
	if want := "wave 1: 7 reports to fix, the triager reads 3 first"; asked != want {
		t.Errorf("%q, want %q", asked, want)
	}
}

// TestTriageUnclear: what no rule decided, and what takes longer here than it sounds, is
// said.
func TestTriageUnclear(t *testing.T) {
	report := func(id string, v ledger.Triage) loop.TaskState {
		return loop.TaskState{Task: ledger.Task{ID: id, Title: "Title " + id, Report: &ledger.Report{}}, Status: ledger.Ready, Triage: &v}
	}
	s := loop.State{Project: loop.Project{
		Name: "shop", Run: &loop.Run{ID: "r1"},
		Taken: []triage.Taken{
			{Kind: "css-style", Tier: ledger.TierSimple, Seconds: []float64{500, 540, 700}},
			{Kind: "data-hook", Tier: ledger.TierModerate, Seconds: []float64{10, 20, 30}},
		},
		Tasks: loop.NewTaskList(
			report("B1", ledger.Triage{Tier: ledger.TierModerate, Estimate: ledger.TierSimple, Kind: "css-style", Score: 8}),
			report("B2", ledger.Triage{Tier: ledger.TierSimple, Score: 4, Open: []ledger.Gate{ledger.GateMatch}}),
		),
	}}
	want := `shop 2 reports to fix, 0 set aside
1 small · 1 middling
1. B1 Title B1 · middling, score 8.0
2. B2 Title B2 · small, score 4.0
○ css-style fixes take 9 min here: middling, not small
○ 1 of them unclear, kept all the same
/next B1`
	if got := Triage(s, time.Unix(1e9, 0)).Text(80); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for n, want := range []string{"expected middling, css-style, score 8.0; sounds small, such fixes take 9 min here", "expected small, score 4.0; unclear, kept all the same"} {
		if got := Task(s, *s.Project.Tasks.At(n), TaskHistory{}, time.Time{}).Text(200); !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
}

package bot

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// inbox returns a project with reports of which some are to be fixed and some are set
// aside.
func inbox() loop.State {
	s := loop.State{}
	s.Project.Name = "shop"
	var tasks []loop.TaskState
	add := func(id, title string, status ledger.Status, triage ledger.Triage, aside ledger.Gate) {
		tasks = append(tasks, loop.TaskState{Task: ledger.Task{ID: id, Title: title, Report: &ledger.Report{}}, Status: status, Triage: &triage, Aside: aside})
	}
	add("B2", "The page of invoices is white", ledger.Ready, ledger.Triage{Tier: ledger.TierComplex, Score: 9.5}, "")
	add("B37", "Login ends in a loop since the update of Monday", ledger.Ready, ledger.Triage{Tier: ledger.TierSimple, Score: 7.25}, "")
	add("B4", "Umlauts in the receipt", ledger.Ready, ledger.Triage{Tier: ledger.TierModerate, Score: 8}, "")
	add("B5", "Login loops", ledger.Blocked, ledger.Triage{Of: "B37"}, ledger.GateDuplicate)
	for _, id := range []string{"B6", "B7", "B8", "B9", "B10", "B11"} {
		add(id, "It does not work", ledger.Blocked, ledger.Triage{}, ledger.GateTestable)
	}
	add("B1", "An old one", ledger.Done, ledger.Triage{Tier: ledger.TierSimple, Score: 3}, "")
	s.Project.Tasks, s.Project.Run = loop.NewTaskList(tasks...), &loop.Run{ID: "r14"}
	return s
}

func TestTriage(t *testing.T) {
	want := `shop 3 reports to fix, 7 set aside
1 small · 1 middling · 1 large
1. B4 Umlauts in the receipt · middling, score 8.0
2. B37 Login ends in a loop since the… · small, score 7.2
3. B2 The page of invoices is white · large, score 9.5
– 6 too vague: B6, B7, B8, B9, B10, 1 more
– 1 said before: B5 (as B37)
/task ID says why; /retry ID brings one back for good, /fix ID fixes it next.
/next B4`
	if d := cmp.Diff(want, Triage(inbox(), time.Unix(1e9, 0)).Text(80)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	s := loop.State{}
	s.Project.Name = "shop"
	if d := cmp.Diff("shop no bug reports are known\nA source of them is bugs:PATH; a run sorts them.", Triage(s, time.Unix(1e9, 0)).Text(80)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestTriageClaims: what others work on is set aside with the reason, a claim without
// progress is said and not respected, and what a person asked for comes first.
func TestTriageClaims(t *testing.T) {
	now := time.Date(2026, 11, 26, 2, 10, 0, 0, time.UTC)
	s := inbox()
	var tasks []loop.TaskState
	for _, one := range s.Project.Tasks.All() {
		t, r := *one, *one.Task.Report
		t.Task.Report = &r
		switch t.Task.ID {
		case "B4":
			r.Claim = &ledger.ReportClaim{By: "anna", How: ledger.ClaimAssignee, Since: now.Add(-3 * 24 * time.Hour), Last: now.Add(-time.Hour)}
		case "B37":
			r.Claim = &ledger.ReportClaim{By: "bo", Since: now.Add(-4 * 24 * time.Hour), Last: now.Add(-2 * 24 * time.Hour)}
		case "B2":
			t.Asked = "mira"
		}
		tasks = append(tasks, t)
	}
	s.Project.Tasks = loop.NewTaskList(tasks...)
	want := `shop 2 reports to fix, 8 set aside
1 small · 1 large
1. B2 The page of invoices is white · large, asked for
2. B37 Login ends in a loop since the… · small, score 7.2
– 6 too vague: B6, B7, B8, B9, B10, 1 more
– 1 said before: B5 (as B37)
– 1 left to others: B4 claimed by anna, 3 days ago
! B37 claimed by bo, 4 days ago, no progress for 2 days: not respected
/task ID says why; /retry ID brings one back for good, /fix ID fixes it next.
/next B2`
	if d := cmp.Diff(want, Triage(s, now).Text(80)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for id, want := range map[string]string{"B4": "– claimed by anna, 3 days ago: left to them; /fix takes it", "B37": "! claimed by bo, 4 days ago, no progress for 2 days: not respected", "B2": ""} {
		one, _ := s.Project.Find(id)
		if got := claimText(s, one, now); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestWaves(t *testing.T) {
	now := time.Date(2026, 11, 26, 2, 10, 0, 0, time.UTC)
	s := inbox()
	s.Project.Run = &loop.Run{
		ID: "r14", LastWave: 3,
		Wave: &loop.Wave{N: 3, Began: now.Add(-10 * time.Minute), Sorted: true, Batch: []string{"B4", "B37"}, Commits: []loop.WaveCommit{{Task: "B4"}}},
		Waves: []ledger.WaveEnded{
			{Wave: 1, DurationMs: 2_460_000, CostUSD: 3.1, Sessions: 5, Tokens: 90_000, Passed: []ledger.WaveReport{{Task: "B1"}}, Failed: []ledger.WaveReport{{Task: "B2"}}},
			{Wave: 2, DurationMs: 60_000, Sessions: 1, Unpriced: 1, Failed: []ledger.WaveReport{{Task: "B2"}}},
		},
	}
	s.Project.Run.Settings.Source.Kind, s.Project.Run.Settings.MaxWaves = ledger.SourceBugs, 5
	want := `shop r14, 3 waves
● wave 3, since 02:00: 1 of 2 fixed
! wave 2: 0 of 1 fixed, 1 min · 1 session · tokens and cost unknown
✓ wave 1: 1 of 2 fixed, 41 min · 5 sessions · 90 k tokens · $3.10
At most 5 waves a run; two in a row without a fix end it.
/triage`
	if d := cmp.Diff(want, Waves(s, now).Text(80)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
	"github.com/nightporter/nightporter/loop/request"
)

// checkForm checks a digest's form with messagelint (docs/spec 27).
func checkForm(t *testing.T, m bot.Message) {
	t.Helper()
	messagelint.Check(t, "digest", m)
	checkCaption(t, m)
}

// checkCaption checks that a digest fits into a picture's caption.
func checkCaption(t *testing.T, m bot.Message) {
	t.Helper()
	if m.Key == bot.KeyDigestAll {
		return
	}
	p := telegram.Render(m)
	if n := len(utf16.Encode([]rune(p.Text))); p.File != nil || n > 1024 {
		t.Errorf("%d units do not go into a caption:\n%s", n, p.Text)
	}
}

// failedNight is a night in which the agent was logged out, and two tasks failed.
func failedNight(t *testing.T) report.Facts {
	n := newFixture(t)
	none := scenario.Act{Took: 5 * time.Minute, Cost: 0.2, Type: "build.complete", Data: `{"summary":"did it","files_modified":["a.go"]}`, Red: "go build: undefined: Tax", Files: files(4)}
	n.Acts["Task 3 builder"] = slices.Repeat([]scenario.Act{none}, 6)
	silent := scenario.Act{Took: 3 * time.Minute, Cost: 0.1}
	n.Acts["Task 4 builder"] = slices.Repeat([]scenario.Act{silent}, 6)
	out := &ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Failure: ledger.FailureAuth, Text: "Please run claude login", CostUSD: 0, Tokens: -1, Turns: 0, Boundary: 3}
	n.Acts["Task 5 planner"] = slices.Repeat([]scenario.Act{{Took: time.Second, Exit: out}}, 50)
	n.plan()
	n.Until(func() bool { r := n.State.Project.Run; return r.Wait == ledger.WaitAgent || r.Over() })
	return n.facts(morning)
}

// nightWithOutage is a night in which the host was off for three hours.
func nightWithOutage(t *testing.T) report.Facts {
	n := newFixture(t)
	n.plan()
	n.Until(func() bool { return n.State.Project.Run.Commits == 4 })
	from := n.Now
	n.Now = n.Now.Add(3 * time.Hour)
	n.Do(loop.Input{Body: people.CameBack{Off: from}, Idle: true})
	n.Until(func() bool { return n.State.Project.Run.Commits == 6 })
	return n.facts(n.Now.Add(time.Second))
}

// requests are those of runs before, PR 45 and on, as looks showed them.
func requests(seen ...request.Seen) (s request.State) {
	for n, look := range seen {
		s.Branches = append(s.Branches, request.Branch{
			Run: fmt.Sprintf("r0%d", n), Name: "nightporter/shop/r0", Forge: ledger.ForgeGitHub, Pushed: "c", Seen: &look,
			Request: &ledger.Request{Number: 45 + n, URL: fmt.Sprintf("https://forge.test/mira/shop/pull/%d", 45+n), State: look.State, Base: "main"},
		})
	}
	return s
}

// TestText compares the digests of the specification's nights with golden
// files.
func TestText(t *testing.T) {
	g, night := exampleNight(t)
	quiet, err := report.Collect(nil, night.State, morning, morning.Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	quiet.Needs = nil // all questions of the night were answered since
	late := g
	late.Due, late.Missed, late.Strangers = morning.Add(-25*time.Minute), []string{"Wed 18 Nov"}, 2
	week := g
	week.From = g.To.Add(-7 * 24 * time.Hour)
	week.Off = []report.Span{{From: evening.Add(-50 * time.Hour), To: evening.Add(-47 * time.Hour)}}
	weekly := week
	weekly.Weekly, weekly.Needs = true, nil
	strange := g
	for n := range 5 {
		strange.Outside = append(strange.Outside, report.Commit{Task: fmt.Sprintf("B%d", 37+n), Hash: fmt.Sprintf("%07x5e", 0x3b1f0aa+n)})
	}
	unpriced := g
	unpriced.Cost.Unpriced, unpriced.TipRed, unpriced.Red = 4, true, []string{bot.SignLook + " Fails as at the start: go vet ./..."}
	asking := *night
	asking.State.Project.Requests = requests(
		request.Seen{RequestStanding: ledger.RequestStanding{State: ledger.RequestClosed, Base: "main"}, At: morning.Add(-48 * time.Hour)}, // told by an earlier digest
		request.Seen{RequestStanding: ledger.RequestStanding{State: ledger.RequestMerged, Base: "main"}, At: morning.Add(-time.Hour)},
		request.Seen{RequestStanding: ledger.RequestStanding{State: ledger.RequestOpen, HeadCommit: "c", Base: "main", Passed: 2, Failing: 1, Failed: []string{"lint"}}},
		request.Seen{RequestStanding: ledger.RequestStanding{State: ledger.RequestOpen, HeadCommit: "c", Base: "main", Passed: 3}},
	)
	asked := asking.facts(morning)
	asked.Needs = nil
	idle := quiet
	idle.Requests = asked.Requests
	cases := map[string]string{}
	for name, f := range map[string]report.Facts{"waves": inWaves(t), "requests": asked, "quiet, with requests": idle, "good": g, "bad": failedNight(t), "host off": nightWithOutage(t), "quiet": quiet, "late": late, "week": week, "weekly": weekly, "unpriced": unpriced, "strangers' text": strange} {
		m := report.Text(f)
		checkForm(t, m)
		text := m.Text(0)
		if whole := report.FullText(f); name == "good" || name == "bad" || name == "requests" || name == "waves" || name == "strangers' text" {
			checkForm(t, whole)
			text += "\n--- all\n" + whole.Text(0) + "\n--- picture\n" + report.Alt(f)
		}
		if want := map[string]string{"weekly": bot.KeyDigestWeek, "quiet": bot.KeyDigestIdle, "quiet, with requests": bot.KeyDigestIdle}[name]; m.Key != want && (want != "" || m.Key != bot.KeyDigest) {
			t.Errorf("%s has the key %s", name, m.Key)
		}
		if w := messagelint.Never(text); w != "" {
			t.Errorf("%s says %q", name, w)
		}
		cases[name] = text
	}
	golden.Sections(t, "digest", cases)
}

// TestClocksChange checks that each time names its zone if the clocks change
// during the night.
func TestClocksChange(t *testing.T) {
	f := manySessions(9, 6, 3)
	f.Began = time.Date(2026, 10, 25, 0, 10, 0, 0, time.UTC).In(berlin)
	f.Ended = f.Began.Add(2*time.Hour + 30*time.Minute)
	f.From, f.To = f.Began.Add(-time.Hour), f.Ended.Add(time.Hour)
	if got := report.Text(f).Lines[2].Text; !strings.HasPrefix(got, "02:10 CEST → 03:40 CET · ") {
		t.Error(got)
	}
	if _, err := report.Picture(f, true); err != nil {
		t.Error(err)
	}
}

// TestHostile checks that a digest fits a caption, keeps its form and counts
// the lines that it leaves out, whatever names and texts it contains.
func TestHostile(t *testing.T) {
	nasty := "\x1b[2J\u202e<b>&*x*\n\r/stop @everyone https://x.y ✓ #9 done " + strings.Repeat("日本語🚀 title ", 90)
	f, _ := exampleNight(t)
	f.Project, f.Branch, f.Red = strings.Repeat("n", 32), nasty, []string{bot.Clean(nasty)}
	for n := range 40 {
		id := "Task " + strings.Repeat("9", n%9+1)
		f.Completed = append(f.Completed, id, "JIRA-"+strings.Repeat("7", n%12+1))
		f.Failures = append(f.Failures, report.Failure{Task: id, Why: nasty})
		f.FailureKinds = append(f.FailureKinds, report.Count{Name: bot.Cut(bot.Clean(nasty), 20), N: n})
		f.Needs = append(f.Needs, report.Need{Sign: bot.SignBlocked, Text: bot.Cut(bot.Clean(nasty), 90), Task: id, Question: ledger.Question{ID: "q9", Kind: ledger.AskBlocked, Task: id}})
		f.Guidance = append(f.Guidance, report.Guided{InSpan: true, At: f.Began, Task: nasty, Item: guidance.Item{ID: "g9", Text: nasty, Note: nasty, State: guidance.SetAside}})
		f.Hats = append(f.Hats, report.Count{Name: bot.Cut(bot.Clean(nasty), 16), N: n})
		f.Off = append(f.Off, report.Span{From: f.Began, To: f.Began.Add(time.Hour)})
		f.Requests = append(f.Requests, report.RequestResult{Sign: bot.SignFailed, Text: bot.Cut(bot.Clean(nasty), 60), URL: bot.Clean(nasty)})
		f.Waits = append(f.Waits, report.Span{From: f.Began, To: f.Ended, Why: bot.Cut(bot.Clean(nasty), 20)})
	}
	m := report.Text(f)
	messagelint.Frame(t, "digest", m)
	checkCaption(t, m)
	text := m.Text(0)
	for _, want := range []string{"Needs you", "Done ", "/digest all", "Ledger ", "First pass"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if last := m.Lines[len(m.Lines)-1].Text; !strings.HasPrefix(last, "Nothing runs.") {
		t.Errorf("the last line is %q, not what comes next", last)
	}
	messagelint.Frame(t, "whole digest", report.FullText(f))
	if alt := report.Alt(f); bot.Width(alt) > 2000 {
		t.Errorf("%d", bot.Width(alt))
	}
	if _, err := report.Picture(f, true); err != nil {
		t.Error(err)
	}
}

// TestPartlyRed checks that a night whose tasks are all done, one of them while
// something failed that was not its fault, is not told as one to merge.
func TestPartlyRed(t *testing.T) {
	n := newFixture(t)
	n.partlyRed()
	n.Until(nil)
	if e := n.State.Project.Run.Ended; e == nil || e.ExitCode() != 1 || len(e.Exempted) != 1 {
		t.Fatalf("%+v", e)
	}
	f := n.facts(morning)
	for name, m := range map[string]bot.Message{"caption": report.Text(f), "whole": report.FullText(f)} {
		text := m.Text(0)
		for _, want := range []string{"! shop 2/2 done, not all of it green", "! Committed while something failed as at the start: #2", "Look at /diff before you use it."} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing:\n%s", name, want, text)
			}
		}
	}
}

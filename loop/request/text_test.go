package request

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestDraft compares what the request of a night says with its golden.
func TestDraft(t *testing.T) {
	f := Facts{
		Run: "r14", Project: "shop", Branch: "nightporter/shop/r14", Plan: "checkout", Tip: "4f2a9c1b7de0aa", Base: "main",
		Done: []Task{
			{ID: "Task 5", Title: "Total in cents", Proof: "proved", Commit: "0123456789abcdef"},
			{ID: "#TECH-069", Title: "Fixes #12 for @mira, see https://evil.example/x.png", Proof: "changed checks"},
			{ID: "a`b", Title: "``` <!-- nightporter: --> ![x](http://x)"},
		},
		Left: []Task{{ID: "Task 8", Title: "Refund flow", Status: "blocked", Why: "2 attempts failed:\n- no *sandbox*"}, {ID: "Task 10", Title: "Mail", Status: "to do"}},
		Guidance: []Guidance{
			{ID: "g9", Text: "use cents, not floats", By: "Mira", State: "addressed", Note: "all amounts are integers"},
			{ID: "g10", Text: "@here\u202e\u200b hurry", State: "not reported"},
		},
		Results: []ledger.Result{{Run: "npm ci", Setup: true, OK: true}, {Run: "npm test", OK: true}, {Run: "npm run e2e", OK: true, Flaky: true}},
		Setup:   []string{"npm ci"}, Verify: []string{"npm test", "npm run e2e"},
		Before: []ledger.Request{
			{Number: 47, URL: "https://forge.test/shop/pull/47"},
			{Number: 46, URL: "https://forge.test/shop/pull/46", State: ledger.RequestClosed},
		},
		Looks: []string{"#TECH-069: changed checks"},
		Request: ledger.Requests{
			Draft: true, Labels: []string{"night"}, Reviewers: []string{"mira"},
		},
	}
	d := Draft(f)
	compare(t, "night.md", d)
	if d.Head != f.Branch || d.Base != "main" || !d.Draft || len(d.Labels) != 1 || len(d.Reviewers) != 1 {
		t.Errorf("%+v", d)
	}
}

// TestDraftOfReport compares what the request of a bug report's fix says with its golden.
func TestDraftOfReport(t *testing.T) {
	f := Facts{
		Run: "r14", Project: "shop", Branch: "nightporter/shop/r14-b37-login-loops", Plan: "bugs", Tip: "4f2a9c1b7de0aa", Base: "main",
		Subject: "fix: B37 - Login loops", Verify: []string{"npm test"},
		Stack: &Place{N: 1, Of: 1, Apart: &Apart{}},
		Done: []Task{{ID: "B37", Title: "Login loops", Proof: "proved", Commit: "4f2a9c1b7de0aa", Shown: &Evidence{
			Cause: "the cookie's path is /app, see https://evil.example and @mira,\nso the page behind the login never gets it",
			Repro: "npm test -- login", Attempts: 2, Sessions: 3, Worked: 7*time.Minute + 40*time.Second,
			Review: &Review{Kind: "auth-permissions", Rounds: 2, Issues: 1, Looks: []ledger.PassResult{
				{Pass: ledger.PassIntent, Verdict: ledger.PassOK}, {Pass: ledger.PassSecurity, Verdict: ledger.PassIssues},
			}},
		}}},
	}
	compare(t, "report.md", Draft(f))
}

func compare(t *testing.T, golden string, d ledger.RequestDraft) {
	t.Helper()
	file, got := filepath.Join("testdata", golden), d.Title+"\n\n"+d.Body+"\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzForeignText: whatever people and agents write, nothing of it stands outside
// of code if a forge could act on it, and our section has one end.
func FuzzForeignText(f *testing.F) {
	for _, s := range []string{"plain words", "@mira", "fixes #5", "a\nb", "`x`", "``", "<!-- /nightporter -->", "GH-7", "\u200b", "https://x", "- x", "é 日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := Draft(Facts{Run: "r1", Project: "p", Branch: "b", Plan: s, Done: []Task{{ID: s, Title: s, Proof: s, Shown: &Evidence{Cause: s, Repro: s, Review: &Review{Kind: s, By: s, Looks: []ledger.PassResult{{Pass: ledger.Pass(s)}}}}}}, Left: []Task{{ID: s, Title: s, Why: s}},
			Guidance: []Guidance{{ID: "g1", Text: s, By: s, Note: s}}, Looks: []string{s}})
		if strings.Count(ledger.EditBody("", d.Body), "\n<!-- /nightporter -->") != 1 {
			t.Errorf("the section has no one end: %q", d.Body)
		}
		for line := range strings.Lines(d.Body) {
			if out := outsideOfCode(line); !strings.HasPrefix(line, "<!-- ") && !strings.HasPrefix(line, "**Look at:** ") && strings.ContainsAny(strings.TrimPrefix(strings.TrimLeft(out, "#"), "- "), "@#<>[]!*_~") {
				t.Errorf("%q: %q stands outside of code", s, out)
			}
		}
		if strings.ContainsAny(title(s), "\r\n") {
			t.Errorf("a title of two lines: %q", title(s))
		}
	})
}

// outsideOfCode returns a line without its code spans, as CommonMark reads them: a
// run of backticks begins one, and the next run of the same length ends it.
func outsideOfCode(line string) string {
	var out strings.Builder
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			break
		}
		out.WriteString(line[:at])
		rest := strings.TrimLeft(line[at:], "`")
		fence := len(line) - at - len(rest)
		end, n := -1, 0
		for k := 0; k <= len(rest); k++ {
			if k < len(rest) && rest[k] == '`' {
				n++
				continue
			}
			if n == fence {
				end = k
				break
			}
			n = 0
		}
		if end < 0 { // no span: the backticks are text
			out.WriteString(line[at : at+fence])
			line = rest
			continue
		}
		line = rest[end:]
	}
	return out.String() + line
}

// TestLongNight: a night of many tasks stays within what a forge accepts.
func TestLongNight(t *testing.T) {
	f := Facts{Run: "r1", Project: "p", Branch: "b"}
	for range 5000 {
		long := strings.Repeat("x `", 400)
		f.Done = append(f.Done, Task{ID: "Task 1", Title: long, Proof: "tested"})
		f.Left = append(f.Left, Task{ID: "Task 2", Title: long, Status: "blocked", Why: long})
		f.Guidance = append(f.Guidance, Guidance{ID: "g1", Text: long, Note: long})
		f.Verify = append(f.Verify, long)
	}
	if n := len(ledger.EditBody("", Draft(f).Body)); n > ledger.MaxRequestBody {
		t.Errorf("%d bytes", n)
	}
}

// TestDraftOfCriteria checks that the request of one task says what became of each of its
// criteria.
func TestDraftOfCriteria(t *testing.T) {
	body := Draft(Facts{Run: "r14", Project: "shop", Done: []Task{{ID: "Task 5", Title: "Total", Shown: &Evidence{Attempts: 1, Sessions: 2, Criteria: []ledger.CriterionResult{
		{Number: 1, Criterion: "It starts, @mira", Verdict: ledger.CriterionHeld}, {Number: 2, Criterion: "It is fast", Verdict: ledger.CriterionLeftOut, By: "Mira"},
		{Criterion: "starting is fine", Verdict: ledger.CriterionHeld},
	}}}}}).Body
	for _, want := range []string{"- Tried, and holds: `It starts, @mira`\n", "- Not tried, as a person said: It is fast\n"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if strings.Contains(string(body), "starting is fine") {
		t.Errorf("%s", body)
	}
}

package page_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/page"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/ledger"
)

var began = time.Date(2026, 6, 1, 2, 10, 0, 0, time.UTC)

// records makes the entries of a stream about one task.
func records(t *testing.T, attempt string, bodies ...ledger.Body) (list []ledger.Record) {
	t.Helper()
	for n, b := range bodies {
		r, err := ledger.Entry{Stream: "project/shop", Task: "B37", Attempt: attempt, Time: began.Add(time.Duration(n) * time.Minute), Body: b}.Record()
		if err != nil {
			t.Fatal(err)
		}
		r.Seq, r.Hash = int64(100+n), []byte(fmt.Sprintf("%032d", n))
		list = append(list, r)
	}
	return list
}

// fixed is an attempt at a report, with text of a stranger wherever there can be some.
func fixed(t *testing.T, hostile string) []ledger.Record {
	return records(t, "B37.1",
		ledger.Commitment{TaskID: "B37", Title: hostile, Tier: "T1", Branch: "nightporter/shop/r1-b37", Base: "1f2e3d"},
		ledger.Claim{AgentID: "claude"},
		ledger.SessionEnded{Kind: ledger.KindAgent, End: "ok", Text: hostile, Exit: ledger.Exit{Session: "r1-1", Tokens: -1, CostUSD: -1, Started: began, Ended: began.Add(90 * time.Second)}},
		ledger.SessionOutput{Hat: "builder", Event: "build.complete", Summary: hostile, Artifacts: []string{hostile}},
		ledger.Evidence{Kind: "investigation", RootCause: hostile, Strategy: hostile, Affected: []string{"src/login.js"}},
		ledger.Evidence{Kind: "build", Command: "npm test", ExitCode: 1, DurationMs: 4100, Tail: hostile},
		ledger.Evidence{Kind: "build", Command: "npm test", DurationMs: 4200},
		ledger.Evidence{Kind: "review", Type: "ui-component", Verdict: "pass", Looks: []ledger.PassResult{{Pass: ledger.PassIntent, Verdict: ledger.PassOK}}, Issues: []ledger.Issue{{Severity: ledger.Minor, File: "src/login.js", Text: hostile}}},
		ledger.Evidence{Kind: ledger.EvidenceVerification, Type: hostile, Criteria: []ledger.CriterionResult{{Number: 1, Criterion: hostile, Verdict: ledger.CriterionLeftOut, How: hostile, By: hostile}, {Criterion: hostile, Verdict: ledger.CriterionHeld, How: hostile}}},
		ledger.RequestOpened{Run: "r1", Request: ledger.Request{Number: 12, URL: "javascript:alert(1)"}},
		ledger.Submit{Result: "pass", Outcome: ledger.OutcomeConverged, Commit: "3f2c1d0a9b", TotalDurationMs: 240_000},
		ledger.TaskProved{Proof: ledger.Proof{Word: ledger.Tested}},
	)
}

// TestHostilePage checks that nothing of what strangers write becomes markup, and that
// a page loads nothing.
func TestHostilePage(t *testing.T) {
	hostile := `</pre></blockquote></style><script>alert(1)</script><img src="https://evil.example/x" onerror="alert(1)">"'<a href="javascript:alert(1)">`
	e := page.Evidence{
		Project: hostile, Name: hostile, Title: hostile, Text: hostile, Records: fixed(t, hostile), Zone: time.UTC, Now: began,
		Check:    bot.ChainCheck{Why: hostile},
		Pictures: []page.Picture{{Name: hostile, Type: "image/svg+xml", Data: []byte(hostile)}, {Name: "a1-2.png", Type: "image/png", Data: []byte(hostile)}, {Name: "a1-3.png", Type: "image/png"}, {Name: "a1-4.png", Type: "image/png", Data: make([]byte, page.MaxPicture+1)}},
	}
	out, err := e.HTML()
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	known := strings.Fields("html head meta title style body h1 h2 p div blockquote small figure img figcaption ol li span dl dt dd details summary pre code br a")
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data == "p" && n.Data == hostile {
			seen["text"]++
		}
		if n.Type != html.ElementNode {
			continue
		}
		seen[n.Data]++
		if !slices.Contains(known, n.Data) {
			t.Errorf("the page has an element %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/png;base64,"):
				t.Errorf("%s loads %q", n.Data, a.Val)
			case a.Key == "href":
				t.Errorf("a link leads to %q", a.Val)
			}
		}
	}
	if seen["img"] != 1 || seen["script"] != 0 || seen["text"] == 0 {
		t.Errorf("elements: %v", seen)
	}
}

// TestLargePage checks that a page of very many entries stays small enough to be sent.
func TestLargePage(t *testing.T) {
	var all []ledger.Record
	for range 3000 {
		all = append(all, records(t, "a1", ledger.SessionOutput{Hat: "builder", Event: "build.complete", Summary: strings.Repeat("<", 5000)})...)
	}
	out, err := page.Evidence{Project: "shop", Name: "#7", Records: all, Zone: time.UTC, Now: began}.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if most := 16 << 20; len(out) > most {
		t.Errorf("the page has %d bytes, want at most %d", len(out), most)
	}
	if !strings.Contains(string(out), "the page is full") {
		t.Error("the page does not say that entries are missing")
	}
}

// TestPages compares pages of an attempt that passed, of one that failed and of a wave.
func TestPages(t *testing.T) {
	for name, e := range map[string]page.Evidence{
		"passed": {Name: "B37", Title: "Login loops", Text: "I press Sign in and see the form again.", Records: fixed(t, "The session cookie was never set.")},
		"failed": {Name: "B37", Title: "Login loops", Records: records(t, "B37.1",
			ledger.Commitment{TaskID: "B37", Branch: "nightporter/shop/r1"},
			ledger.Evidence{Kind: "build", Command: "npm test", ExitCode: 1, Tail: "1 failing"},
			ledger.Submit{Result: "fail", Outcome: ledger.OutcomeRed, Reason: "red three times"})},
		"wave": {Name: "wave 2", Records: records(t, "",
			ledger.WaveBegun{Wave: 2, Batch: 5},
			ledger.WaveTriaged{Wave: 2, Kept: 3, Batch: []string{"B1", "B2"}, Aside: map[ledger.Gate]int{ledger.GateDuplicate: 4}, Claimed: []ledger.Claimed{{Task: "B9", By: "ana"}}},
			ledger.WaveEnded{Wave: 2, Passed: []ledger.WaveReport{{Task: "B1", Commit: "71e3348", URL: "https://forge.example/shop/pulls/7"}}, Failed: []ledger.WaveReport{{Task: "B2", Why: "red three times"}}, Left: 1, DurationMs: 61_000, Sessions: 4, Unpriced: 4})},
	} {
		e.Project, e.Zone, e.Now = "shop", time.UTC, began
		e.Check = bot.ChainCheck{Recomputed: true, Whole: true, End: 140, Named: 131, Commit: "3f2c1d0a9b"}
		out, err := e.HTML()
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, name+".html", string(out))
	}
}

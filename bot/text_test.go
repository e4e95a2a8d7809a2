package bot_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text", "plain text"},
		{" two\n\tlines \r\n", "two lines"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\u009b31mred", "red"},
		{"\x1b]0;title\x07text", "text"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\x1b]0;never ends", "]0;never ends"},
		{"a\u202eb\u2066c\u200fd\u200be", "abcde"},
		{"a \x1b]0;b\nc\a d", "a ]0;b c d"},
		{"\ufeffBOM", "BOM"},
		{"a\x00b\x07c", "a b c"},
		{"bad \xff\xfe byte", "bad \ufffd\ufffd byte"},
		{"✔\ufe0f", "✔"},
		{"line\u2028sep", "line sep"},
		{"e\u0301\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\u0301"},
		{"日本語 über", "日本語 über"},
	} {
		if got := bot.Clean(c.in); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := bot.CleanPre("\tif x {  // y\x1b[0m "); got != "    if x {  // y" {
		t.Errorf("CleanPre: %q", got)
	}
	if diff := cmp.Diff([]string{"a", "", "b"}, bot.CleanLines("a\r\n\nb\n\n")); diff != "" {
		t.Error(diff)
	}
}

func TestCutWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"Wrap the existing code, don't", 27, "Wrap the existing code…"},
		{"aaaaaaaaaaaaaaaaaaaaaaaa", 10, "aaaaaaaaa…"},
		{"日本語日本語", 7, "日本語…"},
		{"anything", 0, ""},
		{"anything", 1, "…"},
	} {
		if got := bot.Cut(c.in, c.width); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
	if diff := cmp.Diff([]string{"one two", "three", "fourfourfo", "ur"}, bot.Wrap("one two three fourfourfour", 10)); diff != "" {
		t.Error(diff)
	}
}

// FuzzClean checks that Clean turns any text into one harmless line, and that
// Cut and Wrap keep to the width.
func FuzzClean(f *testing.F) {
	f.Add("\x1b[2J\u202e x \xff", 10)
	f.Add("日本語 日本語", 5)
	f.Fuzz(func(t *testing.T, in string, width int) {
		out := bot.Clean(in)
		if !utf8.ValidString(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		for _, r := range out + bot.CleanPre(in) {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
				t.Fatalf("%U came through in %q", r, out)
			}
		}
		if width < 1 || width > 200 {
			return
		}
		if got := bot.Width(bot.Cut(out, width)); got > width {
			t.Fatalf("Cut(%q, %d) takes %d columns", out, width, got)
		}
		if width < 8 {
			return
		}
		lines := bot.Wrap(out, width)
		for _, line := range lines {
			if bot.Width(line) > width {
				t.Fatalf("Wrap(%q, %d) has %q", out, width, line)
			}
		}
		if strings.ReplaceAll(strings.Join(lines, ""), " ", "") != strings.ReplaceAll(out, " ", "") {
			t.Fatalf("Wrap(%q, %d) lost something: %q", out, width, lines)
		}
	})
}

func TestFacts(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "unknown", 0: "0 s", 38 * time.Second: "38 s", 41 * time.Minute: "41 min", 7*time.Hour + 2*time.Minute: "7 h 02",
	} {
		if got := bot.Took(d); got != want {
			t.Errorf("Took(%s) = %q, want %q", d, got, want)
		}
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone database on this machine:", err)
	}
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, zone)
	change := time.Date(2026, 10, 25, 3, 10, 0, 0, zone)
	for _, c := range []struct {
		at, now time.Time
		want    string
	}{
		{time.Date(2026, 11, 20, 2, 6, 0, 0, time.UTC), now, "03:06"},
		{time.Date(2026, 11, 19, 23, 10, 0, 0, zone), now, "23:10"},
		{time.Date(2026, 11, 17, 21, 20, 0, 0, zone), now, "Tue 21:20"},
		{time.Date(2026, 11, 1, 21, 20, 0, 0, zone), now, "1 Nov 21:20"},
		{time.Date(2027, 1, 1, 0, 0, 0, 0, zone), now, "1 Jan 2027 00:00"},
		{time.Date(2027, 1, 1, 0, 0, 0, 0, zone), time.Date(2026, 12, 31, 20, 0, 0, 0, zone), "00:00"},
		{change.Add(-40 * time.Minute), change, "02:30 CET"},
		{time.Time{}, now, "unknown"},
	} {
		if got := bot.Clock(c.at, c.now); got != c.want {
			t.Errorf("Clock(%s) = %q, want %q", c.at, got, c.want)
		}
	}
	for _, c := range []struct {
		run  *loop.Run
		want string
	}{
		{nil, "cost unknown"}, {&loop.Run{}, "$0.00"}, {&loop.Run{CostUSD: 13.62}, "$13.62"},
		{&loop.Run{CostUSD: 4.1, Unpriced: 2}, "$4.10 + unknown (2 sessions)"}, {&loop.Run{Unpriced: 2}, "cost unknown"},
		{&loop.Run{CostUSD: 1.2, Estimated: 2}, "≈$1.20"},
		{&loop.Run{CostUSD: 1.2, Estimated: 1, Unpriced: 1}, "≈$1.20 + unknown (1 session)"},
	} {
		if got := bot.Cost(c.run); got != c.want {
			t.Errorf("Cost = %q, want %q", got, c.want)
		}
	}
	working := []loop.Session{{ID: "r1-1", Planned: ledger.SessionPlanned{Kind: ledger.KindAgent}}}
	command := []loop.Session{{ID: "r1-v1", Planned: ledger.SessionPlanned{Kind: ledger.KindVerify}}}
	for _, c := range []struct {
		run      loop.Run
		sessions []loop.Session
		want     string
	}{
		{loop.Run{}, command, "$0.00"}, {loop.Run{Agents: 1}, working, "cost not yet known"}, {loop.Run{Agents: 1}, command, "$0.00"},
		{loop.Run{Agents: 2, CostUSD: 4.1}, working, "$4.10"}, {loop.Run{Agents: 2, Unpriced: 1}, working, "cost unknown"},
	} {
		s := loop.State{Project: loop.Project{Run: &c.run, Sessions: c.sessions}}
		if got := bot.CostSoFar(s); got != c.want {
			t.Errorf("CostSoFar(%+v) = %q, want %q", c.run, got, c.want)
		}
	}
	for want, ids := range map[string][]string{
		"#1–#7 #9 #11":  {"Task 1", "Task 2", "Task 3", "Task 4", "Task 5", "Task 6", "Task 7", "Task 9", "Task 11"},
		"#1 #2 TECH-9a": {"Task 1", "Task 2", "TECH-9a"},
		"":              nil,
	} {
		if got := bot.Ranges(ids); got != want {
			t.Errorf("Ranges(%v) = %q, want %q", ids, got, want)
		}
	}
}

func TestFindTask(t *testing.T) {
	var tasks []loop.TaskState
	for _, id := range []string{"Task 1", "Task 19", "Task 9", "TECH-069", "FTR-069b", "BUG-7"} {
		tasks = append(tasks, loop.TaskState{Task: ledger.Task{ID: id}})
	}
	s := loop.State{Project: loop.Project{Tasks: loop.NewTaskList(tasks...)}}
	for typed, want := range map[string]string{
		"1": "Task 1", "#9": "Task 9", "task 19": "Task 19", "TASK  9": "Task 9", "tech-069": "TECH-069", "069": "TECH-069", "#069b": "FTR-069b", "7": "BUG-7",
		"8": "", "": "", "#": "", "69": "", "TECH": "",
	} {
		got, ok := bot.FindTask(s, typed)
		if got.Task.ID != want || ok != (want != "") {
			t.Errorf("FindTask(%q) = %q, %v, want %q", typed, got.Task.ID, ok, want)
		}
	}
}

func TestSaid(t *testing.T) {
	for run, want := range map[string]string{
		"go test ./...": "go test", "npm run build": "npm run build", "make": "make", "./scripts/check.sh --all": "check.sh",
		"CGO_ENABLED=0 go vet ./...": "go vet", "python -m pytest -q": "python pytest", "": "command", "  ": "command", "/": "command",
		"cargo test --workspace":       "cargo test",
		"sh ./verify.sh":               "verify.sh",
		"python3 tools/check.py --all": "check.py",
		"sh -c 'make test'":            "sh",
		ledger.ProposedSetup:           "setup",
	} {
		if got := bot.CommandName(run); got != want {
			t.Errorf("CommandName(%q) = %q, want %q", run, got, want)
		}
	}
	for tail, want := range map[string]string{
		"=== RUN TestA\n--- FAIL: TestSum (0.00s)\n    x\nFAIL\nFAIL\tshop 0.1s\nFAIL": "TestSum",
		"    --- FAIL: TestSum/half_cents (0.00s)":                                     "TestSum/half_cents",
		"FAILED tests/test_sum.py::test_sum - assert 1 == 2\n1 failed":                 "test_sum: assert 1 == 2",
		"test sum::rounds ... FAILED\n":                                                "sum::rounds",
		"FAIL: test_sum (tests.Sum)":                                                   "test_sum",
		"not ok 3 - rounds half cents up":                                              "rounds half cents up",
		"  \x1b[31m✕\x1b[0m rounds up (5 ms)\n\nTests: 1 failed":                       "rounds up",
		"make: *** [check] Error 2\n\n":                                                "make: *** [check] Error 2",
		"":                                                                             "go test, exit 2",
	} {
		if got := bot.FailedTest(ledger.Result{Run: "go test ./...", Exit: 2, Tail: tail}); got != want {
			t.Errorf("FailedTest(%q) = %q, want %q", tail, got, want)
		}
	}
	for said, claims := range map[string]bool{
		"Summed the basket; all tests pass": true, "Tests are green.": true, "the tests now pass": true, "All tests passed": true,
		"wrote tests for the sum": false, "tests fail": false, "": false,
	} {
		if got := bot.Claim(said); (got != "") != claims {
			t.Errorf("Claim(%q) = %q", said, got)
		}
	}
	for data, want := range map[string]string{
		`{"issues":[]}`: "no issues",
		`{"issues":[{"severity":"major","rule":"rounding","text":"x"}]}`:                                                       "1 major issue: rounding",
		`{"issues":[{"severity":"minor","text":"b"},{"severity":"critical","text":"a leak"},{"severity":"minor","text":"c"}]}`: "1 critical, 2 minor issues: a leak",
		`not json`: "no issues",
	} {
		got, ok := bot.Verdict(ledger.EventAccepted{Type: "review.verdict", Data: []byte(data)})
		if !ok || got != want {
			t.Errorf("Verdict(%s) = %q, want %q", data, got, want)
		}
	}
	ok := func(run string, ms int64) ledger.Result { return ledger.Result{Run: run, OK: true, Ms: ms} }
	for want, v := range map[string]ledger.Verified{
		"✓ go test 38 s":                                 {OK: true, Results: []ledger.Result{ok("go test ./...", 38000)}},
		"✓ go test":                                      {OK: true, Results: []ledger.Result{ok("go test ./...", 400)}},
		"✓ go vet, go test, 1 more 2 min":                {OK: true, Results: []ledger.Result{ok("go vet .", 60000), ok("go test .", 60000), ok("make", 100)}},
		"✓ go test 1 s, flaky":                           {OK: true, Results: []ledger.Result{{Run: "go test", OK: true, Flaky: true, Ms: 1000}}},
		"! go vet fails as at the start; go test passes": {OK: true, Results: []ledger.Result{{Run: "go vet ./..."}, ok("go test", 1000)}},
		"! TestOld fails as at the start":                {OK: true, Results: []ledger.Result{{Run: "go test ./...", Advisory: true, Failures: &ledger.Failures{Failed: []ledger.Failure{{Name: "TestOld"}}}}}},
		"✗ go test, new: TestNew":                        {Results: []ledger.Result{{Run: "go test ./...", New: []ledger.Failure{{Name: "TestNew"}}}}},
		"✗ boom":                                         {Results: []ledger.Result{ok("go vet", 1), {Run: "go test", Tail: "boom"}}},
		"✗ 9 of 12 tests ran: npm test":                  {Kind: ledger.KindGuard, Fewer: []ledger.FewerTests{{Run: "npm test", Runner: "node test", Was: 12, Ran: 9}}},
		"✓ nothing to run":                               {OK: true},
		"✗ failed":                                       {},
	} {
		if got := bot.VerifyText(v); got != want {
			t.Errorf("VerifyText = %q, want %q", got, want)
		}
	}
}

// TestFirstLines checks that a long first line goes on in the second, that nothing is
// lost or stands there twice, and that a delivery can join the two again.
func TestFirstLines(t *testing.T) {
	path := "internal/checkout/adapters/payment_provider_test.go"
	for _, c := range []struct {
		text string
		want []string
	}{
		{"✓ shop #12 done", []string{"✓ shop #12 done"}},
		{"● bookshop 11/12 · #12 builder · 01:58 now", []string{"● bookshop 11/12 · #12 builder", "01:58 now"}},
		{"✓ shop #12 Rename CustomerRelationshipManagement", []string{"✓ shop #12 Rename", "CustomerRelationshipManagement"}},
		{"✗ shop #7 " + path + " fails (q5)", []string{"✗ shop #7", path + " fails (q5)"}},
		{"✗ " + path + " fails", []string{"✗ internal/checkout/adapters/payment_…", "…provider_test.go fails"}},
		{strings.Repeat("界", 30), []string{strings.Repeat("界", 18) + "…", "…" + strings.Repeat("界", 12)}},
	} {
		var got []string
		for i, l := range bot.FirstLines(c.text) {
			got = append(got, l.Text)
			if l.Rest != (i == 1) || i == 0 && bot.Width(l.Text) > bot.FirstWidth {
				t.Errorf("%q: line %d is %+v", c.text, i, l)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

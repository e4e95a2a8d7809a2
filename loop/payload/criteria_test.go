package payload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestNewCriteria(t *testing.T) {
	got := NewCriteria([]string{"It works", " ", "p95 < 50 ms"}, []string{"it  WORKS", "p95 > 50 ms", "It works."})
	if d := cmp.Diff(Criteria{"It works", "p95 < 50 ms", "p95 > 50 ms", "It works."}, got); d != "" {
		t.Error(d)
	}
}

// TestCriterionNumber checks that an honest verifier is not caught by a comma, and that a
// paraphrase is nobody's criterion.
func TestCriterionNumber(t *testing.T) {
	c := Criteria{"The start prints: `Hello, Mira`", "199 and 101 are 300", "p95 < 50 ms", "p95 > 5 ms", "Größe bleibt", "It works", "It works!"}
	for text, want := range map[string]int{
		"The start prints: `Hello, Mira`":          1,
		"the start prints Hello Mira.":             1,
		"- [x] The start prints \"Hello, Mira\"":   1,
		"1. The start prints: Hello, Mira":         1,
		"Criterion 1: the start prints hello mira": 1,
		"#1": 1, "1": 1, "AC 3": 3, "criterion 5": 5, "5)": 5,
		"199 and 101 are 300":              2,
		"2) 199 and 101 are 300":           2,
		"3. p95 < 50ms":                    3,
		"GRÖSSE bleibt":                    0,
		"größe  bleibt":                    5,
		"It works":                         6,
		"It works!":                        7,
		"It works?":                        0, // it fits two
		"2. The start prints: Hello, Mira": 1, // the words count
		"The start greets Mira":            0,
		"The start prints":                 0,
		"p95":                              0,
		"8":                                0, "0": 0, "-1": 1, "": 0, "?!": 0,
	} {
		if got := c.Number(text); got != want {
			t.Errorf("%q is criterion %d, want %d", text, got, want)
		}
	}
	if n := Criteria(nil).Number("1"); n != 0 {
		t.Errorf("criterion %d of none", n)
	}
}

func TestResults(t *testing.T) {
	c := Criteria{"It starts", "It stops", "It is fast", "It is quiet"}
	data := json.RawMessage(`{"checks":[
		{"number":1,"criterion":"starting up works fine","ok":true,"how":"ran\nit"},
		{"criterion":"It stops.","ok":true,"how":"once"},{"number":"#2","criterion":"stopping twice","ok":false,"how":"twice"},
		{"number":3,"criterion":"It is fast","left_out":true,"how":"no such machine"},
		{"number":9,"criterion":"It has a handle","ok":true,"how":"looked"}]}`)
	want := []ledger.CriterionResult{
		{Number: 1, Criterion: "It starts", Verdict: ledger.CriterionHeld, How: "ran it"},
		{Number: 2, Criterion: "It stops", Verdict: ledger.CriterionFailed, How: "twice"},
		{Number: 3, Criterion: "It is fast", Verdict: ledger.CriterionLeftOut, How: "no such machine"},
		{Number: 4, Criterion: "It is quiet", Verdict: ledger.CriterionUntried},
		{Criterion: "It has a handle", Verdict: ledger.CriterionHeld, How: "looked"},
	}
	if d := cmp.Diff(want, c.Results(data)); d != "" {
		t.Error(d)
	}
	issues := []ledger.Issue{{Severity: ledger.Major, Rule: RuleAcceptance, Text: "It stops: twice", Criterion: "It stops"}}
	if d := cmp.Diff(issues, c.FailedChecks(data)); d != "" {
		t.Error(d)
	}
}

// TestContradiction: a check that has the number of one criterion and the words of another
// counts for neither.
func TestContradiction(t *testing.T) {
	c := Criteria{"It starts", "It stops"}
	for data, want := range map[string]string{
		`{"checks":[{"number":1,"criterion":"it stops","ok":true,"how":"h"}]}`:             "check 1 has the number 1 and the words of criterion 2",
		`{"checks":[{"number":2,"criterion":"2. it stops","ok":true,"how":"h"}]}`:          "",
		`{"checks":[{"number":2,"criterion":"it ends","ok":true,"how":"h"}]}`:              "",
		`{"checks":[{"number":{"a":1},"criterion":"it stops","ok":true,"how":"h"}, null]}`: "",
	} {
		if got := c.Contradiction(json.RawMessage(data)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

// TestChecks: what a check has to have, and what makes a verdict one of the other event.
func TestChecks(t *testing.T) {
	verifier := ledger.Hat{Name: "verifier", Emits: []string{ledger.EventPassed, ledger.EventFailed}}
	for _, c := range []struct{ typ, check, want string }{
		{ledger.EventPassed, `{"number":1,"criterion":"c","ok":true,"how":"h"}`, ""},
		{ledger.EventPassed, `{"criterion":"c","left_out":true,"how":"Mira says so"}`, ""},
		{ledger.EventPassed, `{"criterion":"c","left_out":false,"how":"h"}`, "without criterion, ok or how"},
		{ledger.EventPassed, `{"criterion":"c","ok":false,"how":"h"}`, "send the same checks with verification.failed"},
		{ledger.EventFailed, `{"criterion":"c","left_out":true,"how":"h"}`, "send the same checks with verification.passed"},
		{ledger.EventFailed, `{"criterion":"c","ok":false,"how":"h"}`, ""},
	} {
		_, why := Check(verifier, c.typ, json.RawMessage(`{"checks":[`+c.check+`]}`))
		if (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s %s: %q, want %q", c.typ, c.check, why, c.want)
		}
	}
}

// TestRulingsByCriterion: a ruling is about the criterion that it names, not about one
// that begins alike.
func TestRulingsByCriterion(t *testing.T) {
	failed := Criteria{"The page: greets"}.FailedChecks(json.RawMessage(`{"checks":[{"number":1,"criterion":"greeting","ok":false,"how":"looked"},{"criterion":"The page","ok":false,"how":"dark"}]}`))
	one := func(criterion string) json.RawMessage {
		return json.RawMessage(`{"rulings":[{"criterion":"` + criterion + `","holds":false,"reason":"r"}]}`)
	}
	if left := Counting(failed, Rulings(one("the page"))); len(left) != 1 || left[0].Criterion != "The page: greets" {
		t.Errorf("left: %+v", left)
	}
	if why := WrongRulings(failed, one("The page.")); !strings.Contains(why, "these have none: The page: greets: looked") {
		t.Error(why)
	}
	if why := WrongRulings(failed, one("greeting")); !strings.Contains(why, `no criterion "greeting" failed; write it as it stands in Issues: The page: greets · The page`) {
		t.Error(why)
	}
}

package payload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWrongReview: each pass of a fix's kind has an answer, and each issue a pass and a
// confidence. The example is right once its values are chosen.
func TestWrongReview(t *testing.T) {
	passes := []ledger.Pass{ledger.PassIntent, ledger.PassVisual}
	verdict := func(issues, looks string) string {
		return `{"summary":"s","issues":[` + issues + `],"review":{"type":"css-style","passes":[` + looks + `]}}`
	}
	const both = `{"pass":"intent","verdict":"ok","note":"n"},{"pass":"visual","verdict":"issues","note":"n"}`
	issue := func(rest string) string {
		return `{"severity":"major","file":"a","line":1,"rule":"r","text":"t"` + rest + `}`
	}
	reviewer := ledger.Hat{Name: "reviewer", Emits: []string{ledger.EventReview}}
	for name, c := range map[string]struct{ data, why string }{
		"good":          {verdict(issue(`,"pass":"visual","confidence":90`), both), ""},
		"example":       {strings.NewReplacer("critical|major|minor|suggestion", "minor", "ok|issues", "issues", "none|plan|decision", "plan").Replace(ReviewShape("css-style", passes)), ""},
		"more passes":   {verdict("", both+`,{"pass":"taste","verdict":"ok","note":"n"}`), ""},
		"none":          {`{"summary":"s","issues":[]}`, "the review lacks intent, visual"},
		"one":           {verdict("", `{"pass":"intent","verdict":"ok","note":"n"}`), "the review lacks visual"},
		"no verdict":    {verdict("", `{"pass":"intent","note":"n"}`), `has the verdict "" of the pass "intent"`},
		"no note":       {verdict("", `{"pass":"intent","verdict":"ok"},{"pass":"visual","verdict":"ok","note":"n"}`), "the pass intent has no note"},
		"no object":     {`{"summary":"s","issues":[],"review":"fine"}`, "has to be an object with a list of passes"},
		"no confidence": {verdict(issue(`,"pass":"visual"`), both), "issue 1 has no confidence"},
		"too sure":      {verdict(issue(`,"pass":"visual","confidence":180`), both), "with the confidence 180"},
		"contradicts":   {verdict(issue(`,"pass":"visual","confidence":90,"contradicts":"decision"`), both), ""},
		"all":           {verdict(issue(`,"pass":"visual","confidence":90,"contradicts":"all"`), both), `that contradicts "all"`},
		"no pass":       {verdict(issue(`,"confidence":90`), both), `issue 1 is of the pass "", which is none of this review`},
		"contradicted":  {verdict(issue(`,"pass":"intent","confidence":90`), both), "the pass intent is said to be ok, and issue 1 is of it"},
		"unsure":        {verdict(issue(`,"pass":"intent","confidence":40`), both), ""},
	} {
		_, why := Check(reviewer, ledger.EventReview, json.RawMessage(c.data))
		if why == "" {
			why = WrongReview("css-style", passes, json.RawMessage(c.data))
		}
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: refused for %q, want %q", name, why, c.why)
		}
	}
}

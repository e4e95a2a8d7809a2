package payload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestEventTable checks that no event in the table has an empty cell.
func TestEventTable(t *testing.T) {
	for name, row := range events {
		if len(row.fields) == 0 || row.shape == "" || Shape(name) != row.shape {
			t.Errorf("%s has no fields, or no example", name)
		}
		known := map[string]bool{}
		for _, f := range row.fields {
			known[f.name] = true
		}
		for _, f := range row.anyOf {
			if !known[f] {
				t.Errorf("%s has to carry %s, which is none of its fields", name, f)
			}
		}
	}
}

// TestField checks that a field is found by its exact name, however that is written.
func TestField(t *testing.T) {
	for data, want := range map[string]string{
		`{"no_change":"it is there"}`:      `"it is there"`,
		`{"no_chang\u0065":"it is there"}`: `"it is there"`,
		`{"No_change":"it is there"}`:      "",
		`{"summary":"no_change"}`:          "",
		`{"summary":"all of it"}`:          "",
		`{"no_change":`:                    "",
		``:                                 "",
	} {
		if got := string(Field([]byte(data), "no_change")); got != want {
			t.Errorf("Field(%s) = %s, want %s", data, got, want)
		}
	}
}

// TestRefusedExample: what a refusal tells an agent to send has every field that the hat
// demands, and is accepted.
func TestRefusedExample(t *testing.T) {
	lead := ledger.Hat{Name: "lead", Emits: []string{ledger.EventPlan}, Payload: []string{"summary", "sections", "requirements", "acceptance"}}
	planner := ledger.Hat{Name: "planner", Emits: []string{ledger.EventPlan}}
	tester := ledger.Hat{Name: "tester", Emits: []string{ledger.EventPassed, ledger.EventFailed}}
	for _, c := range []struct {
		hat       ledger.Hat
		typ, data string
	}{
		{lead, ledger.EventPlan, `{"summary":"s","steps":["one"]}`},
		{lead, ledger.EventPlan, `nothing`},
		{planner, ledger.EventPlan, `{"summary":"s"}`},
		{tester, ledger.EventPassed, `{}`},
	} {
		_, why := Check(c.hat, c.typ, json.RawMessage(c.data))
		_, example, ok := strings.Cut(why, "; send ")
		if !ok {
			t.Errorf("%s with %s: %q has no example", c.typ, c.data, why)
			continue
		}
		if _, still := Check(c.hat, c.typ, json.RawMessage(example)); still != "" {
			t.Errorf("%s with %s: %s, and that is refused: %s", c.typ, c.data, why, still)
		}
	}
	_, why := Check(tester, ledger.EventPassed, json.RawMessage(`{"checks":[{"criterion":"c","ok":false,"how":"h"}]}`))
	if want := "a check is not ok: send the same checks with verification.failed"; why != want {
		t.Errorf("%q, want %q", why, want)
	}
}

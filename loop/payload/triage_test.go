package payload

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

var triager = ledger.Hat{Name: "triager", Emits: []string{ledger.EventTriage}, Payload: []string{"reports"}}

func triaged(reports ...string) json.RawMessage {
	return json.RawMessage(`{"reports":[` + strings.Join(reports, ",") + `]}`)
}

func TestTriageRefusals(t *testing.T) {
	many := make([]string, 9)
	for n := range many {
		many[n] = fmt.Sprintf(`{"id":"b%d","verdict":"maybe"}`, n)
	}
	for name, c := range map[string]struct {
		data json.RawMessage
		why  string
	}{
		"good":        {triaged(`{"id":"b1","verdict":"take"}`, `{"id":"b2","verdict":"set_aside","gate":"3","reason":"r"}`, `{"id":"b3","verdict":"set_aside","gate":"match","reason":"r"}`), ""},
		"duplicate":   {triaged(`{"id":"b1","verdict":"set_aside","gate":4,"of":"b2","reason":"r"}`), ""},
		"no list":     {json.RawMessage(`{"reports":"all are fine"}`), `field "reports" has to be a list`},
		"no object":   {triaged(`"b1"`), `each of "reports" is an object`},
		"no id":       {triaged(`{"verdict":"take"}`), `number 1 of "reports" has no id`},
		"twice":       {triaged(`{"id":"b1","verdict":"take"}`, `{"id":"B1","verdict":"take"}`), `report "B1" is there twice`},
		"no verdict":  {triaged(`{"id":"b1"}`), `report "b1" has the verdict ""; it is take or set_aside`},
		"no gate":     {triaged(`{"id":"b1","verdict":"set_aside","reason":"r"}`), `report "b1" is set aside without the number of a gate`},
		"gate 9":      {triaged(`{"id":"b1","verdict":"set_aside","gate":9,"reason":"r"}`), `report "b1" is set aside without the number of a gate`},
		"no reason":   {triaged(`{"id":"b1","verdict":"set_aside","gate":5,"reason":" "}`), `report "b1" is set aside without a reason`},
		"of nothing":  {triaged(`{"id":"b1","verdict":"set_aside","gate":4,"reason":"r"}`), `"of" names the report that stays`},
		"all at once": {triaged(`{"id":"b1","verdict":"set_aside","reason":"r"}`, `{"id":"b2","verdict":"no"}`), `"b1" is set aside without the number of a gate; report "b2" has the verdict "no"`},
		"bounded":     {triaged(many...), "4 more like these"},
	} {
		_, why := Check(triager, ledger.EventTriage, c.data)
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: refused for %q, want %q", name, why, c.why)
		}
	}
}

func TestReadTriage(t *testing.T) {
	got := ReadTriage(triaged(`{"id":" b1 ","verdict":"take","gate":3,"of":"b9","reason":"fine"}`,
		`{"id":"b2","verdict":"set_aside","gate":4,"of":" b1","reason":"the\nsame"}`,
		`{"id":"b3","verdict":"set_aside","gate":5,"of":"b1","reason":"`+strings.Repeat("ü", 400)+`"}`))
	want := []ledger.ReportVerdict{
		{Task: "b1", Why: "fine"}, {Task: "b2", Gate: ledger.GateDuplicate, Of: "b1", Why: "the same"},
		{Task: "b3", Gate: ledger.GateActionable, Why: strings.Repeat("ü", 299) + "…"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

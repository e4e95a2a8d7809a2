package payload

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

var drafter = ledger.Hat{Name: "drafter", Emits: []string{ledger.EventDraft}}

func draft(tasks ...string) json.RawMessage {
	return json.RawMessage(`{"summary":"s","tasks":[` + strings.Join(tasks, ",") + `]}`)
}

func TestDraftRefusals(t *testing.T) {
	one := func(id, rest string) string {
		return fmt.Sprintf(`{"id":%q,"title":"Task %s","acceptance":["it works"]%s}`, id, id, rest)
	}
	many := make([]string, 21)
	for n := range many {
		many[n] = one(fmt.Sprint(n), "")
	}
	for name, c := range map[string]struct {
		data json.RawMessage
		why  string
	}{
		"good":       {draft(one("b", `,"depends_on":["A"]`), one("a", `,"scope":["a.go"],"priority":2`)), ""},
		"no task":    {draft(), "a plan has a task at least"},
		"too many":   {draft(many...), "21 tasks; 20 are the most"},
		"no object":  {draft(`"a"`), `each of "tasks" is an object`},
		"no id":      {draft(one("", "")), `task 1 has no "id"`},
		"id twice":   {draft(one("a", ""), `{"id":"A","title":"Other","acceptance":["x"]}`), `task "A" is there twice`},
		"same title": {draft(one("a", ""), `{"id":"b","title":"task A","acceptance":["x"]}`), `task "b" has the title of task "a"`},
		"no title":   {draft(`{"id":"a","title":" ","acceptance":["x"]}`), `task "a" has no title`},
		"no test":    {draft(`{"id":"a","title":"A"}`), "no acceptance"},
		"large":      {draft(one("a", `,"body":"`+strings.Repeat("ü", 601)+`"`)), `task "a" is large: its body has 601 characters`},
		"unknown":    {draft(one("a", `,"depends_on":["z"]`)), `task "a" depends on "z", which this plan lacks`},
		"circle":     {draft(one("a", `,"depends_on":["c"]`), one("b", ""), one("c", `,"depends_on":["a"]`)), "in a circle: a, c."},
		"no path":    {draft(one("a", ""), `{"id":"b","title":"B","acceptance":["x"],"scope":["a`+"`"+`b"]}`), "which is no path"},
	} {
		_, why := Check(drafter, ledger.EventDraft, c.data)
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: refused for %q, want %q", name, why, c.why)
		}
	}
}

// TestReadDraft puts each task behind those that it depends on.
func TestReadDraft(t *testing.T) {
	tasks := ReadDraft(draft(`{"id":"c","title":"C","acceptance":["x"],"depends_on":["B"]}`, `{"id":"a","title":"A","acceptance":["x"]}`, `{"id":"b","title":" B  b ","body":"why","scope":["x/","y.go"],"acceptance":["x"],"depends_on":["a"],"complexity":3}`))
	got := ""
	for _, task := range tasks {
		got += task.ID
	}
	if got != "abc" || tasks[1].Title != "B b" || tasks[1].Scope != "`x/`, `y.go`" || tasks[1].Complexity != 3 || tasks[1].Mark != ledger.MarkOpen {
		t.Errorf("%s: %+v", got, tasks)
	}
}

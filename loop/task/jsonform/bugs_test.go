package jsonform

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

func TestReadBugs(t *testing.T) {
	s, err := Bugs{}.Parse("bugs.json", []byte(formtest.Bugs[0]))
	if err != nil {
		t.Fatal(err)
	}
	want := ledger.Task{
		ID: "mem_a8f", Title: "Total is NaN", Line: 3, Mark: ledger.MarkOpen, Body: "I clicked Pay and saw NaN instead of the total.", Priority: 4, Outside: true,
		Report: &ledger.Report{
			Severity: "critical", Page: "/cart", Tags: []string{"cart", "money"}, URL: "https://shop.example/cart", UserAgent: "Firefox",
			Console: []string{"TypeError: x is undefined"}, Screenshot: "shots/1.png", Created: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC),
		},
	}
	if d := cmp.Diff(want, s.Tasks[0]); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := s.Tasks[1]; got.Title != "The label says Sing in." || got.Mark != ledger.MarkDone || got.Priority != 1 {
		t.Errorf("second: %+v", got)
	}
	if s, err := (Bugs{}).Parse("bugs.json", []byte("[ ]\n")); err != nil || len(s.Tasks) != 0 {
		t.Errorf("an empty inbox: %+v, %v", s, err)
	}
}

// TestBugsWithoutStatus: a report that has none gets one, and no other byte changes.
func TestBugsWithoutStatus(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"indented", "[\n  {\n    \"id\": \"a\",\n    \"body\": \"A\"\n  }\n]\n", "[\n  {\n    \"status\": \"fixed\",\n    \"id\": \"a\",\n    \"body\": \"A\"\n  }\n]\n"},
		{"in one line", `[{"id":"a","body":"A"}]`, `[{"status": "fixed","id":"a","body":"A"}]`},
		{"with spaces", `[ { "id": "a" } ]`, `[ { "status": "fixed", "id": "a" } ]`},
		{"carriage returns and tabs", "\ufeff[\r\n\t{\r\n\t\t\"id\": \"a\"\r\n\t}\r\n]", "\ufeff[\r\n\t{\r\n\t\t\"status\": \"fixed\",\r\n\t\t\"id\": \"a\"\r\n\t}\r\n]"},
		{"a line each", "{\"id\":\"x\"}\n{\"id\":\"a\"}", "{\"id\":\"x\"}\n{\"status\": \"fixed\",\"id\":\"a\"}"},
		{"null", `[{"id":"a","status":null}]`, `[{"id":"a","status":"fixed"}]`},
	} {
		got, gone, err := Bugs{}.Mark("bugs.json", []byte(c.text), []ledger.Marking{{Task: "a", Mark: ledger.MarkDone}})
		if err != nil || len(gone) > 0 || string(got) != c.want {
			t.Errorf("%s: got %q, want %q (%v, %v)", c.name, got, c.want, gone, err)
		}
		s, err := Bugs{}.Parse("bugs.json", got)
		if err != nil || s.Tasks[len(s.Tasks)-1].Mark != ledger.MarkDone {
			t.Errorf("%s: it reads back as %+v, %v", c.name, s.Tasks, err)
		}
		same, _, err := Bugs{}.Mark("bugs.json", []byte(c.text), []ledger.Marking{{Task: "a", Mark: ledger.MarkOpen}})
		if err != nil || string(same) != c.text {
			t.Errorf("%s: open changed it to %q, %v", c.name, same, err)
		}
	}
}

// TestBugIDs: a report without an id keeps the one that it gets, wherever it stands and
// whatever becomes of others.
func TestBugIDs(t *testing.T) {
	a, b := `{"body":"A crash on save","page":"/a"}`, `{"body":"B"}`
	ids := func(reports ...string) (list []string) {
		t.Helper()
		s, err := Bugs{}.Parse("bugs.json", []byte("["+strings.Join(reports, ",")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range s.Tasks {
			list = append(list, task.ID)
		}
		return list
	}
	one := ids(a, b)
	two := ids(`{"body":"C"}`, b, a)
	if one[0] != two[2] || one[1] != two[1] || one[0] == one[1] || len(one[0]) != 9 || one[0][0] != 'B' {
		t.Errorf("%q and %q", one, two)
	}
	if marked := ids(strings.Replace(a, "{", `{"status":"fixed",`, 1)); marked[0] != one[0] {
		t.Errorf("a status changed the id to %s", marked[0])
	}
	if twice := ids(b, b, b); twice[0] == twice[1] || twice[1] == twice[2] {
		t.Errorf("the same report three times: %q", twice)
	}
}

func TestBugMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "f.json  is empty: expected an inbox"},
		{"not whole", "[\n{\"id\": \"1", "f.json:2  ends in the middle of a value"},
		{"a line that is broken", "{\"id\":\"a\",\"body\":\"A\"}\n{\"id\":", "f.json:2  ends in the middle of a value"},
		{"a text", `"x"`, "f.json:1  is \"x\": expected a list of reports"},
		{"an object without a list", "{\n\"a\":1}", "f.json:1  is an object: expected a list of reports"},
		{"NUL", "[\n\x00]", "f.json:2  a NUL byte"},
		{"UTF-8", "[\n\"\xff\"]", "f.json:2  is not UTF-8"},
		{"a report that is a text", "[\n\"x\"]", "f.json:2  report 1 is \"x\": expected an object"},
		{"an unknown status", "[\n{\"id\":\"a\",\"status\":\"opn\"}]", "f.json:2  the status of a is \"opn\""},
		{"an id twice", "[{\"id\":\"a\"},\n{\"id\":\"A\"}]", "f.json:2  "},
		{"an id with a space", "[{\"id\":\"a b\"}]", "f.json:1  the id \"a b\" has a space"},
		{"a body of another type", "[\n{\"id\":\"a\",\"body\":{}}]", "f.json:2  body of report 1 is an object: expected a text"},
		{"a time", "[\n{\"id\":\"a\",\"created_at\":\"yesterday\"}]", "f.json:2  created_at of a is \"yesterday\": expected a time"},
		{"meta", "[\n{\"id\":\"a\",\"meta\":[]}]", "f.json:2  meta of a is a list: expected an object"},
		{"console", "[\n{\"id\":\"a\",\"meta\":{\"consoleErrors\":3}}]", "f.json:2  consoleErrors of meta of a is 3"},
	} {
		_, err := Bugs{}.Parse("f.json", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	var many strings.Builder
	for n := range 5000 {
		fmt.Fprintf(&many, "{\"body\":\"report %d\"}\n", n)
	}
	if s, err := (Bugs{}).Parse("f.jsonl", []byte(many.String())); err != nil || len(s.Tasks) != 5000 {
		t.Errorf("5,000 reports: %d, %v", len(s.Tasks), err)
	}
}

// TestBugClaims: a claim is a field behind the status, gives way to that of somebody else,
// and leaves no byte behind.
func TestBugClaims(t *testing.T) {
	at := time.Date(2026, 11, 27, 4, 0, 0, 0, time.UTC)
	take := &ledger.Claiming{By: "porter-1", At: at, Respect: at.Add(-ledger.StaleClaim)}
	ours := `, "claimed": {"by": "porter-1", "at": "2026-11-27T04:00:00Z"}`
	for _, c := range []struct{ name, text, want, by string }{ // by: who works on it already; want "" = it gives way
		{"with a status", `[{"id":"a","status":"new","body":"A"}]`, `[{"id":"a","status":"in_progress"` + ours + `,"body":"A"}]`, ""},
		{"the last key", "[ {\n  \"id\": \"a\",\n  \"status\": \"open\"\n} ]", "[ {\n  \"id\": \"a\",\n  \"status\": \"in_progress\"" + ours + "\n} ]", ""},
		{"without a status", "[\n  {\n    \"id\": \"a\",\n    \"body\": \"A\"\n  }\n]\n", "[\n  {\n    \"status\": \"in_progress\"" + ours + ",\n    \"id\": \"a\",\n    \"body\": \"A\"\n  }\n]\n", ""},
		{"a line each", "{\"id\":\"x\"}\n{\"id\":\"a\",\"status\":\"open\"}\n", "{\"id\":\"x\"}\n{\"id\":\"a\",\"status\":\"in_progress\"" + ours + "}\n", ""},
		{"a byte order mark", "\ufeff[{\"id\":\"a\",\"status\":\"open\"}]", "\ufeff[{\"id\":\"a\",\"status\":\"in_progress\"" + ours + "}]", ""},
		{"an empty field", `[{"id":"a","claimed":null,"status":"open"}]`, `[{"id":"a","claimed":{"by": "porter-1", "at": "2026-11-27T04:00:00Z"},"status":"in_progress"}]`, ""},
		{"of another one", `[{"id":"a","status":"open","claimed":{"by":"ann","at":"2026-11-26T20:00:00Z"}}]`, "", "ann"},
		{"of unknown age", `[{"id":"a","claimed":"ann"}]`, "", "ann"},
		{"stale", `[{"id":"a","status":"open","claimed":{"by":"ann","at":"2026-11-25T20:00:00Z"}}]`, `[{"id":"a","status":"in_progress","claimed":{"by": "porter-1", "at": "2026-11-27T04:00:00Z"}}]`, "ann"},
		{"with progress", `[{"id":"a","claimed":{"by":"ann","at":"2026-11-25T20:00:00Z"},"updated_at":"2026-11-27T02:00:00Z"}]`, "", "ann"},
		{"an assignee", `[{"id":"a","assignee":"ann"}]`, "", "ann"},
		{"an assignee without progress", `[{"id":"a","status":"open","assignee":"ann","updated_at":"2026-11-20T02:00:00Z"}]`, `[{"id":"a","status":"in_progress"` + ours + `,"assignee":"ann","updated_at":"2026-11-20T02:00:00Z"}]`, "ann"},
		{"assigned to nightporter", `[{"id":"a","status":"open","assignee":"Nightporter"}]`, `[{"id":"a","status":"in_progress"` + ours + `,"assignee":"Nightporter"}]`, ""},
		{"at work", `[{"id":"a","status":"in_progress","updatedAt":"2026-11-27T02:00:00Z"}]`, "", "somebody"},
		{"at work since when", `[{"id":"a","status":"in_progress"}]`, `[{"id":"a","status":"in_progress"` + ours + `}]`, ""},
	} {
		s, err := Bugs{}.Parse("bugs.json", []byte(c.text))
		if err != nil {
			t.Fatal(c.name, err)
		}
		by := ""
		if claim := s.Tasks[len(s.Tasks)-1].Report.Claim; claim != nil {
			by = claim.By
		}
		if by != c.by {
			t.Errorf("%s: %q works on it, want %q", c.name, by, c.by)
		}
		mark := func(text string, m ledger.Mark, claim *ledger.Claiming) string {
			t.Helper()
			got, gone, err := Bugs{}.Mark("bugs.json", []byte(text), []ledger.Marking{{Task: "a", Mark: m, Claim: claim}})
			claimed := (*ledger.ClaimedError)(nil)
			if c.want == "" && m == ledger.MarkWorking {
				if !errors.As(err, &claimed) || claimed.Claim.By != c.by {
					t.Errorf("%s: %v, want that %s works on it", c.name, err, c.by)
				}
				return text
			}
			if err != nil || len(gone) > 0 {
				t.Fatal(c.name, err, gone)
			}
			return string(got)
		}
		got := mark(c.text, ledger.MarkWorking, take)
		if c.want == "" {
			continue
		}
		if got != c.want {
			t.Errorf("%s: claimed\n%s\nwant\n%s", c.name, got, c.want)
		}
		if again := mark(got, ledger.MarkWorking, &ledger.Claiming{By: "porter-1", At: at.Add(time.Hour), Respect: at}); again != got {
			t.Errorf("%s: claimed again\n%s", c.name, again)
		}
		back := mark(got, ledger.MarkBlocked, &ledger.Claiming{By: "porter-1"})
		want := mark(strings.Replace(strings.Replace(c.text, `"claimed":null,`, "", 1), `,"claimed":{"by":"ann","at":"2026-11-25T20:00:00Z"}`, "", 1), ledger.MarkBlocked, nil)
		if back != want {
			t.Errorf("%s: given back\n%s\nwant\n%s", c.name, back, want)
		}
		if theirs := mark(got, ledger.MarkOpen, &ledger.Claiming{By: "porter-2"}); !strings.Contains(theirs, "porter-1") {
			t.Errorf("%s: another one gave it back: %s", c.name, theirs)
		}
	}
	if _, err := (Bugs{}).Parse("bugs.json", []byte(`[{"id":"a","claimed":7}]`)); err == nil || !strings.Contains(err.Error(), "claimed of a is 7") {
		t.Error(err)
	}
}

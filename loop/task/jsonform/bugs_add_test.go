package jsonform

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAddBugs: new reports are written as the inbox's own are, and read back.
func TestAddBugs(t *testing.T) {
	full := ledger.Task{Title: "Crash", Body: "I clicked \"Pay\" <twice>.\nGröße", Report: &ledger.Report{
		Untitled: true, Severity: "high", Page: "/cart", Tags: []string{"cart", "money"}, URL: "https://shop.example/cart", UserAgent: "Firefox",
		Console: []string{"TypeError: x"}, Screenshot: "a3-1.png", Created: time.Date(2026, 11, 26, 18, 0, 0, 0, time.UTC),
	}}
	short := ledger.Task{Title: "It hangs", Body: "It hangs", Report: &ledger.Report{Untitled: true}}
	for _, c := range []struct {
		name, file, text string // ¦ stands where the reports are expected
		task             ledger.Task
		want, id         string
	}{
		{"indented", "bugs.json", "[\n  {\n    \"id\": \"B09\",\n    \"body\": \"A\",\n    \"tags\": [\n      \"x\"\n    ],\n    \"status\": \"fixed\"\n  },\n  {\n    \"id\": \"B10\",\n    \"body\": \"A\",\n    \"status\": \"new\"\n  }¦\n]\n", full,
			",\n  {\n    \"id\": \"B11\",\n    \"body\": \"I clicked \\\"Pay\\\" <twice>.\\nGröße\",\n    \"status\": \"open\",\n    \"severity\": \"high\",\n    \"page\": \"/cart\",\n    \"tags\": [\"cart\", \"money\"],\n    \"created_at\": \"2026-11-26T18:00:00Z\",\n    \"meta\": {\"url\": \"https://shop.example/cart\", \"userAgent\": \"Firefox\", \"consoleErrors\": [\"TypeError: x\"], \"screenshot\": \"a3-1.png\"}\n  }", "B11"},
		{"in an object, in one line, other keys, numbers", "bugs.json", `{"total":1,"reports":[{"id":7,"message":"A","timestamp":1732633200000,"meta":{"url":"/"}}¦]}`, full,
			`,{"id":8,"message":"I clicked \"Pay\" <twice>.\nGröße","timestamp":1795716000000,"meta":{"url":"https://shop.example/cart","userAgent":"Firefox","consoleErrors":["TypeError: x"],"screenshot":"a3-1.png"},"severity":"high","page":"/cart","tags":["cart","money"]}`, "8"},
		{"without ids", "bugs.json", `[ { "severity": "low", "body": "It hangs" }¦ ]`, short, `, { "body": "It hangs" }`, "B7efd0261-2"},
		{"ids that are made of what they say", "bugs.json", "[{\"id\":\"B12345678\",\"body\":\"A\"}¦]", short, `,{"id":"B1","body":"It hangs"}`, "B1"},
		{"an id of its own", "bugs.json", "[{\"id\":\"B1\",\"body\":\"A\"}¦]", ledger.Task{ID: "B1a2b3c4d", Title: "X", Body: "X", Report: &ledger.Report{Untitled: true}}, `,{"id":"B1a2b3c4d","body":"X"}`, "B1a2b3c4d"},
		{"empty", "bugs.json", "[¦]\n", short, "\n  {\n    \"id\": \"B1\",\n    \"body\": \"It hangs\"\n  }\n", "B1"},
		{"a line each", "bugs.jsonl", "{\"id\":\"B1\",\"body\":\"A\",\"severity\":\"low\"}\r\n{\"id\":\"B2\",\"body\":\"A\",\"severity\":\"low\"}¦", short, "\r\n{\"id\":\"B3\",\"body\":\"It hangs\"}\r\n", "B3"},
		{"the first line", "bugs.jsonl", "¦", short, "{\"id\": \"B1\", \"body\": \"It hangs\"}\n", "B1"},
		{"a task", "bugs.json", "[{\"body\":\"A\",\"id\":\"x\"}¦]", ledger.Task{Title: "Zoom", Scope: "map/", Body: "On a tap", Acceptance: []string{"It zooms"}}, `,{"body":"On a tap\n\nScope: map/\n\nIt zooms","id":"B1","title":"Zoom"}`, "B1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ids, err := Bugs{}.Add(c.file, []byte(strings.Replace(c.text, "¦", "", 1)), []ledger.Task{c.task})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Replace(c.text, "¦", c.want, 1), string(got)); d != "" {
				t.Error(d)
			}
			s, err := Bugs{}.Parse(c.file, got)
			if err != nil {
				t.Fatal(err)
			}
			read := s.Tasks[len(s.Tasks)-1]
			if read.ID != ids[0] || read.ID != c.id || read.Mark != ledger.MarkOpen || c.task.Report != nil && read.Body != c.task.Body {
				t.Errorf("reads back as %+v, %s", read, ids)
			}
			if c.task.Report == nil {
				return
			}
			if d := cmp.Diff(c.task.Report, read.Report); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
	for name, c := range map[string]struct {
		text string
		task ledger.Task
	}{
		"the id is there":    {`[{"id":"b1","body":"A"}]`, ledger.Task{ID: "B1", Title: "X"}},
		"a mistake":          {`[{"id":"b1","body":7}]`, short},
		"no JSON":            {`[{"id":"b1",]`, short},
		"empty":              {"", short},
		"something else":     {`{"name":"shop"` + "\n}", short},
		"it depends on that": {`[{"id":"b1","body":"A"}]`, ledger.Task{Title: "X", DependsOn: []string{"b1"}}},
	} {
		if got, _, err := (Bugs{}).Add("bugs.json", []byte(c.text), []ledger.Task{c.task}); !errors.As(err, new(*ledger.InputError)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

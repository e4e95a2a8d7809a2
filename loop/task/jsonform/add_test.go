package jsonform

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// TestAdd: new tasks are written as the file's own are.
func TestAdd(t *testing.T) {
	full := ledger.Task{Title: "Ship \"it\" <fast>", Body: "Größe", Acceptance: []string{"it works", "it is fast"}, DependsOn: []string{"1"}, Priority: 3, Complexity: 2, Role: "evaluator"}
	for _, c := range []struct {
		name  string
		form  form.Adder
		text  string // ¦ stands where the tasks are expected
		tasks []ledger.Task
		want  string
	}{
		{"indented", Tasks{}, "[\n  {\n    \"id\": \"t-09\",\n    \"description\": \"A\",\n    \"depends_on\": [\n      \"x\"\n    ],\n    \"status\": \"completed\"\n  },\n  {\n    \"id\": \"x\",\n    \"description\": \"X\",\n    \"status\": \"pending\"\n  }¦\n]\n", []ledger.Task{{Title: "B", DependsOn: []string{"X"}}, {Title: "C", DependsOn: []string{"t-10"}}},
			",\n  {\n    \"id\": \"t-10\",\n    \"description\": \"B\",\n    \"status\": \"pending\",\n    \"depends_on\": [\"x\"]\n  },\n  {\n    \"id\": \"t-11\",\n    \"description\": \"C\",\n    \"status\": \"pending\",\n    \"depends_on\": [\"t-10\"]\n  }"},
		{"one line each, CRLF, BOM", Tasks{}, "\ufeff[\r\n\t{ \"status\": \"pending\", \"id\": \"1\", \"description\": \"A\", \"priority\": 2, \"role\": \"ideas\" }¦ ]", []ledger.Task{full},
			",\r\n\t{ \"status\": \"pending\", \"id\": \"2\", \"description\": \"Ship \\\"it\\\" <fast>\\n\\nGröße\", \"priority\": 3, \"role\": \"evaluator\", \"complexity\": 2, \"depends_on\": [\"1\"], \"acceptance_criteria\": \"it works\\nit is fast\" }"},
		{"no spaces, escapes", Tasks{}, `[{"id":"1","description":"\u00c4","status":"pending","depends_on":[]}¦]`, []ledger.Task{{Title: "Ö 🚀"}},
			`,{"id":"2","description":"\u00d6 \ud83d\ude80","status":"pending","depends_on":[]}`},
		{"empty", Tasks{}, "[¦]\n", []ledger.Task{{Title: "A"}, {Title: "B"}}, "\n  {\n    \"id\": \"1\",\n    \"description\": \"A\",\n    \"status\": \"pending\"\n  },\n  {\n    \"id\": \"2\",\n    \"description\": \"B\",\n    \"status\": \"pending\"\n  }\n"},
		{"an id of its own", Tasks{}, `[{"id":"a","description":"A","status":"pending"}¦]`, []ledger.Task{{ID: "b", Title: "B"}}, `,{"id":"b","description":"B","status":"pending"}`},
		{"numbers", Tasks{}, `{"tasks":[{"id":8,"title":"A","description":"","status":"done","priority":"low","dependencies":[],"subtasks":[{"id":1,"title":"x","status":"done"}]},{"id":1,"title":"B","status":"done"}¦]}`, []ledger.Task{{Title: "C", DependsOn: []string{"8", "8.1", "1"}, Priority: 4}},
			`,{"id":9,"title":"C","status":"pending","description":"","priority":"critical","dependencies":[8,"8.1",1]}`},
		{"empty tag", Tasks{}, "{\n\t\"master\": {\n\t\t\"tasks\": [¦]\n\t}\n}", []ledger.Task{{Title: "A"}}, "\n\t\t\t{\n\t\t\t\t\"id\": 1,\n\t\t\t\t\"title\": \"A\",\n\t\t\t\t\"description\": \"\",\n\t\t\t\t\"status\": \"pending\",\n\t\t\t\t\"priority\": \"medium\",\n\t\t\t\t\"dependencies\": []\n\t\t\t}\n\t\t"},
		{"stories", PRD{}, "{\n  \"userStories\": [\n    {\n      \"id\": \"US-009\",\n      \"title\": \"A\",\n      \"acceptanceCriteria\": [\n        \"x\"\n      ],\n      \"priority\": 4,\n      \"passes\": true,\n      \"notes\": \"\"\n    }¦\n  ]\n}", []ledger.Task{{Title: "B", Body: "As a clerk", Acceptance: []string{"y", "z"}, Scope: "a/b"}},
			",\n    {\n      \"id\": \"US-010\",\n      \"title\": \"B\",\n      \"acceptanceCriteria\": [\n        \"y\",\n        \"z\"\n      ],\n      \"priority\": 5,\n      \"passes\": false,\n      \"notes\": \"Scope: a/b\",\n      \"description\": \"As a clerk\"\n    }"},
		{"stories with a status", PRD{}, "{\"stories\": [\n  { \"id\": \"S1\", \"title\": \"A\", \"status\": \"done\", \"dependsOn\": [] }¦\n]}", []ledger.Task{{Title: "B", DependsOn: []string{"s1"}}},
			",\n  { \"id\": \"S2\", \"title\": \"B\", \"status\": \"open\", \"dependsOn\": [\"S1\"], \"description\": \"\", \"acceptanceCriteria\": [] }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := strings.Replace(c.text, "¦", "", 1)
			got, ids, err := c.form.Add("f.json", []byte(before), c.tasks)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Replace(c.text, "¦", c.want, 1), string(got)); d != "" {
				t.Fatal(d)
			}
			s := parse(t, c.form.(form.Form), string(got))
			for n, task := range c.tasks {
				read := s.Tasks[len(s.Tasks)-len(c.tasks)+n]
				if read.ID != ids[n] || read.Title != task.Title || read.Mark != ledger.MarkOpen {
					t.Errorf("reads back as %+v, %s", read, ids[n])
				}
			}
		})
	}
}

// TestAddRefused: what a session must not add is refused, and says why.
func TestAddRefused(t *testing.T) {
	text := `[{"id":"1","description":"Write the schema","status":"completed"},{"id":"2","description":"B","status":"pending","role":"ideas"}]`
	many := make([]ledger.Task, 499)
	for n := range many {
		many[n].Title = fmt.Sprint("Task ", n)
	}
	for name, c := range map[string]struct {
		text  string
		tasks []ledger.Task
		want  string
	}{
		"id there":            {text, []ledger.Task{{ID: "2", Title: "C"}}, "2 is there already"},
		"id twice":            {text, []ledger.Task{{ID: "x", Title: "C"}, {ID: "X", Title: "D"}}, "X is there already"},
		"id with a space":     {text, []ledger.Task{{ID: "x y", Title: "C"}}, `the id "x y" has a space`},
		"no title":            {text, []ledger.Task{{Body: "C"}}, "has no title"},
		"same text":           {text, []ledger.Task{{Title: " write  the Schema"}}, `is there already: 1`},
		"same text and role":  {text, []ledger.Task{{Title: "b", Role: "ideas"}}, `is there already: 2`},
		"same text twice":     {text, []ledger.Task{{Title: "C"}, {Title: "c"}}, "is there already: 3"},
		"unknown dependency":  {text, []ledger.Task{{Title: "C", DependsOn: []string{"9"}}}, `3 depends on "9", which this file lacks`},
		"on itself":           {text, []ledger.Task{{ID: "x", Title: "C", DependsOn: []string{"x"}}}, "x depends on itself"},
		"cycle":               {text, []ledger.Task{{ID: "x", Title: "C", DependsOn: []string{"y"}}, {ID: "y", Title: "D", DependsOn: []string{"x"}}}, "tasks wait for each other: x → y → x"},
		"too many":            {text, many, "would have 501 tasks: at most 500"},
		"a file with mistake": {`[{"id":"1","description":"A"}]`, []ledger.Task{{Title: "B"}}, "1 has no status"},
	} {
		got, _, err := Tasks{}.Add("dir/f.json", []byte(c.text), c.tasks)
		if !errors.As(err, new(*ledger.InputError)) || !strings.Contains(err.Error(), c.want) || got != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
	// The same words for another role are another task.
	if _, ids, err := (Tasks{}).Add("f.json", []byte(text), []ledger.Task{{Title: "B"}}); err != nil || ids[0] != "3" {
		t.Error(ids, err)
	}
}

// TestCount: attempts are written into their fields, or into new ones behind the
// status.
func TestCount(t *testing.T) {
	tried := time.Unix(1790000001, 5e8)
	for before, after := range map[string]string{
		`[{"id":"1","status":"pending","failed_attempts":0,"last_attempt_at": 5 }]`:  `[{"id":"1","status":"pending","failed_attempts":2,"last_attempt_at": 1790000001 }]`,
		`[{"id":"1","status":"pending","last_attempt_at":null,"failed_attempts":2}]`: `[{"id":"1","status":"pending","last_attempt_at":1790000001,"failed_attempts":2}]`,
		"[{\n  \"id\": \"1\",\n  \"status\": \"pending\",\n  \"x\": 1\n}]":           "[{\n  \"id\": \"1\",\n  \"status\": \"pending\",\n  \"failed_attempts\": 2,\n  \"last_attempt_at\": 1790000001,\n  \"x\": 1\n}]",
		`{"tasks":[{"id":1,"title":"A","status":"pending"}]}`:                        `{"tasks":[{"id":1,"title":"A","status":"pending"}]}`,
	} {
		got, gone, err := Tasks{}.Count("f.json", []byte(before), "1", 2, tried)
		if string(got) != after || gone || err != nil {
			t.Errorf("%s: %s, %v, %v", before, got, gone, err)
		}
		again, _, err := Tasks{}.Count("f.json", got, "1", 2, tried)
		if string(again) != string(got) || err != nil {
			t.Errorf("not idempotent: %s, %v", again, err)
		}
	}
	text := []byte(formtest.WreckIt[0])
	if got, gone, err := (Tasks{}).Count("f.json", text, "none", 1, tried); string(got) != string(text) || !gone || err != nil {
		t.Error(gone, err)
	}
	got, _, err := Tasks{}.Count("f.json", text, "build-2", 3, tried)
	if err != nil {
		t.Fatal(err)
	}
	if task := parse(t, Tasks{}, string(got)).Tasks[2]; task.Failures != 3 || !task.Tried.Equal(time.Unix(1790000001, 0)) {
		t.Errorf("reads back as %+v", task)
	}
}

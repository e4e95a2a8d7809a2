package jsonform

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// TestMistakes: every mistake is an error with its line, and no task is read.
func TestMistakes(t *testing.T) {
	one := func(fields string) string {
		return "[\n{\"id\":\"1\",\"description\":\"A\",\"status\":\"pending\"" + fields + "}\n]"
	}
	tm := func(tasks string) string { return "{\"tasks\":[\n" + tasks + "\n]}" }
	prd := func(stories string) string { return "{\"userStories\":[\n" + stories + "\n]}" }
	for _, c := range []struct {
		name string
		form form.Form
		text string
		want string // begins one of the findings
	}{
		{"empty", Tasks{}, " \n", "f.json  is empty: expected a tasks file"},
		{"not whole", Tasks{}, "[\n{\"id\": \"1", "f.json:2  ends in the middle of a value"},
		{"comment", Tasks{}, "[\n// first\n{}]", "f.json:2  a comment: JSON has none"},
		{"comma before ]", Tasks{}, "[{},\n]", "f.json:2  a comma before ]"},
		{"comma before }", Tasks{}, "[{\"id\":1,\n}]", "f.json:2  a comma before }"},
		{"no comma", Tasks{}, "[{\"id\":1\n\"a\":2}]", "f.json:2  '\"' where a comma or a closing bracket is expected"},
		{"single quotes", Tasks{}, "[\n'a']", "f.json:2  a text in single quotation marks"},
		{"line end in a text", Tasks{}, "[\"a\nb\"]", "f.json:1  a text that runs over the end of its line"},
		{"conflict", Tasks{}, "[\n<<<<<<< HEAD\n]", "f.json:2  a conflict of git"},
		{"two values", Tasks{}, "{}\n{}", "f.json:2  more text behind the end of the value"},
		{"not JSON", Tasks{}, "\nhello", "f.json:2  is no JSON: invalid character 'h'"},
		{"UTF-16", Tasks{}, "\xff\xfe[", "f.json:1  is UTF-16"},
		{"a text", Tasks{}, `"x"`, "f.json:1  is \"x\" without tasks"},
		{"an object", Tasks{}, `{"a":1}`, "f.json:1  is an object without tasks"},
		{"a prd", Tasks{}, `{"userStories":[]}`, "f.json:1  has user stories: this is a prd"},
		{"commands of an editor", Tasks{}, `{"tasks":[{"label":"x"}]}`, "f.json:1  holds entries without id and status"},
		{"no tasks", Tasks{}, `[]`, "f.json  has no tasks"},
		{"a task that is a text", Tasks{}, "[\n\"x\"]", "f.json:2  task 1 is \"x\": expected an object"},
		{"no id", Tasks{}, "[\n{\"description\":\"A\",\"status\":\"pending\"}]", "f.json:2  task 1 has no id"},
		{"empty id", Tasks{}, one("},{\"id\":\"\",\"description\":\"A\",\"status\":\"pending\""), "f.json:2  task 2 has an empty id"},
		{"id with a space", Tasks{}, one("},\n{\"id\":\"a b\",\"description\":\"A\",\"status\":\"pending\""), "f.json:3  the id \"a b\" has a space"},
		{"id of another type", Tasks{}, "[\n{\"id\":[],\"status\":\"pending\"}]", "f.json:2  id of task 1 is a list: expected a text or a number"},
		{"id twice", Tasks{}, one("},\n{\"id\":\"1\",\"description\":\"B\",\"status\":\"pending\""), "f.json:3  1 is there twice: line 2 and line 3"},
		{"key twice", Tasks{}, one(",\n\"status\":\"failed\""), "f.json:3  task 1 has \"status\" twice: line 2 and line 3"},
		{"no status", Tasks{}, "[\n{\"id\":\"1\",\"description\":\"A\"}]", "f.json:2  1 has no status: nightporter changes statuses, and adds none"},
		{"unknown status", Tasks{}, "[\n{\"id\":\"1\",\"description\":\"A\",\"status\":\"complete\"}]", "f.json:2  the status of 1 is \"complete\": expected one of completed, failed, inprogress, pending\n    Write \"completed\""},
		{"status that is a number", Tasks{}, "[\n{\"id\":\"1\",\"description\":\"A\",\"status\":1}]", "f.json:2  the status of 1 is 1: expected one of"},
		{"no description", Tasks{}, "[\n{\"id\":\"1\",\"status\":\"pending\"}]", "f.json:2  1 has no description"},
		{"text for a number", Tasks{}, one(",\n\"priority\":\"high\""), "f.json:3  priority of 1 is \"high\": expected a whole number"},
		{"fraction", Tasks{}, one(",\"phase\":1.5"), "f.json:2  phase of 1 is 1.5: expected a whole number"},
		{"list of numbers", Tasks{}, one(",\"labels\":[1]"), "f.json:2  an entry of labels of 1 is 1: expected a text"},
		{"unknown kind", Tasks{}, one(",\"kind\":\"daily\""), "f.json:2  kind of 1 is \"daily\": expected milestone or recurring"},
		{"unknown evaluation", Tasks{}, one(",\"evaluation\":{\n\"mode\":\"semntic\"}"), "f.json:3  mode of the evaluation of 1 is \"semntic\": expected command, semantic or agent_file"},
		{"evaluation without a mode", Tasks{}, one(",\n\"evaluation\":{\"command\":\"make\"}"), "f.json:3  the evaluation of 1 has no mode"},
		{"unknown dependency", Tasks{}, one(",\"depends_on\":[\n\"7\"]"), "f.json:3  1 depends on \"7\", which this file lacks"},
		{"dependency on itself", Tasks{}, one(",\"depends_on\":[\"1\"]"), "f.json:2  1 depends on itself"},
		{"cycle", Tasks{}, one(",\"depends_on\":[\"2\"]},\n{\"id\":\"2\",\"description\":\"B\",\"status\":\"pending\",\"depends_on\":[\"1\"]"), "f.json:2  tasks wait for each other: 1 → 2 → 1"},

		{"no title", Tasks{}, tm(`{"id":1,"status":"pending"}`), "f.json:2  1 has no title"},
		{"unknown priority", Tasks{}, tm(`{"id":1,"title":"A","status":"pending","priority":"hgh"}`), "f.json:2  priority of 1 is \"hgh\": expected critical, high, medium or low\n    Write \"high\""},
		{"subtask twice", Tasks{}, tm(`{"id":1,"title":"A","status":"pending","subtasks":[{"id":2,"title":"x","status":"done"},` + "\n" + `{"id":2,"title":"y","status":"done"}]}`), "f.json:3  1.2 is there twice: line 2 and line 3"},
		{"subtasks that are a text", Tasks{}, tm(`{"id":1,"title":"A","status":"pending","subtasks":"x"}`), "f.json:2  subtasks of 1 is \"x\": expected a list"},
		{"parent twice", Tasks{}, tm(`{"id":1,"title":"A","status":"pending","subtasks":[{"id":2,"title":"x","status":"done"}]},` + "\n" + `{"id":1,"title":"A","status":"pending"}`), "f.json:2  1 is there twice: line 2 and line 3"},
		{"cycle through a parent", Tasks{}, tm(`{"id":1,"title":"A","status":"pending","dependencies":[2],"subtasks":[{"id":1,"title":"x","status":"done"}]},` + "\n" + `{"id":2,"title":"B","status":"pending","dependencies":[1]}`), "f.json:2  tasks wait for each other: 1.1 → 2 → 1.1"},
		{"tags without a choice", Tasks{}, `{"a":{"tasks":[]},"b":{"tasks":[]}}`, "f.json:1  has 2 tags and no choice of one: a, b\n    Choose one: task-master use-tag NAME"},
		{"tag twice", Tasks{}, "{\"master\":{\"tasks\":[]},\n\"master\":{\"tasks\":[]}}", "f.json:2  the tag \"master\" is there twice"},

		{"tasks for stories", PRD{}, `[{"id":"1","description":"A","status":"pending"}]`, "f.json:1  has no userStories: this looks like a tasks file\n    Write tasks:PATH"},
		{"stories below", PRD{}, `{"data":{"userStories":[]}}`, "f.json:1  is an object without userStories"},
		{"no stories", PRD{}, `{"userStories":[]}`, "f.json:1  has no stories"},
		{"passes that is a text", PRD{}, prd(`{"id":"1","title":"A","passes":"yes"}`), "f.json:2  the passes of 1 is the text \"yes\": expected true or false"},
		{"no passes", PRD{}, prd(`{"id":"1","title":"A"}`), "f.json:2  1 has no passes: nightporter changes statuses, and adds none\n    Write \"passes\": false"},
		{"no title of a story", PRD{}, prd(`{"id":"1","passes":false}`), "f.json:2  1 has no title"},

		{"one value for beads", Beads{}, "{\n}", "f.json:1  is one JSON value: expected an issue in each line"},
		{"no issues", Beads{}, "\n", "f.json  has no issues"},
		{"a broken line", Beads{}, "{\"id\":\"a\",\"title\":\"A\",\"status\":\"open\"}\n{\"id\":", "f.json:2  ends in the middle of a value"},
		{"unknown status of an issue", Beads{}, "\n{\"id\":\"a\",\"title\":\"A\",\"status\":\"opn\"}", "f.json:2  the status of a is \"opn\""},
		{"cycle of issues", Beads{}, `{"id":"a","title":"A","status":"open","dependencies":[{"depends_on_id":"b","type":"blocks"}]}` + "\n" + `{"id":"b","title":"B","status":"open","dependencies":[{"depends_on_id":"a","type":"blocks"}]}`, "f.json:1  tasks wait for each other: a → b → a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.form.Parse("dir/f.json", []byte(c.text))
			input := (*ledger.InputError)(nil)
			if !errors.As(err, &input) || len(s.Tasks) > 0 {
				t.Fatalf("read %v, %v", s.Tasks, err)
			}
			for _, d := range input.Diagnostics {
				if strings.HasPrefix(d.String(), c.want) {
					return
				}
			}
			t.Errorf("got:\n%v\nwant: %s", err, c.want)
		})
	}
}

// TestManyMistakes: findings are cut, and a file of nothing but brackets ends.
func TestManyMistakes(t *testing.T) {
	_, err := Tasks{}.Parse("f.json", []byte("["+strings.Repeat("{\"id\":\"x y\"},", 5000)+"1]"))
	input := (*ledger.InputError)(nil)
	if !errors.As(err, &input) || len(input.Diagnostics) != form.MaxFindings+1 {
		t.Errorf("%d findings", len(input.Diagnostics))
	}
	for _, text := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"tasks":[`, 1<<18), strings.Repeat("[", 9000) + strings.Repeat("]", 9000)} {
		if _, err := (Tasks{}).Parse("f.json", []byte(text)); err == nil {
			t.Error("brackets were read")
		}
	}
	large := bytes.Repeat([]byte(" "), form.MaxBytes+1)
	if _, err := (Tasks{}).Parse("f.json", large); err == nil || !strings.Contains(err.Error(), "is larger than 64 MB") {
		t.Errorf("large: %v", err)
	}
}

// TestMarkRefused: what a mark cannot be written into is left as it is.
func TestMarkRefused(t *testing.T) {
	for name, text := range map[string]string{
		"an id twice":       `[{"id":"1","status":"pending"},{"id":"1","status":"pending"}]`,
		"an unknown status": `[{"id":"1","status":"mine"}]`,
		"no status":         `[{"id":"1"}]`,
		"broken":            `[{"id":"1","status":"pending"}`,
	} {
		marked, _, err := Tasks{}.Mark("f.json", []byte(text), []ledger.Marking{{Task: "1", Mark: ledger.MarkDone}})
		if !errors.As(err, new(*ledger.InputError)) || marked != nil {
			t.Errorf("%s: %s, %v", name, marked, err)
		}
	}
	// Mistakes elsewhere do not matter.
	text := `[{"id":"1","status":"pending"},{"id":"2"},{"status":"x"},7]`
	marked, gone, err := Tasks{}.Mark("f.json", []byte(text), []ledger.Marking{{Task: "1", Mark: ledger.MarkDone}, {Task: "3", Mark: ledger.MarkDone}})
	if err != nil || len(gone) != 1 || string(marked) != strings.Replace(text, "pending", "completed", 1) {
		t.Errorf("%s, %v, %v", marked, gone, err)
	}
}

package jsonform

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

func parse(t *testing.T, f form.Form, text string) ledger.Snapshot {
	t.Helper()
	s, err := f.Parse("dir/f.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func warnings(s ledger.Snapshot) string {
	var all []string
	for _, w := range s.Warnings {
		all = append(all, w.String())
	}
	return strings.Join(all, "\n")
}

func TestWreckIt(t *testing.T) {
	s := parse(t, Tasks{}, formtest.WreckIt[0])
	want := []ledger.Task{
		{ID: "design-1", Title: "Sketch the order schema. Two tables will do.", Role: "ideas", Priority: 3, Complexity: 2, Phase: 1,
			Outputs: []ledger.Artefact{{Name: "sketch", Kind: "file", Path: "notes/orders.md"}}, Mark: ledger.MarkDone, Line: 3},
		{ID: "build-1", Title: "Write the order schema", Priority: 9, Complexity: 4, Phase: 2, DependsOn: []string{"design-1"},
			Inputs: []string{"design-1/sketch"}, Labels: []string{"db", "night"}, Acceptance: []string{"the migration runs twice", "it can be undone"},
			Evaluation: "make schema", Failures: 1, Tried: time.Unix(1790000000, 0).UTC(), Mark: ledger.MarkOpen, Line: 15},
		{ID: "build-2", Title: "Round totals half up", Phase: 1, Mark: ledger.MarkBlocked, Line: 31},
		{ID: "watch-1", Title: "Update the dependencies", Phase: 1, Mark: ledger.MarkOpen, Line: 36,
			Repeat: &ledger.Repeat{Cooldown: 24 * time.Hour, Precondition: "a dependency has a newer release"}},
	}
	if d := cmp.Diff(want, s.Tasks); d != "" {
		t.Error(d)
	}
	if s.Name != "f" || s.Path != "dir/f.json" || len(s.Warnings) > 0 {
		t.Errorf("%q %q %v", s.Name, s.Path, s.Warnings)
	}

	s = parse(t, Tasks{}, formtest.WreckIt[1])
	if got := s.Tasks[0].Title; got != "Größe 🚀" {
		t.Errorf("escapes: %q", got)
	}
	if s.Tasks[0].Phase != 0 {
		t.Error("a file without phases got one")
	}
	s = parse(t, Tasks{}, formtest.WreckIt[2])
	if s.Tasks[1].Mark != ledger.MarkOpen || !strings.Contains(warnings(s), `f.json:1  b is "inprogress": it counts as open`) {
		t.Errorf("%s, %s", s.Tasks[1].Mark, warnings(s))
	}
}

func TestHeading(t *testing.T) {
	for text, want := range map[string]string{
		"Add a form":          "Add a form",
		" Add a form\nMore. ": "Add a form",
		"Add a form. " + strings.Repeat("More words. ", 20):          "Add a form",
		strings.Repeat("word ", 40):                                  strings.TrimSpace(strings.Repeat("word ", 15)) + "…",
		strings.Repeat("ä", 100):                                     strings.Repeat("ä", 79) + "…",
		"Read a file that " + strings.Repeat("x", 70) + ". And more": "Read a file that " + strings.Repeat("x", 62) + "…",
	} {
		if got := Heading(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTaskMaster(t *testing.T) {
	s := parse(t, Tasks{}, formtest.TaskMaster[0])
	want := []ledger.Task{
		{ID: "1", Title: "Order schema", Body: "Two tables\n\norders and lines", Acceptance: []string{"The migration runs twice"}, Priority: 3, Mark: ledger.MarkDone, Line: 5},
		{ID: "2.1", Title: "Totals", Body: "Half up\n\nA part of 2, Order service: Totals and taxes", DependsOn: []string{"1"}, Priority: 2, Mark: ledger.MarkOpen, Line: 26},
		{ID: "2.2", Title: "Taxes", Body: "Of three countries\n\nA part of 2, Order service: Totals and taxes", DependsOn: []string{"1", "2.1"}, Priority: 2, Mark: ledger.MarkBlocked, Line: 33},
		{ID: "3", Title: "Order page", DependsOn: []string{"2.1", "2.2"}, Priority: 2, Mark: ledger.MarkManualVerify, Line: 44},
	}
	if d := cmp.Diff(want, s.Tasks); d != "" {
		t.Error(d)
	}

	text := func(parent, sub string) string {
		return `{"tasks":[{"id":1,"title":"A","status":"` + parent + `","subtasks":[{"id":1,"title":"x","status":"` + sub + `"}]}]}`
	}
	for _, c := range []struct {
		parent, sub string
		mark        ledger.Mark
		warning     string
	}{
		{"cancelled", "pending", ledger.MarkBlocked, ""},
		{"deferred", "done", ledger.MarkDone, ""},
		{"done", "pending", ledger.MarkOpen, "1 is done, and not all of its subtasks are"},
		{"pending", "done", ledger.MarkDone, "1 is pending, and all its subtasks are done"},
	} {
		s := parse(t, Tasks{}, text(c.parent, c.sub))
		if got := warnings(s); s.Tasks[0].Mark != c.mark || c.warning == "" != (got == "") || !strings.Contains(got, c.warning) {
			t.Errorf("%s with %s: %s, %s", c.parent, c.sub, s.Tasks[0].Mark, got)
		}
	}
}

// TestParentsFollow: the status of a task with subtasks follows theirs.
func TestParentsFollow(t *testing.T) {
	text := func(parent, one, two string) string {
		return `{"tasks":[{"id":1,"title":"A","subtasks":[{"id":1,"title":"x","status":"` + one + `"},{"id":2,"title":"y","status":"` + two + `"}],"status":"` + parent + `"}]}`
	}
	for _, c := range []struct {
		before string
		marks  []ledger.Marking
		after  string
	}{
		{text("pending", "done", "pending"), []ledger.Marking{{Task: "1.2", Mark: ledger.MarkDone}}, text("done", "done", "done")},
		{text("pending", "pending", "pending"), []ledger.Marking{{Task: "1.1", Mark: ledger.MarkDone}}, text("pending", "done", "pending")},
		{text("pending", "pending", "pending"), []ledger.Marking{{Task: "1.1", Mark: ledger.MarkWorking}}, text("in-progress", "in-progress", "pending")},
		{text("in-progress", "in-progress", "done"), []ledger.Marking{{Task: "1.1", Mark: ledger.MarkDone}}, text("done", "done", "done")},
		{text("done", "done", "done"), []ledger.Marking{{Task: "1.1", Mark: ledger.MarkOpen}}, text("pending", "pending", "done")},
		{text("deferred", "pending", "pending"), []ledger.Marking{{Task: "1.1", Mark: ledger.MarkBlocked}}, text("deferred", "blocked", "pending")},
		{text("pending", "done", "done"), []ledger.Marking{{Task: "1.1", Mark: ledger.MarkDone}}, text("pending", "done", "done")},
	} {
		got, gone, err := Tasks{}.Mark("f.json", []byte(c.before), c.marks)
		if string(got) != c.after || len(gone) > 0 || err != nil {
			t.Errorf("%v: %v %v\n%s\n%s, want\n%s", c.marks, gone, err, c.before, got, c.after)
		}
	}
}

func TestTags(t *testing.T) {
	list := func(title string) string { return `{"tasks":[{"id":1,"title":"` + title + `","status":"pending"}]}` }
	for _, c := range []struct{ text, tag, want string }{
		{`{"a":` + list("A") + `,"master":` + list("M") + `}`, "", "M"},
		{`{"a":` + list("A") + `,"master":` + list("M") + `}`, "a", "A"},
		{`{"a":` + list("A") + `,"master":` + list("M") + `}`, "gone", "M"},
		{`{"a":` + list("A") + `,"metadata":{"tasks":3}}`, "", "A"},
	} {
		if s := parse(t, Tasks{Tag: c.tag}, c.text); len(s.Tasks) != 1 || s.Tasks[0].Title != c.want {
			t.Errorf("%s of %s: %v", c.tag, c.text, s.Tasks)
		}
	}
}

func TestPRD(t *testing.T) {
	s := parse(t, PRD{}, formtest.PRDs[0])
	want := []ledger.Task{
		{ID: "US-001", Title: "Order schema", Body: "As a clerk I want orders to stay", Acceptance: []string{"The migration runs twice", "Typecheck passes"}, Priority: 99, Mark: ledger.MarkDone, Line: 7},
		{ID: "US-002", Title: "Order page", Body: "As a clerk I want to see orders", Acceptance: []string{"The total shows in euros"}, Notes: "Ask about taxes", Priority: 98, DependsOn: []string{"US-001"}, Mark: ledger.MarkOpen, Line: 19},
		{ID: "US-003", Title: "Order filter", Priority: 97, Mark: ledger.MarkOpen, Line: 29},
	}
	if d := cmp.Diff(want, s.Tasks); d != "" {
		t.Error(d)
	}
	s = parse(t, PRD{}, formtest.PRDStatus)
	var marks []ledger.Mark
	for _, task := range s.Tasks {
		marks = append(marks, task.Mark)
	}
	if d := cmp.Diff([]ledger.Mark{ledger.MarkDone, ledger.MarkOpen, ledger.MarkOpen}, marks); d != "" || !strings.Contains(warnings(s), `US-002 is "in_progress"`) {
		t.Error(d, warnings(s))
	}
	s = parse(t, PRD{}, `{"userStories":[{"id":"1","title":"A","passes":false,"acceptanceCriteria":[{"id":"x","text":"It works","passes":true}]}]}`)
	if d := cmp.Diff([]string{"It works"}, s.Tasks[0].Acceptance); d != "" {
		t.Error(d)
	}
}

func TestBeads(t *testing.T) {
	s := parse(t, Beads{}, formtest.Beads[0])
	want := []ledger.Task{
		{ID: "shop-1.1", Title: "Order schema", Body: "Two tables\n\nOne migration", Acceptance: []string{"it runs twice", "it can be undone"}, Notes: "Ask about taxes", Priority: 4, Labels: []string{"db"}, Mark: ledger.MarkDone, Line: 2},
		{ID: "shop-1.2", Title: "Order page", Priority: 2, DependsOn: []string{"shop-1.1"}, Mark: ledger.MarkOpen, Line: 3},
		{ID: "shop-2", Title: "Release", Priority: 1, DependsOn: []string{"shop-1.1", "shop-1.2"}, Mark: ledger.MarkBlocked, Line: 4},
	}
	if d := cmp.Diff(want, s.Tasks); d != "" {
		t.Error(d)
	}
	s = parse(t, Beads{}, `{"_type":"memory","key":"x"}`+"\n"+`{"id":"a","title":"A","status":"open","dependencies":[{"depends_on_id":"b","type":"blocks"}]}`)
	if len(s.Tasks) != 1 || !strings.Contains(warnings(s), `a depends on "b", which is not in this file`) {
		t.Error(s.Tasks, warnings(s))
	}
}

func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		form form.Recogniser
		text string
		is   bool
	}{
		{Tasks{}, formtest.WreckIt[0], true}, {Tasks{}, formtest.WreckIt[1], true},
		{Tasks{}, formtest.TaskMaster[0], true}, {Tasks{}, formtest.TaskMaster[1], true},
		{Tasks{}, formtest.PRDs[0], false}, {Tasks{}, formtest.PRDStatus, false}, {Tasks{}, formtest.Beads[0], false},
		{Tasks{}, `{"version":"2.0.0","tasks":[{"label":"build"}]}`, false}, {Tasks{}, `[]`, false}, {Tasks{}, `[1]`, false}, {Tasks{}, ``, false}, {Tasks{}, `[`, false},
		{PRD{}, formtest.PRDs[0], true}, {PRD{}, formtest.PRDs[1], true}, {PRD{}, formtest.PRDStatus, true},
		{PRD{}, formtest.WreckIt[0], false}, {PRD{}, `{"stories":"x"}`, false},
		{Beads{}, formtest.Beads[0], true}, {Beads{}, formtest.Beads[1], true}, {Beads{}, formtest.WreckIt[0], false}, {Beads{}, "", false},
	} {
		if why := c.form.Recognise("x.json", []byte(c.text)); (why != "") != c.is {
			t.Errorf("%T of %.40s: %q", c.form, c.text, why)
		}
	}
}

// TestPassesAsText: "true" is not true. It is neither read nor written.
func TestPassesAsText(t *testing.T) {
	for _, word := range []string{`"true"`, `"false"`, `"yes"`} {
		text := []byte("{\"userStories\": [\n {\"id\": \"US-1\", \"title\": \"A\", \"passes\": false},\n {\"id\": \"US-2\", \"title\": \"B\", \"passes\": " + word + "}\n]}\n")
		_, err := PRD{}.Parse("prd.json", text)
		if want := "the passes of US-2 is the text " + word + ": expected true or false"; err == nil || !strings.Contains(err.Error(), "prd.json:3") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
		if _, _, err := (PRD{}).Mark("prd.json", text, []ledger.Marking{{Task: "US-2", Mark: ledger.MarkDone}}); err == nil {
			t.Errorf("%s is written", word)
		}
	}
}

// TestPRDInside: the stories may stand in an object "prd".
func TestPRDInside(t *testing.T) {
	const text = `{"prd": {"name": "x", "userStories": [{"id": "US-1", "title": "A", "passes": false}]}}`
	if why := (PRD{}).Recognise("prd.json", []byte(text)); why == "" {
		t.Error("not recognised")
	}
	s, err := PRD{}.Parse("prd.json", []byte(text))
	if err != nil || len(s.Tasks) != 1 || s.Tasks[0].ID != "US-1" {
		t.Fatalf("%v %v", s.Tasks, err)
	}
	marked, _, err := PRD{}.Mark("prd.json", []byte(text), []ledger.Marking{{Task: "US-1", Mark: ledger.MarkDone}})
	if want := strings.Replace(text, "false", "true", 1); err != nil || string(marked) != want {
		t.Errorf("%s %v", marked, err)
	}
	grown, ids, err := PRD{}.Add("prd.json", []byte(text), []ledger.Task{{Title: "B"}})
	if err != nil || len(ids) != 1 || ids[0] != "US-2" {
		t.Errorf("%s %v %v", grown, ids, err)
	}
}

// TestDoneCycle: subtasks that wait for each other are a warning where all are done.
func TestDoneCycle(t *testing.T) {
	const text = `{"tasks": [{"id": 1, "title": "A", "status": "pending", "subtasks": [
 {"id": 1, "title": "B", "status": "done", "dependencies": [2]},
 {"id": 2, "title": "C", "status": "done", "dependencies": [1]},
 {"id": 3, "title": "D", "status": "pending"}]}]}`
	s, err := Tasks{}.Parse("tasks.json", []byte(text))
	if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Text, "1.1 → 1.2 → 1.1; all of them are done") {
		t.Errorf("%v %v", s.Warnings, err)
	}
	if _, err := (Tasks{}).Parse("tasks.json", []byte(strings.Replace(text, `"C", "status": "done"`, `"C", "status": "pending"`, 1))); err == nil {
		t.Error("a cycle with an open task is read")
	}
}

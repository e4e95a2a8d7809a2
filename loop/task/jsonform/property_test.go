package jsonform

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// texts are all fixtures of a form that is written.
func texts(f form.Form) []string {
	if f == (PRD{}) {
		return append(slices.Clone(formtest.PRDs), formtest.PRDStatus)
	}
	return append(slices.Clone(formtest.WreckIt), formtest.TaskMaster...)
}

var marks = []ledger.Mark{ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify, ledger.MarkWorking}

// drawn is a random file, in pieces. The odd ones are the texts of statuses.
func drawn(t *rapid.T) (pieces []string, ids []string) {
	space := rapid.SampledFrom([]string{"", " ", "\n", "\r\n\t", "  \n  "})
	value := rapid.SampledFrom([]string{`"x"`, `1e3`, `-0.5`, `null`, `true`, `[]`, `{}`, `[{"status":"pending"},"]"]`, `{"status":{"id":"1"},"a":"}\""}`, `"\ud83d\ude00 \\"`, `"status"`, `"größe"`})
	word := rapid.SampledFrom([]string{`"pending"`, `"completed"`, `"failed"`, `"\u0070ending"`})
	var b strings.Builder
	put := func(s string) { b.WriteString(space.Draw(t, "space") + s) }
	b.WriteString(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark of order"))
	put("[")
	for n := range rapid.IntRange(1, 6).Draw(t, "tasks") {
		if n > 0 {
			put(",")
		}
		ids = append(ids, fmt.Sprint("t", n))
		fields := rapid.Permutation([]string{"id", "description", "status", "x", "y z", "st atus"}).Draw(t, "fields")
		for i, key := range fields {
			put([]string{",", "{"}[min(1, max(0, 1-i))])
			put(`"` + key + `"`)
			put(":")
			switch key {
			case "id":
				put(`"` + ids[n] + `"`)
			case "description":
				put(`"do it"`)
			case "status":
				put("")
				pieces = append(pieces, b.String(), word.Draw(t, "status"))
				b.Reset()
			default:
				put(value.Draw(t, "value"))
			}
		}
		put("}")
	}
	put("]")
	return append(pieces, b.String()+space.Draw(t, "space")), ids
}

// TestMarkProperty: a mark of any file changes the bytes of that status and no
// other.
func TestMarkProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces, ids := drawn(t)
		text := strings.Join(pieces, "")
		before, err := Tasks{}.Parse("f.json", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		n := rapid.IntRange(0, len(ids)-1).Draw(t, "n")
		m := rapid.SampledFrom(marks).Draw(t, "mark")
		got, gone, err := Tasks{}.Mark("f.json", []byte(text), []ledger.Marking{{Task: ids[n], Mark: m}})
		if err != nil || len(gone) > 0 {
			t.Fatal(gone, err)
		}
		if old := before.Tasks[n].Mark; m != old && (m != ledger.MarkManualVerify || old != ledger.MarkOpen) {
			pieces[2*n+1] = wreckIt.words.text(m)
		}
		if d := cmp.Diff(strings.Join(pieces, ""), string(got)); d != "" {
			t.Fatal(d)
		}
	})
}

// TestAddProperty: adding inserts bytes at one place and changes none, and all tasks
// read as before.
func TestAddProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces, ids := drawn(t)
		text := strings.Join(pieces, "")
		var tasks []ledger.Task
		for n := range rapid.IntRange(1, 3).Draw(t, "new") {
			tasks = append(tasks, ledger.Task{Title: fmt.Sprint(n, rapid.StringN(0, 20, -1).Draw(t, "title")), DependsOn: rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 0, 2, rapid.ID[string]).Draw(t, "on")})
		}
		got, added, err := Tasks{}.Add("f.json", []byte(text), tasks)
		if err != nil {
			t.Fatal(err)
		}
		checkInserted(t, text, string(got))
		before, _ := Tasks{}.Parse("f.json", []byte(text))
		after, err := Tasks{}.Parse("f.json", got)
		if err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
		if d := cmp.Diff(before.Tasks, after.Tasks[:len(ids)]); d != "" || len(after.Tasks) != len(ids)+len(added) {
			t.Fatal(d)
		}
		for n, task := range after.Tasks[len(ids):] {
			if task.ID != added[n] || !sameSet(task.DependsOn, tasks[n].DependsOn) {
				t.Fatalf("%+v, added %+v", task, tasks[n])
			}
		}
	})
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkInserted: after is before with bytes inserted at one place.
func checkInserted(t fataler, before, after string) {
	t.Helper()
	n := 0
	for n < len(before) && n < len(after) && before[n] == after[n] {
		n++
	}
	if !strings.HasSuffix(after, before[n:]) {
		t.Fatalf("not an insertion:\n%s\n%s", before, after)
	}
}

// fuzzForm holds what must be true of any text.
func fuzzForm(f *testing.F, forms ...form.Form) {
	for _, form := range forms {
		for _, text := range texts(form) {
			f.Add([]byte(text))
		}
	}
	for _, text := range append(slices.Clone(formtest.Beads), "", "[", "[{}]", "{}", `{"tasks":[{"id":1,"subtasks":[{"id":1}]}]}`, `[{"id":"1","description":"A","status":"pending","status":"failed"}]`,
		`{"a":{"tasks":[]},"a":{"tasks":[{"id":"1.1","title":"x","status":"done"}]}}`, "[{\"id\":\"\\ud800\",\"description\":\"\\u0000\",\"status\":\"PENDING\"}]", `{"userStories":[],"stories":[]}`, "\ufeff \r\n[1e999]", `[{"id":1e5,"description":"A","status":"pending"}]`) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		for _, form := range forms {
			fuzzOne(t, form, data)
		}
		if !bytes.Equal(before, data) {
			t.Fatal("the input was changed")
		}
	})
}

func fuzzOne(t *testing.T, f form.Form, data []byte) {
	f.(form.Recogniser).Recognise("f.json", data)
	s, err := f.Parse("f.json", data)
	if err != nil {
		if !errors.As(err, new(*ledger.InputError)) {
			t.Fatalf("not an InputError: %v", err)
		}
		_, _, _ = f.Mark("f.json", data, []ledger.Marking{{Task: "1", Mark: ledger.MarkDone}})
		return
	}
	for _, m := range marks {
		var all []ledger.Marking
		for _, task := range s.Tasks {
			all = append(all, ledger.Marking{Task: task.ID, Mark: m})
		}
		marked, gone, err := f.Mark("f.json", data, all)
		if err != nil || len(gone) > 0 {
			t.Fatalf("%v %v", gone, err)
		}
		again, err := f.Parse("f.json", marked)
		if err != nil {
			t.Fatalf("%v\n%q", err, marked)
		}
		for n := range s.Tasks {
			want, got := s.Tasks[n], again.Tasks[n]
			want.Mark, got.Mark, want.Line, got.Line = "", "", 0, 0
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s\n%q", d, marked)
			}
		}
		if same, _, err := f.Mark("f.json", marked, all); err != nil || !bytes.Equal(same, marked) {
			t.Fatalf("not idempotent: %v\n%q\n%q", err, marked, same)
		}
	}
	adder, ok := f.(form.Adder)
	if !ok {
		return
	}
	grown, ids, err := adder.Add("f.json", data, []ledger.Task{{Title: "a new one, of no file", DependsOn: []string{s.Tasks[0].ID}}})
	if err != nil {
		if !errors.As(err, new(*ledger.InputError)) {
			t.Fatalf("not an InputError: %v", err)
		}
		return
	}
	checkInserted(t, string(data), string(grown))
	if again, err := f.Parse("f.json", grown); err != nil || len(again.Tasks) != len(s.Tasks)+1 || again.Tasks[len(s.Tasks)].ID != ids[0] {
		t.Fatalf("%v %v\n%q", ids, err, grown)
	}
	if counter, ok := f.(form.Counter); ok {
		counted, _, err := counter.Count("f.json", data, s.Tasks[0].ID, 7, time.Unix(1790000000, 0))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Parse("f.json", counted); err != nil {
			t.Fatalf("%v\n%q", err, counted)
		}
	}
}

func FuzzTasks(f *testing.F) { fuzzForm(f, Tasks{}) }
func FuzzPRD(f *testing.F)   { fuzzForm(f, PRD{}) }

func FuzzBeads(f *testing.F) {
	for _, text := range formtest.Beads {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Beads{}.Recognise("f.jsonl", data)
		s, err := Beads{}.Parse("f.jsonl", data)
		if err != nil && !errors.As(err, new(*ledger.InputError)) {
			t.Fatalf("not an InputError: %v", err)
		}
		for _, task := range s.Tasks {
			marked, gone, err := Beads{}.Mark("f.jsonl", data, []ledger.Marking{{Task: task.ID, Mark: ledger.MarkDone}})
			if err != nil || len(gone) > 0 || !bytes.Equal(marked, data) {
				t.Fatalf("%v %v", gone, err)
			}
		}
	})
}

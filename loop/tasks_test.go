package loop

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestList checks that a change returns a new list and leaves the old one as it
// was, for lists of several blocks.
func TestList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l List[int]
		var want []int
		for n := range rapid.IntRange(0, 3*blockLen).Draw(rt, "length") {
			l, want = l.Append(n), append(want, n)
		}
		before, old := l, slices.Clone(want)
		for range rapid.IntRange(0, 20).Draw(rt, "changes") {
			if n := rapid.IntRange(0, len(want)).Draw(rt, "at"); n == len(want) {
				l, want = l.Append(-1), append(want, -1)
			} else {
				l, want = l.With(n, -n), append(slices.Clone(want[:n]), append([]int{-n}, want[n+1:]...)...)
			}
		}
		if !slices.Equal(l.Slice(), want) || l.Len() != len(want) {
			rt.Fatalf("got %v, want %v", l.Slice(), want)
		}
		if !slices.Equal(before.Slice(), old) {
			rt.Fatalf("the first list is %v now, and was %v", before.Slice(), old)
		}
		if same := ListOf(want...); !reflect.DeepEqual(l, same) && len(want) > 0 {
			rt.Fatalf("made at once, the list has another form")
		}
	})
}

// TestFindOfMany checks that the index finds the same tasks as a linear search.
func TestFindOfMany(t *testing.T) {
	one := rapid.SampledFrom([]string{"5", "a", "A", "api", "task", "Task", "Ä", "-", " ", "  ", "#", "/", "é", "İ"})
	id := rapid.Custom(func(rt *rapid.T) string {
		s := ""
		for _, w := range rapid.SliceOfN(one, 0, 5).Draw(rt, "words") {
			s += w
		}
		return s
	})
	rapid.Check(t, func(rt *rapid.T) {
		var tasks []TaskState
		for _, s := range rapid.SliceOfN(id, 0, 8).Draw(rt, "ids") {
			tasks = append(tasks, TaskState{Task: ledger.Task{ID: s}})
		}
		l := NewTaskList(tasks...)
		for _, want := range append(rapid.SliceOfN(id, 1, 5).Draw(rt, "wanted"), "", "task 5") {
			if got, is := l.find(want), findSlowly(tasks, want); got != is {
				rt.Fatalf("find %q of %s: %d, want %d", want, mustJSON(t, l), got, is)
			}
		}
	})
}

// TestFindOfSpaces: an id that is written with spaces is found by its words alone.
func TestFindOfSpaces(t *testing.T) {
	l := NewTaskList(TaskState{Task: ledger.Task{ID: "task "}}, TaskState{Task: ledger.Task{ID: "task  5"}})
	for id, want := range map[string]int{"": -1, "#": -1, "task": 0, "# 5": -1, "#5": 1, "Task 5": 1} {
		if got := l.find(id); got != want {
			t.Errorf("find %q: %d, want %d", id, got, want)
		}
	}
}

func findSlowly(tasks []TaskState, id string) int {
	for n, t := range tasks {
		if id != "" && ledger.SameID(t.Task.ID, id) {
			return n
		}
	}
	want := ledger.FoldID(id)
	if len(want) > 0 && want[0] == '#' {
		want = want[1:]
	}
	found := -1
	for n, t := range tasks {
		key := ledger.FoldID(t.Task.ID)
		if key == "task "+want || key == want {
			return n
		}
		if want != "" && len(key) > len(want) && key[len(key)-len(want):] == want && !wordChar(key[len(key)-len(want)-1]) {
			if found >= 0 {
				return -1
			}
			found = n
		}
	}
	return found
}

// TestTaskListJSON checks that a list encodes as an array and decodes to the
// same list.
func TestTaskListJSON(t *testing.T) {
	p := Project{Name: "shop"}
	if got, want := mustJSON(t, p), `{"name":"shop"}`; got != want {
		t.Errorf("an empty list is %s, want %s", got, want)
	}
	p.Tasks = NewTaskList(TaskState{Task: ledger.Task{ID: "Task 1"}, Status: ledger.Done}, TaskState{Task: ledger.Task{ID: "Task 2", DependsOn: []string{"1"}}, Status: ledger.Pending})
	var back Project
	if err := json.Unmarshal([]byte(mustJSON(t, p)), &back); err != nil {
		t.Fatal(err)
	}
	if mustJSON(t, back) != mustJSON(t, p) || back.Tasks.count(setDone) != 1 || back.Tasks.count(setUnsettled) != 1 {
		t.Errorf("it comes back as %s", mustJSON(t, back))
	}
}

// TestSameBody checks that sameBody compares every field of a task but its mark,
// its line, and what no prompt has.
func TestSameBody(t *testing.T) {
	ignored := []string{"Mark", "Line", "Labels", "Failures", "Tried"}
	for n := range reflect.TypeFor[ledger.Task]().NumField() {
		var a, b ledger.Task
		name := reflect.TypeFor[ledger.Task]().Field(n).Name
		switch f := reflect.ValueOf(&b).Elem().Field(n); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int:
			f.SetInt(1)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
			if !sameBody(&a, &b) {
				t.Errorf("no %s and an empty list of it differ", name)
			}
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Struct:
			f.Set(reflect.ValueOf(scoredAt))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			t.Fatalf("%s is a %s, which this test does not know", name, f.Kind())
		}
		if same, want := sameBody(&a, &b), slices.Contains(ignored, name); same != want {
			t.Errorf("two tasks that differ in %s: same %v", name, same)
		}
	}
}

// BenchmarkWith shows that changing one task of a long plan copies little.
func BenchmarkWith(b *testing.B) {
	for _, n := range []int{200, 2000} {
		var tasks []TaskState
		for k := range n {
			tasks = append(tasks, TaskState{Task: ledger.Task{ID: fmt.Sprint("Task ", k+1)}, Status: ledger.Ready})
		}
		l := NewTaskList(tasks...)
		t := *l.At(n / 2)
		t.Status = ledger.Active
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = l.With(n/2, t)
			}
		})
	}
}

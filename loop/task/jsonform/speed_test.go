package jsonform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// large returns a file of n tasks, each of about size bytes.
func large(n, size int) []byte {
	var b strings.Builder
	words := strings.Repeat("words ", size/6)
	b.WriteString("[\n")
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  {\n    \"id\": \"t%d\",\n    \"description\": \"Do number %d. %s\",\n    \"status\": \"pending\",\n    \"priority\": %d,\n    \"depends_on\": [\"t%d\"]\n  }", i, i, words, i%10, max(0, i-1))
	}
	return []byte(strings.Replace(b.String(), `["t0"]`, "[]", 1) + "\n]\n")
}

// BenchmarkLarge reads 100,000 tasks and writes one status. The rule is at most 1 s
// and 200 MB.
func BenchmarkLarge(b *testing.B) {
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"100000 tasks", large(100_000, 60)},
		{"50 MB", large(10_000, 5_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := Tasks{}.Parse("tasks.json", c.data)
				if err != nil {
					b.Fatal(err)
				}
				if _, gone, err := (Tasks{}).Mark("tasks.json", c.data, []ledger.Marking{{Task: s.Tasks[len(s.Tasks)-1].ID, Mark: ledger.MarkDone}}); err != nil || len(gone) > 0 {
					b.Fatal(gone, err)
				}
			}
		})
	}
}

// TestManyTasks: 100,000 tasks in a chain are read, without a deep recursion, and a
// cycle through all of them is found.
func TestManyTasks(t *testing.T) {
	data := large(100_000, 10)
	s, err := Tasks{}.Parse("tasks.json", data)
	if err != nil || len(s.Tasks) != 100_000 || s.Tasks[99_999].DependsOn[0] != "t99998" {
		t.Fatal(len(s.Tasks), err)
	}
	round := strings.Replace(string(data), `"depends_on": []`, `"depends_on": ["t99999"]`, 1)
	if _, err := (Tasks{}).Parse("tasks.json", []byte(round)); err == nil || !strings.Contains(err.Error(), "tasks wait for each other: t0 → t99999") && !strings.Contains(err.Error(), "tasks wait for each other: t") {
		t.Errorf("a cycle: %v", err)
	}
}

// TestLargeObjects reads texts on which a walk over all earlier keys or tags for each
// would take minutes, and one whose tasks would repeat more than the file has.
func TestLargeObjects(t *testing.T) {
	list := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i+1)
		}
		return b.String()
	}
	s, err := Tasks{}.Parse("tasks.json", []byte(`[{"id":"a","description":"b","status":"pending",`+list(300_000, `"key%d":1`)+`}]`))
	if err != nil || len(s.Tasks) != 1 {
		t.Errorf("many keys: %v", err)
	}
	_, err = Tasks{}.Parse("tasks.json", []byte(`[{"id":"a","description":"b","status":"pending",`+list(300_000, `"key%d":1`)+`,"key7":2}]`))
	if err == nil || !strings.Contains(err.Error(), `has "key7" twice`) {
		t.Errorf("a key twice: %v", err)
	}
	_, err = Tasks{}.Parse("tasks.json", []byte(`{`+list(200_000, `"tag%d":{"tasks":[]}`)+`}`))
	if err == nil || !strings.Contains(err.Error(), "has 200000 tags and no choice of one: tag1, tag2, ") || len(err.Error()) > 1000 {
		t.Errorf("many tags: %.200v", err)
	}
	s, err = Tasks{}.Parse("tasks.json", []byte(`{"tasks":[{"id":1,"title":"a","status":"pending","description":"`+strings.Repeat("words ", 20_000)+`","subtasks":[`+list(10_000, `{"id":%d,"title":"b","status":"pending"}`)+`]}]}`))
	if err != nil || len(s.Tasks) != 10_000 {
		t.Fatalf("%d subtasks, %v", len(s.Tasks), err)
	}
	if n := len(s.Tasks[0].Body); n > 2*maxParentText {
		t.Errorf("a subtask repeats %d bytes of its task", n)
	}
}

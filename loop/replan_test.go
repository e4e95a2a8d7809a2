package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestFailuresAreKept checks what the next attempt is told of failed ones: also after a
// person had the task tried again, and no longer once its text is another one or it is
// done.
func TestFailuresAreKept(t *testing.T) {
	failed := []string{"tasks 1 2", "set pattern=single replan=2", "go quiet", "build", "red", "build", "red", "greens", "build", "red"}
	for _, c := range []struct {
		name  string
		after []string
		want  []int // numbers of the attempts
	}{
		{"once", nil, []int{1}},
		{"blocked and retried", []string{"stuck", "/answer q1 retry"}, []int{1, 2}},
		{"blocked and opened in the file", []string{"stuck", "source 1:blocked 2", "source 1 2"}, []int{1, 2}},
		{"edited", []string{"source 1~ 2", "let reread", "exit asked"}, nil},
		{"done", []string{"build", "greens", "build", "greens"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDirector(t, c.name)
			for _, line := range append(append([]string{}, failed...), c.after...) {
				d.play(line)
			}
			task, _ := d.s.Project.Find("Task 1")
			var got []int
			for _, f := range task.Failures {
				got = append(got, f.N)
			}
			if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] || task.Replanned != 0 {
				t.Fatalf("failures of attempts %v, want %v; planned anew after %d", got, c.want, task.Replanned)
			}
			if len(got) == 0 {
				return
			}
			f := task.Failures[0]
			if f.Red != "go test" || !strings.Contains(f.Output, "want 1, got 2") || len(f.Steps) != 1 || f.Steps[0].Summary != "built it" {
				t.Errorf("the next attempt is told %+v", f)
			}
		})
	}
}

// TestFailuresAreBounded checks that a task with much to say of many failed attempts
// does not fill the state.
func TestFailuresAreBounded(t *testing.T) {
	long := strings.Repeat("ü", 100_000)
	w := Attempt{Plan: []byte(`{"summary":"` + long + `"}`), Verified: &ledger.Verified{Results: []ledger.Result{{Run: "make", Tail: long}}}}
	for range 100 {
		w.History = append(w.History, Step{Summary: long})
		w.Issues = append(w.Issues, ledger.Issue{Severity: ledger.Minor, Text: long})
	}
	w.Issues = append(w.Issues, ledger.Issue{Severity: ledger.Critical, Text: "the worst"})
	f := w.failure("why")
	if size := len(mustJSON(t, f)); size > 30<<10 {
		t.Errorf("%d kB of one attempt", size>>10)
	}
	if f.Issues[0].Text != "the worst" {
		t.Errorf("the first issue is %q", f.Issues[0].Text[:20])
	}
	task := TaskState{}
	for n := range 10 {
		task.Attempt = &Attempt{N: n + 1}
		applyTask(&task, nil, ledger.Entry{Body: ledger.AttemptEnded{Failed: true, Why: "why"}}, nil)
	}
	if n := len(task.Failures); n != keptFailures || task.Failures[n-1].N != 10 {
		t.Errorf("%d failures are kept, the last of attempt %d", n, task.Failures[n-1].N)
	}
}

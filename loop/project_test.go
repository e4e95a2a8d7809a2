package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestFind checks that an id is found in any case, and by its last words if
// they belong to one task only (docs/spec 1).
func TestFind(t *testing.T) {
	var tasks []TaskState
	for _, id := range []string{"Task 1", "Task 12", "TECH-069", "BUG-069", "TECH-070", "9b"} {
		tasks = append(tasks, TaskState{Task: ledger.Task{ID: id}})
	}
	p := Project{Tasks: NewTaskList(tasks...)}
	for _, c := range []struct{ in, want string }{
		{"Task 1", "Task 1"}, {"task  1", "Task 1"}, {"#1", "Task 1"}, {"1", "Task 1"}, {"2", ""}, {"12", "Task 12"}, {"#12", "Task 12"},
		{"TECH-069", "TECH-069"}, {"tech-069", "TECH-069"}, {"#tech-069", "TECH-069"}, {"069", ""}, {"070", "TECH-070"}, {"70", ""}, {"9b", "9b"}, {"b", ""},
		{"", ""}, {"#", ""}, {" ", ""}, {"Task", ""},
	} {
		got, ok := p.Find(c.in)
		if ok != (c.want != "") || got.Task.ID != c.want {
			t.Errorf("Find(%q) = %q %v, want %q", c.in, got.Task.ID, ok, c.want)
		}
	}
}

func TestShortID(t *testing.T) {
	for in, want := range map[string]string{"Task 5": "#5", "task  5": "#5", "TECH-069": "TECH-069", "Task five six": "Task five six", "Task": "Task", "": ""} {
		if got := ledger.ShortID(in); got != want {
			t.Errorf("ShortID(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	agent := ledger.Question{Kind: ledger.AskAgent, Options: []string{"Yes, letters only", "No"}}
	for _, c := range []struct {
		q     ledger.Question
		typed string
		want  string
		ok    bool
	}{
		{agent, "a", "a", true}, {agent, "B", "b", true}, {agent, "no", "b", true}, {agent, "skip", "skip", true}, {agent, "s", "skip", true},
		{agent, "c", "", false}, {agent, "neither", "", false}, {agent, "", "", true},
		{ledger.Question{Kind: ledger.AskBlocked}, "r", "retry", true}, {ledger.Question{Kind: ledger.AskBlocked}, "guide", "guide", true}, {ledger.Question{Kind: ledger.AskBlocked}, "x", "", false},
		{ledger.Question{Kind: ledger.AskManual}, "p", "pass", true}, {ledger.Question{Kind: ledger.AskManual}, "f", "fail", true},
		{ledger.Question{Kind: ledger.AskBaseline}, "g", "go", true}, {ledger.Question{Kind: ledger.AskReview}, "Resume", "resume", true},
	} {
		if got, ok := chooseOption(c.q, c.typed); got != c.want || ok != c.ok {
			t.Errorf("%s %q: %q %v, want %q %v", c.q.Kind, c.typed, got, ok, c.want, c.ok)
		}
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[string]string{"90s": "1m30s", "1h": "1h0m0s", "0s": "0s", "15": "", "-1s": "", "": "", "soon": ""} {
		var d ledger.Duration
		err := d.UnmarshalText([]byte(in))
		if (err == nil) != (want != "") {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if text, _ := d.MarshalText(); err == nil && string(text) != want {
			t.Errorf("%q = %s, want %s", in, text, want)
		}
	}
}

package loop

import "testing"

// TestFind: an id is matched without case, and by any tail of it that is a
// word of its own and names one task only (SPEC 1, PHONE 0).
func TestFind(t *testing.T) {
	var p Project
	for _, id := range []string{"Task 1", "Task 12", "TECH-069", "BUG-069", "TECH-070", "9b"} {
		p.Tasks = append(p.Tasks, TaskState{Task: Task{ID: id}})
	}
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
		if got := ShortID(in); got != want {
			t.Errorf("ShortID(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	agent := Question{Kind: AskAgent, Options: []string{"Yes, letters only", "No"}}
	for _, c := range []struct {
		q     Question
		typed string
		want  string
		ok    bool
	}{
		{agent, "a", "a", true}, {agent, "B", "b", true}, {agent, "no", "b", true}, {agent, "skip", "skip", true}, {agent, "s", "skip", true},
		{agent, "c", "", false}, {agent, "neither", "", false}, {agent, "", "", true},
		{Question{Kind: AskBlocked}, "r", "retry", true}, {Question{Kind: AskBlocked}, "guide", "guide", true}, {Question{Kind: AskBlocked}, "x", "", false},
		{Question{Kind: AskManual}, "p", "pass", true}, {Question{Kind: AskManual}, "f", "fail", true},
		{Question{Kind: AskBaseline}, "g", "go", true}, {Question{Kind: AskReview}, "Resume", "resume", true},
	} {
		if got, ok := c.q.choose(c.typed); got != c.want || ok != c.ok {
			t.Errorf("%s %q: %q %v, want %q %v", c.q.Kind, c.typed, got, ok, c.want, c.ok)
		}
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[string]string{"90s": "1m30s", "1h": "1h0m0s", "0s": "0s", "15": "", "-1s": "", "": "", "soon": ""} {
		var d Duration
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

func TestResumeCommand(t *testing.T) {
	s := Settings{Repo: "/srv/my shop", Source: SourceRef{Kind: "plan", Path: "it's.md"}, Profile: "overnight", Flags: "--max-tasks 3"}
	want := `nightporter run --repo '/srv/my shop' --source 'plan:it'\''s.md' --profile overnight --max-tasks 3`
	if got := s.ResumeCommand(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

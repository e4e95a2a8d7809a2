package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAskedAgain: a question that was answered in the attempt gets the same answer
// unasked, once; then sessions that ask it have failed, and the attempt with them.
func TestAskedAgain(t *testing.T) {
	d := playing(t, "tasks 1", "go quiet", "plan", `ask {"text":"Round half up?","options":["Yes","No"],"choice":"Yes"}`)
	d.play("/answer q1 b")
	again := func(text string) {
		t.Helper()
		d.play(`ask {"text":"` + text + `","options":["no","Yes"],"choice":"Yes"}`)
	}
	again("round half  up")
	w, note := d.task("1").Attempt, d.session().Planned.Note
	if n := len(d.s.Project.Questions); n != 0 || w.FailedRow != 0 || !strings.Contains(note, "answered already (q1): No") {
		t.Fatalf("%d questions are open, %d failed sessions, note %q", n, w.FailedRow, note)
	}
	again("Round half up?")
	if w = d.task("1").Attempt; w.FailedRow != 1 {
		t.Fatalf("%d failed sessions after the question came a third time", w.FailedRow)
	}
	for range ledger.MaxFailed - 1 {
		again("Round half up?")
	}
	task := d.task("1")
	if n := len(d.s.Project.Questions); n != 0 || task.Failed != 1 || !strings.Contains(task.LastFail, string(ledger.RedoAsked)) {
		t.Fatalf("%d questions are open, %d failed attempts: %q", n, task.Failed, task.LastFail)
	}
}

// TestAskedElse: another question, one with other options, and the same one in another
// attempt or after its answer was taken back are asked.
func TestAskedElse(t *testing.T) {
	const asks = `ask {"text":"Which one?","options":["Red","Blue"],"choice":"Red"}`
	for name, c := range map[string]struct {
		between []string
		ask     string
	}{
		"other words":   {[]string{"/answer q1 b"}, strings.Replace(asks, "one", "shade", 1)},
		"other options": {[]string{"/answer q1 b"}, strings.Replace(asks, "Blue", "Green", 1)},
		"taken back":    {[]string{"/pause", "/answer q1 b", "/answer q1 undo", "/answer q1 a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := playing(t, "tasks 1", "go quiet", "plan", asks)
			for _, line := range c.between {
				d.play(line)
			}
			if c.ask == "" {
				if w := d.task("1").Attempt; len(w.Answers) != 1 || w.Answers[0].Words != "Red" {
					t.Fatalf("answers: %+v", w.Answers)
				}
				return
			}
			d.play(c.ask)
			if n := len(d.s.Project.Questions); n != 1 {
				t.Fatalf("%d questions are open", n)
			}
		})
	}
}

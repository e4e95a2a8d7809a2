package loop

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAnswerToAnotherSource checks that an answer to a question about a task of
// another source is refused: it must not reach a task of the present source
// that has the same id, and the question must stay open.
func TestAnswerToAnotherSource(t *testing.T) {
	d := newDirector(t, "shelf")
	for _, line := range []string{"tasks 1", "go quiet", "plan", `ask {"text":"which?","options":["this","that"],"choice":"that"}`, "/stop"} {
		d.play(line)
	}
	first := d.settings
	d.settings.Source.Path = "other.md"
	for _, line := range []string{"go quiet", "plan"} {
		d.play(line)
	}
	if a := d.do(AnswerQuestion{Question: "q1", Choice: "a"}, "").Answer; a.OK || a.Code != "other source" {
		t.Errorf("answered %+v", a)
	}
	d.now = d.now.Add(time.Hour) // its time is over
	d.do(Tick{}, "")
	if other, _ := d.s.Project.Find("1"); len(other.Words) > 0 {
		t.Errorf("the other source's task is told %q", other.Words)
	}
	d.play("source 1:done")
	d.play("exit asked")
	if _, open := d.s.Project.Question("q1"); !open {
		t.Fatal("the question is gone")
	}
	d.settings = first
	d.play("tasks 1")
	d.play("go quiet")
	if got := Due(d.s); got.After(d.now) {
		t.Errorf("its own choice stands at %s, and it is %s", got, d.now)
	}
	d.play("/answer q1 this")
	if task := d.task("1"); task.Status == ledger.Waiting || len(task.Words) != 1 {
		t.Errorf("%s, told %q\n%s", task.Status, task.Words, d.dump())
	}
}

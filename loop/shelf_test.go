package loop

import (
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/guidance"
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

// TestGuidanceOfAnotherSource checks that guidance for #1 of one plan rests while
// another plan is worked on, whose Task 1 never gets it, and comes to the first one
// afterwards.
func TestGuidanceOfAnotherSource(t *testing.T) {
	d := playing(t, "tasks 1 2", "go quiet", "plan", "/guidance #1 wrap it", "/guidance use tabs", "/guidance !sticky be brief", "/stop now", "exit asked")
	first := d.settings
	bound := func() []string { return d.s.Project.Sessions[0].Planned.Guidance.Bound }
	d.settings.Source.Path = "other.md"
	for _, line := range []string{"tasks 1", "go quiet", "plan"} {
		d.play(line)
	}
	if got := bound(); !slices.Equal(got, []string{"g3"}) {
		t.Fatalf("a builder of the other plan has %v", got)
	}
	g1, _ := d.s.Project.Guidance.Get("g1")
	if f := Forecast(d.s, g1); f.String() != "#1, once it is in checkout.md again" {
		t.Errorf("g1 goes to %q", f)
	}
	d.now = d.now.Add(2 * guidance.Lifetime)
	d.do(Tick{}, "")
	for _, line := range []string{"source 1:done", "exit asked"} {
		d.play(line)
	}
	if d.s.Project.Run.State != ledger.RunOver {
		t.Fatal(d.dump())
	}
	for _, id := range []string{"g1", "g2"} {
		if i, _ := d.s.Project.Guidance.Get(id); i.State != guidance.Queued {
			t.Errorf("%s is %s: %s", id, i.State, i.Note)
		}
	}
	d.settings = first
	for _, line := range []string{"tasks 1 2", "go quiet"} {
		d.play(line)
	}
	if got := bound(); !slices.Equal(got, []string{"g1", "g2", "g3"}) {
		t.Errorf("the builder of its own plan has %v\n%s", got, d.dump())
	}
}

// TestUndoInAnotherSource checks that an answer about a task of one plan is not
// taken back in another.
func TestUndoInAnotherSource(t *testing.T) {
	d := playing(t, "tasks 1 2", "go quiet", "stuck", "/answer q1 skip", "/stop now", "exit asked")
	d.settings.Source.Path = "other.md"
	d.play("tasks 1")
	d.play("run")
	d.do(Preflighted{Run: d.s.Project.Run.ID, Base: d.base(d.s.Project.Run.ID), Snapshot: d.plan}, "")
	if a := d.do(AnswerQuestion{Question: "q1", Choice: "undo"}, "").Answer; a.Code != ledger.CodeOtherSource {
		t.Errorf("%+v", a)
	}
}

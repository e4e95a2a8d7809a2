package loop

import (
	"testing"
)

// TestCheckIsNoRun checks that a check takes no number of a run and leaves none behind:
// the last run is the last run again, with its source, and none where there was none.
func TestCheckIsNoRun(t *testing.T) {
	d := newDirector(t, "check")
	check := func(source string) {
		t.Helper()
		mine := d.settings
		d.settings.Source.Path = source
		for _, line := range []string{"run check", "preflight", "green"} {
			d.play(line)
		}
		d.settings = mine
	}
	d.play("tasks 1 2")
	source := d.settings.Source.Path
	check(source)
	if p := d.s.Project; p.Run != nil || p.Tasks.Len() != 2 {
		t.Fatalf("it left the run %+v, and %d tasks", p.Run, p.Tasks.Len())
	}
	for _, line := range []string{"go quiet", "/stop now"} {
		d.play(line)
	}
	d.play("exit")
	if r := d.s.Project.Run; r == nil || r.ID != "r1" {
		t.Fatalf("the first run is %+v\n%s", r, d.dump())
	}
	was := d.s.Project.Run
	if !was.Over() {
		t.Fatalf("it is %s\n%s", was.State, d.dump())
	}
	for _, path := range []string{source, "other.md"} {
		check(path)
		if p := d.s.Project; p.Run != was || p.Source != was.Settings.Source.String() || p.Aside != nil || p.Tasks.Len() != 2 {
			t.Errorf("after a check of %s: %+v of %s, %d tasks", path, p.Run, p.Source, p.Tasks.Len())
		}
	}
	d.play("run check") // is cut off
	d.play("go quiet")
	if r := d.s.Project.Run; r.ID != "r2" || r.Check || len(d.s.Project.Questions) > 0 {
		t.Errorf("the run after one that was cut off is %s, %s\n%s", r.ID, r.State, d.dump())
	}
}

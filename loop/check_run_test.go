package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
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
}

// TestRunBesideCheck checks that no run begins while a check is at work, whatever it is
// doing and whichever source the run has, and that the process which finds a check that
// was cut off puts its own run in its place.
func TestRunBesideCheck(t *testing.T) {
	for _, until := range [][]string{nil, {"preflight"}} {
		d := newDirector(t, "beside")
		for _, line := range append([]string{"tasks 1 2", "run check"}, until...) {
			d.play(line)
		}
		start := StartRun{Settings: d.settings, MaxSessions: 1}
		for _, path := range []string{d.settings.Source.Path, "other.md"} {
			start.Settings.Source.Path = path
			before := d.s
			got := d.do(start, path).Answer
			if got.OK || got.Code != ledger.CodeBusy || !strings.Contains(got.Text, "c1") || !strings.Contains(got.Text, "/stop") {
				t.Errorf("after %q, a run of %s: %+v", until, path, got)
			}
			if d.s.Project.Run != before.Project.Run || len(d.s.Project.Sessions) != len(before.Project.Sessions) {
				t.Errorf("after %q, a run of %s changes the check: %+v\n%s", until, path, d.s.Project.Run, d.dump())
			}
		}
		if got := d.do(OfferRun{Settings: d.settings}, "offer").Answer; got.OK || got.Code != ledger.CodeBusy {
			t.Errorf("after %q, the question whether to start: %+v", until, got)
		}
		start.Settings, start.Alone = d.settings, true
		got := d.do(start, "own").Answer
		if r := d.s.Project.Run; !got.OK || got.ID != "r1" || r.ID != "r1" || r.Check || r.Over() {
			t.Errorf("after %q, a process of its own: %+v, run %+v\n%s", until, got, r, d.dump())
		}
	}
}

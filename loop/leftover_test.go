package loop

import (
	"slices"
	"strings"
	"testing"
)

// awayAtTheEnd plays a run on two reports that ends while the remote is away, before
// anything of it is pushed.
var awayAtTheEnd = []string{
	"tasks 1[priority=1,says=label] 3[says=total]",
	"set waves=5 batch=3 pattern=single verify=test push=end requests=apart proof=off main=m1",
	"go quiet", "mend", "mend", "hold lift", "greens", "fails lift forge no answer within 30s",
}

// stoppedAtLift plays a run on a report that a person stops at once while its lifted
// commit is verified.
var stoppedAtLift = []string{
	"tasks 3[says=total]",
	"set waves=5 pattern=single verify=test push=end requests=apart proof=off main=m1",
	"go quiet", "mend", "green", "/stop now", "exit asked",
}

// requestsOf returns the ids of the branches that have a request, in the order in which
// they were begun.
func requestsOf(d *director) (ids []string) {
	for _, b := range d.s.Project.Requests.Branches {
		if b.Request != nil {
			ids = append(ids, b.Run)
		}
	}
	return ids
}

// TestLeftovers lets a run push the fixes of an earlier one that it goes on from, and
// wait for them as for its own.
func TestLeftovers(t *testing.T) {
	for name, test := range map[string]struct {
		before, script []string
		want           string
	}{
		"the remote is back while the next run works": {
			awayAtTheEnd,
			[]string{"tasks 1:done[priority=1,says=label] 3:done[says=total] 6[says=crash]", "go quiet", "let lift", "mend", "greens"},
			"r1-3 r1-1 r2-6",
		},
		"the remote is back when the next run has ended": {
			awayAtTheEnd,
			[]string{"tasks 1:done[priority=1,says=label] 3:done[says=total] 6[says=crash]", "go quiet", "mend", "greens", "let lift", "greens"},
			"r1-3 r1-1 r2-6",
		},
		"the next run has nothing else to do": {
			stoppedAtLift, []string{"tasks 3:done[says=total]", "go quiet", "greens"}, "r1-3",
		},
		"the remote is back while a check looks": {
			awayAtTheEnd,
			[]string{"tasks 1:done[priority=1,says=label] 3:done[says=total]", "run check", "let lift", "preflight", "greens"},
			"r1-3 r1-1",
		},
		"a lift ends after the run was stopped at once": {
			[]string{"tasks 3[says=total]", stoppedAtLift[1], "go quiet", "mend", "hold lift", "green", "/stop now"},
			[]string{"let lift"}, "",
		},
		"a lift ends after the run was stopped at once, and another one starts": {
			[]string{"tasks 3[says=total]", stoppedAtLift[1], "go quiet", "mend", "hold lift", "green", "/stop now"},
			[]string{"let lift", "tasks 3:done[says=total]", "go quiet", "greens"}, "r1-3",
		},
		"a run from HEAD leaves them": {
			stoppedAtLift,
			[]string{"tasks 3:done[says=total] 6[says=crash]", "run new", "preflight", "greens", "mend", "greens"},
			"r2-6",
		},
		"the run after the next one takes them, too": {
			awayAtTheEnd,
			[]string{
				"tasks 1:done[priority=1,says=label] 3:done[says=total] 6[says=crash]", "go quiet", "mend", "greens",
				"tasks 1:done[priority=1,says=label] 3:done[says=total] 6:done[says=crash]", "go quiet", "greens", "let lift", "greens",
			},
			"r1-3 r1-1 r2-6",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := playing(t, slices.Concat(test.before, test.script)...)
			if !d.s.Project.Run.Over() {
				t.Fatalf("%s has not ended", d.s.Project.Run.ID)
			}
			got := requestsOf(d)
			slices.Sort(got)
			want := strings.Fields(test.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("requests of %v, want %v", got, want)
			}
		})
	}
}

// TestStoppedBeforeThePush names what a run that is stopped at once does not push, at its
// end and in the answer to the person who stops it.
func TestStoppedBeforeThePush(t *testing.T) {
	twoReports := []string{
		"tasks 1[priority=1,says=label] 3[says=total]",
		"set waves=5 batch=3 pattern=single verify=test push=end requests=apart proof=off main=m1",
		"go quiet", "mend", "mend",
	}
	for name, test := range map[string]struct {
		script []string
		answer string
		want   []string
	}{
		"a lifted commit is verified":       {[]string{"green"}, "r1 ends; not pushed: #3, #1", []string{"Task 3", "Task 1"}},
		"a commit is being lifted":          {[]string{"hold lift", "green"}, "r1 ends; not pushed: #3, #1", []string{"Task 3", "Task 1"}},
		"one is pushed, another verified":   {[]string{"green", "green"}, "r1 ends; not pushed: #1", []string{"Task 1"}},
		"one is being pushed":               {[]string{"hold push", "green", "green"}, "r1 ends; not pushed: #1", []string{"Task 1"}},
		"the branch is verified":            {nil, "r1 ends; its branch is not checked", []string{"Task 3", "Task 1"}},
		"all is pushed, a request is asked": {[]string{"green", "green", "hold request", "green"}, "shop ends now", nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := playing(t, slices.Concat(twoReports, test.script)...)
			if said := d.play("/stop now"); !strings.Contains(said, "« "+test.answer+"\n") {
				t.Errorf("want the answer %q:\n%s", test.answer, said)
			}
			for len(d.s.Project.Sessions) > 0 {
				d.play("exit asked")
			}
			e := d.s.Project.Run.Ended
			if e == nil {
				t.Fatalf("%s has not ended", d.s.Project.Run.ID)
			}
			if !slices.Equal(e.Unpushed, test.want) {
				t.Errorf("not pushed: %v, want %v", e.Unpushed, test.want)
			}
			if said := strings.Contains(e.Text, "not pushed"); said != (len(test.want) > 0) {
				t.Errorf("the end says %q", e.Text)
			}
			if (e.Exit != 0) != (len(test.want) > 0) {
				t.Errorf("exit code %d", e.Exit)
			}
		})
	}
}

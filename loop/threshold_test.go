package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
)

// reviews plays runs whose tasks go through reviews, and counts by itself what they are
// worth.
type reviews struct {
	*director
	tasksMade int
	counted   []countedTask
}

// countedTask is what reviews played with one task.
type countedTask struct {
	id, run        string
	fixes, wasted  map[ledger.Severity]int
	open           []ledger.Severity
	regretted, due bool // due: a later run has ended
}

func newReviews(t *testing.T) *reviews {
	r := &reviews{director: newDirector(t, t.Name())}
	r.plan.Tasks = nil
	return r
}

// night plays a run of new tasks, each in one of the ways of does. It returns the
// question about a threshold that its end asks, if there is one.
func (r *reviews) night(ways ...string) *ledger.ThresholdProposal {
	r.t.Helper()
	for range ways {
		r.tasksMade++
		id := fmt.Sprintf("Task %d", r.tasksMade)
		r.plan.Tasks = append(slices.Clone(r.plan.Tasks), ledger.Task{ID: id, Title: "Title " + id, Acceptance: []string{"It works"}, Mark: ledger.MarkOpen})
	}
	had := len(r.s.Project.Questions)
	r.play("go quiet")
	first := r.tasksMade - len(ways)
	run := r.s.Project.Run.ID
	for n, way := range ways {
		r.does(way)
		r.counted = append(r.counted, r.count(fmt.Sprintf("Task %d", first+n+1), run, way))
	}
	if !r.s.Project.Run.Over() {
		r.play("greens")
	}
	if !r.s.Project.Run.Over() {
		r.t.Fatalf("%s is not over: %s", run, r.dump())
	}
	for n := range r.counted {
		r.counted[n].due = r.counted[n].run != run
	}
	if asked := r.s.Project.Questions[min(had, len(r.s.Project.Questions)):]; len(asked) > 0 {
		return asked[0].Threshold
	}
	return nil
}

// does plays one task. A way is "ok", or a severity with what became of its issue:
// "major:unchanged", "major:small", "major:large", "major:again" (the second review has
// another one, which a large fix mends), "minor:open".
func (r *reviews) does(way string) {
	r.t.Helper()
	for _, step := range []string{"plan", "build", "greens"} {
		r.play(step)
	}
	sev, what, _ := strings.Cut(way, ":")
	fix := func(lines int) {
		r.taken = ledger.Capture{Tree: "same"}
		words := `,"no_change":"it is meant so"`
		if lines > 0 {
			r.taken = ledger.Capture{Files: []ledger.FileChange{{Path: "a.go", Added: lines}}}
			words = ""
		}
		r.play("fix " + words)
		r.play("greens")
	}
	if what == "" {
		r.play("ok")
		return
	}
	r.play("issues " + sev + ":one")
	if len(r.s.Project.Sessions) == 0 || r.session().Planned.Hat != "fixer" {
		return // the threshold lets it through
	}
	switch what {
	case "unchanged":
		fix(0)
	case "small":
		fix(ledger.SmallFix)
	case "large", "open": // it is left open where the threshold lets it
		fix(ledger.SmallFix + 1)
	case "again":
		fix(1)
		r.play("issues " + sev + ":two")
		fix(100)
	}
	r.play("ok")
}

// count says what a way of doing a task is worth.
func (r *reviews) count(id, run, way string) countedTask {
	c := countedTask{id: id, run: run, fixes: map[ledger.Severity]int{}, wasted: map[ledger.Severity]int{}}
	sev, what, _ := strings.Cut(way, ":")
	s := ledger.Severity(sev)
	sent := slices.ContainsFunc(r.entries, func(e ledger.Entry) bool {
		b, is := e.Body.(ledger.Evidence)
		return is && b.Kind == "review" && b.Verdict == verdictIssues && e.Run == run && ledger.SameID(e.Task, id)
	})
	switch {
	case what == "":
	case !sent:
		c.open = []ledger.Severity{s}
	case what == "again":
		c.fixes[s] = 2
	case what == "large" || what == "open":
		c.fixes[s] = 1
	case what == "small" && s == ledger.Major: // one line can mend a major issue
		c.fixes[s] = 1
	default:
		c.fixes[s], c.wasted[s] = 1, 1
	}
	return c
}

// redo has a done task done again without an issue.
func (r *reviews) redo(id string) {
	r.t.Helper()
	r.input(RedoTask{Task: id})
	r.play("greens")
	for n := range r.counted {
		if r.counted[n].id == id {
			r.counted[n].regretted = true
		}
	}
	r.input(SkipTask{Task: id}) // the next run has tasks of its own
}

func ways(n int, way string) (out []string) {
	for range n {
		out = append(out, way)
	}
	return out
}

// A severity leaves the threshold when fixes for it alone were for nothing.
func TestThresholdLoosens(t *testing.T) {
	r := newReviews(t)
	if c := r.night(append(ways(2, "major:unchanged"), "ok", "ok")...); c != nil {
		t.Fatalf("asked after one run: %+v", c)
	}
	if c := r.night("major:small", "major:unchanged", "ok", "minor:open"); c != nil {
		t.Fatalf("asked before the second run could be regretted: %+v", c)
	}
	c := r.night("ok")
	want := &ledger.ThresholdProposal{
		ThresholdChange: ledger.ThresholdChange{Kind: "plan-build-review", Severity: ledger.Major},
		Pattern:         []ledger.Severity{ledger.Critical, ledger.Major}, Threshold: []ledger.Severity{ledger.Critical},
		Tasks: 8, Runs: 2, Rounds: 4, Unchanged: 3, // that a major issue was mended with few lines says nothing
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Fatalf("asked (-want +got):\n%s", diff)
	}
	if th := r.s.Project.ThresholdOf(r.settings, ledger.Task{}); th.Learned != nil {
		t.Fatalf("in force before anybody agreed: %+v", th)
	}
	q := r.s.Project.Questions[0].ID
	r.play("/answer " + q + " use")
	if th := r.s.Project.ThresholdOf(r.settings, ledger.Task{}); th.Learned == nil || th.Learned.Question != q || !slices.Equal(th.Severities, want.Threshold) {
		t.Fatalf("in force after the answer: %+v", th)
	}
	own := ledger.Task{Threshold: []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor}}
	if th := r.s.Project.ThresholdOf(r.settings, own); !th.Own || !slices.Equal(th.Severities, own.Threshold) {
		t.Fatalf("a task's own threshold: %+v", th)
	}
	edited := r.settings
	edited.Pattern.Threshold = []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor}
	if th := r.s.Project.ThresholdOf(edited, ledger.Task{}); th.Learned != nil {
		t.Fatalf("the pattern's file was edited since: %+v", th)
	}

	// The next review with a major issue lets the task through, and says by what.
	r.night("major:open")
	last := lastReview(r.entries)
	if last.Verdict != verdictConverged || last.Learned != q || !slices.Equal(last.Threshold, want.Threshold) {
		t.Fatalf("the review's evidence: %+v", last)
	}

	r.input(ResetThreshold{})
	if th := r.s.Project.ThresholdOf(r.settings, ledger.Task{}); th.Learned != nil {
		t.Fatalf("in force after it was taken back: %+v", th)
	}
	r.night(ways(4, "major:unchanged")...)
	if c := r.night("ok"); c != nil {
		t.Fatalf("asked again after it was taken back: %+v", c)
	}
}

func lastReview(entries []ledger.Entry) (last ledger.Evidence) {
	for _, e := range entries {
		if b, is := e.Body.(ledger.Evidence); is && b.Kind == "review" {
			last = b
		}
	}
	return last
}

// A severity joins the threshold when tasks that ended with such issues open were
// regretted.
func TestThresholdTightens(t *testing.T) {
	r := newReviews(t)
	r.night("minor:open", "minor:open", "ok", "ok")
	r.redo("Task 1")
	r.night("minor:open", "minor:open", "ok", "ok")
	r.redo("Task 2")
	r.redo("Task 5")
	c := r.night("ok")
	want := &ledger.ThresholdProposal{
		ThresholdChange: ledger.ThresholdChange{Kind: "plan-build-review", Severity: ledger.Minor, Add: true},
		Pattern:         []ledger.Severity{ledger.Critical, ledger.Major}, Threshold: []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor},
		Tasks: 8, Runs: 2, Open: 4, Regretted: 3,
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Fatalf("asked (-want +got):\n%s", diff)
	}
	r.play("/answer " + r.s.Project.Questions[0].ID + " keep")
	if th := r.s.Project.ThresholdOf(r.settings, ledger.Task{}); th.Learned != nil {
		t.Fatalf("in force after a refusal: %+v", th)
	}
	if c := r.night("ok"); c != nil {
		t.Fatalf("asked again after a refusal: %+v", c)
	}
}

// What does not speak for a change asks nothing.
func TestThresholdStays(t *testing.T) {
	enough := append(ways(4, "major:unchanged"), "ok", "ok", "ok", "ok")
	for name, play := range map[string]func(*reviews){
		"one run of tasks": func(r *reviews) { r.night(enough...) },
		"too few tasks":    func(r *reviews) { r.night(enough[:3]...); r.night(enough[1:5]...) },
		"too few fixes":    func(r *reviews) { r.night(enough[3:]...); r.night("ok", "major:unchanged", "ok") },
		"fixes that mend":  func(r *reviews) { r.night(enough...); r.night("major:large", "major:large") },
		"found again":      func(r *reviews) { r.night(enough...); r.night("major:again") },
		"only critical":    func(r *reviews) { r.night(ways(4, "critical:unchanged")...); r.night(ways(4, "critical:unchanged")...) },
		"critical alone": func(r *reviews) {
			r.settings.Pattern.Threshold = []ledger.Severity{ledger.Critical}
			r.night(ways(4, "critical:unchanged")...)
			r.night(ways(4, "critical:unchanged")...)
		},
		"regretted fixes": func(r *reviews) {
			r.night(enough...)
			r.redo("Task 1")
			r.redo("Task 2")
			r.night("ok")
		},
		"learning is off": func(r *reviews) {
			r.settings.NoLearning = true
			r.night(enough...)
			r.night("ok")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReviews(t)
			play(r)
			if c := r.night("ok"); c != nil {
				t.Errorf("asked: %+v", c)
			}
		})
	}
}

// Each way of taking a done task back is a regret, and bringing it back is none.
func TestRegret(t *testing.T) {
	again := ledger.TaskSet{From: ledger.Done, To: ledger.Ready, Fresh: true}
	by, back, failed, repeat := again, again, again, again
	by.By, back.Returned, failed.From, repeat.Again = "Mira", &ledger.Returned{By: "Task 9", Times: 1}, ledger.ManualVerify, true
	out := ledger.BranchRemade{Wish: ledger.RemakeWish{Drop: []string{"Task 1"}}}
	in := ledger.BranchRemade{Wish: ledger.RemakeWish{Back: []string{"Task 1"}}}
	for name, c := range map[string]struct {
		entries []ledger.Body
		want    Regret
	}{
		"redone":       {[]ledger.Body{by}, RegretRedone},
		"sent back":    {[]ledger.Body{back}, RegretReturned},
		"failed":       {[]ledger.Body{failed}, RegretFailed},
		"reverted":     {[]ledger.Body{out}, RegretReverted},
		"brought back": {[]ledger.Body{out, in}, ""},
		"redone after": {[]ledger.Body{out, by, in}, RegretRedone},
		"repeats":      {[]ledger.Body{repeat}, ""},
		"edited":       {[]ledger.Body{again}, ""},
	} {
		p := Project{Source: "plan:a.md", Tasks: NewTaskList(TaskState{Task: ledger.Task{ID: "Task 1"}, Status: ledger.Done})}
		p.Learning.Tasks = []ReviewedTask{{Source: "plan:a.md", Task: "task 1", Run: "r1"}, {Source: "plan:b.md", Task: "task 1", Run: "r2"}, {Source: "plan:a.md", Task: "task 1", Run: "r3"}}
		s := State{Project: p}
		for _, b := range c.entries {
			s = Apply(s, ledger.Entry{Stream: "project/shop", Task: "Task 1", Body: b})
		}
		for n, want := range []Regret{"", "", c.want} {
			if got := s.Project.Learning.Tasks[n].Regret; got != want {
				t.Errorf("%s: task %d is regretted %q, want %q", name, n, got, want)
			}
		}
	}
}

// The last tasks of each kind are kept.
func TestReviewedKept(t *testing.T) {
	p := Project{Run: &Run{ID: "r1", Settings: testSettings()}}
	for n := range 3 * keptReviewed {
		p = p.keepReviewed(&TaskState{Task: ledger.Task{ID: fmt.Sprint(n)}, Attempt: &Attempt{}})
	}
	if l := p.Learning.Tasks; len(l) != keptReviewed || l[0].Task != fmt.Sprint(2*keptReviewed) || l[keptReviewed-1].Task != fmt.Sprint(3*keptReviewed-1) {
		t.Errorf("%d kept, from %s", len(l), l[0].Task)
	}
}

// A reviewer's word about guidance is no reviewer's issue: what was learned does not let
// it through.
func TestLearnedThresholdKeepsGuidance(t *testing.T) {
	r := newReviews(t)
	r.night(ways(4, "major:unchanged")...)
	r.night(ways(4, "major:unchanged")...)
	r.night("ok")
	r.play("/answer " + r.s.Project.Questions[0].ID + " use")
	d := &decision{State: r.s, in: r.last}
	said := []ledger.Issue{{Severity: ledger.Major, Rule: ruleGuidance + "g1"}}
	found := []ledger.Issue{{Severity: ledger.Major, Rule: "rounding"}}
	if !d.above(TaskState{}, said) {
		t.Error("guidance that was not followed is let through")
	}
	if d.above(TaskState{}, found) {
		t.Error("a major issue is sent back")
	}
	if th := (ledger.Task{Threshold: []ledger.Severity{ledger.Critical}}); d.above(TaskState{Task: th}, said) {
		t.Error("a task's own threshold does not hold for guidance")
	}
}

// Whatever happens in runs, people are asked about a change at most once and only with
// enough evidence, which is counted here once more, and critical issues always count.
func TestThresholdRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newReviews(t)
		r.trusts, r.unread = true, true // the tests above hold that such decisions are pure and fold to their state
		r.night("ok")
		asked := map[ledger.ThresholdChange]bool{}
		for range rapid.IntRange(2, 6).Draw(rt, "runs") {
			if q := r.s.Project.Questions; len(q) > 0 && rapid.Bool().Draw(rt, "answered") {
				r.play("/answer " + q[0].ID + " " + rapid.SampledFrom([]string{"use", "keep"}).Draw(rt, "answer"))
			}
			if rapid.IntRange(0, 4).Draw(rt, "reset") == 0 {
				r.input(ResetThreshold{})
			}
			for n := range r.counted {
				if c := r.counted[n]; !c.regretted && len(c.open) > 0 && rapid.Bool().Draw(rt, "regretted") {
					r.redo(c.id)
				}
			}
			way := rapid.SampledFrom([]string{"ok", "major:unchanged", "major:unchanged", "major:small", "major:large", "minor:open", "minor:open", "critical:unchanged", "minor:unchanged"})
			before := r.s.Project.ThresholdFor(r.settings.Pattern).Severities
			open := len(r.s.Project.Questions) > 0
			c := r.night(rapid.SliceOfN(way, 1, 6).Draw(rt, "ways")...)
			if th := r.s.Project.ThresholdFor(r.settings.Pattern).Severities; !slices.Contains(th, ledger.Critical) {
				rt.Fatalf("critical issues do not count: %v", th)
			}
			if c == nil {
				continue
			}
			r.holds(rt, *c, before)
			if asked[c.ThresholdChange] || open {
				rt.Fatalf("asked twice, or while another question is open: %+v", c)
			}
			asked[c.ThresholdChange] = true
		}
	})
}

// holds checks a proposal against what was played.
func (r *reviews) holds(rt *rapid.T, c ledger.ThresholdProposal, before []ledger.Severity) {
	rt.Helper()
	if !slices.Contains(c.Threshold, ledger.Critical) || slices.Contains(before, c.Severity) == c.Add || slices.Contains(c.Threshold, c.Severity) != c.Add {
		rt.Fatalf("from %v: %+v", before, c)
	}
	got := ledger.ThresholdProposal{Tasks: c.Tasks, Runs: c.Runs, Rounds: c.Rounds, Open: c.Open, Regretted: c.Regretted, Unchanged: c.Unchanged + c.Small}
	var want ledger.ThresholdProposal
	runs := map[string]bool{}
	for _, t := range r.counted {
		if !t.due {
			continue
		}
		want.Tasks++
		runs[t.run] = true
		want.Rounds += t.fixes[c.Severity]
		if !t.regretted {
			want.Unchanged += t.wasted[c.Severity]
		}
		if slices.Contains(t.open, c.Severity) {
			want.Open++
			if t.regretted {
				want.Regretted++
			}
		}
	}
	want.Runs = len(runs)
	if diff := cmp.Diff(want, got); diff != "" {
		rt.Fatalf("the figures (-want +got):\n%s", diff)
	}
	switch {
	case want.Tasks < 8 || want.Runs < 2:
	case c.Add && want.Regretted >= 3:
		return
	case !c.Add && want.Unchanged >= 3 && want.Regretted == 0:
		return
	}
	rt.Fatalf("asked without evidence: %+v", c)
}

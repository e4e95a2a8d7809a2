package demo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// typesGuidance returns a person who types words once, when the given hat
// starts on a task.
func typesGuidance(hat, task, words string) func(*testRun, string, string) {
	typed := false
	return func(n *testRun, h, at string) {
		if h != hat || at != task || typed {
			return
		}
		typed = true
		a := n.input(loop.Guide{Text: words})
		n.note("> %s: %s", words, a.Text)
	}
}

const transcriptStart = `baseline 0: ok 4 tests
#1 planner plan.complete: The teas in one case, with tests
#1 builder build.complete: Price list with five teas
verify 0: ok 7 tests
#1 reviewer review.verdict: no issues
commit feat: Task 1 - Add a price list
#2 planner plan.complete: A sum over pairs of tea and grams
#2 builder build.complete: Basket adds up, all tests pass
verify 1: --- FAIL: TestSum: want 1250, got 1200
#2 builder build.complete: Weighs portions under 100 g too
verify 0: ok 10 tests
#2 reviewer review.verdict: The sum is wrong: rounding
  major basket.sh:11 rounding
#2 fixer fix.complete: Adds up first and divides once
verify 0: ok 11 tests
#2 reviewer review.verdict: no issues
commit feat: Task 2 - Sum the basket
`

const transcript = transcriptStart + `> Wrap the old till, don't replace it: g1 queued → next session, #3 builder as it looks
#3 planner plan.complete: The counter types tea and grams
g1 addressed: kept till.sh, added adapter.sh around it
#3 builder build.complete: An adapter around the old till
verify 0: ok 14 tests
#3 reviewer review.verdict: no issues, g1 followed
commit feat: Task 3 - Move the till to the new API
#4 planner question.asked: round half cents up?
q1 expired: no
#4 planner plan.complete: Round once, at the end, half a cent down
#4 builder build.complete: Rounds to the nearest cent, half a cent down
verify 0: ok 16 tests
#4 reviewer review.verdict: no issues
commit feat: Task 4 - Round half cents
final 0: ok 16 tests`

func TestStory(t *testing.T) {
	var trees []string
	for range 2 { // both runs must be equal
		n := newTestRun(t, sample(t), Verify)
		n.before = typesGuidance(GuidanceHat, GuidanceTask, Guidance)
		n.execute(planTasks(t))
		if diff := cmp.Diff(strings.Split(transcript, "\n"), n.log); diff != "" {
			t.Fatalf("the story (-want +got):\n%s", diff)
		}
		if end := n.state.Project.Run.Ended; end.Exit != 0 || end.Reason != ledger.ReasonDone {
			t.Errorf("ended with %+v", end)
		}
		if agents := n.state.Project.Run.Agents; agents != 16 {
			t.Errorf("%d sessions, docs/spec 24.2 tells of 16", agents)
		}
		trees = append(trees, n.git("write-tree"))
		if n.git("diff", "--stat", "HEAD", "--", "till.sh") != "" {
			t.Error("the old till was to be kept")
		}
	}
	if trees[0] != trees[1] {
		t.Errorf("trees differ: %s", trees)
	}
}

// TestGuidance covers other guidance on the till, and guidance at other times.
func TestGuidance(t *testing.T) {
	replaced := `#3 builder build.complete: The till takes tea and grams
verify 0: ok 10 tests
`
	for _, tt := range []struct {
		name, hat, task, words, want string
		adapter                      bool
	}{
		{"nobody types", "", "", "", `#3 planner plan.complete: The counter types tea and grams
` + replaced + `#3 reviewer review.verdict: no issues
commit feat: Task 3 - Move the till to the new API`, false},
		{"for the task, an hour before", "planner", "Task 1", "#3 keep the old till", `#3 planner plan.complete: Keep the old till, and give it what it understands
g1 addressed: kept till.sh, added adapter.sh around it
#3 builder build.complete: An adapter around the old till
verify 0: ok 14 tests
#3 reviewer review.verdict: no issues, g1 followed
commit feat: Task 3 - Move the till to the new API`, true},
		{"while the builder is at work", "builder", "Task 3", Guidance, `#3 planner plan.complete: The counter types tea and grams
> Wrap the old till, don't replace it: g1 queued → next session that writes
` + replaced + `#3 reviewer review.verdict: g1 was not followed
  major till.sh:1 guidance
g1 addressed: kept till.sh, added adapter.sh around it
#3 fixer fix.complete: The guidance is followed: wrap
verify 0: ok 14 tests
#3 reviewer review.verdict: no issues, g1 followed
commit feat: Task 3 - Move the till to the new API`, true},
		{"words that the script does not know", "planner", "Task 3", "Paint it green,\nplease", `> Paint it green,
please: g1 queued → next session, #3 builder as it looks
#3 planner plan.complete: The counter types tea and grams
g1 set_aside: a scripted agent can only wrap the till or replace it; your words are in NOTES.md
` + replaced + `#3 reviewer review.verdict: no issues
commit feat: Task 3 - Move the till to the new API`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newTestRun(t, sample(t), Verify)
			n.before = typesGuidance(tt.hat, tt.task, tt.words)
			n.execute(planTasks(t))
			log := strings.Join(n.log, "\n")
			_, third, _ := strings.Cut(log, "Task 2 - Sum the basket\n")
			third, _, _ = strings.Cut(third, "\n#4")
			if diff := cmp.Diff(strings.Split(tt.want, "\n"), strings.Split(third, "\n")); diff != "" {
				t.Errorf("task 3 (-want +got):\n%s", diff)
			}
			if exit := n.state.Project.Run.Ended.Exit; exit != 0 {
				t.Errorf("exit %d", exit)
			}
			if files := n.git("ls-files", "adapter.sh"); (files != "") != tt.adapter {
				t.Errorf("adapter.sh: %q, wanted %v", files, tt.adapter)
			}
			if strings.Contains(log, "NOTES.md") {
				if got, want := n.git("show", ":NOTES.md"), "# What the owner asked for\n\n- g1: Paint it green, please"; got != want {
					t.Errorf("NOTES.md is %q, not %q", got, want)
				}
			}
		})
	}
}

// TestAnswer: the answer to the question decides how half a cent is rounded.
func TestAnswer(t *testing.T) {
	for _, tt := range []struct{ choice, words, want, test string }{
		{"a", "", "Rounds to the nearest cent, half a cent up", "TestHalfCentUp"},
		{"b", "", "Rounds to the nearest cent, half a cent down", "TestHalfCentDown"},
		{"", "yes, of course", "Rounds to the nearest cent, half a cent up", "TestHalfCentUp"},
		{"", "to even", `Rounds to the nearest cent, half a cent down (a scripted agent understands yes and no, not "to even")`, "TestHalfCentDown"},
	} {
		t.Run(tt.choice+tt.words, func(t *testing.T) {
			t.Parallel()
			n := newTestRun(t, sample(t), Verify)
			n.answer = &loop.AnswerQuestion{Question: "q1", Choice: tt.choice, Words: tt.words}
			n.execute(planTasks(t))
			if !strings.Contains(strings.Join(n.log, "\n"), "#4 builder build.complete: "+tt.want+"\n") {
				t.Errorf("want %q in\n%s", tt.want, strings.Join(n.log, "\n"))
			}
			if !strings.Contains(n.git("show", ":tests/basket.sh"), tt.test) {
				t.Errorf("tests/basket.sh lacks %s", tt.test)
			}
		})
	}
}

// TestStoryUnverified: without verification only the reviewer notices the false
// claim.
func TestStoryUnverified(t *testing.T) {
	n := newTestRun(t, sample(t))
	n.execute(planTasks(t)[:2])
	log := strings.Join(n.log, "\n")
	if !strings.Contains(log, "  major basket.sh:11 portions\n#2 fixer fix.complete: Adds up first and divides once") {
		t.Errorf("the reviewer saw nothing:\n%s", log)
	}
	if got := output(t, n.dir, Verify); got != "ok 11 tests" {
		t.Errorf("%s: %s", Verify, got)
	}
}

func TestParseTillPlan(t *testing.T) {
	for words, want := range map[string]tillPlan{
		Guidance:                              tillWrap,
		"Wrap the old till, don’t replace it": tillWrap,
		"do not replace it":                   tillWrap,
		"please leave it, never rewrite code": tillWrap,
		"KEEP the till as it is":              tillWrap,
		"put an adapter around it":            tillWrap,
		"don't wrap it, replace it":           tillReplace,
		"replace it":                          tillReplace,
		"do not keep the old till":            tillReplace,
		"keep it short":                       tillUnspecified,
		"paper for wrappings is in the back":  tillUnspecified,
		"use tabs":                            tillUnspecified,
		"":                                    tillUnspecified,
	} {
		if got := parseTillPlan(words); got != want {
			t.Errorf("%q: %q, not %q", words, got, want)
		}
	}
}

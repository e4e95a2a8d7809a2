package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestApart says which tasks are worked on at the same time.
func TestApart(t *testing.T) {
	task := func(scope string, labels ...string) TaskState {
		return TaskState{Task: ledger.Task{Scope: scope, Labels: labels}}
	}
	allowed := func(scope string, paths ...string) TaskState {
		t := task(scope)
		t.Allowed = paths
		return t
	}
	d := &decision{}
	for _, c := range []struct {
		a, b TaskState
		want bool
	}{
		{task("`src/a`"), task("`src/b`"), true},
		{task("`src/a`"), task("`src/a/x.go`"), false},
		{task("src/a/**"), task("src/*/x.go"), false},
		{task("src/{a,b}"), task("src/b/"), false},
		{task("src/{a,b}"), task("src/c/"), true},
		{task("SRC/a"), task("src/A/x.go"), false},                 // one file on many a disk
		{task("**/*.go"), task("web/**"), false},                   // web/x.go
		{task("**/*.go"), task("README.md, docs/"), false},         // docs/x.go
		{task("cmd/main.go"), task("README.md"), true},             //
		{task("app/[id]/page.tsx"), task("app/i/page.tsx"), false}, // the glob
		{task("app/[id]/page.tsx"), task("app/x/page.tsx"), true},  //
		{task("packages/*"), task("packages/a/x.js"), false},       // the folders that it matches
		{task("`package.json`"), task("`web/package.json`"), false},
		{task("`package.json`"), task("`package-lock.json`"), false},
		{task("`go.mod`"), task("`tools/go.mod`"), false}, // go.sum above
		{task("`go.mod`"), task("`package.json`"), true},
		{task("`packages/a/package.json`"), task("`packages/b/package.json`"), false},            // the lockfile above both
		{task("packages/a/"), task("packages/b/"), true},                                         // although each may change it
		{task("packages/*/package.json"), task("`package-lock.json`"), false},                    //
		{allowed("src/a/", "src/b/x.go"), task("src/b/"), false},                                 // a person said so
		{allowed("src/a/", "docs/"), task("`docs/api.md`"), false},                               //
		{allowed("src/a/", "docs"), task("src/b/"), true},                                        //
		{allowed("src/a/", "go.mod"), task("`go.sum`"), false},                                   //
		{allowed("", "docs/"), task("src/b/"), false},                                            // its scope is still unknown
		{allowed("src/a/", "src/[id].ts"), task("src/i.ts"), true},                               // a name, and no glob
		{task("`src/x.test.ts`"), task("src/__snapshots__/"), false},                             //
		{task("`src/x.test.ts`"), task("`src/__snapshots__/x.test.ts.snap`"), false},             //
		{task("`src/x.test.ts`"), task("`src/y.test.ts`"), true},                                 //
		{task("src/*.test.ts"), task("src/__snapshots__/"), false},                               //
		{task("`e2e/x.spec.ts`"), task("`e2e/x.spec.ts-snapshots/home.png`"), false},             //
		{task("`app/[id]/x.test.tsx`"), task("`app/[id]/__snapshots__/x.test.tsx.snap`"), false}, //
		{task("`src/a.rs`"), task("`src/b.rs`"), true},                                           // insta's snapshots tell no file
		{task("auth"), task("`src/b`"), false},                                                   // a word means the folders of that name, which only a tree tells
		{task("src/a and whatever it takes"), task("src/b"), false},
		{task(""), task("src/b"), false},
		{task(""), task(""), false},
		{task("", "P"), task("", "P"), true},
		{task("", "P"), task("src/b"), false},
		{task("src/b", "P"), task("", "P"), true},
		{task("src/b", "P"), task("src/b", "P"), false},
	} {
		if got, back := d.writeApart(&c.a, &c.b), d.writeApart(&c.b, &c.a); got != c.want || back != c.want {
			t.Errorf("%q %v beside %q %v: %v, and the other way round %v; want %v", c.a.Task.Scope, c.a.Task.Labels, c.b.Task.Scope, c.b.Task.Labels, got, back, c.want)
		}
	}
}

// TestAllowedOfParts checks that what a person allowed a task counts for its parts
// against other tasks, and not against one another.
func TestAllowedOfParts(t *testing.T) {
	of := TaskState{Task: ledger.Task{ID: "Task 5", Scope: "src/"}, Allowed: []string{"docs/"}}
	a := TaskState{Task: ledger.Task{ID: "Task 5/a", Parent: "Task 5", Scope: "src/a/"}}
	b := TaskState{Task: ledger.Task{ID: "Task 5/b", Parent: "Task 5", Scope: "src/b/"}}
	o := TaskState{Task: ledger.Task{ID: "Task 6", Scope: "docs/api.md"}}
	d := &decision{State: State{Project: Project{Tasks: NewTaskList(of, a, b, o)}}}
	if !d.writeApart(&a, &b) || d.writeApart(&a, &o) || d.writeApart(&o, &b) {
		t.Error("parts meet each other, or not the task that may write what theirs may")
	}
}

// TestLanes says how many tasks a run works on at a time.
func TestLanes(t *testing.T) {
	for _, c := range []struct {
		name string
		run  *Run
		want int
	}{
		{"no run", nil, 1},
		{"not set", &Run{}, 1},
		{"three", &Run{Settings: ledger.Settings{Parallel: 3}}, 3},
		{"a check", &Run{Check: true, Settings: ledger.Settings{Parallel: 3}}, 1},
		{"an idea", &Run{Idea: "i1", Settings: ledger.Settings{Parallel: 3}}, 1},
		{"waves", &Run{Settings: ledger.Settings{Parallel: 3, Source: ledger.SourceRef{Kind: ledger.SourceBugs}}}, 1},
	} {
		if got := c.run.Lanes(); got != c.want {
			t.Errorf("%s: %d lanes, want %d", c.name, got, c.want)
		}
	}
}

// TestSidesAfterFailure: an attempt that was told both sides of a conflict and fails has
// not made the first one's change again, so the next attempt is told them, too.
func TestSidesAfterFailure(t *testing.T) {
	d := playing(t, "set parallel=2 pattern=single", "tasks 1[independent] 2[independent]", "go quiet",
		"on 1 build", "on 1 green", "on 2 build", "next conflict=src/a.go", "on 2 green")
	met := d.task("Task 2").Conflict
	if met == nil || d.task("Task 2").Failed != 0 {
		t.Fatalf("no conflict that counts as no failure: %+v", d.task("Task 2"))
	}
	for range 3 {
		d.play("on 2 exit")
	}
	if got := d.task("Task 2"); got.Failed != 1 || got.Conflict == nil || got.Conflict.Mine != met.Mine {
		t.Errorf("after a failed attempt: %d failed, conflict %+v, want %+v", got.Failed, got.Conflict, met)
	}
	d.play("on 2 build")
	d.play("on 2 green")
	if got := d.s.Project.Tasks.At(1); got.Status != ledger.Done || got.Conflict != nil {
		t.Errorf("at the end: %s, conflict %+v", got.Status, got.Conflict)
	}
}

// TestStuckSection: a section that waits for a person does not keep those of other tasks
// from being built at the same time.
func TestStuckSection(t *testing.T) {
	d := playing(t, "set parallel=3 pattern=ultrawork", "tasks 1 2", "go quiet", "sections a b", "on 1/a build", "on 1/b stuck", "sections c d")
	var tasks []string
	for _, s := range d.s.Project.Sessions {
		tasks = append(tasks, s.Task)
	}
	slices.Sort(tasks)
	if want := []string{"Task 2/c", "Task 2/d"}; !slices.Equal(tasks, want) {
		t.Errorf("at work are %q, want %q", tasks, want)
	}
}

// TestScopeOfSection: a section's files are paths, also those that a task's scope would
// take for a word or for prose.
func TestScopeOfSection(t *testing.T) {
	for file, want := range map[string]ledger.ScopeItem{
		"gradlew": {Text: "gradlew", Kind: ledger.ScopePath}, "src": {Text: "src", Kind: ledger.ScopePath}, "src/a.go": {Text: "src/a.go", Kind: ledger.ScopePath},
		"a, b.md": {Text: "a, b.md", Kind: ledger.ScopePath}, "two words": {Text: "two words", Kind: ledger.ScopePath}, "docs/**": {Text: "docs/**", Kind: ledger.ScopeGlob},
	} {
		if got := ledger.ParseScope(scopeOf([]string{file})); len(got) != 1 || got[0] != want {
			t.Errorf("%q as %q: %v, want %v", file, scopeOf([]string{file}), got, want)
		}
	}
}

// TestSectionOutOfScope: a plan with a section that could write nothing is refused while
// its planner can still change it.
func TestSectionOutOfScope(t *testing.T) {
	d := playing(t, "set parallel=3 pattern=ultrawork", "tasks 1[scope=src/x]", "go quiet")
	plan := func(file string) string {
		return fmt.Sprintf(`{"summary":"s","sections":[{"id":"a","title":"A","tasks":["it works"],"files":["src/x/a.go"],"steps":["do"],"depends_on":[]},{"id":"b","title":"B","tasks":["it works"],"files":[%q],"steps":["do"],"depends_on":[]}]}`, file)
	}
	d.emit(ledger.EventPlan, plan("docs/b.md"))
	if s := d.session(); s.Event != nil || s.Refused != 1 || !strings.Contains(d.out.String(), `section "b" names nothing inside the task's scope`) {
		t.Errorf("the plan was taken: %+v\n%s", s.Event, d.out.String())
	}
	d.emit(ledger.EventPlan, plan("src/x/b.go"))
	d.exit(nil)
	if got, _ := d.s.Project.Find("1"); len(got.Parts) != 2 {
		t.Errorf("%d parts\n%s", len(got.Parts), d.out.String())
	}
}

// TestConflictsForEver: somebody outside of the run commits to the branch what a task
// changes, again and again. After two such attempts the task is alone, and further ones
// count as failed.
func TestConflictsForEver(t *testing.T) {
	d := playing(t, "set pattern=single", "tasks 1", "go quiet")
	for n := range 3 {
		d.play("build")
		d.play("next moved=c7" + string(rune('0'+n)))
		d.play("next conflict=src/a.go")
		d.play("greens")
		if got, _ := d.s.Project.Find("1"); got.Conflicts != min(n+1, ledger.MaxConflicts) || got.Failed != max(n-1, 0) {
			t.Fatalf("after conflict %d: %d conflicts, %d failed attempts\n%s", n+1, got.Conflicts, got.Failed, d.out.String())
		}
	}
}

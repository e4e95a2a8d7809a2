package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestApart says which tasks are worked on at the same time.
func TestApart(t *testing.T) {
	task := func(scope string, labels ...string) ledger.Task { return ledger.Task{Scope: scope, Labels: labels} }
	for _, c := range []struct {
		a, b ledger.Task
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
		{task("auth"), task("`src/b`"), false}, // a word means the folders of that name, which only a tree tells
		{task("src/a and whatever it takes"), task("src/b"), false},
		{task(""), task("src/b"), false},
		{task(""), task(""), false},
		{task("", "P"), task("", "P"), true},
		{task("", "P"), task("src/b"), false},
		{task("src/b", "P"), task("", "P"), true},
		{task("src/b", "P"), task("src/b", "P"), false},
	} {
		if got, back := apart(c.a, c.b), apart(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("apart(%q %v, %q %v) = %v, and the other way round %v; want %v", c.a.Scope, c.a.Labels, c.b.Scope, c.b.Labels, got, back, c.want)
		}
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

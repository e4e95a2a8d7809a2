package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
)

func shipped(t *testing.T) (map[string]loop.Hat, map[string]loop.Pattern) {
	t.Helper()
	hats, err := Hats(Empty(), nil)
	if err != nil {
		t.Fatal(err)
	}
	patterns, err := Patterns(Empty(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return hats, patterns
}

func TestShippedPatterns(t *testing.T) {
	hats, patterns := shipped(t)
	want := map[string]loop.Pattern{
		"single": {
			Name: "single", Start: "builder", Threshold: []loop.Severity{"critical", "major"},
			Routes: []loop.Route{{From: "builder", On: "build.complete", To: "converged"}},
		},
		"plan-build-review": { // SPEC 2.7
			Name: "plan-build-review", Start: "planner", Threshold: []loop.Severity{"critical", "major"}, MinRounds: 1,
			Routes: []loop.Route{
				{From: "planner", On: "plan.complete", To: "builder"},
				{From: "builder", On: "build.complete", To: "reviewer"},
				{From: "reviewer", On: "review.verdict", When: "above", To: "fixer"},
				{From: "reviewer", On: "review.verdict", When: "below", To: "converged"},
				{From: "fixer", On: "fix.complete", To: "reviewer"},
			},
		},
	}
	if d := cmp.Diff(want, patterns); d != "" {
		t.Errorf("patterns (-want +got):\n%s", d)
	}
	for _, p := range patterns {
		if ps := CheckPattern(p, hats); len(ps) > 0 {
			t.Errorf("%s: %v", p.Name, ps)
		}
	}
}

func TestCheckPattern(t *testing.T) {
	hats := map[string]loop.Hat{
		"planner":  {Emits: []string{"plan.complete"}},
		"critic":   {Emits: []string{"critique.verdict"}},
		"builder":  {Emits: []string{"build.complete"}, WriteAllowed: []string{"**"}},
		"reviewer": {Emits: []string{"review.verdict"}, Payload: []string{"issues"}},
		"verifier": {Emits: []string{"verification.passed", "verification.failed"}},
	}
	// A route is written "from on [above|below] to".
	pattern := func(start string, routes ...string) loop.Pattern {
		p := loop.Pattern{Name: "x", Start: start}
		for _, s := range routes {
			f := strings.Fields(s)
			r := loop.Route{From: f[0], On: f[1], To: f[len(f)-1]}
			if len(f) == 4 {
				r.When = loop.When(f[2])
			}
			p.Routes = append(p.Routes, r)
		}
		return p
	}
	for name, c := range map[string]struct {
		pattern loop.Pattern
		want    []string
	}{
		"right":                      {pattern("builder", "builder build.complete reviewer", "reviewer review.verdict above builder", "reviewer review.verdict below converged"), nil},
		"a cycle of one that writes": {pattern("builder", "builder build.complete verifier", "verifier verification.passed converged", "verifier verification.failed builder"), nil},
		"no routes":                  {pattern("builder"), []string{"the pattern has no routes"}},
		"unknown start":              {pattern("bulder", "builder build.complete converged"), []string{`no hat "bulder"; meant "builder"?`}},
		"unknown hats":               {pattern("builder", "builder build.complete reviwer", "ghost x converged"), []string{`no hat "reviwer"; meant "reviewer"?`, `no hat "ghost"`}},
		"unknown event":              {pattern("builder", "builder biuld.complete converged"), []string{`does not end with "biuld.complete", but with build.complete; meant "build.complete"?`}},
		"common event":               {pattern("builder", "builder build.complete converged", "builder task.blocked converged"), []string{"goes to a person from every hat"}},
		"when without issues":        {pattern("builder", "builder build.complete above converged"), []string{"looks at issues"}},
		"unrouted event":             {pattern("builder", "builder build.complete verifier", "verifier verification.passed converged"), []string{"verifier can end with verification.failed, and no route says what follows"}},
		"above only":                 {pattern("reviewer", "reviewer review.verdict above builder", "builder build.complete converged"), []string{"routed above the threshold only"}},
		"below only":                 {pattern("reviewer", "reviewer review.verdict below converged"), []string{"routed below the threshold only"}},
		"routed twice":               {pattern("builder", "builder build.complete converged", "builder build.complete reviewer", "reviewer review.verdict converged"), []string{"routed already"}},
		"always and above":           {pattern("reviewer", "reviewer review.verdict converged", "reviewer review.verdict above builder", "builder build.complete reviewer"), []string{"routed already"}},
		"dead hat":                   {pattern("builder", "builder build.complete converged", "planner plan.complete builder"), []string{"no route leads to planner"}},
		"no way out":                 {pattern("builder", "builder build.complete reviewer", "reviewer review.verdict builder"), []string{"from builder no way leads", "from reviewer no way leads"}},
		"nothing changes":            {pattern("planner", "planner plan.complete verifier", "verifier verification.failed planner", "verifier verification.passed converged"), []string{"nobody writes and nobody reviews"}},
		"no way on from a hat":       {pattern("planner", "planner plan.complete critic", "critic critique.verdict critic"), []string{"from planner no way", "from critic no way", "critic comes round to itself"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := CheckPattern(c.pattern, hats)
			if len(got) < len(c.want) || (c.want == nil && len(got) > 0) {
				t.Fatalf("problems: %v; want %q", got, c.want)
			}
			all := ""
			for _, p := range got {
				all += p.String() + "\n"
			}
			for _, w := range c.want {
				if !strings.Contains(all, w) {
					t.Errorf("nobody says %q in:\n%s", w, all)
				}
			}
		})
	}
}

// A hat of the user's own may make a pattern of the house useless. That is a
// mistake only where the pattern is used.
func TestOverriddenHat(t *testing.T) {
	dir := laySite(t)
	write(t, dir+"/hats/planner.toml", "[hat]\nname = \"planner\"\nrole = \"r\"\n[hat.exit]\nemit_event = \"my.plan\"\n")
	write(t, dir+"/nightporter.toml", "[[project]]\nname = \"blog\"\nrepo = \"blog\"\npattern = \"single\"\n")
	cfg := load(t)
	patterns, err := Patterns(cfg, &cfg.Projects[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := patterns["plan-build-review"]; ok {
		t.Error("a pattern that does not fit is offered")
	}
	// A folder that is called like ours is none of ours.
	write(t, dir+"/presets/patterns/x.toml", "name = \"x\"\nstart = \"ghost\"\n")
	write(t, dir+"/presets/nightporter.toml", "")
	if _, err := Load("presets/nightporter.toml"); err == nil || !strings.Contains(err.Error(), `presets/patterns/x.toml:2:9  no hat "ghost"`) {
		t.Errorf("Load: %v", err)
	}
	write(t, dir+"/nightporter.toml", "[[project]]\nname = \"blog\"\nrepo = \"blog\"\n")
	if _, err := Load("nightporter.toml"); err == nil || !strings.Contains(err.Error(), `pattern plan-build-review: planner does not end with "plan.complete"`) {
		t.Errorf("Load: %v", err)
	}
}

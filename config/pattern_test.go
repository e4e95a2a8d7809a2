package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/loop/ledger"
)

func shipped(t *testing.T) (map[string]ledger.Hat, map[string]ledger.Pattern) {
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

// TestShippedPatterns compares each shipped pattern with docs/spec 2.7 and 4.3.
// A route is written "from on [above|below] [once] to".
func TestShippedPatterns(t *testing.T) {
	hats, patterns := shipped(t)
	review := []string{"reviewer review.verdict above fixer", "reviewer review.verdict below converged", "fixer fix.complete reviewer"}
	verified := []string{"reviewer review.verdict above fixer", "reviewer review.verdict below verifier", "fixer fix.complete reviewer",
		"verifier verification.passed converged", "verifier verification.failed fixer"}
	want := map[string][]string{ // the start, then the routes
		"single":                  {"builder", "builder build.complete converged"},
		"ideas":                   {"ideas", "ideas ideas.complete converged"},
		"draft":                   {"drafter", "drafter draft.complete converged"},
		"triage":                  {"triager", "triager triage.verdict converged"},
		"evaluator":               {"evaluator", "evaluator evaluation.verdict converged"},
		"plan-build-review":       slices.Concat([]string{"planner", "planner plan.complete builder", "builder build.complete reviewer"}, review),
		"builder-writer-reviewer": slices.Concat([]string{"builder", "builder build.complete writer", "writer docs.complete reviewer"}, review),
		"build-review-refactor": {"builder", "builder build.complete reviewer", "reviewer review.verdict above fixer", "reviewer review.verdict below once refactorer",
			"reviewer review.verdict below converged", "fixer fix.complete reviewer", "refactorer refactor.complete reviewer"},
		"ultrawork": slices.Concat([]string{"planner", "planner plan.complete section builder", "builder build.complete reviewer"}, review),
		"team": slices.Concat([]string{"lead", "lead plan.complete section builder", "builder build.complete tester", "tester verification.passed reviewer",
			"tester verification.failed 3 section fixer", "tester verification.failed once arbiter", "tester verification.failed failed",
			"arbiter ruling.upheld fixer", "arbiter ruling.dismissed reviewer", "fixer fix.complete tester"}, review[:2]),
		"full-cycle": slices.Concat([]string{"planner", "planner plan.complete builder", "builder build.complete writer", "writer docs.complete reviewer"}, verified),
		"bug":        slices.Concat([]string{"reproducer", "reproducer repro.complete fixer"}, verified),
	}
	for name, routes := range want {
		p := pattern(routes[0], routes[1:]...)
		p.Name, p.Threshold, p.MinRounds = name, []ledger.Severity{"critical", "major"}, 1
		p.DistinctFiles = name == "team"
		if name == "single" || name == "ideas" || name == "draft" || name == "evaluator" || name == "triage" { // no review
			p.MinRounds = 0
		}
		got := patterns[name]
		byFrom := func(a, b ledger.Route) bool { return a.From < b.From } // the order between hats has no meaning
		if d := cmp.Diff(p, got, cmpopts.SortSlices(byFrom)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if ps := CheckPattern(got, hats); len(ps) > 0 {
			t.Errorf("%s: %v", name, ps)
		}
	}
	if len(patterns) != len(want) {
		t.Errorf("%d patterns, want %d", len(patterns), len(want))
	}
}

// pattern returns a pattern with routes written "from on [above|below] [once]
// [TIMES] [section] to".
func pattern(start string, routes ...string) ledger.Pattern {
	p := ledger.Pattern{Name: "x", Start: start}
	for _, s := range routes {
		f := strings.Fields(s)
		r := ledger.Route{From: f[0], On: f[1], To: f[len(f)-1]}
		for _, word := range f[2 : len(f)-1] {
			if n, err := strconv.Atoi(word); err == nil {
				r.Times = n
				continue
			}
			switch word {
			case "once":
				r.Once = true
			case "section":
				r.Each = ledger.EachSection
			default:
				r.When = ledger.ThresholdSide(word)
			}
		}
		p.Routes = append(p.Routes, r)
	}
	return p
}

func TestCheckPattern(t *testing.T) {
	hats := map[string]ledger.Hat{
		"planner":    {Emits: []string{"plan.complete"}},
		"critic":     {Emits: []string{"critique.verdict"}},
		"builder":    {Emits: []string{"build.complete"}, WriteAllowed: []string{"**"}},
		"reviewer":   {Emits: []string{"review.verdict"}, Payload: []string{"issues"}},
		"fixer":      {Emits: []string{"fix.complete"}, WriteAllowed: []string{"**"}},
		"refactorer": {Emits: []string{"refactor.complete"}, WriteAllowed: []string{"**"}},
		"verifier":   {Emits: []string{"verification.passed", "verification.failed"}},
		"painter":    {Emits: []string{"paint.dried"}, WriteAllowed: []string{"**"}}, // an event that no other hat uses
	}
	const (
		b, above, below, f = "builder build.complete reviewer", "reviewer review.verdict above fixer", "reviewer review.verdict below converged", "fixer fix.complete reviewer"
		once, r            = "reviewer review.verdict below once refactorer", "refactorer refactor.complete reviewer"
	)
	consensus := func(p ledger.Pattern) ledger.Pattern { p.Consensus = true; return p }
	for name, c := range map[string]struct {
		pattern ledger.Pattern
		want    []string
	}{
		"right":                       {pattern("builder", b, above, below, f), nil},
		"a cycle of one that writes":  {pattern("builder", "builder build.complete verifier", "verifier verification.passed converged", "verifier verification.failed builder"), nil},
		"an event of one's own":       {pattern("painter", "painter paint.dried converged"), nil},
		"no routes":                   {pattern("builder"), []string{"the pattern has no routes"}},
		"unknown start":               {pattern("bulder", "builder build.complete converged"), []string{`no hat "bulder"; meant "builder"?`}},
		"unknown hats":                {pattern("builder", "builder build.complete reviwer", "ghost x converged"), []string{`no hat "reviwer"; meant "reviewer"?`, `no hat "ghost"`}},
		"unknown event":               {pattern("builder", "builder biuld.complete converged"), []string{`does not end with "biuld.complete", but with build.complete; meant "build.complete"?`}},
		"common event":                {pattern("builder", "builder build.complete converged", "builder task.blocked converged"), []string{"goes to a person from every hat"}},
		"when without issues":         {pattern("builder", "builder build.complete above converged"), []string{"looks at issues"}},
		"unrouted event":              {pattern("builder", "builder build.complete verifier", "verifier verification.passed converged"), []string{"verifier can end with verification.failed, and no route says what follows"}},
		"above only":                  {pattern("builder", b, above, f), []string{"routed above the threshold only", `Add [[route]] from = "reviewer", on = "review.verdict", when = "below", to = …`}},
		"below only":                  {pattern("reviewer", below), []string{"routed below the threshold only"}},
		"routed twice":                {pattern("builder", "builder build.complete converged", b, above, below, f), []string{"route 2: build.complete from builder is routed already"}},
		"always and above":            {pattern("reviewer", "reviewer review.verdict fixer", above, f), []string{"routed already"}},
		"dead hat":                    {pattern("builder", "builder build.complete converged", "planner plan.complete builder"), []string{"no route leads to planner"}},
		"no way out":                  {pattern("builder", b, "reviewer review.verdict fixer", f), []string{"from builder no way leads", "from reviewer no way leads"}},
		"nothing changes":             {pattern("planner", "planner plan.complete verifier", "verifier verification.failed planner", "verifier verification.passed converged"), []string{"nobody writes and nobody reviews"}},
		"no way on from a hat":        {pattern("planner", "planner plan.complete critic", "critic critique.verdict critic"), []string{"from planner no way", "from critic no way", "critic comes round to itself"}},
		"a review without a fixer":    {pattern("builder", b, "reviewer review.verdict above builder", below), []string{"route 2: what reviewer finds is fixed by nobody: from builder no way leads to a hat that ends with fix.complete"}},
		"a review that is overlooked": {pattern("builder", b, "reviewer review.verdict converged"), []string{"from converged no way leads to a hat that ends with fix.complete"}},
		"a fixer after the next review": {pattern("builder", b, "reviewer review.verdict above builder", "reviewer review.verdict below fixer", "fixer fix.complete converged"),
			[]string{"route 2: what reviewer finds is fixed by nobody"}},
		"once":                     {pattern("builder", b, above, once, below, f, r), nil},
		"once on both sides":       {pattern("builder", b, "reviewer review.verdict once refactorer", above, below, f, r), nil},
		"once, one after another":  {pattern("builder", b, above, once, "reviewer review.verdict below once painter", below, f, r, "painter paint.dried reviewer"), nil},
		"once breaks a cycle":      {pattern("planner", "planner plan.complete once critic", "planner plan.complete builder", "critic critique.verdict planner", "builder build.complete converged"), nil},
		"once and nothing else":    {pattern("builder", b, above, once, f, r), []string{"route 3: review.verdict goes from reviewer to refactorer once, and no later route says where it goes then", `when = "below", to = …`}},
		"once after always":        {pattern("builder", b, above, below, once, f, r), []string{"route 4: review.verdict from reviewer is routed already"}},
		"once, and the other side": {pattern("builder", b, once, below, f, r), []string{"routed below the threshold only"}},
		"once twice":               {pattern("builder", b, above, once, once, below, f, r), []string{"route 4: review.verdict from reviewer goes to refactorer once by an earlier route"}},
		"once to converged":        {pattern("builder", b, above, "reviewer review.verdict below once converged", below, f), []string{"a task is committed only once anyway"}},
		"once to where one was":    {pattern("builder", b, above, "reviewer review.verdict below once builder", below, f), []string{"whoever comes to reviewer has been at builder"}},
		"out by once alone":        {pattern("planner", "planner plan.complete once builder", "planner plan.complete critic", "critic critique.verdict planner", "builder build.complete converged"), []string{"from planner no way leads"}},
		"times":                    {pattern("builder", b, "reviewer review.verdict above 3 fixer", "reviewer review.verdict above painter", "painter paint.dried fixer", below, f), nil},
		"times and nothing else":   {pattern("builder", b, "reviewer review.verdict above 3 fixer", below, f), []string{"route 2: review.verdict goes from reviewer to fixer 3 times, and no later route says where it goes then"}},
		"times again":              {pattern("builder", b, "reviewer review.verdict above 3 fixer", "reviewer review.verdict above 2 fixer", "reviewer review.verdict above painter", "painter paint.dried fixer", below, f), []string{"goes to fixer 2 times by an earlier route, so never by this one"}},
		"more times":               {pattern("builder", b, "reviewer review.verdict above 2 fixer", "reviewer review.verdict above 3 fixer", "reviewer review.verdict above painter", "painter paint.dried fixer", below, f), nil},
		"sections":                 {pattern("planner", "planner plan.complete section builder", b, above, below, f), nil},
		"sections of no plan":      {pattern("builder", b, above, below, "fixer fix.complete section reviewer"), []string{`each = "section" divides a plan, and fix.complete is none`}},
		"sections for a reader":    {pattern("planner", "planner plan.complete section reviewer", above, below, f), []string{"each section needs a hat that writes files, and reviewer writes none"}},
		"verdict undivided":        {pattern("planner", "planner plan.complete builder", "builder build.complete verifier", "verifier verification.passed converged", "verifier verification.failed section fixer", "fixer fix.complete verifier"), []string{"verification.failed is divided by the sections of the plan, and no route divides that"}},
		"failed once":              {pattern("builder", "builder build.complete verifier", "verifier verification.passed converged", "verifier verification.failed once failed", "verifier verification.failed failed"), []string{"an attempt fails only once anyway: leave once out"}},
		"sections once":            {pattern("planner", "planner plan.complete once section builder", "planner plan.complete builder", b, above, below, f), []string{"leave once or each out"}},
		"consensus without a plan": {consensus(pattern("builder", b, above, below, f)), []string{"consensus needs a plan, and no hat of pattern x ends with plan.complete", `consensus needs a hat "architect"`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := CheckPattern(c.pattern, hats)
			if len(got) < len(c.want) || (c.want == nil && len(got) > 0) {
				t.Fatalf("problems: %v; want %q", got, c.want)
			}
			all := ""
			for _, p := range got {
				all += Format(p) + "\n"
			}
			for _, w := range c.want {
				if !strings.Contains(all, w) {
					t.Errorf("nobody says %q in:\n%s", w, all)
				}
			}
		})
	}
}

// TestConsensusHats: the core sends plans to critic and architect by name, so
// the user's own hats with these names must fit.
func TestConsensusHats(t *testing.T) {
	hats, patterns := shipped(t)
	p := patterns["plan-build-review"]
	p.Consensus = true
	if ps := CheckPattern(p, hats); len(ps) > 0 {
		t.Fatalf("the shipped hats: %v", ps)
	}
	for want, spoil := range map[string]func(map[string]ledger.Hat){
		`consensus needs a hat "critic", and there is none`:                                        func(h map[string]ledger.Hat) { delete(h, "critic") },
		"consensus needs hat critic to end with critique.verdict, and it ends with review.verdict": func(h map[string]ledger.Hat) { h["critic"] = h["reviewer"] },
		"consensus needs hat architect to end with advice.complete, and it ends with advice.complete, my.advice": func(h map[string]ledger.Hat) {
			a := h["architect"]
			a.Emits = []string{"advice.complete", "my.advice"}
			h["architect"] = a
		},
		"consensus needs hat architect to be read-only": func(h map[string]ledger.Hat) {
			a := h["architect"]
			a.WriteAllowed = []string{"**"}
			h["architect"] = a
		},
	} {
		own := maps.Clone(hats)
		spoil(own)
		if ps := CheckPattern(p, own); len(ps) != 1 || !strings.Contains(ps[0].Text, want) {
			t.Errorf("%v; want %q", ps, want)
		}
	}
}

// A hat of the user's own may make a built-in pattern useless. That is a
// mistake only where the pattern is used.
func TestOverriddenHat(t *testing.T) {
	dir := setupSite(t)
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
	// The problem points at the hat that replaced the shipped one, because a
	// person can edit that.
	write(t, dir+"/nightporter.toml", "[[project]]\nname = \"blog\"\nrepo = \"blog\"\n")
	if _, err := Load("nightporter.toml"); err == nil || !strings.HasPrefix(err.Error(), `✗ hats/planner.toml:5:14  pattern plan-build-review: planner does not end with "plan.complete", but with my.plan`) ||
		!strings.Contains(err.Error(), "This hat stands in for the shipped planner") {
		t.Errorf("Load: %v", err)
	}
	// A broken hat is reported without the problems that follow from it.
	write(t, dir+"/hats/planner.toml", "[hat]\nname = \"planner\"\nrol = \"r\"\n")
	if _, err := Load("nightporter.toml"); err == nil || !strings.Contains(err.Error(), `unknown key "rol"`) || strings.Contains(err.Error(), "does not end") {
		t.Errorf("Load: %v", err)
	}
	write(t, dir+"/hats/planner.toml", "[hat]\nname = \"planner\"\nrole = \"r\"\n[hat.exit]\nemit_event = \"my.plan\"\n")
	// A folder of the user's that is named presets is not mistaken for the
	// embedded one.
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

// TestShippedPatternsAreJudged holds which of the shipped patterns have a review
// of all that is written: a no_change counts there, and a run may start without a
// verification command.
func TestShippedPatternsAreJudged(t *testing.T) {
	cfg := Empty()
	patterns, err := Patterns(cfg, &Project{})
	if err != nil {
		t.Fatal(err)
	}
	hats, err := Hats(cfg, &Project{})
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range patterns {
		s := ledger.Settings{Pattern: p, Hats: hats}
		if f, unproved := s.Unproved(); unproved != (name == "single") {
			t.Errorf("%s: unproved %v %+v", name, unproved, f)
		}
		for _, r := range p.Routes {
			if hats[r.From].Writes() && s.JudgedAfter(r.From) != (name != "single") {
				t.Errorf("%s: %s is judged: %v", name, r.From, s.JudgedAfter(r.From))
			}
		}
	}
}

package crash

// checkSections fails on the sections of a task together until somebody mends the whole.
const checkSections = `[ ! -e api/f ] || [ -e api/whole ] || exit 1
sh ./digest.sh >>"$1/passed"
`

// ultrawork has five builders in hand, whose changes are merged into one tree. That is
// mended, reviewed, fixed, and reviewed again.
var ultrawork = together{
	name: "ultrawork", agent: "sections", pattern: "ultrawork", commits: 1,
	plan:   "- [ ] **Task 1: Six endpoints**\n  - Scope: `api/`\n",
	lines:  []string{"parallel = 5", `verify = ["sh ./verify.sh DIR/notes"]`},
	files:  map[string]string{"repo/verify.sh": checkSections},
	tree:   map[string]string{"api/a": "a\n", "api/b": "b\n", "api/c": "c\nin full\n", "api/d": "d\n", "api/e": "e\n", "api/f": "f\n", "api/whole": "mended\n"},
	phases: []phase{{"builders", 5, nil}, {"review", 1, nil}, {"fix", 1, nil}},
	kills: [][]string{
		{"kill at builders", "before-effect:merge:2", "after-commit:tree_laid", "kill at review", "kill at fix"},
		{"after-spawn:4", "cut at builders", "after-effect:merge:2", "before-commit:tree_laid:2", "lose at review", "cut at fix"},
	},
}

// team has three members in hand, and then three fixers.
var team = together{
	name: "team", agent: "team", pattern: "team", commits: 1,
	plan:   "- [ ] **Task 1: A page that greets**\n  - Scope: `web/`, `api/`, `infra/`\n",
	lines:  []string{"parallel = 3", `verify = ["sh ./verify.sh DIR/notes"]`},
	files:  map[string]string{"repo/verify.sh": "sh ./digest.sh >>\"$1/passed\"\n"},
	tree:   map[string]string{"web/page": "reads greeting\n", "api/route": "greeting\n", "infra/start": "cat api/route\n"},
	phases: []phase{{"members", 3, nil}, {"test", 1, nil}, {"fixers", 3, nil}, {"arbiter", 1, nil}},
	kills: [][]string{
		{"kill at members", "kill at fixers", "after-effect:merge", "before-commit:tree_laid:2", "lose at arbiter"},
		{"before-commit:tree_laid:2", "cut at fixers", "after-commit:emit:2", "before-effect:merge", "cut at arbiter"},
	},
}

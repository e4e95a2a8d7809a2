package crash

import "strings"

// checkLanes passes on every tree. With the first two tasks it waits for the test.
const checkLanes = `notes=$1
[ ! -e batch ] || [ -e made/it ] || exit 1
if [ -e in/T001 ] && [ -e in/T002 ]; then
	: >"$notes/checks-T002"
	: >"$notes/at-queue-1"
	until [ -e "$notes/go-queue" ]; do sleep 0.02; done
fi
sh ./digest.sh >>"$notes/passed"
[ ! -e in/T001 ] || : >"$notes/checks-T001"
`

const sixTasks = "## Phase 1: Together\n\n- [ ] T001 [P] One\n- [ ] T002 [P] Two\n- [ ] T003 [P] Three\n- [ ] T004 [P] Four\n- [ ] T005 [P] Five\n\n## Phase 2: After\n\n- [ ] T006 Six\n"

var treeOfSix = map[string]string{
	"in/T001": "T001\n", "in/T002": "T002\n", "in/T003": "T003\n", "in/T004": "T004\n", "in/T005": "T005\n", "in/T006": "T006\n", "shared": "T004\nT005\nfirst\n",
}

// lanes has five tasks in hand. The first is committed alone; then the second is on its
// way into the branch while three wait in the queue, of which the last conflicts with the
// one before it. It has no setup: where rooms are copies, its checks would be in turn.
var lanes = together{
	name: "lanes", agent: "lanes", pattern: "single", plan: sixTasks, tree: treeOfSix, commits: 6, moved: true,
	lines: []string{"parallel = 5", "setup = []", `verify = [{run = "sh ./verify.sh DIR/notes", parallel = true}]`},
	files: map[string]string{"repo/verify.sh": checkLanes, "repo/shared": "first\n"},
	phases: []phase{{"builders", 5, nil}, {"queue", 1, func(status string) bool {
		return strings.Count(status, " commit") >= 3
	}}},
	kills: [][]string{
		{"kill at builders", "kill at builders", "kill at queue", "after-effect:merge", "before-commit:commit_made"},
		{"before-effect:session.start:4", "cut at builders", "lose at builders", "cut at queue", "before-commit:tree_laid:2", "after-effect:commit"},
	},
}

// laneBatch has five tasks in hand, in folders with what setup made. It verifies them as
// one, but for the last, which conflicts with the one before it and goes back.
var laneBatch = together{
	name: "batch", agent: "lanes", pattern: "single", plan: sixTasks, tree: treeOfSix, commits: 6, batch: true,
	lines:  []string{"parallel = 5", `setup = ["mkdir -p made && echo it >made/it"]`, lanes.lines[2], `queue = "batch"`, "batch = 5"},
	files:  map[string]string{"repo/verify.sh": checkLanes, "repo/shared": "first\n", "repo/.gitignore": "/made\n", "repo/batch": ""},
	phases: []phase{{"builders", 5, nil}, {"queue", 1, nil}},
	kills: [][]string{
		{"seal:4", "kill at builders", "before-effect:chain", "cut at queue", "after-commit:commit_made:2", "after-effect:commit"},
	},
}

package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
)

// boundaryLevel is the level that sessions have on this machine, as a run
// says it; 0 where no run could tell.
var boundaryLevel = sync.OnceValue(func() int {
	dir, err := os.MkdirTemp(root, "level")
	if err != nil {
		return 0
	}
	w := world{dir}
	defer w.cleanUp()
	plan := "- [ ] **Task 1: Nothing**\n  - Scope: `src`\n"
	if os.MkdirAll(w.path("repo", "src"), 0o755) != nil || os.WriteFile(w.path("repo", "plan.md"), []byte(plan), 0o644) != nil ||
		os.WriteFile(filepath.Join(dir, "repo", "src", "a"), nil, 0o644) != nil || w.repo("repo") != nil || w.furnish() != nil {
		return 0
	}
	out, _, err := w.output("nightporter", "run", "--check")
	if err != nil {
		return 0
	}
	m := regexp.MustCompile(`boundary level (\d)`).FindStringSubmatch(out)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
})

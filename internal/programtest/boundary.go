package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
)

// boundaryLevel is the level that sessions have on this machine (SPEC 12.1),
// as a run says it.
var boundaryLevel = sync.OnceValues(func() (int, error) {
	dir, err := os.MkdirTemp(root, "level")
	if err != nil {
		return 0, err
	}
	w := world{dir}
	defer w.cleanUp()
	for name, text := range map[string]string{"plan.md": "- [ ] **Task 1: Nothing**\n  - Scope: `src`\n", "verify.sh": "exit 0\n", "src/a.txt": "a\n"} {
		if err := os.MkdirAll(filepath.Dir(w.path("repo", name)), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(w.path("repo", name), []byte(text), 0o644); err != nil {
			return 0, err
		}
	}
	if err := w.furnish(); err != nil {
		return 0, err
	}
	if err := w.repo("repo"); err != nil {
		return 0, err
	}
	out, code, err := w.output("nightporter", "run", "--pattern", "single")
	m := regexp.MustCompile(`boundary level (\d)`).FindStringSubmatch(out)
	if err != nil || m == nil {
		return 0, fmt.Errorf("which boundary level? exit %d, %w\n%s", code, err, out)
	}
	return strconv.Atoi(m[1])
})

package programtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/nightporter/nightporter/internal/regexp"
)

// boundaryLevel is the level that sessions have on this machine (docs/spec 12.1),
// as a run says it.
var boundaryLevel = sync.OnceValues(func() (int, error) {
	dir, err := os.MkdirTemp(workDir, "level")
	if err != nil {
		return 0, err
	}
	m := Machine{Dir: dir}
	defer m.CleanUp()
	for name, text := range map[string]string{"plan.md": "- [ ] **Task 1: Nothing**\n  - Scope: `src`\n", "verify.sh": "exit 0\n", "src/a.txt": "a\n"} {
		if err := os.MkdirAll(filepath.Dir(m.Path("repo", name)), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(m.Path("repo", name), []byte(text), 0o644); err != nil {
			return 0, err
		}
	}
	if err := m.Furnish(); err != nil {
		return 0, err
	}
	if err := m.Repo("repo"); err != nil {
		return 0, err
	}
	out, code, err := m.Output("nightporter", "run", "--pattern", "single")
	found := regexp.MustCompile(`boundary level (\d)`).FindStringSubmatch(out)
	if err != nil || found == nil {
		return 0, fmt.Errorf("which boundary level? exit %d, %w\n%s", code, err, out)
	}
	return strconv.Atoi(found[1])
})

package programtest

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/nightporter/nightporter/internal/regexp"
)

// boundaryLevel is the level that sessions have on this machine (docs/spec 12.1),
// as doctor says it.
var boundaryLevel = sync.OnceValues(func() (int, error) {
	dir, err := os.MkdirTemp(workDir, "level")
	if err != nil {
		return 0, err
	}
	m := Machine{Dir: dir}
	defer m.CleanUp()
	out, code, err := m.Output("nightporter", "doctor")
	found := regexp.MustCompile(`\(level\s+(\d)\)`).FindStringSubmatch(out)
	if err != nil || found == nil {
		return 0, fmt.Errorf("which boundary level? doctor: exit %d, %v\n%s", code, err, out)
	}
	return strconv.Atoi(found[1])
})

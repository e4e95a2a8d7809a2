package crash

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// TestConcurrentQueries: queries without a daemon disturb neither each other
// nor the start of a run.
func TestConcurrentQueries(t *testing.T) {
	t.Parallel()
	n := programtest.NewTwoTasks(t)
	n.Out("nightporter", "run", "--check")
	var wg sync.WaitGroup
	faults := make(chan string, 16)
	for i := range 8 {
		wg.Go(func() {
			args := []string{"status", "--json"}
			if i%2 == 0 {
				args = []string{"guidance", fmt.Sprintf("number %d", i)}
			}
			if out, code, err := n.Output("nightporter", args...); err != nil || code != 0 {
				faults <- fmt.Sprintf("%s: exit %d, %v\n%s", strings.Join(args, " "), code, err, out)
			}
		})
	}
	wg.Go(func() {
		if out, code, err := n.Output("nightporter", "run", "--pattern", "single"); err != nil || code != 0 {
			faults <- fmt.Sprintf("run: exit %d, %v\n%s", code, err, out)
		}
	})
	wg.Wait()
	close(faults)
	for f := range faults {
		t.Error(f)
	}
	if out := n.Out("nightporter", "status", "--json"); !strings.Contains(out, `"done":2,"total":2`) {
		t.Error(out)
	}
	n.Out("nightporter", "verify")
}

//go:build e2e

package corpus

import "testing"

// TestCorpusChosen runs the tasks with "e2e: true".
func TestCorpusChosen(t *testing.T) {
	runAll(t, func(task Task) bool { return task.E2E })
}

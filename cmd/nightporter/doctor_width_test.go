package main

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/width"
)

// TestFindingWidth: a finding fits into a terminal of 80 and of 40 columns, loses no
// word, and its remedy stays on one line where it can.
func TestFindingWidth(t *testing.T) {
	const text = "the repository /home/mira/work/shop has no commits yet, so there is nothing that a run could start from; — 店 €"
	const remedy = `git add -A && git commit -m "First commit"`
	for _, columns := range []int{0, 80, 59, 40, 20} {
		for _, what := range []string{"shop", "a-project-with-a-name-of-32-cols"} {
			got := layFinding("✗", what, text, remedy, columns)
			for line := range strings.SplitSeq(got, "\n") {
				if columns > 0 && width.Of(line) > max(columns, width.Of("✗ "+what)) {
					t.Errorf("%d columns: %d are taken\n%s", columns, width.Of(line), got)
				}
			}
			if words := strings.Fields(got); columns != 20 && strings.Join(words, " ") != strings.Join(strings.Fields("✗ "+what+" "+text+" "+remedy), " ") {
				t.Errorf("%d columns: words were lost or parted\n%s", columns, got)
			}
			if columns >= 59 && !strings.Contains(got, remedy) {
				t.Errorf("%d columns: the command was parted\n%s", columns, got)
			}
			if lines := strings.Count(got, "\n"); columns == 0 && lines != 1 {
				t.Errorf("without a terminal: %d line breaks\n%s", lines, got)
			}
		}
	}
}

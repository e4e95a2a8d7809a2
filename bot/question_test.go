package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSteps checks that a few steps of a manual verification stand as they are, and
// that many are a quote, which a chat folds.
func TestSteps(t *testing.T) {
	now := time.Date(2026, 11, 20, 3, 6, 0, 0, time.UTC)
	for _, n := range []int{3, 400} {
		var steps []string
		for i := range n {
			steps = append(steps, fmt.Sprintf("%d look at it", i))
		}
		m := bot.Ask(loop.State{Project: loop.Project{Name: "shop"}}, ledger.Question{ID: "q5", Kind: ledger.AskManual, Task: "Task 8", Text: strings.Join(steps, "\n"), Asked: now}, now)
		text := m.Text(0)
		if !strings.Contains(text, fmt.Sprintf("%d look at it\n", n-1)) || strings.Contains(text, "┃") != (n > 10) {
			t.Errorf("%d steps:\n%s", n, text)
		}
	}
}

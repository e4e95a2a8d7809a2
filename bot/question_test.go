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

// TestQuestionIsShort checks that a question fits one readable message,
// whatever text the agent wrote.
func TestQuestionIsShort(t *testing.T) {
	now := time.Date(2026, 11, 20, 3, 6, 0, 0, time.UTC)
	long := strings.Repeat("words and more words ", 10_000)
	var steps []string
	for n := range 400 {
		steps = append(steps, fmt.Sprintf("%d look at %s", n, long[:200]))
	}
	for _, kind := range []ledger.QuestionKind{ledger.AskBlocked, ledger.AskManual, ledger.AskAgent, ledger.AskBaseline} {
		q := ledger.Question{ID: "q5", Kind: kind, Task: "Task 8", Title: long, Text: long, Tried: long, Needs: long, Hat: long, Asked: now}
		if kind == ledger.AskManual {
			q.Text = strings.Join(steps, "\n")
		}
		for range map[bool]int{true: 20}[kind == ledger.AskAgent] {
			q.Options = append(q.Options, long)
		}
		m := bot.Ask(loop.State{Project: loop.Project{Name: "shop"}}, q, now)
		text := m.Text(0)
		if n := len([]rune(text)); n > 3500 {
			t.Errorf("%s: %d characters", kind, n)
		}
		if kind == ledger.AskManual && (!strings.Contains(text, "14 look at") || strings.Contains(text, "15 look at") || !strings.Contains(text, "and 385 more")) {
			t.Errorf("steps:\n%s", text)
		}
	}
}

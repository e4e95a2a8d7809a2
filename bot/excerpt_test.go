package bot_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestExcerpt reads, as a narrow phone shows it, every message about a blocked task that
// quotes what programs said: none says more or less than the others.
func TestExcerpt(t *testing.T) {
	excerpts := map[string]*ledger.FailureExcerpt{
		"red":     {Run: "go test ./...", Exit: 1, Output: "--- FAIL: TestRefundPartial (0.01s)\n    refund_test.go:12: want 1200, got 1000\nFAIL"},
		"refused": {Event: "build.complete", Refused: "files_modified names cart.go, which did not change", Hat: "builder", Said: "All done, the cart works now.\nhat emit build.complete"},
		"nothing": nil,
	}
	var story strings.Builder
	for _, name := range []string{"red", "refused", "nothing"} {
		q := ledger.Question{ID: "q5", Kind: ledger.AskBlocked, Task: "Task 8", Title: "Refund flow", Text: "go test ./... still fails (want 1200, got 1000) after 3 sessions", Excerpt: excerpts[name], Asked: evening}
		var others []bot.BlockedTask
		for _, id := range []string{"Task 3", "Task 8", "Task 9"} {
			o := q
			o.Task, o.ID = id, "q"+id[5:]
			others = append(others, bot.BlockedTask{Question: o})
		}
		task := loop.TaskState{Task: ledger.Task{ID: "Task 8", Title: "Refund flow", Mark: ledger.MarkOpen}, Status: ledger.Blocked, Why: q.Text, LastFail: q.Text, Question: "q5", Attempts: 2, Failed: 2}
		s := loop.State{Project: loop.Project{Name: "shop", Questions: []ledger.Question{q}, Tasks: loop.NewTaskList(task)}}
		for _, m := range []bot.Message{bot.Ask(s, q, evening), bot.BlockedTogether(s, others, evening), bot.Task(s, task, bot.TaskHistory{Last: ledger.OutcomeRed}, evening)} {
			checkForm(t, name, m)
			text := m.Text(38)
			if x := q.Excerpt; x != nil && x.Output != "" && !strings.Contains(text, "got 1000\n┃ FAIL") || x != nil && x.Refused != "" && !strings.Contains(text, "hat refused its report:") {
				t.Errorf("%s: %s lacks what programs said:\n%s", name, m.Key, text)
			}
			story.WriteString("── " + name + ", " + m.Key + "\n\n" + text + "\n\n")
		}
	}
	golden.Compare(t, "excerpt.txt", story.String())
}

// TestRefusedOnce checks that a refusal is not quoted a second time where it is also what
// the session printed last.
func TestRefusedOnce(t *testing.T) {
	const refused = "field \"tried\" has to be a string"
	for said, want := range map[string]int{"hat: refused: " + refused: 1, "Done.\nhat: refused: " + refused: 2, "": 1} {
		parts := bot.ExcerptParts("ended after its report was refused; 3 failed sessions in a row", &ledger.FailureExcerpt{Refused: refused, Said: said, Hat: "builder"})
		if len(parts) != want {
			t.Errorf("%q: %+v", said, parts)
		}
	}
}

// TestBlockedTogetherWhole checks that the message about several blocked tasks has all that
// a person decides on: what was tried, and what each needs.
func TestBlockedTogetherWhole(t *testing.T) {
	ask := func(n, tried, needs string) bot.BlockedTask {
		return bot.BlockedTask{Question: ledger.Question{ID: "q" + n, Kind: ledger.AskBlocked, Task: "Task " + n, Text: "go build fails", Tried: tried, Needs: needs, Asked: evening}}
	}
	s := loop.State{Project: loop.Project{Name: "shop"}}
	for _, c := range []struct {
		all  []bot.BlockedTask
		want []string
	}{
		{[]bot.BlockedTask{ask("3", "git log", "a name"), ask("4", "git log", "a name")}, []string{"All:", "Tried: git log", "Needs: a name"}},
		{[]bot.BlockedTask{ask("3", "git log", ""), ask("4", "the docs", "a key")}, []string{"#3 (q3)", "Tried: git log", "#4 (q4)", "Tried: the docs", "Needs: a key"}},
	} {
		text := bot.BlockedTogether(s, c.all, evening).Text(0)
		for _, want := range c.want {
			if strings.Count(text, want) != 1 {
				t.Errorf("%q stands %d times:\n%s", want, strings.Count(text, want), text)
			}
		}
	}
}

package messagelint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWhole checks that nothing a person decides on is shorter in a chat or a terminal
// than in the ledger (docs/spec 21.8): of random questions, each platform shows all
// words, or a file with all of them below whose beginning the buttons are.
func TestWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { decided(t, drawQuestion(t)) })
}

// TestWholeLimits checks the limit at which a question becomes a file.
func TestWholeLimits(t *testing.T) {
	for _, n := range []int{10, 71, 73, 290, 3000, 3300, 3400, 3500, 9900, 10_100} {
		for _, word := range []string{"word ", "a.b/c ", "x", "<&>", "𝕏 ", "line\n", "👩‍👩‍👧 ", "שלום "} {
			q := ledger.Question{ID: "q5", Kind: ledger.AskAgent, Hat: "planner", Task: "Task 8", Title: "Refund flow", Text: strings.Repeat(word, n/len(word)+1), Options: []string{"Yes", "No"}, Choice: "No", Asked: asked}
			decided(t, q)
		}
	}
}

var asked = time.Date(2026, 11, 20, 3, 6, 0, 0, berlin)

func drawQuestion(t *rapid.T) ledger.Question {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"refund the order", "`order.go`", "```\n\tif x < y {\n\t\treturn\n\t}\n```", "- one\n- two", "**bold** _it_ <b>b</b> &amp;", "https://example.org/a?b=c", "/stop", "@all",
			"<@U1> <!channel>", "README.md", "a/b/c.go", "👩‍👩‍👧 ❤️", "\u202eright to left\u2066", "שלום עולם", "日本語のタイトル", "é\u0301\u0302", "\r\n", "…", "q5 retry", "┃ quoted", "\t\tindented",
		}),
		// A heap of combining marks is cut on purpose, so only the sample above has some.
		rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return !unicode.Is(unicode.M, r) }), 0, 40, -1),
	)
	text := func(name string) string {
		all := rapid.SliceOfN(piece, 0, 12).Draw(t, name)
		return strings.Repeat(strings.Join(all, rapid.SampledFrom([]string{" ", "\n", ""}).Draw(t, name+" by")), rapid.SampledFrom([]int{1, 1, 1, 3, 12}).Draw(t, name+" times"))
	}
	kind := rapid.SampledFrom([]ledger.QuestionKind{ledger.AskAgent, ledger.AskBlocked, ledger.AskManual, ledger.AskBaseline, ledger.AskAllow, ledger.AskChecks, ledger.AskPlan, ledger.AskReview}).Draw(t, "kind")
	q := ledger.Question{ID: "q5", Kind: kind, Task: "Task 8", Title: "Refund flow", Hat: "planner", Text: "? " + text("text"), Tried: text("tried"), Needs: text("needs"), Asked: asked}
	if kind == ledger.AskAgent {
		for n := range rapid.SampledFrom([]int{0, 2, 3, 40}).Draw(t, "options") {
			q.Options = append(q.Options, fmt.Sprint("option ", n, " ", strings.Repeat(piece.Draw(t, "option")+" ", rapid.SampledFrom([]int{1, 1, 1, 100}).Draw(t, "option times"))))
		}
		if len(q.Options) > 0 {
			q.Choice = q.Options[0]
		}
	}
	if kind == ledger.AskAllow {
		for n := range rapid.IntRange(1, 30).Draw(t, "paths") {
			q.Paths = append(q.Paths, fmt.Sprint(n, text("path")))
		}
	}
	if kind == ledger.AskBlocked && rapid.Bool().Draw(t, "excerpt") {
		q.Excerpt = &ledger.FailureExcerpt{Run: "npm test", Exit: 1, Output: ledger.LastLines(text("output")), Refused: text("refused"), Hat: "builder", Said: ledger.LastLines(text("said"))}
	}
	if kind == ledger.AskChecks {
		q.Proof = &ledger.Proof{Word: ledger.ChangedChecks, Reason: text("reason"), Changes: []ledger.CheckChange{{Path: text("check"), Kind: "script", Action: "changed", Cases: []string{text("case")}}}}
	}
	return q
}

// decided checks one question.
func decided(t rapid.TB, q ledger.Question) {
	t.Helper()
	texts := append([]string{q.Text, q.Tried, q.Needs}, q.Options...)
	texts = append(texts, q.Paths...)
	if q.Proof != nil {
		texts = append(texts, q.Proof.Reason, q.Proof.Changes[0].Path, q.Proof.Changes[0].Cases[0])
	}
	if x := q.Excerpt; x != nil {
		texts = append(texts, x.Output, x.Refused, x.Said)
	}
	s := loop.State{Project: loop.Project{Name: "shop", Questions: []ledger.Question{q}, Tasks: loop.NewTaskList(loop.TaskState{
		Task: ledger.Task{ID: "Task 8", Title: "Refund flow", Mark: ledger.MarkOpen}, Status: ledger.Blocked, Why: q.Text, Question: q.ID, Failed: 2})}}
	task, _ := s.Project.Find(q.Task)
	again := q
	again.Expires = asked.Add(time.Hour)
	for name, m := range map[string]bot.Message{
		"asked": bot.Ask(s, q, asked), "reminded": bot.Reminder(s, again, asked), "still open": bot.StillOpen(s, q, asked, asked, asked), "/task": bot.Task(s, task, bot.TaskHistory{Last: ledger.OutcomeBlocked}, asked),
	} {
		p := telegram.Render(m)
		onPhone, _, err := far.ParseHTML(p.HTML)
		if err != nil || units(onPhone) > maxText || units(p.Text) > maxText {
			t.Fatalf("%s: %v, %d units", name, err, units(onPhone))
		}
		inSlack, file := slackText(slack.Render(m, nil, "")), slack.Render(m, nil, "").File
		if p.File != nil {
			beginning(t, name+" on Telegram", m, onPhone, maxCaption)
			onPhone = string(p.File.Data)
		}
		if file != nil {
			beginning(t, name+" in Slack", m, inSlack, 12_000)
			inSlack = string(file.Data)
		}
		for platform, shown := range map[string]string{"Telegram": onPhone, "Slack": inSlack, "a terminal": m.Text(80)} {
			shown = letters(shown)
			for _, text := range texts {
				if want := letters(text); !strings.Contains(shown, want) {
					t.Fatalf("%s, %s: %d of %d characters\n%.300q\nlacks\n%.300q", name, platform, len(shown), len(want), shown, want)
				}
			}
		}
		if len(m.Buttons) == 0 {
			t.Fatalf("%s has no buttons", name)
		}
	}
}

// beginning checks that a text above a file begins as the message does, ends with what
// happens without an answer, and is within its limit.
func beginning(t rapid.TB, name string, m bot.Message, shown string, most int) {
	t.Helper()
	last := m.Lines[len(m.Lines)-1].Text
	if !strings.HasPrefix(flat(shown), flat(m.First())) || !strings.HasSuffix(flat(shown), flat(last)) || !strings.Contains(flat(shown), flat("All of it is in the file.")) || units(shown) > most {
		t.Fatalf("%s, %d units: %q", name, units(shown), shown)
	}
}

// letters returns a text as it is compared: harmless, and without spaces, the marks of a
// quote and those of code.
func letters(s string) string {
	var b strings.Builder
	for _, line := range bot.CleanLines(s) {
		b.WriteString(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == '┃' || r == '`' || r == '\u2060' || r == unicode.ReplacementChar {
				return -1
			}
			return r
		}, line))
	}
	return b.String()
}

// slackText returns all text of a message's blocks.
func slackText(s slack.Shown) string {
	raw, err := json.Marshal(s.Blocks)
	if err != nil {
		return err.Error()
	}
	var blocks any
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return err.Error()
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if v["type"] == "actions" {
				return
			}
			if text, ok := v["text"].(string); ok {
				b.WriteString(text)
			}
			for _, name := range []string{"elements", "text"} {
				if _, is := v[name].(string); !is && v[name] != nil {
					walk(v[name])
				}
			}
		}
	}
	walk(blocks)
	return b.String()
}

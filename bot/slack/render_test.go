package slack_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

func line(s string) bot.Line  { return bot.Line{Text: s} }
func quote(s string) bot.Line { return bot.Line{Kind: bot.Quote, Text: s} }
func pre(s string) bot.Line   { return bot.Line{Kind: bot.Pre, Text: s} }

// TestRenderGolden compares rendered messages with golden files.
func TestRenderGolden(t *testing.T) {
	patch := bot.Message{Key: "diff", Lines: []bot.Line{line("shop #11: 3 files +30 −1"), line("Admin list")}}
	for n := range 30 {
		patch.Lines = append(patch.Lines, pre(fmt.Sprintf("+	a < b && c[%d]", n)))
	}
	asked := time.Date(2026, 11, 20, 12, 36, 0, 0, time.UTC)
	reminder := bot.Reminder(loop.State{Project: loop.Project{Name: "shop"}}, ledger.Question{
		ID: "q3", Kind: ledger.AskAgent, Task: "Task 4", Title: "Address form", Hat: "planner", Text: "PO boxes? *The* carriers differ, see <!channel> & a/b.",
		Options: []string{"Yes, letters only", "No"}, Choice: "No", Asked: asked, Expires: asked.Add(30 * time.Minute),
	}, asked.Add(20*time.Minute))
	for name, c := range map[string]struct {
		m      bot.Message
		rings  []string
		quotes string
	}{
		"blocked": {m: bot.Message{
			Key: "ask.blocked",
			Lines: []bot.Line{
				line("■ shop #8 blocked, 2 attempts (q5)"), line("Refund flow · 03:06"),
				quote("TestRefundPartial: *want* 1200, got 1000 & <refund the line>, see <!channel> :tada:"),
				line("Tried: by line → order/adapter/x.go fails, see README.md"), line("Stays blocked; #10 waits for it, /queue shows the rest."),
			},
			Buttons: []bot.Button{{Label: "Retry", Command: "q5 retry"}, {Label: "Skip", Command: "q5 skip"}, {Label: "Guide…", Command: "q5 guide WORDS"}},
		}, rings: []string{"U0MIRA"}},
		"reminder": {m: reminder, rings: []string{"U0MIRA"}},
		"stop": {m: bot.Message{
			Key: "status.stopping", Lines: []bot.Line{line("● shop 9/12 · stopping after the session")},
			Buttons: []bot.Button{{Label: "Keep going", Command: "/resume"}, {Label: "Stop", Command: "/stop"}, {Label: "Stop now", Command: "/stop now"}, {Label: "Rerun", Command: "q9 rerun"}},
		}},
		"digest": {m: bot.Message{ // the golden file leaves out the picture
			Key: bot.KeyDigest,
			Lines: []bot.Line{
				line("? shop 9/12 done, 2 need you"), line("23:10 → 06:12 · 39 sessions · $13.62"), {Kind: bot.Head, Text: "Needs you"},
				line("■ #8 Refund flow (q5): plan says two things"), line("? #12 Pay page on a phone, manual verify (q4)"),
				{Kind: bot.Head, Text: "Guidance"}, line("✓ g17 Wrap the existing code… → #7, followed"), line("Nothing runs. Retry starts r15 with #8 and #10."),
			},
			Buttons: []bot.Button{
				{Label: "Retry #8", Command: "q5 retry"}, {Label: "Skip #8", Command: "q5 skip"}, {Label: "Guide #8…", Command: "q5 guide WORDS"}, {Label: "Pass #12", Command: "q4 pass"},
			},
			Picture: []byte("\x89PNG"), Alt: "Night of shop.",
		}},
		"quoted": {m: bot.Message{Key: "answer.pause", Lines: []bot.Line{line("‖ shop pauses after the session"), line("Resume: /resume, or /task_8.")}}, quotes: "/porter pause & <b>"},
		"log":    {m: bot.Message{Key: "log", Lines: []bot.Line{line("shop #7: 2 sessions, 12 min"), pre("01:50 builder  build.complete"), pre(""), pre("02:10 reviewer no <issues>")}}},
		"diff":   {m: patch},
		"diff-short": {m: bot.Message{Key: "diff", Lines: []bot.Line{line("shop #5: 1 file +1 −1"), line("Move orders to the new API"),
			pre("order/service.go           +1 −1"), pre("@ line 9  func (s *Service) …"), pre("- return legacy.Place(o.ID, &o)"), pre("+ return adapter.Place(o.ID,"), pre("+›&o) // ‹U+202E› <b>")}}},
		"diff-html": {m: bot.Message{Key: "diff.html", Lines: []bot.Line{line("shop #5: 2 files +902 −61"), line("Move orders to the new API"), pre("order/service.go        +900 −61"), pre("go.sum                        +2")},
			Document: &bot.Document{Name: "shop-5.html", Data: []byte("<!doctype html>\n")}}},
		"empty": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := slack.Render(c.m, c.rings, c.quotes)
			got := s.Text + "\n" + asJSON(t, s.Blocks)
			if s.File != nil {
				got += "--- file " + s.File.Name + "\n" + string(s.File.Data)
			}
			golden.Compare(t, name+".txt", got)
		})
	}
}

// Whatever the lines contain, Slack accepts the message and parses none of it as
// markup.
func TestRenderHostile(t *testing.T) {
	w := newFixture(t)
	texts := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"<!channel>", "*x* _y_ `z`", "<@U0MIRA>", "&lt;", "\u202eabc", "/stop", "a/b/c.go", ":tada:", "https://evil.example|x", "", " "}),
		rapid.Map(rapid.IntRange(1, 4000), func(n int) string { return strings.Repeat("long & ", n) }),
	)
	lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) bot.Line {
		return bot.Line{Kind: rapid.SampledFrom([]bot.LineKind{bot.Plain, bot.Quote, bot.Pre}).Draw(t, "kind"), Text: texts.Draw(t, "text")}
	}), 0, 60)
	rapid.Check(t, func(rt *rapid.T) {
		m := bot.Message{Key: texts.Draw(rt, "key"), Lines: lines.Draw(rt, "lines")}
		for range rapid.IntRange(0, 30).Draw(rt, "buttons") {
			m.Buttons = append(m.Buttons, bot.Button{Label: texts.Draw(rt, "label"), Command: texts.Draw(rt, "twin")})
		}
		before := len(w.far.Calls("chat.postMessage"))
		if _, err := w.bot.Send(t.Context(), shop, m, bot.SendOptions{Silent: true}); err != nil {
			rt.Fatalf("%v", err)
		}
		if n := len(w.far.Calls("chat.postMessage")) - before; n != 1 {
			rt.Fatalf("it took %d calls: the blocks were refused", n)
		}
		for _, got := range w.far.Messages(channel) {
			if s := string(got.Blocks); strings.Contains(s, `"mrkdwn"`) || strings.Contains(s, `"type":"user"`) || strings.Contains(s, `"link"`) || strings.Contains(s, "broadcast") {
				rt.Fatalf("something is read: %s", s)
			}
			if strings.ContainsAny(got.Text, "<>") {
				rt.Fatalf("the text is read: %s", got.Text)
			}
			if len(got.Files) == 0 {
				w.far.Delete(channel, got.TS)
			}
		}
	})
}

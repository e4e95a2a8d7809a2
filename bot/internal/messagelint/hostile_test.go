package messagelint

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// hostile holds texts that plans, agents, programs and people may write, with
// every character that has a meaning on a platform or in a terminal.
var hostile = []string{
	"", " ", "x", "<b>", "</b>", "<b", "</blockquote>", "&", "&amp;", "&lt;b&gt;", "&#60;", "*x*", "_x_", "`x`", "```x```", "~x~", "\"'\\",
	"<@U0MIRA>", "<!channel>", "<!here|x>", "<https://evil.example|x>", "<#C1>", "<!subteam^S1>", ":smile:", "> x", "• x", "1. x",
	"/stop", "/task_8", "/porter stop", "see:/queue,now", "@all", "@everyone", "@mira", "https://evil.example/a?b=c#d", "x://", "tg://user?id=1", "mailto:a@b.co", "evil.com", "www.x.org/y", "1.2.3.4",
	"README.md", "a/b/c.go", "../../etc/passwd", "~/x", "./x", "\x00", "\x1b[2J\x1b]0;own\x07", "\u009b31m", "\u202eevil\u2066", "a\u200bb\u200dc\ufeff", "\u2060/stop", "\u00ad", "\u2028x\u2029y",
	"one\ntwo\r\nthree", "\t\v\f", "\xff\xfe\xc3", "é\u0301\u0302\u0303\u0304\u0305\u0306", "日本語のタイトル", "👩‍👩‍👧 ❤️ ✔️ ▶️", "✓ #9 done", "■ blocked (q5)", "┃ quote", "…", "q5 retry", "WORDS", "a WORDS",
	"[Retry]", "%s%d%!", "{{.}}", "${x}", strings.Repeat("word ", 2000), strings.Repeat("/stop ", 100), strings.Repeat("<&>x𝕏a.b/", 400),
}

// service is the Service of a night in which every text comes from a stranger.
type service struct {
	*scenario.Service
	word string
}

func (s *service) Hats(context.Context, string, string) (bot.HatSet, error) {
	set := s.Settings()
	h := set.Hats["builder"]
	h.WriteAllowed, h.Model, h.Prompt = []string{s.word}, s.word, s.word
	set.Hats["builder"] = h
	return bot.HatSet{Pattern: set.Pattern, Hats: set.Hats, Agent: s.word, Routes: "planner → builder"}, nil
}

// LastAction says that every session does what the stranger wrote.
func (s *service) LastAction(string) string { return s.word }

var berlin = time.FixedZone("CET", 3600)

// messages returns every message about a night with word in each field that
// others fill in.
func messages(word string) []bot.Message {
	now := time.Date(2026, 11, 19, 23, 10, 0, 0, berlin)
	n := scenario.New("shop", now)
	n.State.Project.Name = "shop"
	var out []bot.Message
	told := notify.New(notify.Options{ChatsWith: func(string) []string { return []string{"telegram:1"} }, Zone: func() *time.Location { return berlin }})
	gather := func(all []ledger.Outgoing) {
		for _, o := range all {
			var m bot.Message
			if err := json.Unmarshal(o.Body, &m); err == nil {
				out = append(out, m)
			}
		}
	}
	n.Decided = func(before loop.State, d loop.Decision, in loop.Input) { gather(told.Compose(before, d, in)) }
	n.Entry(scenario.Person("telegram:1", word, ledger.RoleAdmin, now))

	event := func(typ string, fields map[string]any) scenario.Act {
		raw, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		return scenario.Act{Type: typ, Data: string(raw), Took: time.Minute, Cost: 0.1}
	}
	blocked := event("task.blocked", map[string]any{"reason": word, "tried": word, "needs": word})
	asks := event("question.asked", map[string]any{"text": word, "options": []string{word, "b"}, "choice": word})
	built := event("build.complete", map[string]any{"summary": word, "files_modified": []string{word}, "guidance": []any{map[string]any{"id": "g1", "set_aside": true, "note": word}}})
	built.Files = []ledger.FileChange{{Path: word, Added: 1}}
	built.Red = word
	plan := event("plan.complete", map[string]any{"summary": word, "steps": []string{word}})
	n.Acts["Task 1 planner"], n.Acts["Task 1 builder"] = []scenario.Act{plan}, []scenario.Act{built}
	n.Acts["Task 2 planner"] = []scenario.Act{blocked, blocked}
	n.Acts["Task 3 planner"] = []scenario.Act{asks, plan}
	set := n.Settings()
	set.Stays, set.Others, set.Agent = true, []string{word}, "claude"
	set.Source.Path, set.Verify = word, []ledger.Command{{Run: word}}
	base := n.Base("r1")
	base.Branch, base.Dirty, base.Notes = word, []string{word}, []ledger.Diagnostic{{File: word, Line: 1, Text: word, Remedy: word}}
	var tasks []ledger.Task
	for i := 1; i <= 4; i++ {
		t := scenario.Task(i, word)
		t.Body, t.Acceptance, t.Scope = word, []string{word, word}, word
		tasks = append(tasks, t)
	}
	tasks[3].Mark = ledger.MarkManualVerify
	n.Start(set, base, tasks...)
	n.Do(loop.Input{Key: "g", Actor: "telegram:1", Name: word, Body: loop.Guide{Text: word}})
	stop := 0
	n.Until(func() bool { stop++; return stop > 60 })

	entry := func(task string, body ledger.Body) {
		e := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: n.Now, Run: "r1", Task: task, Actor: "daemon", Body: body}
		gather(told.Compose(n.State, loop.Decided(n.State, e), loop.Input{Time: n.Now, Project: "shop", Name: word, Actor: "daemon", Body: loop.Tick{}}))
		n.Entry(e)
	}
	q := ledger.Question{ID: "q9", Run: "r1", Task: "Task 2", Tasks: []string{"Task 3"}, Title: word, Text: word, Tried: word, Needs: word, Hat: word, By: word, Options: []string{word, "b"}, Choice: word, Paths: []string{word}, Asked: n.Now, Sent: n.Now, Expires: n.Now.Add(time.Hour), Offer: &set}
	for _, kind := range ledger.QuestionKinds() {
		q.Kind = kind
		out = append(out, bot.Ask(n.State, q, n.Now), bot.StillOpen(n.State, q, n.Now, n.Now, n.Now), bot.Reminder(n.State, q, n.Now))
		for _, end := range []ledger.Body{
			ledger.QuestionAnswered{ID: "q9", Choice: word, Words: word, By: word}, ledger.QuestionAnswered{ID: "q9", Choice: "guide", Words: word, By: word},
			ledger.QuestionExpired{ID: "q9", Choice: word, Then: word},
		} {
			entry("Task 2", ledger.QuestionAsked{Question: q})
			entry("Task 2", end)
		}
	}
	entry("", ledger.GuidanceQueued{Item: guidance.Item{ID: "g7", Text: word, Hat: word, By: word, At: n.Now}})
	for _, body := range []ledger.Body{
		ledger.GuidanceChanged{ID: "g7", Text: word}, ledger.GuidanceReported{ID: "g7", State: guidance.Addressed, Note: word}, ledger.GuidanceJudged{ID: "g7", Hat: word, Note: word},
		ledger.GuidanceExpired{ID: "g7", Why: word}, ledger.PreflightFailed{Problems: []ledger.Diagnostic{{File: word, Line: 7, Text: word, Remedy: word}}},
		ledger.InputPoisoned{Kind: word, Error: word}, ledger.EffectFailed{Kind: "mark", Key: word, Text: word}, ledger.EffectFailed{Kind: "commit", Key: word, Text: word, Fault: ledger.FaultMachine, Told: true}, ledger.BaselineBroke{Commands: []string{word}, Text: word}, ledger.HostsMissed{Hosts: []string{word}, Services: []string{word}},
		ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitLimit, Until: n.Now, Text: word}, ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitAgent, Until: n.Now, Text: word},
		ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitDisk, Text: word}, ledger.RunStateSet{State: ledger.RunRunning},
		ledger.WaveEnded{
			Wave: 2, Left: 1, Unclear: 1, NoJudge: word, Passed: []ledger.WaveReport{{Task: "Task 1", Number: 3, URL: word}, {Task: word, Commit: word}},
			Failed: []ledger.WaveReport{{Task: "Task 2", Why: word}}, Skipped: []ledger.WaveReport{{Task: word, Why: word, Kind: "claimed"}}, Aside: map[ledger.Gate]int{ledger.GateTestable: 2},
		},
	} {
		entry("Task 1", body)
	}
	d := &service{scenario.NewService(n), word}
	d.Patch = "diff --git a/x b/x\n--- a/" + word + "\n+++ b/x\n@@ -1 +1 @@\n-" + word + "\n+" + word + "\n"
	for _, line := range []string{
		"/status", "/tasks", "/task 1", "/task 2", "/queue", "/log", "/log 1", "/evidence 1", "/diff 1", "/plan 1", "/hats", "/hats builder", "q9", "q9 " + word, "/guidance " + word, word, "/" + word, "/task " + word,
		"/skip " + word, "/drop " + word, "/help " + word, "/answer " + word, "/plan redo 1 " + word, "/hats " + word, word + ": /status", "note: " + word, "/cost", "/projects", "/runs", "/runs r1", "/runs " + word,
	} {
		m, err := bot.Handle(context.Background(), d, bot.Request{Key: "k", Actor: "telegram:1", Name: word, Project: "shop", Text: line, Time: n.Now})
		if err == nil {
			out = append(out, m)
		}
	}
	for _, reason := range []ledger.Reason{ledger.ReasonDone, ledger.ReasonNothing, ledger.ReasonBlocked, ledger.ReasonStreak, ledger.ReasonManual, ledger.ReasonUntil, ledger.ReasonStopped, ledger.ReasonInternal} {
		entry("", ledger.RunEnded{Reason: reason, Text: word, By: word, Branch: word, Done: 1, Total: 4})
		out = append(out, bot.Status(n.State, n.Now))
	}
	records := n.All()
	for i := range records {
		records[i].Seq, records[i].Hash = int64(i+1), []byte("0123456789abcdef")
	}
	if f, err := report.Collect(records, n.State, now.Add(-time.Hour), n.Now); err == nil {
		out = append(out, report.Text(f), report.FullText(f))
	}
	return out
}

// held checks every message about a night with word in it.
func held(t testing.TB, word string) {
	t.Helper()
	all := messages(word)
	if len(all) < 60 {
		t.Fatalf("%q leads to %d messages only", word, len(all))
	}
	for n, m := range all {
		if m.Key == "" && len(m.Lines) == 0 {
			continue
		}
		Frame(t, fmt.Sprintf("%.30q, message %d", word, n), m)
	}
}

// long is the length from which on a word counts as endless.
const long = 2000

// FuzzHostile: whatever text a field contains, the message's frame is intact on
// both platforms, no foreign text is parsed as markup, and none of it can be
// tapped (docs/spec 22, 27).
func FuzzHostile(f *testing.F) {
	var all []string
	for _, s := range hostile {
		if len(s) < long {
			all = append(all, s)
		}
	}
	// Each seed costs a night and some hundred renderings, so six words share a
	// night. The fuzzer moves each of them to the first field.
	for some := range slices.Chunk(all, 6) {
		f.Add(strings.Join(some, " "))
	}
	f.Add(strings.Join(all, " "))
	f.Add(strings.Join(all, ""))
	f.Fuzz(func(t *testing.T, word string) { held(t, word[:min(len(word), long)]) })
}

// TestEndless is FuzzHostile for endless words.
func TestEndless(t *testing.T) {
	for _, word := range hostile {
		if len(word) >= long {
			held(t, word)
		}
	}
}

package bot_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/bot"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line string
		want bot.Command
	}{
		{"/status", bot.Command{Verb: bot.VerbStatus}},
		{"  /STATUS  ", bot.Command{Verb: bot.VerbStatus}},
		{"/status shop", bot.Command{Verb: bot.VerbStatus, Project: "shop"}},
		{"/status@night_porter_bot", bot.Command{Verb: bot.VerbStatus}},
		{"/task_8@porter", bot.Command{Verb: bot.VerbTask, Target: "8"}},
		{"/task 8", bot.Command{Verb: bot.VerbTask, Target: "8"}},
		{"/task TECH-069", bot.Command{Verb: bot.VerbTask, Target: "TECH-069"}},
		{"/skip_10", bot.Command{Verb: bot.VerbSkip, Target: "10"}},
		{"/retry 3 8 9", bot.Command{Verb: bot.VerbRetry, Target: "3 8 9"}},
		{"/q5_retry", bot.Command{Verb: bot.VerbAnswer, Target: "q5", Words: "retry"}},
		{"/pause", bot.Command{Verb: bot.VerbPause}},
		{"/pause NOW", bot.Command{Verb: bot.VerbPause, Now: true}},
		{"/stop shop now", bot.Command{Verb: bot.VerbStop, Now: true, Project: "shop"}},
		{"/stop_now", bot.Command{Verb: bot.VerbStop, Now: true}},
		{"shop: /stop now", bot.Command{Verb: bot.VerbStop, Now: true, Project: "shop"}},
		{"Shop: q5 retry", bot.Command{Verb: bot.VerbAnswer, Project: "shop", Target: "q5", Words: "retry"}},
		{"shop: wrap it", bot.Command{Verb: bot.VerbWords, Project: "shop", Words: "wrap it"}},
		{"/guidance Wrap it,\n  don't replace", bot.Command{Verb: bot.VerbGuidance, Words: "Wrap it,\n  don't replace"}},
		{"/guidance", bot.Command{Verb: bot.VerbGuidance}},
		{"/now", bot.Command{Verb: bot.VerbNow}},
		{"/now g17", bot.Command{Verb: bot.VerbNow, Words: "g17"}},
		{"/drop g17", bot.Command{Verb: bot.VerbDrop, Target: "g17"}},
		{"Q5 Retry", bot.Command{Verb: bot.VerbAnswer, Target: "q5", Words: "Retry"}},
		{"q5: r", bot.Command{Verb: bot.VerbAnswer, Target: "q5", Words: "r"}},
		{"q5 guide Refund by line", bot.Command{Verb: bot.VerbAnswer, Target: "q5", Words: "guide Refund by line"}},
		{"q5", bot.Command{Verb: bot.VerbAnswer, Target: "q5"}},
		{"g14 keep", bot.Command{Verb: bot.VerbKeep, Target: "g14"}},
		{"G14 DROP", bot.Command{Verb: bot.VerbDrop, Target: "g14"}},
		{"g14", bot.Command{Verb: bot.VerbQueue}},
		{"/answer q3 b", bot.Command{Verb: bot.VerbAnswer, Target: "q3", Words: "b"}},
		{"/answer b", bot.Command{Verb: bot.VerbAnswer, Words: "b"}},
		{"/answer Task 8 retry", bot.Command{Verb: bot.VerbAnswer, Target: "8", Words: "retry"}},
		{"/approve 12", bot.Command{Verb: bot.VerbApprove, Target: "12"}},
		{"/reject #12 the button is hidden", bot.Command{Verb: bot.VerbReject, Target: "#12", Words: "the button is hidden"}},
		{"/reject the button is hidden", bot.Command{Verb: bot.VerbReject, Words: "the button is hidden"}},
		{"/evidence 7.1", bot.Command{Verb: bot.VerbEvidence, Target: "7.1"}},
		{"/plan", bot.Command{Verb: bot.VerbPlan}},
		{"/plan_6", bot.Command{Verb: bot.VerbPlan, Target: "6"}},
		{"/plan 6/b", bot.Command{Verb: bot.VerbPlan, Target: "6/b"}},
		{"/plan redo", bot.Command{Verb: bot.VerbPlan, Redo: true}},
		{"/plan Redo 6", bot.Command{Verb: bot.VerbPlan, Redo: true, Target: "6"}},
		{"/plan redo #6 b before a", bot.Command{Verb: bot.VerbPlan, Redo: true, Target: "#6", Words: "b before a"}},
		{"/plan redo Task 6 b before a", bot.Command{Verb: bot.VerbPlan, Redo: true, Target: "6", Words: "b before a"}},
		{"/plan redo b before a", bot.Command{Verb: bot.VerbPlan, Redo: true, Words: "b before a"}},
		{"/approve 6/b", bot.Command{Verb: bot.VerbApprove, Target: "6/b"}},
		{"/hats", bot.Command{Verb: bot.VerbHats}},
		{"/hats routes", bot.Command{Verb: bot.VerbHats, Target: "routes"}},
		{"/run", bot.Command{Verb: bot.VerbRun}},
		{"/run shop", bot.Command{Verb: bot.VerbRun, Project: "shop"}},
		{"/run shop FROM 5", bot.Command{Verb: bot.VerbRun, Project: "shop", Words: "from 5"}},
		{"shop: /run review only Task 7", bot.Command{Verb: bot.VerbRun, Project: "shop", Words: "review only Task 7"}},
		{"/run from TECH-9 overnight", bot.Command{Verb: bot.VerbRun, Words: "overnight from TECH-9"}},
		{"/run_shop", bot.Command{Verb: bot.VerbRun, Project: "shop"}},
		{"/whoami", bot.Command{Verb: bot.VerbWhoami}},
		{"/projects", bot.Command{Verb: bot.VerbProjects}},
		{"/digest", bot.Command{Verb: bot.VerbDigest}},
		{"/digest TODAY", bot.Command{Verb: bot.VerbDigest, Target: "today"}},
		{"/digest_all", bot.Command{Verb: bot.VerbDigest, Target: "all"}},
		{"/digest shop 7d", bot.Command{Verb: bot.VerbDigest, Project: "shop", Target: "7d"}},
		{"/digest 30d shop", bot.Command{Verb: bot.VerbDigest, Project: "shop", Target: "30d"}},
		{"/cost shop", bot.Command{Verb: bot.VerbCost, Project: "shop"}},
		{"/people", bot.Command{Verb: bot.VerbPeople}},
		{"/unpair telegram:7", bot.Command{Verb: bot.VerbUnpair, Target: "telegram:7"}},
		{"/start K7QX-M2PD", bot.Command{Verb: bot.VerbStart, Target: "K7QX-M2PD"}},
		{"/pair K7QX-M2PD", bot.Command{Verb: bot.VerbPair, Target: "K7QX-M2PD"}},
		{"Wrap the existing code", bot.Command{Verb: bot.VerbWords, Words: "Wrap the existing code"}},
		{"stop", bot.Command{Verb: bot.VerbWords, Words: "stop"}},
		{"q5?", bot.Command{Verb: bot.VerbAnswer, Target: "q5"}},
		{"task 4", bot.Command{Verb: bot.VerbTask, Target: "4"}},
		{"shop: log #4?", bot.Command{Verb: bot.VerbLog, Project: "shop", Target: "#4"}},
		{"Diff TECH-9", bot.Command{Verb: bot.VerbDiff, Target: "TECH-9"}},
		{"task 4 needs an index", bot.Command{Verb: bot.VerbWords, Words: "task 4 needs an index"}},
		{"log errors?", bot.Command{Verb: bot.VerbWords, Words: "log errors?"}},
		{"add 3", bot.Command{Verb: bot.VerbWords, Words: "add 3"}},
		{"Pause now", bot.Command{Verb: bot.VerbWords, Words: "Pause now"}},
		{"start", bot.Command{Verb: bot.VerbWords, Words: "start"}},
		{"whoami", bot.Command{Verb: bot.VerbWhoami}},
		{"G14 not guidance", bot.Command{Verb: bot.VerbTakeBack, Target: "g14"}},
		{"stop using float64", bot.Command{Verb: bot.VerbWords, Words: "stop using float64"}},
		{"\xff/x", bot.Command{Verb: bot.VerbWords, Words: "\uFFFD/x"}},
	} {
		got, err := bot.Parse(c.line)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.line, err)
			continue
		}
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(bot.Command{}, "Line")); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", c.line, diff)
		}
	}
}

// TestIsCommand: what is no words where words are awaited, whether its question
// is open, settled or was never asked.
func TestIsCommand(t *testing.T) {
	for line, want := range map[string]bool{
		"/stop": true, "/guidence Wrap it": true, "  /task_8@porter ": true,
		"q1 a": true, "Q1 a": true, "q99 skip": true, " q5\nretry": true, "q5: retry": true, "g14 keep": true, "g14 foo": true,
		"shop: /stop": true, "shop: q5 retry": true, "shop: g14 foo": false, "shop: wrap it": false,
		"Wrap it": false, "stop": false, "q is a letter": false, "q5x retry": false, "see q5": false, "": false,
	} {
		if got := bot.IsCommand(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"", "nothing was typed"},
		{"  \n ", "nothing was typed"},
		{"shop:", "nothing was typed"},
		{"/guidence Wrap it", "no /guidence; meant /guidance?"},
		{"/statu", "no /statu; meant /status?"},
		{"/appove 4", "no /appove; meant /approve?"},
		{"/tasl 4", "no /tasl; meant /task?"},
		{"/frobnicate", "no /frobnicate; /help lists the commands"},
		{"/", "no /; /help lists the commands"},
		{"/x", "no /x; /help lists the commands"},
		{"approve", "no approve; meant /approve?"},
		{"Approve now", "no Approve; meant /approve?"},
		{"drop g4", "no drop; meant /drop?"},
		{"next #9?", "no next; meant /next?"},
		{"/run shop blog", `/run does not take "blog": type /run, /run from 5, /run review`},
		{"/run from", `/run does not take "from": type /run, /run from 5, /run review`},
		{"/run review overnight", `/run does not take "overnight": type /run, /run from 5, /run review`},
		{"/run only review", `/run does not take "only review": type /run, /run from 5, /run review`},
		{"g5 frob", "no g5 frob; meant g5 keep?"},
		{"/pause after this", `/pause does not take "this": type /pause, /pause now`},
		{"/stop now now now", `/stop does not take "now": type /stop, /stop now`},
	} {
		_, err := bot.Parse(c.line)
		if err == nil || err.Error() != c.want {
			t.Errorf("Parse(%q): %v, want %s", c.line, err, c.want)
		}
	}
	var unknown *bot.UnknownError
	if _, err := bot.Parse("/guidence Wrap it"); !errors.As(err, &unknown) || unknown.Rest != "Wrap it" {
		t.Errorf("the words after an unknown command are lost: %+v", unknown)
	}
}

// FuzzParse checks that Parse accepts or refuses any line, and that
// Command.String of an accepted line parses to the same command.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"/status shop", "/task_8@bot", "q5 retry", "g14 keep", "shop: /stop now", "/reject q4 x", "/pause now", "words", "/now\nx", "a: b: c",
		"/answer task 8", "shop: g1 d", "/q5_retry", "q5: x", "/help_now", "/skip task\u00a08", "\x1b[31m/x", "stop", "/evidence 7.1", "g14 not guidance",
		"/run shop from task 5 review", "/plan redo 6 b first", "/plan redo redo", "/plan 6/b", "/hats x y", "/run only from", "/start x", "/unpair a b",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := bot.Parse(line)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error without words")
			}
			return
		}
		again, err := bot.Parse(c.String())
		if err != nil {
			t.Fatalf("%q became %q, which is refused: %v", line, c.String(), err)
		}
		if diff := cmp.Diff(c, again, cmpopts.IgnoreFields(bot.Command{}, "Line")); diff != "" {
			t.Fatalf("%q became %q (-first +again):\n%s", line, c.String(), diff)
		}
	})
}

package bot_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A request is a line that somebody types: which topic it belongs to, what the
// case is for, and the line.
type request struct{ topic, intent, line string }

// whileAtWork are requests about the night of atWork. None of them changes it.
var whileAtWork = []request{
	{"status", "a builder is at work", "/status"},
	{"tasks", "all, one at work", "/tasks"},
	{"tasks", "done", "/task 1"},
	{"tasks", "blocked", "/task 2"},
	{"tasks", "waits for an answer", "/task 3"},
	{"tasks", "at work", "/task 4"},
	{"tasks", "to verify by hand", "/task 5"},
	{"tasks", "behind a blocked task", "/task 6"},
	{"tasks", "no task named", "/task"},
	{"thresholds", "nothing learned", "/threshold"},
	{"thresholds", "nothing to take back", "/threshold reset bug"},
	{"thresholds", "a word that it does not take", "/threshold lower"},
	{"guidance", "queue, empty", "/queue"},
	{"guidance", "drop unknown", "/drop g9"},
	{"guidance", "drop nothing", "/drop"},
	{"guidance", "no words", "/guidance"},
	{"guidance", "misspelt hat", "/guidance @bulder be quick"},
	{"guidance", "unknown hat", "/guidance @xyzzyx be quick"},
	{"guidance", "unknown task", "/guidance #70 x"},
	{"questions", "blocked task", "q1"},
	{"questions", "asked by an agent", "q2"},
	{"questions", "approve, several open", "/approve"},
	{"questions", "approve what has no yes", "/approve q1"},
	{"questions", "reject, several open", "/reject"},
	{"questions", "unknown question", "q9 a"},
	{"questions", "unknown choice", "q1 frob"},
	{"log", "task", "/log 1"},
	{"log", "tail", "/log 1 tail"},
	{"log", "tail of the run", "/log tail"},
	{"log", "file", "/log 1 file"},
	{"log", "run under way", "/log"},
	{"evidence", "task done", "/evidence 1"},
	{"evidence", "task blocked", "/evidence 2"},
	{"evidence", "task at work", "/evidence 4"},
	{"evidence", "task not begun", "/evidence 6"},
	{"diff", "task", "/diff 1"},
	{"diff", "run", "/diff r1"},
	{"help", "all", "/help"},
	{"help", "one command", "/help now"},
	{"help", "unknown command", "/help frob"},
	{"help", "misspelt command", "/guidence Wrap it"},
	{"help", "unknown command typed", "/frob"},
	{"help", "empty line", ""},
	{"help", "command without a slash", "stop"},
	{"control", "skip an unknown task", "/skip 70"},
	{"control", "skip nothing", "/skip"},
	{"control", "pause with unknown words", "/pause now then"},
	{"status", "unknown project", "/status blog"},
	{"plan", "task at work", "/plan"},
	{"plan", "task without a plan", "/plan 2"},
	{"plan", "unknown task", "/plan 70"},
	{"plan", "night", "/plan night"},
	{"hats", "all", "/hats"},
	{"hats", "one", "/hats fixer"},
	{"hats", "one with limits, in capitals", "/hats Builder"},
	{"hats", "routes", "/hats routes"},
	{"hats", "another pattern", "/hats single"},
	{"hats", "unknown", "/hats frob"},
	{"runs", "one under way", "/runs"},
	{"runs", "the run under way", "/runs r1"},
	{"runs", "unknown", "/runs frob"},
}

// steering are requests that change the night of atWork, in this order.
var steering = []request{
	{"guidance", "queued", "/guidance Wrap the existing code, don't replace it"},
	{"guidance", "sticky", "/guidance !sticky No new dependencies"},
	{"guidance", "for a hat and a task", "/guidance @fixer #4 Keep it small"},
	{"guidance", "now", "/now Keep the names"},
	{"guidance", "queue of three", "/queue"},
	{"guidance", "dropped", "/drop g1"},
	{"control", "pause", "/pause"},
	{"status", "pause ordered", "/status"},
	{"control", "pause twice", "/pause"},
	{"control", "resume", "/resume"},
	{"control", "stop", "/stop"},
	{"status", "stop ordered", "/status"},
	{"control", "next", "/next 6"},
	{"control", "retry", "/retry 2"},
	{"control", "skip", "/skip 6"},
	{"control", "skip two", "/skip 2 3"},
	{"plan", "redo", "/plan redo 4 Wrap it, don't replace it"},
}

// afterwards are requests after the night's end.
var afterwards = []request{
	{"status", "run over", "/status"},
	{"tasks", "all, run over", "/tasks"},
	{"tasks", "to verify by hand, run over", "/task 5"},
	{"control", "pause, run over", "/pause"},
	{"control", "resume, run over", "/resume"},
	{"questions", "approve, run over", "/approve"},
	{"control", "retry a task done", "/retry 1"},
	{"log", "run over", "/log"},
	{"questions", "answer an expired question", "q2 b"},
	{"runs", "one over", "/runs"},
	{"runs", "the run over", "/runs r1"},
	{"runs", "unknown number", "/runs 7"},
	{"log", "run by its number", "/log r1"},
}

// withoutRun are requests to a project that has had no run.
var withoutRun = []request{
	{"runs", "none", "/runs"},
	{"plan", "no run", "/plan"},
	{"plan", "redo, no run", "/plan redo"},
	{"status", "no run", "/status"},
	{"tasks", "no run", "/tasks"},
	{"log", "no run", "/log"},
	{"evidence", "no run", "/evidence 1"},
	{"guidance", "queue, no run", "/queue"},
	{"diff", "no run", "/diff"},
	{"guidance", "queued, no run", "/guidance Wrap it"},
	{"control", "stop, no run", "/stop"},
	{"questions", "answer, no run", "q1 a"},
}

// dropping are requests of a project without a run that take guidance back.
var dropping = []request{
	{"guidance", "one, no run", "/guidance Wrap it"},
	{"guidance", "more, no run", "/guidance @writer Plain text mails, no HTML"},
	{"guidance", "sticky, no run", "/guidance !sticky No new dependencies"},
	{"guidance", "queue of two and a sticky one", "/queue"},
	{"guidance", "drop, two wait", "/drop"},
	{"guidance", "drop all", "/drop all"},
	{"guidance", "drop two, one unknown", "/drop g1 g9"},
	{"guidance", "drop two", "/drop g1 2"},
	{"guidance", "drop all of none", "/drop ALL"},
}

// toDaemon are requests to a daemon whose project is at work.
var toDaemon = []request{
	{"run", "one under way", "/run"},
	{"cost", "run under way", "/cost"},
	{"projects", "one", "/projects"},
	{"people", "whoami", "/whoami"},
	{"people", "all", "/people"},
	{"people", "unpair nobody named", "/unpair"},
	{"people", "unpair a name of two", "/unpair Ana"},
	{"people", "unpair unknown", "/unpair 99"},
	{"help", "start", "/start"},
	{"people", "pair, paired already", "/pair X"},
	{"status", "daemon, a builder is at work", "/status"},
	{"help", "daemon, one command", "/help run"},
	{"quiet", "default", "/quiet"},
	{"quiet", "set", "/quiet 22:00-06:30"},
	{"quiet", "wrong hours", "/quiet 22-6"},
	{"quiet", "off", "/quiet off"},
	{"quiet", "default again", "/quiet default"},
}

// TestMessages compares every answer with the golden file of its topic.
func TestMessages(t *testing.T) {
	all := topics{}
	ask := func(d *service, requests ...request) {
		for _, r := range requests {
			all.add(t, r.topic, r.intent, r.line, d.say(t, r.line), 78)
		}
	}
	ask(atWork(), whileAtWork...)
	ask(atWork(), steering...)
	d := atWork()
	d.Until(func() bool { return d.Night.State.Project.Run.State == ledger.RunWaiting })
	ask(d, request{"status", "run waits for answers", "/status"})
	d = over()
	ask(d, afterwards...)
	d.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Body: ledger.GuidanceQueued{Item: guidance.Item{ID: "g8", Text: "Mention the env vars", Hat: "writer", At: d.Now}}})
	d.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Body: ledger.GuidanceExpired{ID: "g8", Why: "no writer"}})
	ask(d, request{"guidance", "queue, expired", "/queue"}, request{"guidance", "keep expired", "g8 keep"})
	d = newService("shop")
	ask(d, withoutRun...)
	ask(newService("shop"), dropping...)
	d.Night.Do(loop.Input{Key: "run", Body: loop.StartRun{Settings: d.Settings()}})
	ask(d, request{"status", "run planned", "/status"}, request{"control", "pause, run planned", "/pause"})
	ask(newService("shop", "blog"), request{"guidance", "two projects", "/guidance Wrap the existing code, don't replace it"},
		request{"control", "project named in front", "blog: /stop"}, request{"guidance", "two projects, a colon in the words", "note: two words"})
	ask(newService("shop", "blog", "zoo"), request{"control", "three projects", "/stop"})
	ask(newService(), request{"status", "no project", "/status"})
	d = atWork()
	d.Err = errors.New("the database is locked")
	ask(d, request{"control", "ledger locked", "/pause"}, request{"diff", "ledger locked", "/diff 1"})
	for _, r := range []request{{"quiet", "no daemon", "/quiet"}, {"run", "no daemon", "/run"}, {"people", "whoami, no daemon", "/whoami"}, {"people", "all, no daemon", "/people"}} {
		all.add(t, r.topic, r.intent, r.line, newService("shop").say(t, r.line), 38)
	}
	addDaemon(t, all)
	addPlans(t, all)
	addProofs(t, all)
	addRemakes(t, all)
	addRequests(t, all)
	all.compare(t)
}

// addDaemon adds what a daemon answers.
func addDaemon(t *testing.T, all topics) {
	t.Helper()
	ask := func(h *host, requests ...request) {
		for _, r := range requests {
			all.add(t, r.topic, r.intent, r.line, h.say(t, r.line), 38)
		}
	}
	ask(daemon(atWork()), toDaemon...)
	h := daemon(over())
	ask(h, request{"status", "daemon, run over", "/status"}, request{"run", "offer of one task", "/run only 5"}, request{"questions", "start of a run", "q4"})
	if diff := cmp.Diff([]bot.RunFlags{{Only: "5"}}, h.asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	h = daemon(atWork())
	h.say(t, "/pause")
	ask(h, request{"run", "pause ordered", "/run"})
	h = daemon(newService()) // configured, and never run
	ask(h, request{"status", "daemon, no run", "/status"}, request{"cost", "no run", "/cost"})
	for _, b := range []ledger.Body{
		ledger.IdeaTaken{ID: "i1", Words: "Zoom the map", Settings: ledger.Settings{Project: "shop"}},
		ledger.QuestionAsked{Question: ledger.Question{ID: "q1", Kind: ledger.AskIdea, Idea: "i1", Title: "Zoom the map"}},
	} {
		h.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: h.Now, Body: b})
	}
	ask(h, request{"status", "daemon, no run, the plan of an idea", "/status"}, request{"cost", "no run, an idea", "/cost"})
	h = daemon(newService())
	h.configured = []string{"shop", "blog", "zoo"}
	ask(h, request{"status", "daemon, three projects", "/status"}, request{"run", "three projects", "/run"})
	h.configured = nil
	ask(h, request{"projects", "none", "/projects"})
	h = daemon(newService("shop"))
	h.offer = &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "/srv/shop is not a git repository", Remedy: "git init"}, {File: "nightporter.toml", Line: 9, Text: "no time zone"}}}
	ask(h, request{"run", "mistakes to mend", "/run"})
	h.offer = errors.New("input/output error")
	ask(h, request{"run", "fault", "/run"})
	h = daemon(atWork())
	h.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: h.Now, Body: ledger.AgentUnusable{Agent: "claude", LoggedOut: true, Text: "Invalid API key · Please run /login"}})
	h.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: h.Now, Body: ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitAgent, Agent: "claude", Until: h.Now.Add(15 * time.Minute), Text: "claude: Invalid API key"}})
	ask(h, request{"status", "agent logged out", "/status"})
}

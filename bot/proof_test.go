package bot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// changed is the word of a task that deleted a test and weakened a script.
func changed(allowed string) ledger.Proof {
	return ledger.Proof{
		Word: ledger.ChangedChecks, Allowed: allowed, Reason: "the test compared with the old interface",
		Changes: []ledger.CheckChange{
			{Path: "order/refund_test.go", Kind: "test", Action: "deleted", Cases: []string{"TestRefundPartial"}},
			{Path: "ci/test.sh", Kind: "script", Action: "changed", Removed: 4},
			{Path: "order/named_test.go", Kind: "test", Action: "changed", Named: true},
		},
	}
}

// proved is a night at its end, each of whose tasks has another word.
func proved(words ...ledger.Proof) *service {
	d := newService("shop")
	d.Night.Proof = map[string]ledger.Proof{}
	var tasks []ledger.Task
	titles := []string{"Extract price rules", "Refund flow", "Address form", "Cards", "Order emails", "Pay page", "Tax per country"}
	for i, word := range words {
		task := scenario.Task(i+1, titles[i%len(titles)])
		tasks = append(tasks, task)
		d.Night.Proof[task.ID] = word
	}
	d.Start(d.Settings(), d.Base("r1"), tasks...)
	d.Until(nil)
	return d
}

func endOf(d *service) bot.Message {
	return bot.Ended(d.Night.State, *d.Night.State.Project.Run.Ended, d.Now)
}

// addProofs adds what people read about what is proved of the tasks.
func addProofs(t *testing.T, all topics) {
	t.Helper()
	one := func(w ledger.ProofWord) ledger.Proof { return ledger.Proof{Word: w} }
	shown := ledger.Proof{Word: ledger.Proved, Tests: []string{"TestTotal", "cart › adds a line", "tests/test_tax.py::test_vat", "d", "e", "f"}}
	mira := ledger.Proof{Word: ledger.Reviewed, By: "Mira"}
	unknown := ledger.Proof{Word: ledger.Tested, Unknown: []string{"bash -c \"$CHECK\""}}
	d := proved(shown, changed(""), unknown, one(ledger.Unproved), one(ledger.TestedNew), mira, one(ledger.Proved))
	for intent, line := range map[string]string{
		"all tasks": "/tasks", "proved": "/task 1", "checks changed": "/task 2", "a command that is not followed": "/task 3",
		"by a person": "/task 6", "evidence": "/evidence 2", "log": "/log 2", "status after": "/status", "run": "/runs r1",
	} {
		all.add(t, "proof", intent, line, d.say(t, line), 38)
	}
	all.add(t, "proof", "run ended, two to look at", "", endOf(d), 38)
	all.add(t, "proof", "run ended, one to look at", "", endOf(proved(shown, changed(""))), 38)
	all.add(t, "proof", "run ended, merge", "", endOf(proved(shown, changed("Mira"))), 38)
	none := proved(shown)
	none.Night.State.Project.Run.Ended.FinalOK, none.Night.State.Project.Green = nil, nil
	all.add(t, "proof", "run ended, tip not verified", "", endOf(none), 38)
	allowed := proved(changed("Mira"))
	all.add(t, "proof", "allowed", "/task 1", allowed.say(t, "/task 1"), 38)
	q := changed("")
	s := proved(q).Night
	m := bot.Ask(s.State, ledger.Question{ID: "q5", Kind: ledger.AskChecks, Task: "Task 1", Title: "Extract price rules", Hat: "fixer", Proof: &q, Asked: s.Now,
		Text: "1 test deleted, test.sh −4. The old ones do not pass."}, s.Now)
	all.add(t, "proof", "question", "", m, 38)
	few := ledger.Proof{Word: ledger.ChangedChecks, Fewer: []ledger.FewerTests{{Run: "npm test", Runner: "node test", Was: 12, Ran: 9}}}
	d = proved(few)
	all.add(t, "proof", "fewer tests ran", "/task 1", d.say(t, "/task 1"), 38)
	all.add(t, "proof", "run ended, fewer tests ran", "", endOf(d), 38)
	m = bot.Ask(d.Night.State, ledger.Question{ID: "q5", Kind: ledger.AskChecks, Task: "Task 1", Title: "Extract price rules", Hat: "fixer", Proof: &few, Asked: d.Night.Now,
		Text: "9 of 12 tests ran: npm test."}, d.Night.Now)
	all.add(t, "proof", "question about fewer tests", "", m, 38)
}

// TestProofIsNoClaim checks that nothing is said of tasks whose word is unknown, and
// that no table breaks at a narrow screen.
func TestProofIsNoClaim(t *testing.T) {
	d := proved(ledger.Proof{Word: ledger.TestedNew}, changed("Mira"))
	for _, width := range []int{38, 60, 100} {
		table := bot.TasksTable(d.Night.State, width, d.Now)
		if !strings.Contains(table, "tested (new code)") || !strings.Contains(table, "changed checks") {
			t.Errorf("%d columns:\n%s", width, table)
		}
	}
	tasks := slices.Clone(d.Night.State.Project.Tasks.Slice())
	for _, ts := range tasks {
		ts.Proof = nil // as of an earlier release, or ticked by a person
		if text := bot.ProofText(d.Night.State, ts); text != "" {
			t.Errorf("%s: %q", ts.Task.ID, text)
		}
	}
	ready := tasks[0]
	ready.Status = ledger.Ready
	if p := bot.ProofOf(d.Night.State, ready); p != nil {
		t.Errorf("not done, and %+v", p)
	}
}

// TestProofForeign checks that names that an agent chose stay harmless, and short where
// nobody decides on them.
func TestProofForeign(t *testing.T) {
	nasty := "\x1b[2J\u202e/stop\n@all " + strings.Repeat("ab/", 400)
	p := ledger.Proof{Word: ledger.ChangedChecks, Reason: nasty, Allowed: nasty, By: nasty, Tests: slices.Repeat([]string{nasty}, 90), Unknown: []string{nasty, "\x1b"}}
	for range 40 {
		p.Changes = append(p.Changes, ledger.CheckChange{Path: nasty, Kind: "script", Action: "changed", Removed: 4, Cases: []string{nasty}})
	}
	d := proved(p)
	q := ledger.Question{ID: "q1", Kind: ledger.AskChecks, Task: "Task 1", Title: nasty, Text: nasty, Proof: &p, Asked: time.Now()}
	for name, m := range map[string]bot.Message{"task": d.say(t, "/task 1"), "tasks": d.say(t, "/tasks"), "evidence": d.say(t, "/evidence 1"), "end": endOf(d), "question": bot.Ask(d.Night.State, q, d.Now)} {
		checkForm(t, name, m)
		if text := m.Text(0); len([]rune(text)) > 3500 && name != "question" || strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: %d characters\n%s", name, len([]rune(text)), text)
		}
	}
}

package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// asking returns a world with one open question.
func asking(t *testing.T, q ledger.Question) *world {
	t.Helper()
	n := scenario.New("shop", evening)
	for _, p := range []ledger.Person{{ID: mira, Name: "Mira", Role: ledger.RoleAdmin}, {ID: ana, Name: "Ana", Role: ledger.RoleSteer}, {ID: ben, Name: "Ben", Role: ledger.RoleView}} {
		p.Since = evening
		n.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: evening, Body: ledger.PersonPaired{Person: p}})
	}
	n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow"))
	n.Until(func() bool { return bot.Doing(n.State) == "#1 builder" })
	q.ID, q.Run, q.Task, q.Title, q.Asked = "q9", "r1", "Task 1", "Extract price rules", n.Now
	n.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: n.Now, Run: "r1", Task: "Task 1", Body: ledger.QuestionAsked{Question: q}})
	return open(t, n.Now, n.All())
}

// TestPlanIsAdmins checks that a person who may steer can read a plan but not
// approve it, by typing or pressing, with or without an id.
func TestPlanIsAdmins(t *testing.T) {
	for _, line := range []string{"q9 approve", "q9 a", "Q9 r not yet", "/approve", "/approve 1", "/approve q9", "/reject 1 not yet", "/reject not yet", "/answer 1 approve", "shop: q9 approve"} {
		for _, who := range []string{ana, ben} {
			w := asking(t, ledger.Question{Kind: ledger.AskPlan, Text: "x"})
			w.private(who, line)
			if m := w.newest(who).m; m.Key != "cmd.forbidden" || w.entries("question.answered") != 0 || w.entries("command.refused") != 1 {
				t.Errorf("%s %s: %q, %d answers, %d refusals recorded", who, line, m.First(), w.entries("question.answered"), w.entries("command.refused"))
			}
		}
	}
	w := asking(t, ledger.Question{Kind: ledger.AskPlan, Text: "x"})
	w.private(mira, "q9")
	shown := w.newest(mira)
	for _, label := range []string{"Approve", "Reject…"} { // a group's message, say
		w.press(ana, mira, shown, label)
		if last := w.toasts[len(w.toasts)-1]; !strings.Contains(last, "Ana, your role is steer") || w.entries("question.answered") > 0 {
			t.Errorf("Ana's press of %s: %s", label, last)
		}
	}
	w.press(mira, mira, shown, "Reject…")
	if m := w.newest(mira).m; m.First() != "? What is wrong with it? (q9)" {
		t.Errorf("Reject… asks %q", m.First())
	}
	w.press(ana, mira, shown, "Read")
	if m := w.newest(mira).m; !strings.HasPrefix(m.Key, "plan") {
		t.Errorf("Read shows %q", m.First())
	}
	w.private(ana, "/plan")
	if m := w.newest(ana).m; !strings.HasPrefix(m.Key, "plan") {
		t.Errorf("/plan shows %q", m.First())
	}
	w.private(ben, "/plan redo 1")
	if m := w.newest(ben).m; m.Key != "cmd.forbidden" {
		t.Errorf("/plan redo of who may look: %q", m.First())
	}
}

// TestAllowIsSteers checks that a person who may steer can decide about a path
// out of scope.
func TestAllowIsSteers(t *testing.T) {
	w := asking(t, ledger.Question{Kind: ledger.AskAllow, Paths: []string{"docs/a.md"}, Text: "x", Expires: evening.Add(3 * time.Hour)})
	w.private(ana, "q9")
	if b := w.newest(ana).m.Buttons; len(b) != 2 || b[0].Label != "Deny" || b[1].Label != "Allow" {
		t.Errorf("buttons: %+v", b)
	}
	w.private(ben, "q9 allow")
	if w.entries("question.answered") != 0 || w.newest(ben).m.Key != "cmd.forbidden" {
		t.Errorf("Ben, who may look, answered: %s", w.newest(ben).m.First())
	}
	w.private(ana, "q9 allow")
	if w.newest(ana).m.Key == "cmd.forbidden" {
		t.Error("Ana, who may steer, was refused")
	}
}

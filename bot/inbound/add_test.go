package inbound_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// addedPlan is a source to which tasks are added.
type addedPlan struct {
	tasks []ledger.Task
	err   error // of opening it
}

func (p *addedPlan) AddOnce(_ context.Context, a ledger.AddTasks) (ledger.AddedTasks, error) {
	ids, all := a.Has(p.tasks)
	for n, t := range a.Tasks {
		if ids[n] == "" {
			t.ID, t.Mark = fmt.Sprintf("Task %d", 13+len(p.tasks)), ledger.MarkOpen
			ids[n], p.tasks = t.ID, append(p.tasks, t)
		}
	}
	return ledger.AddedTasks{IDs: ids, Text: "- " + a.Tasks[0].Title, Found: all, Snapshot: ledger.Snapshot{Name: "checkout", Path: "checkout.md", Tasks: p.tasks}}, nil
}

func (p *addedPlan) RemoveAdded(_ context.Context, r ledger.RemoveTasks) error {
	p.tasks = slices.DeleteFunc(p.tasks, func(t ledger.Task) bool { return slices.Contains(r.IDs, t.ID) })
	return nil
}

// titles returns the titles of the plan's added tasks.
func (p *addedPlan) titles() string {
	var all []string
	for _, t := range p.tasks {
		all = append(all, t.Title)
	}
	return strings.Join(all, "; ")
}

// TestAdd: an added task, its message, and what the buttons below it do.
func TestAdd(t *testing.T) {
	w := newFixture(t)
	in := w.private(mira, "/add Zoom on a tap.\nOn the phone alone.")
	s := w.newest(mira)
	if s.key != "a1" || s.replyTo != in.Message || !s.silent || s.class != ledger.ClassReply || !strings.HasPrefix(s.m.First(), "✓ #13 added") {
		t.Fatalf("the reply is %+v\n%s", s, s.m.Text(0))
	}
	if got := w.plan.tasks[0]; got.Title != "Zoom on a tap" || got.Body != "On the phone alone." {
		t.Errorf("the task is %+v", got)
	}
	w.press(mira, mira, s, "Undo")
	if s = w.newest(mira); w.plan.titles() != "" || !strings.HasPrefix(s.m.First(), "– #13 taken out again") {
		t.Errorf("after Undo: %q\n%s", w.plan.titles(), s.m.Text(0))
	}
	w.press(mira, mira, s, "Add again")
	if got := w.plan.titles(); got != "Zoom on a tap" || w.plan.tasks[0].Body != "On the phone alone." {
		t.Errorf("added again: %q", got)
	}
	messages := len(w.shown[mira])
	w.press(mira, mira, s, "Add again")
	if n := len(w.shown[mira]); n != messages || len(s.m.Buttons) > 0 || !strings.Contains(w.toasts[len(w.toasts)-1], "has that title already") {
		t.Errorf("the second press of Add again: %q\n%s", w.toasts, s.m.Text(0))
	}
	w.private(mira, "/add zoom on a TAP")
	if m := w.newest(mira).m; !strings.Contains(m.First(), "has that title already") {
		t.Errorf("twice: %s", m.Text(0))
	}
	w.private(mira, "/add - One\n- Two")
	if m := w.newest(mira).m; w.plan.titles() != "Zoom on a tap; One; Two" || !strings.Contains(m.First(), "#14 #15 added") {
		t.Errorf("two: %q %s", w.plan.titles(), m.Text(0))
	}
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "/add", Message: "900", ReplyTo: "899", ReplyToWhole: "Orders lose their note\nSeen twice."})
	if got := w.plan.tasks[len(w.plan.tasks)-1]; got.Title != "Orders lose their note" || got.Body != "Seen twice." {
		t.Errorf("a reply: %+v", got)
	}
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "/add The button is cut off", Message: "901", Media: true, Kind: "photo"})
	if got := w.plan.titles(); !strings.HasSuffix(got, "The button is cut off") {
		t.Errorf("a caption: %q", got)
	}
	w.private(mira, "/add")
	if m := w.newest(mira).m; !strings.Contains(m.First(), "What is to be done in shop?") {
		t.Errorf("no words: %s", m.Text(0))
	}
	w.plan.err = errors.New("plan.md cannot take tasks: write the task into it yourself")
	w.private(mira, "/add Read only")
	if m := w.newest(mira).m; !strings.Contains(m.Text(0), "cannot take tasks") || len(m.Buttons) != 1 || m.Buttons[0].Command != "/add Read only" {
		t.Errorf("a source that takes none: %s", m.Text(0))
	}
}

// TestAddRole: who may only look adds nothing.
func TestAddRole(t *testing.T) {
	w := newFixture(t)
	w.private(ben, "/add Zoom on a tap")
	if w.plan.titles() != "" || !strings.Contains(w.newest(ben).m.Text(0), "your role is view") {
		t.Errorf("%q %s", w.plan.titles(), w.newest(ben).m.Text(0))
	}
}

// TestBug: a bug report with a severity and a photo, what its buttons do, and a recording
// that is one.
func TestBug(t *testing.T) {
	w := newFixture(t)
	w.sent("/bug High: I tapped Pay and saw NaN instead of the total. It was on the phone.", "")
	s := w.newest(mira)
	if s.key != "a1" || !strings.HasPrefix(s.m.First(), "✓ #13 added to the bug reports") || !strings.Contains(s.m.Text(0), "1 picture with it") || !strings.Contains(s.m.Text(0), "bugs.json, which this run does not work on") {
		t.Fatalf("the reply is %+v\n%s", s, s.m.Text(0))
	}
	w.keeps("a1")
	got := w.plan.tasks[0]
	if r := got.Report; got.Body != "I tapped Pay and saw NaN instead of the total. It was on the phone." || r == nil || r.Severity != "high" || r.Screenshot != "a1-1.jpg" || r.Created.IsZero() {
		t.Errorf("the report is %+v, %+v", got, got.Report)
	}
	w.private(mira, "/bug I tapped Pay and saw NaN instead of the total. It was on the tablet.") // begins alike
	if len(w.plan.tasks) != 2 {
		t.Errorf("two that begin alike: %q\n%s", w.plan.titles(), w.newest(mira).m.Text(0))
	}
	w.press(mira, mira, w.newest(mira), "Undo")
	if s = w.newest(mira); len(w.plan.tasks) != 1 || !strings.HasPrefix(s.m.First(), "– #14 taken out again") {
		t.Errorf("after Undo: %q\n%s", w.plan.titles(), s.m.Text(0))
	}
	w.press(mira, mira, s, "Add again")
	if n := len(w.plan.tasks); n != 2 || w.plan.tasks[1].Report == nil || !strings.HasSuffix(w.plan.tasks[1].Body, "tablet.") {
		t.Errorf("added again: %+v", w.plan.tasks)
	}
	w.private(mira, "/add edit 14 low: The total is NaN on the tablet")
	if n := len(w.plan.tasks); n != 2 || w.plan.tasks[1].Report == nil || w.plan.tasks[1].Report.Severity != "low" {
		t.Errorf("edited: %+v", w.plan.tasks)
	}
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "/bug", Message: "900", ReplyTo: "899", ReplyToWhole: "Orders lose their note\nSeen twice."})
	if got := w.plan.tasks[len(w.plan.tasks)-1]; got.Body != "Orders lose their note\nSeen twice." {
		t.Errorf("a reply: %+v", got)
	}
	w.private(mira, "/bug")
	if m := w.newest(mira).m; !strings.Contains(m.First(), "What is wrong in shop?") {
		t.Errorf("no words: %s", m.Text(0))
	}
	w.private(ben, "/bug It hangs")
	if len(w.plan.tasks) != 3 || !strings.Contains(w.newest(ben).m.Text(0), "your role is view") {
		t.Errorf("%q %s", w.plan.titles(), w.newest(ben).m.Text(0))
	}
	w.plan.err = errors.New("bugs.json is read-only")
	w.private(mira, "/bug high: It hangs")
	if m := w.newest(mira).m; len(m.Buttons) != 1 || m.Buttons[0].Command != "/bug high: It hangs" {
		t.Errorf("an inbox that takes none: %s", m.Text(0))
	}
}

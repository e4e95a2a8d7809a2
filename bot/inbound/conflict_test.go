package inbound_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// People of the second platform.
const (
	lea = "slack:U0LEA"
	kim = "slack:U0KIM"
)

// twoPlatforms is a world with two platforms and several people who press at
// the same time.
type twoPlatforms struct {
	*world
	platforms map[string]*inbound.Receiver // by platform, the prefix of addresses

	mu    sync.Mutex
	notes map[string]string // acknowledgement of each press
	last  map[string]int
}

// newTwoPlatforms returns a world with two more people on Slack, who may steer,
// and with q1 in every chat.
func newTwoPlatforms(t *testing.T) *twoPlatforms {
	t.Helper()
	w := newWorld(t)
	for id, name := range map[string]string{lea: "Lea", kim: "Kim"} {
		w.engineEntry(ledger.Entry{Stream: ledger.SharedStream, Time: w.now, Body: ledger.PersonPaired{Person: ledger.Person{ID: id, Name: name, Role: ledger.RoleSteer, Since: w.now}}})
	}
	w = w.reopened()
	c := &twoPlatforms{world: w, platforms: map[string]*inbound.Receiver{}, notes: map[string]string{}, last: map[string]int{}}
	for _, prefix := range []string{telegram.Prefix, slack.Prefix} {
		o := w.options()
		o.Notice = func(_ context.Context, press, text string) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.notes[press] = text
			return nil
		}
		c.platforms[prefix] = inbound.New(o)
	}
	for _, chat := range []string{mira, ana, lea, kim} {
		q, _ := w.state().Project.Question("q1")
		w.queue(chat, "q1", bot.Ask(w.state(), q, w.now))
	}
	return c
}

func prefixOf(who string) string {
	prefix, _, _ := strings.Cut(who, ":")
	return prefix + ":"
}

// pressOf returns the input of a press of a button of q1 in a person's chat.
func (c *twoPlatforms) pressOf(who, label string) bot.Inbound {
	c.t.Helper()
	shown, prefix := c.newestWithKey(who, "q1"), prefixOf(who)
	c.last[prefix]++
	in := bot.Inbound{
		Key: fmt.Sprintf("%s%d", prefix, c.last[prefix]), Cursor: &ledger.Cursor{Name: prefix + "1", Value: strconv.Itoa(c.last[prefix])},
		Actor: who, Name: who, Chat: who, Private: true, Message: shown.id, PressID: who + " " + label, Sent: c.now,
	}
	for n, b := range shown.m.Buttons {
		if b.Label == label {
			if in.Press = telegram.Data(shown.m, n); prefix == slack.Prefix {
				in.Press = slack.Data(shown.m, n)
			}
		}
	}
	if in.Press == "" {
		c.t.Fatalf("no button %q on:\n%s", label, screen(shown.m))
	}
	return in
}

// concurrently runs functions concurrently, as platforms deliver inputs.
func (c *twoPlatforms) concurrently(do ...func()) {
	begin := make(chan struct{})
	var all sync.WaitGroup
	for _, f := range do {
		all.Go(func() { <-begin; f() })
	}
	close(begin)
	all.Wait()
	c.deliver()
}

func (c *twoPlatforms) receiving(in bot.Inbound) func() {
	return func() {
		if err := c.platforms[prefixOf(in.Actor)].Receive(c.t.Context(), in); err != nil {
			c.t.Errorf("%s: %v", in.PressID, err)
		}
	}
}

// answer returns the answer to q1 in the ledger. There must be exactly one.
func (c *twoPlatforms) answer() ledger.QuestionAnswered {
	c.t.Helper()
	var all []ledger.QuestionAnswered
	err := c.store.Records(c.t.Context(), ledger.ProjectStream("shop"), 0, func(r ledger.Record) error {
		e, err := r.Entry()
		if b, ok := e.Body.(ledger.QuestionAnswered); ok && b.ID == "q1" {
			all = append(all, b)
		}
		return err
	})
	if err != nil || len(all) != 1 {
		c.t.Fatalf("q1 has %d answers: %+v, %v", len(all), all, err)
	}
	return all[0]
}

// statuses returns the statuses that Task 2 has had since q1 was asked.
func (c *twoPlatforms) statuses() []ledger.Status {
	var all []ledger.Status
	_ = c.store.Records(c.t.Context(), ledger.ProjectStream("shop"), 0, func(r ledger.Record) error {
		e, err := r.Entry()
		if b, ok := e.Body.(ledger.TaskSet); ok && ledger.SameID(e.Task, "Task 2") && e.Actor != "daemon" && e.Actor != "agent" && e.Actor != "console" {
			all = append(all, b.To)
		}
		return err
	})
	return all
}

// TestPressedTogether lets four people on two platforms press opposite buttons
// of one question at once. One answer counts and has one effect, every chat's
// copy names its author, and the other people are told who was first.
func TestPressedTogether(t *testing.T) {
	for range 8 {
		c := newTwoPlatforms(t)
		label := map[string]string{mira: "Retry", ana: "Skip", lea: "Skip", kim: "Retry"}
		twin := map[string]string{"Retry": "/retry 2", "Skip": "/skip 2"}
		var presses []func()
		for _, who := range []string{mira, ana, lea, kim} {
			in := c.pressOf(who, label[who])
			presses = append(presses, c.receiving(in), c.receiving(in)) // each platform delivers the press twice
		}
		c.concurrently(presses...)

		a := c.answer()
		first := map[string]string{"Mira": mira, "Ana": ana, "Lea": lea, "Kim": kim}[a.By]
		if first == "" || a.Choice != strings.ToLower(label[first]) {
			t.Fatalf("answered %+v", a)
		}
		want := map[string][]ledger.Status{"retry": {ledger.Ready}, "skip": {ledger.Skipped}}[a.Choice]
		if got := c.statuses(); !slices.Equal(got, want) {
			t.Errorf("%s: Task 2 went to %v, want %v", a.Choice, got, want)
		}
		edited := fmt.Sprintf("✓ q1 %s, by %s 23:17", label[first], a.By)
		for who := range label {
			if got := c.newestWithKey(who, "q1").m; got.First() != edited || slices.ContainsFunc(got.Buttons, func(b bot.Button) bool { return b.Command != "q1 undo" }) {
				t.Errorf("%s reads %q %v, want %q", who, got.First(), got.Buttons, edited)
			}
			told := c.notes[who+" "+label[who]]
			second := fmt.Sprintf("%s was first: %s, 23:17. Nothing changed.", a.By, label[first])
			if label[who] != label[first] {
				second += " To overrule: " + twin[label[who]]
			}
			if who != first && told != second {
				t.Errorf("%s, who was second, is told %q, want %q", who, told, second)
			}
			if who == first && strings.Contains(told, "first") && told != fmt.Sprintf("q1 is settled: %s, %s 23:17. Nothing changed.", label[first], a.By) {
				t.Errorf("%s, who was first, is told %q", who, told)
			}
			if n := len(c.shown[who]); n != 1 && !(a.Choice == "skip" && n == 2) { // a question about its dependents
				t.Errorf("%s has %d messages:\n%s", who, n, c.transcript(who))
			}
		}
	}
}

// TestTakenOutTogether removes a person while their press is handled. After the
// removal is decided, their presses have no effect and they get no messages.
func TestTakenOutTogether(t *testing.T) {
	won := 0
	for range 12 {
		c := newTwoPlatforms(t)
		before, _ := json.Marshal(c.newestWithKey(kim, "q1").m)
		shown := len(c.shown[kim])
		press := c.pressOf(kim, "Skip")
		c.concurrently(c.receiving(press), c.receiving(bot.Inbound{
			Key: "telegram:1", Cursor: &ledger.Cursor{Name: "telegram:1", Value: "2"}, Actor: mira, Chat: mira, Private: true, Text: "/unpair U0KIM", Message: "100", Sent: c.now,
		}))
		if _, in := c.state().Shared.Person(kim); in {
			t.Fatalf("Kim is still in:\n%s", c.transcript(mira))
		}
		q, open := c.state().Project.Question("q1")
		if !open {
			won++ // the press was decided before the removal
			continue
		}
		if q.ID != "q1" || len(c.statuses()) != 0 {
			t.Errorf("Task 2 went to %v", c.statuses())
		}
		after, _ := json.Marshal(c.newestWithKey(kim, "q1").m)
		if string(before) != string(after) || len(c.shown[kim]) != shown || c.notes[press.PressID] != "" {
			t.Errorf("Kim is told %q:\n%s", c.notes[press.PressID], c.transcript(kim))
		}
	}
	t.Logf("the press was decided first in %d of 12", won)
}

// TestTakenOutMeanwhile is TestTakenOutTogether with a fixed order: the person
// is removed before the press is decided.
func TestTakenOutMeanwhile(t *testing.T) {
	for _, line := range []string{"", "q1 skip", "/skip 2 3", "/guidance Keep it"} { // "": pressed
		w := newWorld(t)
		w.showQuestion("q1")
		q, n := w.newestWithKey(ana, "q1"), len(w.shown[ana])
		w.breaks = func(in loop.Input) error {
			if in.Actor == ana {
				w.breaks = nil
				if a, err := w.engine.Do(t.Context(), loop.Input{Key: "out", Actor: mira, Name: "Mira", Body: people.Remove{ID: ana}}); err != nil || !a.OK {
					t.Error(a, err)
				}
			}
			return nil
		}
		if line == "" {
			w.press(ana, ana, q, "Skip")
		} else {
			w.private(ana, line)
		}
		if w.entries("question.answered")+w.entries("guidance.queued") != 0 || len(w.shown[ana]) != n || len(w.toasts) != 0 {
			t.Errorf("%q: told %q:\n%s", line, w.toasts, w.transcript(ana))
		}
		if n := w.entries("stranger.wrote"); n != 1 {
			t.Errorf("%q: %d entries of the audit", line, n)
		}
	}
}

// TestSmallerRole checks that a person whose role is only RoleView when the
// press is decided answers nothing.
func TestSmallerRole(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	w.breaks = func(in loop.Input) error {
		if in.Actor != ana {
			return nil
		}
		w.breaks = nil
		for _, in := range []loop.Input{
			{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleView}}, {Actor: ana, Name: "Ana", Body: people.TryPairing{Hash: "h"}},
		} {
			if a, err := w.engine.Do(t.Context(), in); err != nil || !a.OK {
				t.Error(a, err)
			}
		}
		return nil
	}
	w.press(ana, ana, w.newestWithKey(ana, "q1"), "Skip")
	if last := w.toasts[len(w.toasts)-1]; w.entries("question.answered") != 0 || !strings.Contains(last, "your role is view now") {
		t.Errorf("%d answers, told %q", w.entries("question.answered"), last)
	}
}

// TestBeaten checks the reply to an answer that comes second, pressed and
// typed.
func TestBeaten(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	w.showQuestion("q2")
	old := map[string]shown{"q1": *w.newestWithKey(ana, "q1"), "q2": *w.newestWithKey(ana, "q2")}
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Retry")
	w.press(mira, mira, w.newestWithKey(mira, "q2"), "B")
	var b strings.Builder
	for _, c := range []struct{ id, label string }{{"q1", "Retry"}, {"q1", "Skip"}, {"q1", "Guide…"}, {"q2", "A"}, {"q2", "B"}, {"q2", "Skip task"}} {
		q, n := old[c.id], len(w.shown[ana])
		w.press(ana, ana, &q, c.label)
		fmt.Fprintf(&b, "%s %s: %s\n", c.id, c.label, w.toasts[len(w.toasts)-1])
		if len(w.shown[ana]) != n {
			t.Errorf("%s %s: a message says %s", c.id, c.label, w.newest(ana).m.First())
		}
	}
	mine := *w.newestWithKey(mira, "q1")
	mine.m = old["q1"].m
	w.press(mira, mira, &mine, "Skip")
	fmt.Fprintf(&b, "Mira's own q1 Skip: %s\n\n", w.toasts[len(w.toasts)-1])
	n := len(w.shown[ana])
	w.private(ana, "q1 skip")
	w.private(ana, "q2 yes, but letters only")
	w.shown[ana] = w.shown[ana][n:]
	golden(t, "beaten", b.String()+w.transcript(ana))
	if n := w.entries("question.answered"); n != 2 {
		t.Errorf("%d answers", n)
	}
}

// TestReminded checks that an answer to a reminder answers its question, and
// that both messages show the answer.
func TestReminded(t *testing.T) {
	for name, do := range map[string]func(w *world, reminder *shown){
		"press": func(w *world, r *shown) { w.press(mira, mira, r, "A") },
		"reply": func(w *world, r *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "a", ReplyTo: r.id, Message: "900"})
		},
		"typed": func(w *world, _ *shown) { w.private(mira, "q2 a") },
	} {
		w := newWorld(t)
		w.showQuestion("q2")
		q, _ := w.state().Project.Question("q2")
		w.queue(mira, bot.ReminderKey("q2"), bot.Reminder(w.state(), q, w.now))
		reminder := w.newestWithKey(mira, bot.ReminderKey("q2"))
		n := len(w.shown[mira])
		do(w, reminder)
		for _, key := range []string{"q2", bot.ReminderKey("q2")} {
			if got := w.newestWithKey(mira, key).m.First(); got != "✓ q2 A, by Mira 23:17" {
				t.Errorf("%s: %s says %q", name, key, got)
			}
		}
		if more := len(w.shown[mira]) - n; name == "press" && more != 0 {
			t.Errorf("%s: %d more messages:\n%s", name, more, w.transcript(mira))
		}
	}
}

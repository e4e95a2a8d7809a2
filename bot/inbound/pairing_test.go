package inbound_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestStrangers: an input of a person who is not paired changes only the audit,
// and gets no reply.
func TestStrangers(t *testing.T) {
	w := newFixture(t)
	before := w.entries("stranger.wrote")
	for _, in := range []bot.Inbound{
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "/stop"},
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "hello"},
		{Actor: "telegram:99", Chat: group, Text: "/stop@night_porter_bot"}, // a group in which Mira is
		{Actor: "telegram:99", Chat: group, Press: "1.q1.retry.aaaa", PressID: "p"},
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "/pair"},
		{Actor: mira, Chat: group, Text: "/stop", Unpairable: "anonymous"},
		{Actor: "telegram:1087968824", Chat: group, Text: "/pair " + code, Unpairable: "anonymous"},
		{Actor: "telegram:777", Chat: group, Text: "/pair " + code},
		{Actor: "", Chat: "telegram:-77", Text: "/stop", Unpairable: "a channel"},
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "edited", Edited: true},
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Media: true},
	} {
		w.receive(in)
	}
	if len(w.shown) > 0 || len(w.toasts) > 0 {
		t.Errorf("strangers were answered: %v %v", w.shown, w.toasts)
	}
	if r := w.state().Project.Run; r.State != ledger.RunRunning {
		t.Errorf("a stranger made the run %s", r.State)
	}
	// telegram:99, Mira who hides, the anonymous admin, 777 and the channel.
	if n := w.entries("stranger.wrote") - before; n != 5 {
		t.Errorf("%d audit entries, want one each: 5", n)
	}
	if n := w.entries("pairing.tried"); n != 0 {
		t.Errorf("a code in a group was tried %d times", n)
	}
}

// TestCrowdOfStrangers: of many updates at hand, those of strangers that are not
// recorded take no transaction. The last one moves the cursor for all.
func TestCrowdOfStrangers(t *testing.T) {
	w := newFixture(t)
	w.receive(bot.Inbound{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "hello"})
	cursor := func() string {
		c, _, err := w.store.Cursor(t.Context(), "telegram:1")
		if err != nil {
			t.Fatal(err)
		}
		return c.Value
	}
	first, before := cursor(), w.entries("stranger.wrote")
	in := bot.Inbound{Actor: "telegram:99", Name: "Somebody", Chat: "telegram:99", Private: true, Text: "hello", Sent: w.now, More: true}
	for n := range 100 {
		in.Key = fmt.Sprintf("telegram:%d", 1000+n)
		in.Cursor = &ledger.Cursor{Name: "telegram:1", Value: strconv.Itoa(1001 + n)}
		if err := w.r.Receive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if got := cursor(); got != first {
		t.Errorf("the cursor moved from %s to %s", first, got)
	}
	// A stranger who is recorded, and the last update at hand, do move it.
	other := in
	other.Actor, other.Key, other.Cursor = "telegram:98", "telegram:1100", &ledger.Cursor{Name: "telegram:1", Value: "1101"}
	w.redeliver(other)
	in.More, in.Key, in.Cursor = false, "telegram:1101", &ledger.Cursor{Name: "telegram:1", Value: "1102"}
	w.redeliver(in)
	if n := w.entries("stranger.wrote") - before; n != 1 {
		t.Errorf("%d audit entries, want one", n)
	}
}

// TestPairing: a code pairs one person, once, in private.
func TestPairing(t *testing.T) {
	w := newFixture(t)
	offer := func() {
		t.Helper()
		a, err := w.engine.Do(t.Context(), loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "hash of " + code, Role: ledger.RoleSteer}})
		if err != nil || !a.OK {
			t.Fatal(a, err)
		}
	}
	w.receive(bot.Inbound{Actor: "telegram:8", Name: "Eve", Chat: "telegram:8", Private: true, Text: "/pair " + code, Message: "1"})
	offer()
	w.receive(bot.Inbound{Actor: "telegram:8", Name: "Eve", Chat: "telegram:8", Private: true, Text: "/pair AAAA-BBBB", Message: "2"})
	if len(w.shown) > 0 {
		t.Errorf("a wrong code was answered: %v", w.shown)
	}
	in := w.receive(bot.Inbound{Actor: "telegram:9", Name: "Lea", Chat: "telegram:9", Private: true, Text: "/start " + strings.ToLower(code), Message: "3"})
	w.redeliver(in)
	w.redeliver(in)
	if p, ok := w.state().Shared.Person("telegram:9"); !ok || p.Role != ledger.RoleSteer || p.Name != "Lea" {
		t.Errorf("Lea is %+v, %v", p, ok)
	}
	if n := len(w.shown["telegram:9"]); n != 1 {
		t.Errorf("Lea was welcomed %d times", n)
	}
	golden.Compare(t, "welcome.txt", w.transcript("telegram:9"))
	w.receive(bot.Inbound{Actor: "telegram:8", Name: "Eve", Chat: "telegram:8", Private: true, Text: "/pair " + code})
	if _, in := w.state().Shared.Person("telegram:8"); in || len(w.shown["telegram:8"]) > 0 {
		t.Error("a used code let somebody in, or was answered")
	}
	w.private("telegram:9", "/start "+code)
	if got := w.newest("telegram:9").m.First(); got != "○ Lea, you are paired as steer" {
		t.Errorf("the old link says %q", got)
	}
	w.private("telegram:9", "/start")
	if got := w.newest("telegram:9").m.Key; got != "help" {
		t.Errorf("/start says %q", got)
	}
}

// TestRoles: a command beyond a role is refused, told and recorded; every other
// works.
func TestRoles(t *testing.T) {
	w := newFixture(t)
	for _, c := range []struct {
		who, line string
		ok        bool
	}{
		{ben, "/status", true}, {ben, "/tasks", true}, {ben, "/task 1", true}, {ben, "/log", true}, {ben, "/diff 1", true}, {ben, "/evidence 1", true},
		{ben, "/queue", true}, {ben, "/cost", true}, {ben, "/projects", true}, {ben, "/whoami", true}, {ben, "/help", true}, {ben, "q1", true},
		{ben, "/guidance x", false}, {ben, "Wrap it", false}, {ben, "/pause", false}, {ben, "/resume", false}, {ben, "/stop", false}, {ben, "/run", false},
		{ben, "q1 retry", false}, {ben, "/answer q1 retry", false}, {ben, "/approve q1", false}, {ben, "/reject q2", false}, {ben, "/skip 6", false},
		{ben, "/retry 2", false}, {ben, "/next 6", false}, {ben, "/now x", false}, {ben, "/drop g1", false}, {ben, "g1 keep", false}, {ben, "/people", false},
		{ana, "/guidance x", true}, {ana, "/pause", true}, {ana, "q1 retry", true}, {ana, "/people", false}, {ana, "/unpair 7", false},
		{mira, "/people", true}, {mira, "/unpair 7", true},
	} {
		if c.who != ben { // Ben changes nothing, whatever he types
			w = newFixture(t)
		}
		before := w.entries("command.refused")
		w.private(c.who, c.line)
		refused := w.entries("command.refused") - before
		m := w.newest(c.who).m
		if got := m.Key != "cmd.forbidden" && refused == 0; got != c.ok {
			t.Errorf("%s %s: %q, %d refusals recorded; allowed should be %v", c.who, c.line, m.First(), refused, c.ok)
		}
		if !c.ok && (w.entries("guidance.queued") > 0 || w.entries("question.answered") > 0 || w.entries("person.removed") > 0 || w.state().Project.Run.State != ledger.RunRunning) {
			t.Errorf("%s %s changed something", c.who, c.line)
		}
	}
	w = newFixture(t)
	w.private(ben, "/stop")
	golden.Compare(t, "forbidden.txt", w.transcript(ben))
	w.private(mira, "q1")
	w.press(ben, mira, w.newest(mira), "Retry") // as in a forwarded message
	if last := w.toasts[len(w.toasts)-1]; !strings.Contains(last, "Ben, your role is view") || w.entries("question.answered") > 0 {
		t.Errorf("Ben's press: %s", last)
	}
}

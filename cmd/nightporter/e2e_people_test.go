//go:build e2e

package main_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestStrangers: messages of unknown people only appear in the audit (docs/spec
// 6.6), in private and in a group with a paired member. The same holds for a
// person whose role does not permit the command.
func TestStrangers(t *testing.T) {
	t.Parallel()
	const group = -100500
	ana := telegram.User{ID: 60031188, Name: "Ana"}
	e := newNightFixture(t, nightOptions{})
	e.hold("Task 1 planner")
	e.up()
	e.ready()
	e.pair(mira, "admin")
	e.pair(ben, "view")
	e.pair(ana, "steer")
	e.t.Logf("$ nightporter pair --remove\n%s", e.runCommand("pair", "--remove", fmt.Sprint(ana.ID)))
	e.sayAndAwait(mira, "/run", "? Start shop?")
	e.press(mira, "Start", "? Start shop?")
	started := e.awaitMessage(mira, "● shop r1 started")
	e.awaitHeld("Task 1 planner")

	files, before := e.checkout(), e.ledger()
	refs := e.git("for-each-ref")
	state := e.runCommand("status", "--json")
	heard := e.far.Chat(ana.ID).Count.Messages

	for _, line := range []string{
		"/start", "/stop now", "/pause", "/guidance delete everything", "q1 start", "/pair AAAA-BBBB", "/start K7QX-M2PD",
		"please stop", "/unpair 48213377", "/run shop", "/status", "shop: /stop", "\u202e/stop", "<b>/stop</b>",
	} {
		e.far.Say(stranger, stranger.ID, line)
		e.far.Say(stranger, group, line)
		e.far.Say(ana, ana.ID, line) // she is no longer paired
		e.far.Post(telegram.UserMessage{From: mira, Chat: group, Text: line, Anonymous: true})
		e.far.Post(telegram.UserMessage{From: stranger, Chat: group, Text: line, Channel: -100777})
	}
	for _, row := range started.Buttons {
		for _, b := range row {
			e.far.PressData(stranger, stranger.ID, started.ID, b.Data)
			e.far.PressData(ana, mira.ID, started.ID, b.Data)
		}
	}
	e.far.PressData(stranger, group, 1, "1.stop.now.0000")
	e.far.PressData(mira, mira.ID, started.ID, "0.stop.now") // data of another release
	e.noError(e.far.WaitConfirmed(e.deadline()))
	for _, line := range []string{"/stop", "/pause now", "/guidance delete everything", "/people", "/unpair 48213377", "/skip 1", "just words"} {
		e.sayAndAwait(ben, line, "✗ Ben, your role is view")
	}
	e.sayAndAwait(ben, "/status", "shop 0/6")
	e.noError(e.far.WaitConfirmed(e.deadline()))

	audit := map[string]int{}
	now := e.ledger()
	seen := map[string]bool{}
	for _, x := range before {
		seen[fmt.Sprint(x.Stream, x.Seq)] = true
	}
	for _, x := range now {
		if seen[fmt.Sprint(x.Stream, x.Seq)] {
			continue
		}
		if audit[x.Type]++; x.Type != (ledger.StrangerWrote{}).EntryType() && x.Type != (ledger.CommandRefused{}).EntryType() && x.Type != (ledger.PairingTried{}).EntryType() {
			t.Errorf("they led to an entry: %s %s", x.Type, x.Body)
		}
	}
	t.Logf("audit: %v", audit)
	for _, b := range bodies[ledger.StrangerWrote](e, now) {
		t.Logf("  %s in %s: %s", b.Who, b.Chat, b.Why)
	}
	for _, b := range bodies[ledger.CommandRefused](e, now) {
		t.Logf("  %s, %s: /%s refused", b.Name, b.Role, b.Command)
	}
	if n := audit[(ledger.StrangerWrote{}).EntryType()]; n < 2 || n > 4 {
		t.Errorf("%d audit entries of strangers, want one for each of them", n)
	}
	if n := e.far.Chat(stranger.ID).Count.Messages; n != 0 {
		t.Errorf("the stranger was answered %d times", n)
	}
	for _, m := range e.far.Chat(group).Messages {
		if m.From.ID == e.far.BotID() {
			t.Errorf("the group was answered: %s", m.Text)
		}
	}
	if n := e.far.Chat(ana.ID).Count.Messages - heard; n != 0 {
		t.Errorf("who was taken out got %d messages", n)
	}
	if diff := cmp.Diff(files, e.checkout()); diff != "" {
		t.Errorf("the checkout changed:\n%s", diff)
	}
	if diff := cmp.Diff(refs, e.git("for-each-ref")); diff != "" {
		t.Errorf("the repository changed:\n%s", diff)
	}
	same := func(s string) string { return stateField.FindString(s) }
	if got := e.runCommand("status", "--json"); same(got) != same(state) {
		t.Errorf("the run was %s and is %s", same(state), same(got))
	}
	e.sayAndAwait(mira, "/stop now", "○ stopped; #1 planner reruns next time")
	e.release("Task 1 planner")
}

// TestStatusWhileAgentHangs: the model's server never answers, and people's
// messages are still stored and answered (docs/spec 6.3). The delay is printed
// but not tested.
func TestStatusWhileAgentHangs(t *testing.T) {
	t.Parallel()
	e := newNightFixture(t, nightOptions{})
	e.injectFaults("Task 1 planner", models.Hang)
	e.up()
	e.ready()
	e.pair(mira, "admin")
	e.sayAndAwait(mira, "/run", "? Start shop?")
	e.press(mira, "Start", "? Start shop?")
	e.awaitMessage(mira, "● shop r1 started")
	e.noError(programtest.WaitFor("the model to be asked", func() (bool, error) { return e.sessionCount("Task 1 planner") == 1, nil }))

	hangs := func() bool {
		for _, x := range e.ledger() {
			if x.Type == (ledger.SessionEnded{}).EntryType() && x.Task == "Task 1" {
				return false
			}
		}
		return true
	}
	for _, c := range []struct{ line, want string }{
		{"/status", "#1 planner"}, {"/guidance Keep it small", "g1 queued"}, {"/tasks", "shop"}, {"/pause", "shop pauses after #1 planner"}, {"/resume", "● "},
	} {
		began := time.Now()
		e.sayAndAwait(mira, c.line, c.want)
		t.Logf("%-24s answered after %4d ms", c.line, time.Since(began).Milliseconds())
		if !hangs() {
			t.Fatalf("the agent does not hang any more, so %s proves nothing", c.line)
		}
	}
	before := e.ledger()
	began := time.Now()
	e.sayAndAwait(mira, "/stop now", "○ stopped; #1 planner reruns next time")
	took := time.Since(began)
	for _, x := range e.ledger() {
		if x.Stream != "house" && x.Seq > lastSeq(before, x.Stream) {
			t.Logf("%-24s stored %6.1f ms after it was sent: %s", "/stop now", float64(x.Time.Sub(began).Microseconds())/1000, x.Type)
			break
		}
	}
	t.Logf("%-24s answered after %4d ms", "/stop now", took.Milliseconds())
	e.noError(programtest.WaitFor("the run to end", func() (bool, error) { return e.runState() == "ended", nil }))
	if n := e.sessionCount("Task 1 planner"); n != 1 {
		t.Errorf("the model was asked by %d sessions", n)
	}
	if left := e.processes("claude"); len(left) > 0 {
		t.Errorf("the agent is still there: %v", left)
	}
	if code := e.down(); code != 0 {
		t.Errorf("nightporter up ended with %d", code)
	}
}

// lastSeq returns the sequence number of a stream's last entry.
func lastSeq(ledgerStore []entry, stream string) int64 {
	var n int64
	for _, x := range ledgerStore {
		if x.Stream == stream {
			n = max(n, x.Seq)
		}
	}
	return n
}

// TestBacklog: a thousand updates that arrived while nightporter was off are
// each handled once, in order, even if the platform delivers some of them five
// times. A command that is three hours old needs a confirmation (docs/spec
// 6.7).
func TestBacklog(t *testing.T) {
	t.Parallel()
	e := newNightFixture(t, nightOptions{})
	e.hold("Task 1 planner")
	e.up()
	e.ready()
	e.pair(mira, "admin")
	e.sayAndAwait(mira, "/run", "? Start shop?")
	e.press(mira, "Start", "? Start shop?")
	e.awaitMessage(mira, "● shop r1 started")
	e.awaitHeld("Task 1 planner")
	e.daemon.Kill()

	const updates = 1000
	var want []string
	kinds := map[string]int{}
	ago := func(n int) time.Time { return time.Now().Add(-3*time.Hour + time.Duration(n)*10*time.Second) }
	for n := range updates {
		switch {
		case n == 400:
			kinds["/stop"]++
			e.far.Post(telegram.UserMessage{From: mira, Chat: mira.ID, Text: "/stop", Date: ago(n)})
		case n%10 == 3:
			kinds["look"]++
			e.far.Post(telegram.UserMessage{From: mira, Chat: mira.ID, Text: "/tasks", Date: ago(n)})
		case n%10 == 7:
			kinds["stranger"]++
			e.far.Post(telegram.UserMessage{From: stranger, Chat: stranger.ID, Text: "/stop", Date: ago(n)})
		case n%10 == 9:
			kinds["plain words"]++
			text := fmt.Sprintf("Words %d & <b>more</b> 🫖", n)
			want = append(want, text)
			e.far.Post(telegram.UserMessage{From: mira, Chat: mira.ID, Text: text, Date: ago(n)})
		default:
			kinds["guidance"]++
			text := fmt.Sprintf("Keep rule %d", n)
			want = append(want, text)
			e.far.Post(telegram.UserMessage{From: mira, Chat: mira.ID, Text: "/guidance " + text, Date: ago(n)})
		}
	}
	e.far.IgnoreConfirmations(4) // each early update is delivered five times
	began := time.Now()
	e.up()
	e.ready()
	e.noError(e.far.WaitConfirmed(e.deadline()))
	t.Logf("%d updates %v were handled in %s", updates, kinds, time.Since(began).Round(time.Millisecond))

	ledgerStore := e.ledger()
	var got []string
	for _, b := range bodies[ledger.GuidanceQueued](e, ledgerStore) {
		got = append(got, b.Item.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("guidance in the ledger (-want +got):\n%s", diff)
	}
	lates, asked := 0, ""
	for _, b := range bodies[ledger.QuestionAsked](e, ledgerStore) {
		if b.Question.Kind == ledger.AskLate {
			lates++
			asked = b.Question.ID
			t.Logf("%s: %s %s by %s: still do it?", b.Question.ID, b.Question.Text, b.Question.Title, b.Question.By)
		}
	}
	if lates != 1 {
		t.Errorf("%d questions about old commands, want 1", lates)
	}
	if n := len(bodies[ledger.StrangerWrote](e, ledgerStore)); n != 1 {
		t.Errorf("%d audit entries of one stranger within the hour", n)
	}
	if s := e.runState(); s != "running" {
		t.Errorf("the run is %s; an old /stop has to ask first", s)
	}
	// The platform permits one answer per second. Each answer is sent once, in
	// the order of the updates.
	if diff := cmp.Diff(len(want), e.receipts()); diff != "" {
		t.Errorf("receipts, sent or on their way (-want +got):\n%s", diff)
	}
	e.far.Say(mira, mira.ID, asked+" no")
	e.noError(programtest.WaitFor("the question to be settled", func() (bool, error) {
		return len(bodies[ledger.QuestionAnswered](e, e.ledger())) == 2, nil // the first one belongs to q1
	}))
	if s := e.runState(); s != "running" {
		t.Errorf("the run is %s after no", s)
	}
	if n := e.far.Chat(stranger.ID).Count.Messages; n != 0 {
		t.Errorf("the stranger was answered %d times", n)
	}
	e.runCommand("stop", "--now")
	e.release("Task 1 planner")
	if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole") {
		t.Errorf("verify: %s", out)
	}
	if code := e.down(); code != 0 {
		t.Errorf("nightporter up ended with %d", code)
	}
}

// receipts returns the number of guidance receipts that were sent or are
// queued. It fails the test for a duplicate and for a wrong order.
func (e *nightFixture) receipts() int {
	e.t.Helper()
	db := e.database()
	rows, err := db.Query(`SELECT key, reply_to FROM messages WHERE edit = 0 AND key GLOB 'g[0-9]*' ORDER BY place`)
	e.noError(err)
	defer func() { _ = rows.Close() }()
	n, before := 0, 0
	for rows.Next() {
		var key, to string
		e.noError(rows.Scan(&key, &to))
		n++
		if key != fmt.Sprintf("g%d", n) {
			e.t.Errorf("receipt %d is that of %s", n, key)
		}
		answers, err := strconv.Atoi(to)
		e.noError(err)
		if answers <= before {
			e.t.Errorf("%s answers message %d, and the one before it %d", key, answers, before)
		}
		before = answers
	}
	e.noError(rows.Err())
	return n
}

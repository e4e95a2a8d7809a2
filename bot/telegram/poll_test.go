package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

func TestPollDelivers(t *testing.T) {
	w := newFixture(t)
	w.poll()
	w.far.Say(mira, mira.ID, "/status")
	w.far.Say(mira, mira.ID, "Wrap the existing code")
	got := w.receiver.Wait(t, 2)
	if err := w.far.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got[0].Text != "/status" || got[1].Text != "Wrap the existing code" {
		t.Errorf("received %+v", got)
	}
	if s := w.bot.State(); !s.Connected || s.LastContact.IsZero() {
		t.Errorf("state %+v, want connected", s)
	}
	for _, c := range w.far.Calls("getUpdates") {
		if c.Params["allowed_updates"] != `["message","edited_message","callback_query","message_reaction"]` {
			t.Errorf("a poll without its kinds of updates: %v", c.Params)
		}
	}
}

// TestPollSaysMore: all but the last update of a response say that more follow.
func TestPollSaysMore(t *testing.T) {
	w := newFixture(t)
	for _, text := range []string{"one", "two", "three"} {
		w.far.Say(mira, mira.ID, text)
	}
	w.poll()
	var more []bool
	for _, in := range w.receiver.Wait(t, 3) {
		more = append(more, in.More)
	}
	if diff := cmp.Diff([]bool{true, true, false}, more); diff != "" {
		t.Error(diff)
	}
}

// TestPollRepeatsUncommitted checks that an update is delivered again until it
// is committed, and that no later update is delivered before that.
func TestPollRepeatsUncommitted(t *testing.T) {
	w := newFixture(t)
	tries := 0
	w.receiver.Check(func(in bot.Inbound) error {
		if in.Text != "two" {
			return nil
		}
		if tries++; tries < 5 {
			return errStore
		}
		if n := w.far.Unconfirmed(); n < 2 {
			t.Errorf("%d updates are unconfirmed, but two of them are not committed", n)
		}
		return nil
	})
	for _, text := range []string{"one", "two", "three"} {
		w.far.Say(mira, mira.ID, text)
	}
	w.poll()
	var texts []string
	for _, in := range w.receiver.Wait(t, 3) {
		texts = append(texts, in.Text)
	}
	if diff := cmp.Diff([]string{"one", "two", "three"}, texts); diff != "" {
		t.Error(diff)
	}
	s := time.Second
	if diff := cmp.Diff([]time.Duration{s, 2 * s, 4 * s, 8 * s}, w.Pauses()[:4]); diff != "" {
		t.Errorf("pauses: %s", diff)
	}
	if got := w.Troubles(); !slices.Contains(got, transport.TroubleStore) {
		t.Errorf("troubles told: %q", got)
	}
}

// After five crashes before the confirming poll the update has arrived five times
// with the same key.
func TestPollAfterCrashes(t *testing.T) {
	w := newFixture(t)
	w.far.Say(mira, mira.ID, "/stop")
	keys := map[string]int{}
	for range 5 {
		w.receiver.LoseCursors(true) // the crash loses the commit
		stop := w.poll()
		got := w.receiver.Wait(t, 1)
		if err := stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("Poll ended with %v", err)
		}
		keys[got[0].Key]++
		w.receiver.Crash()
	}
	if len(keys) != 1 || w.far.Unconfirmed() != 1 {
		t.Errorf("keys %v, %d unconfirmed", keys, w.far.Unconfirmed())
	}
	w.receiver.LoseCursors(false)
	w.poll()
	w.receiver.Wait(t, 1)
	if err := w.far.WaitConfirmed(testContext(t)); err != nil {
		t.Error(err)
	}
}

// A receiver that stores no cursor does not make Poll loop without pauses.
func TestPollCursorNotStored(t *testing.T) {
	w := newFixture(t)
	w.resume = make(chan struct{})
	w.receiver.LoseCursors(true)
	w.far.Say(mira, mira.ID, "hello")
	w.poll()
	for range 3 {
		<-w.woken
		if s := w.bot.State(); s.Trouble != transport.TroubleStore {
			t.Errorf("state %+v", s)
		}
		w.resume <- struct{}{}
	}
	if n := len(w.far.Calls("getUpdates")); n > 5 {
		t.Errorf("%d polls in three rounds", n)
	}
}

func TestPollBacklog(t *testing.T) {
	w := newFixture(t)
	const many = 1000
	for n := range many {
		w.far.Say(mira, mira.ID, strconv.Itoa(n))
	}
	w.poll()
	for n, in := range w.receiver.Wait(t, many) {
		if in.Text != strconv.Itoa(n) {
			t.Fatalf("update %d is %q", n, in.Text)
		}
	}
	if err := w.far.WaitConfirmed(testContext(t)); err != nil {
		t.Error(err)
	}
	if w.receiver.Repeats() != 0 {
		t.Errorf("%d were delivered twice", w.receiver.Repeats())
	}
}

// After a week without updates, or on another server, ids start at any number,
// even a lower one.
func TestPollIDsRestart(t *testing.T) {
	w := newFixture(t)
	w.far.Say(mira, mira.ID, "before")
	w.poll()
	w.receiver.Wait(t, 1)
	if err := w.far.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	w.far.Renumber(5000)
	w.far.Say(mira, mira.ID, "after")
	w.far.Say(mira, mira.ID, "and on")
	got := w.receiver.Wait(t, 3)
	if err := w.far.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got[1].Cursor.Value != "5001" || got[2].Cursor.Value != "5002" || w.receiver.Repeats() != 0 {
		t.Errorf("cursors %+v %+v, %d twice", got[1].Cursor, got[2].Cursor, w.receiver.Repeats())
	}
}

// An update that cannot be decoded moves the cursor and hides no later one.
func TestPollMalformedUpdates(t *testing.T) {
	w := newFixture(t)
	for _, body := range []map[string]any{
		{"message": "a text"},
		{"message": map[string]any{"message_id": "x", "chat": []int{1}}},
		{"poll_answer": map[string]any{"poll_id": "1"}},
		{},
		{"callback_query": map[string]any{"id": 5}},
		{"message": map[string]any{"message_id": 1e30}},
	} {
		w.far.Inject(body)
	}
	w.far.Inject(map[string]any{"message": map[string]any{}}) // the update's form is valid, but the message is empty
	w.far.Say(mira, mira.ID, "/status")
	w.poll()
	got := w.receiver.Wait(t, 8)
	for n, in := range got[:6] {
		if in.Unpairable != telegram.SenderUnreadable || in.Cursor == nil || in.Key == "" {
			t.Errorf("update %d: %+v", n, in)
		}
	}
	if got[6].Unpairable == "" {
		t.Errorf("an empty message came from somebody: %+v", got[6])
	}
	if last := got[7]; last.Text != "/status" || last.Unpairable != "" {
		t.Errorf("the last update: %+v", last)
	}
	if err := w.far.WaitConfirmed(testContext(t)); err != nil {
		t.Error(err)
	}
}

// TestPollTroubles checks that every trouble is reported once, that Poll waits,
// and that it recovers.
func TestPollTroubles(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault far.Fault
		want  transport.Trouble
		pause time.Duration
	}{
		{"another poller", far.Conflict(), telegram.TroubleConflict, time.Second},
		{"webhook", far.Fault{Code: 409, Text: "Conflict: can't use getUpdates method while webhook is active"}, telegram.TroubleWebhook, time.Second},
		{"revoked", far.Unauthorized(), transport.TroubleToken, 5 * time.Minute},
		{"unknown token", far.Fault{Code: 404, Text: "Not Found"}, transport.TroubleToken, 5 * time.Minute},
		{"flood", far.TooMany(37), transport.TroubleSlow, 37 * time.Second},
		{"no JSON", far.BadGateway(), transport.TroubleServer, time.Second},
		{"its own fault", far.Fault{Code: 500, Text: "Internal Server Error"}, transport.TroubleServer, time.Second},
		{"login page", far.Fault{Code: 302, Body: "<a href='http://login'>"}, transport.TroubleServer, time.Second},
		{"half a JSON", far.Fault{Code: 200, Body: `{"ok":true,"result":[{"upd`}, transport.TroubleServer, time.Second},
		{"another JSON", far.Fault{Code: 200, Body: `{"ok":true,"result":{"a":1}}`}, transport.TroubleServer, time.Second},
		{"cut", far.CutBefore(), transport.TroubleNetwork, time.Second},
		{"cut after", far.CutAfter(), transport.TroubleNetwork, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.far.Fault("getUpdates", c.fault)
			w.far.Say(mira, mira.ID, "hello")
			w.poll()
			w.receiver.Wait(t, 1)
			if diff := cmp.Diff([]transport.Trouble{c.want, transport.TroubleNone}, w.Troubles()); diff != "" {
				t.Errorf("states: %s", diff)
			}
			if diff := cmp.Diff([]time.Duration{c.pause}, w.Pauses()); diff != "" {
				t.Errorf("pauses: %s", diff)
			}
		})
	}
}

// TestPollConflict checks that Poll recovers after a second program with the
// same token has ended its long poll.
func TestPollConflict(t *testing.T) {
	w := newFixture(t)
	w.resume = make(chan struct{})
	w.poll()
	if err := w.far.WaitPolling(testContext(t)); err != nil {
		t.Fatal(err)
	}
	for !w.far.PollElsewhere() { // between two polls there is no poll to end
		if err := w.far.WaitPolling(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	<-w.woken
	if s := w.bot.State(); s.Connected || s.Trouble != telegram.TroubleConflict || !strings.Contains(s.Text, "another program") {
		t.Errorf("state %+v", s)
	}
	close(w.resume)
	w.far.Say(mira, mira.ID, "hello")
	w.receiver.Wait(t, 1)
	if s := w.bot.State(); !s.Connected {
		t.Errorf("state %+v", s)
	}
}

// Poll starts while Telegram is unreachable, and survives an outage.
func TestPollWhileOffline(t *testing.T) {
	w := newFixture(t)
	w.resume = make(chan struct{})
	w.far.Disconnect()
	w.poll()
	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}
	for n := range want {
		<-w.woken
		want[n] *= time.Second
		if n < len(want)-1 {
			w.resume <- struct{}{}
		}
	}
	if diff := cmp.Diff(want, w.Pauses()); diff != "" {
		t.Errorf("pauses: %s", diff)
	}
	if s := w.bot.State(); s.Connected || s.Trouble != transport.TroubleNetwork {
		t.Errorf("state %+v", s)
	}
	w.far.Say(mira, mira.ID, "hello")
	if err := w.far.Reconnect(); err != nil {
		t.Fatal(err)
	}
	close(w.resume)
	w.receiver.Wait(t, 1)
	if s := w.bot.State(); !s.Connected {
		t.Errorf("state %+v", s)
	}
}

// Stopping does not wait for the end of a long poll of 50 s.
func TestPollStopsAtOnce(t *testing.T) {
	w := newFixture(t)
	stop := w.poll()
	if err := w.far.WaitPolling(testContext(t)); err != nil {
		t.Fatal(err)
	}
	// The first poll returns at once, so the state is known before any update.
	if s := w.bot.State(); !s.Connected {
		t.Errorf("state %+v", s)
	}
	began := time.Now()
	err := stop()
	if took := time.Since(began); took > 300*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	w.CheckSecret("error", fmt.Sprint(err))
}

// TestPollTimeout checks that a poll that exceeds its timeout is cancelled.
func TestPollTimeout(t *testing.T) {
	w := newFixture(t, func(o *telegram.Options) { o.Timeout, o.LongPoll = 50*time.Millisecond, time.Second })
	w.far.Fault("getUpdates", far.Hang())
	w.far.Say(mira, mira.ID, "hello")
	w.poll()
	w.receiver.Wait(t, 1)
	if diff := cmp.Diff([]transport.Trouble{transport.TroubleNetwork, transport.TroubleNone}, w.Troubles()); diff != "" {
		t.Errorf("states: %s", diff)
	}
}

// A server that answers empty polls at once, as some test servers and proxies do,
// is not polled without pauses.
func TestPollWithoutLongPolling(t *testing.T) {
	w := newFixture(t)
	w.resume = make(chan struct{})
	w.far.Fault("getUpdates", far.Fault{Code: 200, Body: `{"ok":true,"result":[]}`, Times: -1})
	w.poll()
	<-w.woken
	if d := w.Pauses()[0]; d <= 0 || d > time.Second {
		t.Errorf("pause %s", d)
	}
}

func TestPollCursorUnreadable(t *testing.T) {
	w := newFixture(t)
	w.far.Say(mira, mira.ID, "hello")
	fails := 2
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.bot.Poll(ctx, func(ctx context.Context) (string, error) {
			if fails--; fails >= 0 {
				return "", errStore
			}
			if c, _ := w.receiver.Cursor(ctx); c != "" {
				return c, nil
			}
			return "no number", nil // not a number, so all updates are fetched again
		}, w.receiver)
	}()
	w.receiver.Wait(t, 1)
	cancel()
	<-done
	if w.Troubles()[0] != transport.TroubleStore {
		t.Errorf("troubles %q", w.Troubles())
	}
}

func TestGroupMoves(t *testing.T) {
	w := newFixture(t)
	w.far.Say(mira, -77, "hello")
	w.far.Migrate(-77, -10077)
	w.poll()
	w.receiver.Wait(t, 2)
	if diff := cmp.Diff([]string{"telegram:-77 → telegram:-10077"}, w.moved); diff != "" {
		t.Error(diff)
	}
}

// slow is a receiver that waits for a channel with the updates that take time.
type slow struct {
	bot.Receiver
	until chan struct{}
}

func (s slow) Receive(ctx context.Context, in bot.Inbound) error {
	if in.TakesTime() {
		select {
		case <-s.until:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Receiver.Receive(ctx, in)
}

// TestPollOvertakes: an update whose file hangs holds up no other. Each is committed
// once, also where the process dies meanwhile, and none is confirmed before it is.
func TestPollOvertakes(t *testing.T) {
	for _, crash := range []bool{false, true} {
		w := newFixture(t, func(o *telegram.Options) { o.Sleep = transport.Sleep })
		until := make(chan struct{})
		poll := func() (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- w.bot.Poll(ctx, w.receiver.Cursor, slow{w.receiver, until}) }()
			return func() { cancel(); <-done }
		}
		stop := poll()
		w.far.Say(mira, mira.ID, "before")
		w.receiver.Wait(t, 1)
		w.far.Post(far.UserMessage{From: mira, Chat: mira.ID, Photo: true, Text: "one"})
		w.far.Post(far.UserMessage{From: mira, Chat: mira.ID, Photo: true, Text: "two"})
		w.far.Say(mira, mira.ID, "/stop")
		w.receiver.Wait(t, 2)
		w.far.Say(mira, mira.ID, "/status") // in a later response
		w.receiver.Wait(t, 3)
		if n := w.far.Unconfirmed(); n != 4 {
			t.Errorf("%d updates are unconfirmed, want the pictures and what came after them", n)
		}
		if crash {
			stop()
			stop = poll()
		}
		close(until)
		w.receiver.Wait(t, 5)
		if err := w.far.WaitConfirmed(testContext(t)); err != nil {
			t.Fatal(err)
		}
		stop()
		if diff := cmp.Diff([]string{"before", "/stop", "/status", "one", "two"}, w.receiver.Texts()); diff != "" {
			t.Errorf("crash %v: %s", crash, diff)
		}
	}
}

package chattest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// patience is the maximum wait of a test.
const patience = 20 * time.Second

// recorder is a Receiver that commits at once, with the cursor.
type recorder struct {
	t         *testing.T
	mu        sync.Mutex
	changed   chan struct{}
	cursor    string
	committed []bot.Inbound
	refusals  int // number of inputs to reject
	refused   []string
}

func newRecorder(t *testing.T) *recorder { return &recorder{t: t, changed: make(chan struct{})} }

func (r *recorder) at(context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cursor, nil
}

// Receive commits an input once per key.
func (r *recorder) Receive(_ context.Context, in bot.Inbound) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { close(r.changed); r.changed = make(chan struct{}) }()
	if r.refusals > 0 {
		r.refusals--
		r.refused = append(r.refused, in.Key)
		return errors.New("the disk is full")
	}
	if in.Cursor != nil {
		r.cursor = in.Cursor.Value
	}
	if !slices.ContainsFunc(r.committed, func(had bot.Inbound) bool { return had.Key == in.Key }) {
		r.committed = append(r.committed, in)
	}
	return nil
}

// wait returns the committed inputs as soon as there are n.
func (r *recorder) wait(n int) []bot.Inbound {
	r.t.Helper()
	late := time.After(patience)
	for {
		r.mu.Lock()
		got, changed := slices.Clone(r.committed), r.changed
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-changed:
		case <-late:
			r.t.Fatalf("%d of %d inputs came: %+v", len(got), n, got)
		}
	}
}

// start runs the adapter until stop is called.
func (w *Fixture) start(t *testing.T, r *recorder) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx, r.at, r) }()
	stop = func() {
		cancel()
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("it does not end")
		}
	}
	t.Cleanup(stop)
	return stop
}

func texts(got []bot.Inbound) string {
	var out []string
	for _, in := range got {
		out = append(out, in.Text)
	}
	return strings.Join(out, " | ")
}

// testReceive: messages arrive in order, with sender, chat and time.
func testReceive(t *testing.T, w *Fixture) {
	r := newRecorder(t)
	w.start(t, r)
	w.Say(w.Person, "Wrap the <existing> code & keep it")
	w.Say(w.Person, "/status")
	w.Say(w.Group, "/pause")
	got := r.wait(3)
	if texts(got) != "Wrap the <existing> code & keep it | /status | /pause" {
		t.Errorf("%s", texts(got))
	}
	keys := map[string]bool{}
	for n, in := range got {
		chat := w.Person
		if n == 2 {
			chat = w.Group
		}
		if in.Actor != w.Person || in.Chat != chat || in.Private != (chat == w.Person) || in.Message == "" || in.Unpairable != "" || in.Edited || in.Press != "" {
			t.Errorf("%+v", in)
		}
		if in.Cursor == nil || in.Cursor.Name != w.Cursor || time.Since(in.Sent).Abs() > time.Minute {
			t.Errorf("%q: cursor %+v, sent %s", in.Text, in.Cursor, in.Sent)
		}
		if keys[in.Key] || !strings.HasPrefix(in.Key, w.Prefix) {
			t.Errorf("key %q", in.Key)
		}
		keys[in.Key] = true
	}
}

// testRedelivery: an input that was not committed arrives again with the same key,
// and no later input before it.
func testRedelivery(t *testing.T, w *Fixture) {
	r := newRecorder(t)
	r.refusals = 3
	w.start(t, r)
	for _, text := range []string{"one of them", "two of them", "three of them"} {
		w.Say(w.Person, text)
	}
	if got := r.wait(3); texts(got) != "one of them | two of them | three of them" || len(r.refused) != 3 || r.refused[0] != got[0].Key || r.refused[2] != got[0].Key {
		t.Errorf("%s; not committed: %q", texts(got), r.refused)
	}
}

// testRestart: messages sent while the adapter was stopped arrive later, and no
// message arrives twice.
func testRestart(t *testing.T, w *Fixture) {
	r := newRecorder(t)
	stop := w.start(t, r)
	w.Say(w.Person, "before it")
	r.wait(1)
	for n, text := range []string{"while it was off", "and off again"} {
		stop()
		w.Say(w.Person, text)
		w.Say(w.Group, "/resume")
		stop = w.start(t, r)
		r.wait(1 + 2*(n+1))
	}
	w.Say(w.Person, "after it")
	if got := texts(r.wait(6)); got != "before it | while it was off | /resume | and off again | /resume | after it" {
		t.Errorf("%s", got)
	}
}

// testPresses: a press stands for its button's command, whatever it contains.
func testPresses(t *testing.T, w *Fixture) {
	r := newRecorder(t)
	w.start(t, r)
	twins := []string{"q5 retry", "/evidence 7.1", "shop: /guidance ~tidy @1", "/guidance " + strings.Repeat("long words ", 30)}
	for n, twin := range twins {
		chat := []string{w.Person, w.Group}[n%2]
		m := message("? shop asks (q5)")
		m.Buttons = []bot.Button{{Label: "Other", Command: "/help"}, {Label: "This", Command: twin}}
		id, err := w.Sender.Send(t.Context(), chat, m, bot.SendOptions{Silent: true})
		if err != nil {
			t.Fatal(err)
		}
		w.Press(chat, id, "This")
		in := r.wait(n + 1)[n]
		got, ok := bot.Pressed(m, in.Press)
		if !ok || got != twin || in.Chat != chat || in.Message != id || in.Actor != w.Person || in.Text != "" || in.Private != (chat == w.Person) {
			t.Errorf("%q came as %q, %v: %+v", twin, got, ok, in)
		}
		for _, words := range []string{"", "Nothing <changed> & " + strings.Repeat("so ", 200)} {
			if err := w.Sender.Notice(t.Context(), in.PressID, words); err != nil {
				t.Errorf("notice: %v", err)
			}
		}
	}
	_ = w.Sender.Notice(t.Context(), "no press at all", "x") // an unknown press may be an error, but must not panic
	if _, ok := bot.Pressed(bot.Message{}, "9.q5.retry.0000"); ok {
		t.Error("data of another version is read")
	}
}

// testReplies: a reply has the id that Send returned, and an edit is another input
// with the same message id.
func testReplies(t *testing.T, w *Fixture) {
	r := newRecorder(t)
	w.start(t, r)
	for n, chat := range []string{w.Person, w.Group} {
		id, err := w.Sender.Send(t.Context(), chat, message("■ shop #8 blocked (q5)"), bot.SendOptions{Silent: true})
		if err != nil {
			t.Fatal(err)
		}
		w.Reply(chat, id, "guide by line")
		if in := r.wait(2*n + 1)[2*n]; in.ReplyTo != id || in.Text != "guide by line" || in.Chat != chat {
			t.Errorf("%+v, to %s", in, id)
		}
		if n == 1 {
			break
		}
		said := w.Say(chat, "Keep the names")
		first := r.wait(2)[1]
		w.Change(chat, said, "Keep the old names")
		all := r.wait(3)
		r.mu.Lock()
		r.committed = all[:2]
		r.mu.Unlock()
		if in := all[2]; !in.Edited || in.Message != first.Message || in.Key == first.Key || in.Text != "Keep the old names" {
			t.Errorf("%+v after %+v", in, first)
		}
	}
}

// testOtherBots: a message of another bot is marked as one without authorization.
func testOtherBots(t *testing.T, w *Fixture) {
	r := newRecorder(t)
	w.start(t, r)
	w.OtherBot(w.Group, "/stop")
	if in := r.wait(1)[0]; in.Unpairable == "" || in.Private || in.Actor == w.Person {
		t.Errorf("%+v", in)
	}
}

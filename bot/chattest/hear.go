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

// patience is what a test waits at most.
const patience = 20 * time.Second

// ledger is a Receiver that commits at once, the cursor with the input.
type ledgerStore struct {
	t       *testing.T
	mu      sync.Mutex
	changed chan struct{}
	cursor  string
	got     []bot.Inbound
	refuse  int // so many inputs are not committed
	refused []string
}

func newLedger(t *testing.T) *ledgerStore { return &ledgerStore{t: t, changed: make(chan struct{})} }

func (l *ledgerStore) at(context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursor, nil
}

// Receive commits an input, once.
func (l *ledgerStore) Receive(_ context.Context, in bot.Inbound) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { close(l.changed); l.changed = make(chan struct{}) }()
	if l.refuse > 0 {
		l.refuse--
		l.refused = append(l.refused, in.Key)
		return errors.New("the disk is full")
	}
	if in.Cursor != nil {
		l.cursor = in.Cursor.Value
	}
	if !slices.ContainsFunc(l.got, func(had bot.Inbound) bool { return had.Key == in.Key }) {
		l.got = append(l.got, in)
	}
	return nil
}

// wait returns what was committed, once it is so much.
func (l *ledgerStore) wait(n int) []bot.Inbound {
	l.t.Helper()
	late := time.After(patience)
	for {
		l.mu.Lock()
		got, changed := slices.Clone(l.got), l.changed
		l.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-changed:
		case <-late:
			l.t.Fatalf("%d of %d inputs came: %+v", len(got), n, got)
		}
	}
}

// begin runs the adapter until the returned function is called.
func (w *World) begin(t *testing.T, l *ledgerStore) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx, l.at, l) }()
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

// hears: what somebody says comes with who, where and when, in order.
func hears(t *testing.T, w *World) {
	l := newLedger(t)
	w.begin(t, l)
	w.Say(w.Person, "Wrap the <existing> code & keep it")
	w.Say(w.Person, "/status")
	w.Say(w.Group, "/pause")
	got := l.wait(3)
	if texts(got) != "Wrap the <existing> code & keep it | /status | /pause" {
		t.Errorf("%s", texts(got))
	}
	keys := map[string]bool{}
	for n, in := range got {
		chat := w.Person
		if n == 2 {
			chat = w.Group
		}
		if in.Actor != w.Person || in.Chat != chat || in.Private != (chat == w.Person) || in.Message == "" || in.Stands != "" || in.Edited || in.Press != "" {
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

// repeats: what could not be committed comes again, under the same key, and
// nothing after it before.
func repeats(t *testing.T, w *World) {
	l := newLedger(t)
	l.refuse = 3
	w.begin(t, l)
	for _, text := range []string{"one of them", "two of them", "three of them"} {
		w.Say(w.Person, text)
	}
	if got := l.wait(3); texts(got) != "one of them | two of them | three of them" || len(l.refused) != 3 || l.refused[0] != got[0].Key || l.refused[2] != got[0].Key {
		t.Errorf("%s; not committed: %q", texts(got), l.refused)
	}
}

// restarts: what was said while nobody listened is heard later, and what was
// heard is not heard again.
func restarts(t *testing.T, w *World) {
	l := newLedger(t)
	stop := w.begin(t, l)
	w.Say(w.Person, "before it")
	l.wait(1)
	for n, text := range []string{"while it was off", "and off again"} {
		stop()
		w.Say(w.Person, text)
		w.Say(w.Group, "/resume")
		stop = w.begin(t, l)
		l.wait(1 + 2*(n+1))
	}
	w.Say(w.Person, "after it")
	if got := texts(l.wait(6)); got != "before it | while it was off | /resume | and off again | /resume | after it" {
		t.Errorf("%s", got)
	}
}

// presses: a press is the twin of its button, whatever that holds.
func presses(t *testing.T, w *World) {
	l := newLedger(t)
	w.begin(t, l)
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
		in := l.wait(n + 1)[n]
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
	if err := w.Sender.Notice(t.Context(), "no press at all", "x"); err != nil && faultOf(err) == "" {
		t.Errorf("notice of nothing: %v", err)
	}
	if _, ok := bot.Pressed(bot.Message{}, "9.q5.retry.0000"); ok {
		t.Error("data of another version is read")
	}
}

// answers: what somebody answers is told by the id that the Sender gave, and
// an edit is another input about the same message.
func answers(t *testing.T, w *World) {
	l := newLedger(t)
	w.begin(t, l)
	for n, chat := range []string{w.Person, w.Group} {
		id, err := w.Sender.Send(t.Context(), chat, message("■ shop #8 blocked (q5)"), bot.SendOptions{Silent: true})
		if err != nil {
			t.Fatal(err)
		}
		w.Reply(chat, id, "guide by line")
		if in := l.wait(2*n + 1)[2*n]; in.ReplyTo != id || in.Text != "guide by line" || in.Chat != chat {
			t.Errorf("%+v, to %s", in, id)
		}
		if n == 1 {
			break
		}
		said := w.Say(chat, "Keep the names")
		first := l.wait(2)[1]
		w.Change(chat, said, "Keep the old names")
		all := l.wait(3)
		l.mu.Lock()
		l.got = all[:2]
		l.mu.Unlock()
		if in := all[2]; !in.Edited || in.Message != first.Message || in.Key == first.Key || in.Text != "Keep the old names" {
			t.Errorf("%+v after %+v", in, first)
		}
	}
}

// robots: another program is nobody who can be let in.
func robots(t *testing.T, w *World) {
	l := newLedger(t)
	w.begin(t, l)
	w.Robot(w.Group, "/stop")
	if in := l.wait(1)[0]; in.Stands == "" || in.Private || in.Actor == w.Person {
		t.Errorf("%+v", in)
	}
}

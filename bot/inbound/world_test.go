package inbound_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

var evening = time.Date(2026, 11, 19, 23, 10, 0, 0, zone)

var zone = time.FixedZone("CET", 3600)

const (
	mira  = "telegram:48213377"
	ana   = "telegram:5"
	ben   = "telegram:7"
	group = "telegram:-1001"
	code  = "K7QX-M2PD"
)

// world is a Receiver with the real engine and store, and a platform that
// delivers messages at once.
type world struct {
	t      *testing.T
	store  *store.Store
	engine *engine.Engine
	r      *inbound.Receiver
	now    time.Time
	update int // id of the last input
	ids    int // id of the last delivered message
	shown  map[string][]*shown
	toasts []string
	held   string // chat whose messages wait
	foul   bool   // messages have no proper wording: see TestInputsIgnoreSentences

	configured []string
	offerErr   error
	diffErr    error
	diffHangs  bool
	patience   time.Duration
	breaks     func(in loop.Input) error // instead of deciding
	dies       func() error              // after something was committed
}

// shown is one message in a chat.
type shown struct {
	id, key string
	replyTo string
	silent  bool
	class   ledger.MessageClass
	m       bot.Message
}

// newWorld returns a world with a run in progress: one task is blocked, one
// asks a question, and a builder is running.
func newWorld(t *testing.T) *world {
	t.Helper()
	n := scenario.New("shop", evening)
	n.Cost = 0.25
	for _, p := range []ledger.Person{{ID: mira, Name: "Mira", Role: ledger.RoleAdmin}, {ID: ana, Name: "Ana", Role: ledger.RoleSteer}, {ID: ben, Name: "Ben", Role: ledger.RoleView}} {
		p.Since = evening
		n.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: evening, Body: ledger.PersonPaired{Person: p}})
	}
	n.Acts["Task 2 planner"] = []scenario.Act{{Type: "task.blocked", Data: `{"reason":"the plan says two things","tried":"by line","needs":"which of them"}`, Took: time.Minute, Cost: 0.1}}
	n.Acts["Task 3 planner"] = []scenario.Act{{Type: "question.asked", Data: `{"text":"May an address be a PO box?","options":["Yes, letters only","No"],"choice":"No"}`, Took: time.Minute, Cost: 0.1}}
	set := n.Settings()
	set.Stays = true
	n.Start(set, n.Base("r1"), scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow"), scenario.Task(3, "Address form"),
		scenario.Task(4, "Move orders to the new API"), scenario.Task(6, "Retry failed payments", "Task 2"))
	n.Until(func() bool { return bot.Doing(n.State) == "#4 builder" })
	return open(t, n.Now, n.All())
}

// open returns a world with the given records.
func open(t *testing.T, now time.Time, records []ledger.Record) *world {
	t.Helper()
	w := &world{t: t, now: now, shown: map[string][]*shown{}, configured: []string{"shop"}}
	var err error
	if w.store, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Commit(t.Context(), ledger.Batch{Key: "before", Time: now, Records: records, Answer: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.start()
	return w
}

// start opens an engine on the store.
func (w *world) start() {
	t := w.t
	t.Helper()
	streams, err := w.store.Streams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	streams = slices.DeleteFunc(streams, func(s string) bool { return s == ledger.SharedStream })
	where := func(key string) []string {
		chats, err := w.store.ChatsWith(context.Background(), key)
		if err != nil {
			t.Error(err)
		}
		return chats
	}
	n := notify.New(notify.Options{ChatsWith: where, Group: telegram.IsGroup, Zone: zone})
	w.engine, err = engine.Open(t.Context(), engine.Options{
		Ledger: w.store, Clock: func() time.Time { return w.now }, Compose: n.Compose,
		Ports: func(context.Context, ledger.Settings) (engine.Ports, error) {
			return engine.Ports{}, errors.New("no project is worked on here")
		},
	}, streams)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.engine.Run(ctx, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	w.r = inbound.New(w.options())
}

func (w *world) options() inbound.Options {
	return inbound.Options{
		Service: host{w}, Outbox: w.store, Hash: func(code string) string { return "hash of " + code },
		Notice: func(_ context.Context, press, text string) error {
			if len(utf16.Encode([]rune(text))) > 200 { // docs/spec 27
				w.t.Errorf("a toast of more than 200 characters: %s", text)
			}
			w.toasts = append(w.toasts, press+": "+text)
			return nil
		},
		Patience: w.patience,
		Name:     func() string { return "night_porter_bot" }, Zone: zone, Clock: func() time.Time { return w.now },
	}
}

// host is the bot.Service of a running daemon.
type host struct{ *world }

func (h host) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	return h.DoWith(ctx, in, nil)
}

func (h host) DoWith(ctx context.Context, in loop.Input, with func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (ledger.Answer, error) {
	if h.breaks != nil {
		if err := h.breaks(in); err != nil {
			return ledger.Answer{}, err
		}
	}
	a, err := h.engine.DoWith(ctx, in, with)
	if err == nil && h.dies != nil {
		err = h.dies()
	}
	return a, err
}

func (h host) Say(ctx context.Context, key string, at time.Time, msgs []ledger.Outgoing, cursor *ledger.Cursor) error {
	_, err := h.store.Commit(ctx, ledger.Batch{Key: key, Time: at, Messages: msgs, Cursor: cursor, Answer: []byte("{}")})
	if err == nil && h.dies != nil {
		err = h.dies()
	}
	return err
}
func (h host) State(p string) (loop.State, bool) { return h.engine.State(p) }
func (h host) Projects() []string                { return h.engine.Projects() }
func (h host) Configured() []string              { return h.configured }
func (h host) QuietHours() ledger.Hours          { return "23:00-07:00" }

func (h host) Shared() loop.Shared {
	s, _ := h.engine.State("")
	return s.Shared
}

func (h host) Hats(_ context.Context, project, _ string) (bot.HatSet, error) {
	set := scenario.New(project, h.now).Settings()
	return bot.HatSet{Pattern: set.Pattern, Hats: set.Hats, Agent: set.Agent}, nil
}

func (h host) Records(ctx context.Context, project, task string) ([]ledger.Record, error) {
	var out []ledger.Record
	err := h.store.Records(ctx, ledger.ProjectStream(project), 0, func(r ledger.Record) error {
		if task == "" || ledger.SameID(r.Task, task) {
			out = append(out, r)
		}
		return nil
	})
	return out, err
}

func (h host) Runs(ctx context.Context, project string) ([]string, error) {
	return h.store.RunsOf(ctx, ledger.ProjectStream(project))
}

func (h host) RunRecords(ctx context.Context, project, run string, types ...string) (out []ledger.Record, err error) {
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	if len(types) == 0 {
		err = h.store.RecordsOfRun(ctx, ledger.ProjectStream(project), run, keep)
	} else {
		err = h.store.RecordsOfTypes(ctx, ledger.ProjectStream(project), run, types, keep)
	}
	return out, err
}

func (h host) Diff(ctx context.Context, _, _ string) (string, error) {
	if h.diffHangs {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n", h.diffErr
}

func (h host) Offer(_ context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	set := scenario.New(project, h.now).Settings()
	set.Stays, set.From, set.Only = true, f.From, f.Only
	if f.Profile == "review" {
		set.Profile, set.OnBlocked, set.MaxTasks = "review", ledger.OnBlockedStop, 5
	}
	o := loop.OfferRun{Settings: set, MaxSessions: 1, Tasks: 12, First: "Task 1"}
	if f.Profile != "review" {
		o.Review = &ledger.Limits{Profile: "review", OnBlocked: ledger.OnBlockedStop, MaxTasks: 5, MaxIterations: 100}
	}
	return o, h.offerErr
}

// receive passes an input to the Receiver, with the next update's id.
func (w *world) receive(in bot.Inbound) bot.Inbound {
	w.t.Helper()
	w.update++
	in.Key = fmt.Sprintf("telegram:%d", w.update)
	in.Cursor = &ledger.Cursor{Name: "telegram:1", Value: strconv.Itoa(w.update + 1)}
	if in.Sent.IsZero() {
		in.Sent = w.now
	}
	if in.Name == "" {
		in.Name = "Somebody"
	}
	w.redeliver(in)
	return in
}

// redeliver delivers an input a second time.
func (w *world) redeliver(in bot.Inbound) {
	w.t.Helper()
	if err := w.r.Receive(w.t.Context(), in); err != nil {
		w.t.Errorf("%s %q: %v", in.Key, in.Text+in.Press, err)
	}
	if c, ok, err := w.store.Cursor(w.t.Context(), "telegram:1"); err != nil || !ok || c.Value != in.Cursor.Value {
		w.t.Errorf("after %s %q the cursor is %+v, %v, %v", in.Key, in.Text+in.Press, c, ok, err)
	}
	w.deliver()
}

// deliver shows the queued messages in their chats.
func (w *world) deliver() {
	ctx := w.t.Context()
	chats, err := w.store.Chats(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, chat := range chats {
		for chat != w.held {
			q, ok, err := w.store.NextMessage(ctx, chat)
			if err != nil {
				w.t.Fatal(err)
			}
			if !ok {
				break
			}
			w.show(q)
		}
	}
}

func (w *world) show(q ledger.QueuedMessage) {
	var m bot.Message
	if err := json.Unmarshal(q.Body, &m); err != nil {
		w.t.Fatal(err)
	}
	if !w.foul {
		messagelint.Check(w.t, "shown", m)
	}
	id := q.Target
	if !q.Edit || id == "" {
		w.ids++
		id = strconv.Itoa(5000 + w.ids)
		w.shown[q.Chat] = append(w.shown[q.Chat], &shown{id: id, key: q.Key, replyTo: q.ReplyTo, silent: q.Silent, class: q.Class, m: m})
	} else {
		for _, s := range w.shown[q.Chat] {
			if s.id == id {
				s.m = m
			}
		}
	}
	if _, err := w.store.Sent(w.t.Context(), q.ID, id, w.now); err != nil {
		w.t.Fatal(err)
	}
}

// private sends a person's text in their private chat.
func (w *world) private(who, text string) bot.Inbound {
	w.t.Helper()
	return w.receive(bot.Inbound{Actor: who, Chat: who, Private: true, Text: text, Message: w.message()})
}

func (w *world) message() string { return strconv.Itoa(100 + w.update + 1) }

// newest returns the newest message of a chat.
func (w *world) newest(chat string) *shown {
	w.t.Helper()
	all := w.shown[chat]
	if len(all) == 0 {
		w.t.Fatalf("%s shows nothing", chat)
	}
	return all[len(all)-1]
}

// newestWithKey returns the newest message with a key in a chat.
func (w *world) newestWithKey(chat, key string) *shown {
	w.t.Helper()
	for _, s := range slices.Backward(w.shown[chat]) {
		if s.key == key {
			return s
		}
	}
	w.t.Fatalf("%s shows no %s:\n%s", chat, key, w.transcript(chat))
	return nil
}

// press presses a button.
func (w *world) press(who, chat string, s *shown, label string) bot.Inbound {
	w.t.Helper()
	for n, b := range s.m.Buttons {
		if b.Label == label {
			return w.pressData(who, chat, s.id, telegram.Data(s.m, n))
		}
	}
	w.t.Fatalf("no button %q on:\n%s", label, screen(s.m))
	return bot.Inbound{}
}

func (w *world) data(m bot.Message, n int) string { return telegram.Data(m, n) }

func (w *world) pressData(who, chat, message, data string) bot.Inbound {
	w.t.Helper()
	return w.receive(bot.Inbound{Actor: who, Chat: chat, Private: chat == who, Message: message, Press: data, PressID: "p" + strconv.Itoa(w.update)})
}

func (w *world) state() loop.State {
	s, _ := w.engine.State("shop")
	return s
}

// entries counts the ledger's entries of a type.
func (w *world) entries(kind string) int {
	n := 0
	for _, stream := range []string{ledger.SharedStream, ledger.ProjectStream("shop")} {
		err := w.store.Records(w.t.Context(), stream, 0, func(r ledger.Record) error {
			if r.Type == kind {
				n++
			}
			return nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return n
}

func (w *world) transcript(chat string) string {
	var b strings.Builder
	for _, s := range w.shown[chat] {
		if s.replyTo != "" {
			b.WriteString("(to " + s.replyTo + ") ")
		}
		fmt.Fprintf(&b, "▸ %s %s\n%s\n", s.m.Key, s.class, screen(headline(s.m)))
	}
	return b.String()
}

// headline returns the first line of a status, whose other lines package bot's
// own tests check. It returns other messages unchanged.
func headline(m bot.Message) bot.Message {
	if strings.HasPrefix(m.Key, "status.") && m.Key != "status.all" {
		m.Lines = m.Lines[:1]
	}
	return m
}

func screen(m bot.Message) string {
	var b strings.Builder
	for _, l := range m.Lines {
		switch l.Kind {
		case bot.Quote:
			for _, part := range bot.Wrap(l.Text, 36) {
				b.WriteString("┃ " + part + "\n")
			}
		case bot.Pre:
			b.WriteString(l.Text + "\n")
		default:
			b.WriteString(strings.Join(bot.Wrap(l.Text, 38), "\n") + "\n")
		}
	}
	for _, x := range m.Buttons {
		b.WriteString("[" + x.Label + "] ")
	}
	if len(m.Buttons) > 0 {
		b.WriteString("\n› " + m.Twins() + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// queue queues a message for a chat, as another package would.
func (w *world) queue(chat, key string, m bot.Message) {
	w.t.Helper()
	body, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = w.store.Commit(w.t.Context(), ledger.Batch{Time: w.now, Messages: []ledger.Outgoing{{Chat: chat, Key: key, Class: ledger.ClassNotice, Body: body}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.deliver()
}

// showQuestion shows an open question to Mira and Ana, as package notify does
// when it is asked.
func (w *world) showQuestion(id string) {
	w.t.Helper()
	q, ok := w.state().Project.Question(id)
	if !ok {
		w.t.Fatalf("%s is not open", id)
	}
	for _, chat := range []string{mira, ana} {
		w.queue(chat, id, bot.Ask(w.state(), q, w.now))
	}
}

// engineEntry adds an entry to the store. The engine sees it after reopened.
func (w *world) engineEntry(e ledger.Entry) {
	w.t.Helper()
	r, err := e.Record()
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.store.Commit(w.t.Context(), ledger.Batch{Time: w.now, Records: []ledger.Record{r}}); err != nil {
		w.t.Fatal(err)
	}
}

// reopened returns the world after a restart of the engine on the same store.
func (w *world) reopened() *world {
	w.t.Helper()
	next := *w
	next.start()
	return &next
}

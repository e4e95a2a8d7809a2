package inbound_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
	"github.com/nightporter/nightporter/store/storetest"
)

var evening = time.Date(2026, 11, 19, 23, 10, 0, 0, zone)

var zone = time.FixedZone("CET", 3600)

const (
	mira  = "telegram:48213377"
	ana   = "telegram:5"
	ben   = "telegram:7"
	group = "telegram:-1001"
	code  = "K7QX-M2PD"
)

// fixture is a Receiver with the real engine and store, and a platform that
// delivers at once.
type fixture struct {
	t      *testing.T
	store  *store.Store
	engine *engine.Engine
	r      *inbound.Receiver
	now    time.Time
	later  *atomic.Int64 // how far the clock was moved, in nanoseconds
	update int           // id of the last input
	ids    int           // id of the last delivered message
	shown  map[string][]*shown
	toasts []string
	held   string // chat whose messages wait
	tilde  bool   // sentences are marked, so wording is not checked: see TestInputsIgnoreSentences

	files  *attachment.Store
	folder string                       // folder of files
	remote map[string][]byte            // files at the platform, by id
	fetch  func(f bot.RemoteFile) error // returns the error of a load; nil = none

	daemon    *scenario.DaemonService
	plan      *addedPlan
	offerErr  error
	diffErr   error
	diffHangs bool
	patience  time.Duration
	decideErr func(in loop.Input) error // returns the error of a decision, before it; nil = none
	crash     func() error              // returns the error after a commit; nil = none
}

// shown is one message in a chat.
type shown struct {
	id, key string
	replyTo string
	silent  bool
	class   ledger.MessageClass
	m       bot.Message
}

// newFixture returns a fixture with a run under way: one task blocked, one that
// asks, and a builder at work.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	n := newNight()
	set := n.Settings()
	set.Stays = true
	n.AtWork(set)
	return open(t, n.Now, n.All())
}

// newNight returns a night with a person of each role.
func newNight() *scenario.Night {
	n := scenario.New("shop", evening)
	n.Entry(scenario.Person(mira, "Mira", ledger.RoleAdmin, evening))
	n.Entry(scenario.Person(ana, "Ana", ledger.RoleSteer, evening))
	n.Entry(scenario.Person(ben, "Ben", ledger.RoleView, evening))
	return n
}

// named returns which hashes the ledger names.
func (w *fixture) named(hashes []string) (map[string]bool, error) {
	named := map[string]bool{}
	err := w.store.Records(w.t.Context(), ledger.ProjectStream("shop"), 0, func(r ledger.Record) error {
		for _, hash := range hashes {
			named[hash] = named[hash] || strings.Contains(string(r.Body), hash)
		}
		return nil
	})
	return named, err
}

// clock returns the time of the fixture, which the engine reads at any moment.
func (w *fixture) clock() time.Time { return w.now.Add(time.Duration(w.later.Load())) }

// open returns a fixture with the given records.
func open(t *testing.T, now time.Time, records []ledger.Record) *fixture {
	t.Helper()
	w := &fixture{t: t, store: storetest.Open(t, t.TempDir()), now: now, folder: t.TempDir(), remote: map[string][]byte{}, later: new(atomic.Int64), shown: map[string][]*shown{}, plan: &addedPlan{}}
	if _, err := w.store.Commit(t.Context(), ledger.Batch{Key: "before", Time: now, Records: records, Answer: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	w.start()
	return w
}

// start opens an engine on the store.
func (w *fixture) start() {
	t := w.t
	t.Helper()
	streams, err := w.store.Streams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	where := func(key string) []string {
		chats, err := w.store.ChatsWith(context.Background(), key)
		if err != nil {
			t.Error(err)
		}
		return chats
	}
	n := notify.New(notify.Options{ChatsWith: where, Group: telegram.IsGroup, Zone: func() *time.Location { return zone }})
	w.engine, _ = scenario.RunEngine(t, engine.Options{Ledger: w.store, Clock: w.clock, Compose: n.Compose, Adder: func(string, ledger.SourceRef) (engine.Adder, error) { return w.plan, w.plan.err }}, streams, false)
	w.daemon = &scenario.DaemonService{Engine: w.engine, Store: w.store, Names: []string{"shop"}, Quiet: "23:00-07:00", Tasks: 12}
	w.daemon.Settings = func(project string) ledger.Settings {
		set := scenario.New(project, w.now).Settings()
		set.Stays = true
		return set
	}
	w.files = attachment.Open(w.folder)
	if err := w.files.Recover(w.named); err != nil {
		t.Fatal(err)
	}
	w.r = inbound.New(w.options())
}

func (w *fixture) options() inbound.Options {
	return inbound.Options{
		Service: service{w.daemon, w}, Outbox: w.store, Hash: func(code string) string { return "hash of " + code },
		Notice: func(_ context.Context, press, text string) error {
			if len(utf16.Encode([]rune(text))) > 200 { // docs/spec 27
				w.t.Errorf("a toast of more than 200 characters: %s", text)
			}
			w.toasts = append(w.toasts, press+": "+text)
			return nil
		},
		Patience: w.patience, Files: w.files,
		Fetch: func(_ context.Context, f bot.RemoteFile) ([]byte, error) {
			if w.fetch != nil {
				if err := w.fetch(f); err != nil {
					return nil, err
				}
			}
			data, ok := w.remote[f.ID]
			if !ok {
				return nil, &bot.SendError{Reason: bot.ErrRejected, Text: "file is gone"}
			}
			return data, nil
		},
		Name: func() string { return "night_porter_bot" }, Zone: zone, Clock: w.clock,
	}
}

// service is a daemon's Service whose calls fail as the fixture says.
type service struct {
	*scenario.DaemonService
	f *fixture
}

func (s service) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	return s.DoWith(ctx, in, nil)
}

func (s service) DoWith(ctx context.Context, in loop.Input, with func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (ledger.Answer, error) {
	if s.f.decideErr != nil {
		if err := s.f.decideErr(in); err != nil {
			return ledger.Answer{}, err
		}
	}
	a, err := s.DaemonService.DoWith(ctx, in, with)
	if err == nil && s.f.crash != nil {
		err = s.f.crash()
	}
	return a, err
}

func (s service) Say(ctx context.Context, key string, at time.Time, msgs []ledger.Outgoing, cursor *ledger.Cursor) error {
	err := s.DaemonService.Say(ctx, key, at, msgs, cursor)
	if err == nil && s.f.crash != nil {
		err = s.f.crash()
	}
	return err
}

func (s service) Changes(ctx context.Context, _, _ string) ([]bot.DiffVersion, error) {
	if s.f.diffHangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	files := scenario.Changes("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n")
	return []bot.DiffVersion{{Version: patch.Version{Files: files}, Commit: "9c41e07"}}, s.f.diffErr
}

func (s service) Offer(ctx context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	o, err := s.DaemonService.Offer(ctx, project, f)
	if err == nil {
		err = s.f.offerErr
	}
	if f.Profile == "review" {
		o.Settings.Profile, o.Settings.OnBlocked, o.Settings.MaxTasks = "review", ledger.OnBlockedStop, 5
	} else {
		o.Review = &ledger.Limits{Profile: "review", OnBlocked: ledger.OnBlockedStop, MaxTasks: 5, MaxIterations: 100}
	}
	return o, err
}

// receive passes an input to the Receiver, with the next update's id.
func (w *fixture) receive(in bot.Inbound) bot.Inbound {
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
func (w *fixture) redeliver(in bot.Inbound) {
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
func (w *fixture) deliver() {
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

func (w *fixture) show(q ledger.QueuedMessage) {
	var m bot.Message
	if err := json.Unmarshal(q.Body, &m); err != nil {
		w.t.Fatal(err)
	}
	if !w.tilde {
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

// private sends a person's message in their own chat.
func (w *fixture) private(who, text string) bot.Inbound {
	w.t.Helper()
	return w.receive(bot.Inbound{Actor: who, Chat: who, Private: true, Text: text, Message: w.message()})
}

func (w *fixture) message() string { return strconv.Itoa(100 + w.update + 1) }

// newest returns the newest message of a chat.
func (w *fixture) newest(chat string) *shown {
	w.t.Helper()
	all := w.shown[chat]
	if len(all) == 0 {
		w.t.Fatalf("%s shows nothing", chat)
	}
	return all[len(all)-1]
}

// newestWithKey returns the newest message of a chat with a key.
func (w *fixture) newestWithKey(chat, key string) *shown {
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
func (w *fixture) press(who, chat string, s *shown, label string) bot.Inbound {
	w.t.Helper()
	for n, b := range s.m.Buttons {
		if b.Label == label {
			return w.pressData(who, chat, s.id, telegram.Data(s.m, n))
		}
	}
	w.t.Fatalf("no button %q on:\n%s", label, chattest.Screen(s.m))
	return bot.Inbound{}
}

func (w *fixture) data(m bot.Message, n int) string { return telegram.Data(m, n) }

func (w *fixture) pressData(who, chat, message, data string) bot.Inbound {
	w.t.Helper()
	return w.receive(bot.Inbound{Actor: who, Chat: chat, Private: chat == who, Message: message, Press: data, PressID: "p" + strconv.Itoa(w.update)})
}

func (w *fixture) state() loop.State {
	s, _ := w.engine.State("shop")
	return s
}

// entries counts the ledger's entries of a type.
func (w *fixture) entries(kind string) int {
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

func (w *fixture) transcript(chat string) string {
	var b strings.Builder
	for _, s := range w.shown[chat] {
		if s.replyTo != "" {
			b.WriteString("(to " + s.replyTo + ") ")
		}
		fmt.Fprintf(&b, "▸ %s %s\n%s\n", s.m.Key, s.class, chattest.Screen(chattest.Headline(s.m)))
	}
	return b.String()
}

// queue queues a message for a chat, as another package would.
func (w *fixture) queue(chat, key string, m bot.Message) {
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

// showQuestion shows an open question to Mira and Ana, as package notify did when it was
// asked.
func (w *fixture) showQuestion(id string) {
	w.t.Helper()
	q, ok := w.state().Project.Question(id)
	if !ok {
		w.t.Fatalf("%s is not open", id)
	}
	for _, chat := range []string{mira, ana} {
		w.queue(chat, id, bot.Ask(w.state(), q, w.now))
	}
}

// commit adds an entry to the store; the engine sees it after reopened.
func (w *fixture) commit(e ledger.Entry) {
	w.t.Helper()
	r, err := e.Record()
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.store.Commit(w.t.Context(), ledger.Batch{Time: w.now, Records: []ledger.Record{r}}); err != nil {
		w.t.Fatal(err)
	}
}

// reopened returns the fixture after a restart of the engine on the same store.
func (w *fixture) reopened() *fixture {
	w.t.Helper()
	next := *w
	next.start()
	return &next
}

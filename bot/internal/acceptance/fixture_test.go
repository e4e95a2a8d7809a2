package acceptance

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
	"github.com/nightporter/nightporter/store"
	"github.com/nightporter/nightporter/store/storetest"
)

// fixture is nightporter as cmd/nightporter assembles it, with one platform and
// without processes and git: the real core, engine, store, outbox, delivery,
// adapter and receiver.
type fixture struct {
	t        *testing.T
	store    *store.Store
	engine   *engine.Engine
	notify   *notify.Notifier
	delivery *delivery.Dispatcher
	service  *scenario.DaemonService
	phone    phone
	sessions *sessions
	drawn    []bot.Message           // digests to send with the next decision
	facts    map[string]report.Facts // by project: the facts of its digest
	chat     []byte                  // picture of Mira's chat, at the time that the README shows
}

// quiet are everybody's quiet hours.
const quiet = ledger.Hours("23:00-07:00")

// open starts the night of docs/spec 20, and stops it when the test ends.
func open(t *testing.T, p phone) *fixture {
	t.Helper()
	sessions := newSessions(plan(), script())
	return openNight(t, p, sessions, nil, settings, len(plan().Tasks))
}

// openNight starts everything, and stops it when the test ends. adder takes tasks
// into the plan, nil = nothing does. A run that a user asks for has these settings and
// this many tasks.
func openNight(t *testing.T, p phone, sessions *sessions, adder engine.Adder, settings func() ledger.Settings, tasks int) *fixture {
	t.Helper()
	return openNightWith(t, p, sessions, adder, settings, tasks, func(o inbound.Options) inbound.Options { return o })
}

// openNightWith is openNight with other options of what receives messages.
func openNightWith(t *testing.T, p phone, sessions *sessions, adder engine.Adder, settings func() ledger.Settings, tasks int, receives func(inbound.Options) inbound.Options) *fixture {
	t.Helper()
	db := storetest.Open(t, storetest.FastDir(t))
	w := &fixture{t: t, store: db, phone: p, facts: map[string]report.Facts{}}
	if _, err := db.Commit(t.Context(), ledger.Batch{Key: "before", Time: clock(), Records: before(), Answer: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	w.sessions = sessions
	w.sessions.emit = func(e loop.Emit) error { return scenario.Emit(context.Background(), w.engine, "shop", e) }
	w.notify = notify.New(notify.Options{
		ChatsWith: w.where, Group: func(chat string) bool { return telegram.IsGroup(chat) || slack.IsGroup(chat) },
		Quiet: func() ledger.Hours { return quiet }, Zone: func() *time.Location { return berlin },
		Threads: func(string) []string {
			return slices.DeleteFunc([]string{p.thread()}, func(chat string) bool { return chat == "" })
		},
		Digests: func(string, ledger.Person) []bot.Message { return w.drawn },
		Wave: func(s loop.State, e ledger.WaveEnded, now time.Time) json.RawMessage {
			of, err := json.Marshal(report.WaveOf(s, e, now))
			if err != nil {
				t.Error(err)
			}
			return of
		},
	})
	var err error
	w.engine, err = engine.Open(t.Context(), engine.Options{
		Ledger: db, Ports: w.sessions.project, Compose: w.compose,
		Adder: func(string, ledger.SourceRef) (engine.Adder, error) { return adder, nil },
		Sent:  func(chats []string) { w.delivery.Wake(chats...) },
		Observe: func(_, after loop.State, e ledger.Entry) {
			if b, ok := e.Body.(ledger.QuestionAnswered); ok {
				time.AfterFunc(loop.UndoTime, func() { w.noUndo(after.Project.Name, b.ID) })
			}
			w.delivery.RefreshLive(bot.LiveKey(after.Project.Name))
			w.delivery.RefreshLive(bot.LiveKey(""))
		},
	}, []string{ledger.ProjectStream("blog")})
	if err != nil {
		t.Fatal(err)
	}
	w.service = &scenario.DaemonService{
		Engine: w.engine, Store: db, Names: []string{"shop", "blog"}, Quiet: quiet,
		Settings: func(string) ledger.Settings { return settings() }, Tasks: tasks,
	}
	w.delivery = delivery.New(p.options(delivery.Options{
		Outbox: db, Clock: clock, Live: live{w}, Draw: w.drawPicture,
		Quiet: func(chat string, at time.Time) bool { return w.engine.Shared().QuietHours(chat, quiet).Has(at) },
	}))
	r := inbound.New(receives(p.reception(inbound.Options{
		Service: w.service, Zone: berlin, Hash: func(code string) string { return "hash of " + code },
		ProjectOf: func(chat string) string {
			if chat != p.thread() {
				return ""
			}
			return "shop"
		},
	}, db)))
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		if err := w.engine.Run(ctx, func(string) bool { return true }); err != nil {
			t.Error(err)
		}
	})
	work.Go(func() { _ = w.delivery.Run(ctx) })  // the error says why ctx ended
	work.Go(func() { _ = p.listen(ctx, db, r) }) // the error says why ctx ended
	t.Cleanup(func() {
		cancel()
		work.Wait()
		p.close()
		for _, f := range w.sessions.faults {
			t.Error(f)
		}
	})
	return w
}

// compose checks each composed message with messagelint.
func (w *fixture) compose(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing {
	out := w.notify.Compose(before, d, in)
	for _, o := range out {
		var m bot.Message
		if err := json.Unmarshal(o.Body, &m); err != nil {
			w.t.Error(err)
		}
		messagelint.Check(w.t, "acceptance", m)
	}
	return out
}

// noUndo removes [Undo] from an answer whose minute is over.
func (w *fixture) noUndo(project, question string) {
	s, _ := w.engine.State(project)
	messages := w.notify.RemoveUndo(s, question, time.Now(), func(chat, key string) (m bot.Message, ok bool) {
		sent, found, err := w.store.SentFor(context.Background(), chat, key)
		return m, err == nil && found && json.Unmarshal(sent.Body, &m) == nil
	})
	if err := w.engine.Say(context.Background(), "settled:"+question, time.Now(), messages, nil); err != nil {
		w.t.Error(err)
	}
}

func (w *fixture) where(key string) []string {
	chats, err := w.store.ChatsWith(context.Background(), key)
	if err != nil {
		w.t.Error(err)
	}
	return chats
}

// until advances the night to a time.
func (w *fixture) until(t time.Time) {
	if d := time.Until(t); d > 0 {
		time.Sleep(d)
	}
	synctest.Wait()
}

// input sends an input of the daemon.
func (w *fixture) input(body loop.InputBody) {
	w.t.Helper()
	a, err := w.engine.Do(w.t.Context(), loop.Input{Time: clock(), Actor: "daemon", Idle: true, Body: body})
	if err != nil || !a.OK {
		w.t.Fatalf("%s: %s, %v", body.InputKind(), a.Text, err)
	}
}

// pair pairs a user: the host shows a code, and the user sends it.
func (w *fixture) pair(name string, role ledger.Role, code string) {
	w.t.Helper()
	w.input(people.OfferPairing{Hash: "hash of " + code, Role: role})
	w.phone.say(name, "/pair "+code)
	time.Sleep(20 * time.Second)
	synctest.Wait()
	if p, in := w.engine.Shared().Person(w.phone.id(name)); !in || p.Role != role {
		w.t.Fatalf("%s is not paired as %s: %+v", name, role, w.engine.Shared().People)
	}
}

// press presses a button and waits for its effect.
func (w *fixture) press(who, first, label string) {
	w.t.Helper()
	if err := w.phone.press(who, first, label); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// digest sends the digest, as cmd/nightporter does at 07:30.
func (w *fixture) digest(due time.Time) {
	w.t.Helper()
	shared := w.engine.Shared()
	w.drawn = nil
	for _, name := range w.engine.Projects() {
		m, err := w.draw(name, shared.DigestFrom(due, clock()), clock())
		if err != nil {
			w.t.Fatal(err)
		}
		w.drawn = append(w.drawn, m)
	}
	w.input(people.DigestDue{Day: due.Format(time.DateOnly), At: due})
}

func (w *fixture) draw(project string, from, to time.Time) (bot.Message, error) {
	var records []ledger.Record
	for _, stream := range []string{ledger.SharedStream, ledger.ProjectStream(project)} {
		err := w.store.Records(w.t.Context(), stream, 0, func(r ledger.Record) error {
			records = append(records, r)
			return nil
		})
		if err != nil {
			return bot.Message{}, err
		}
	}
	slices.SortStableFunc(records, func(a, b ledger.Record) int { return a.Time.Compare(b.Time) })
	s, _ := w.engine.State(project)
	f, err := report.Collect(records, s, from, to)
	if err != nil {
		return bot.Message{}, err
	}
	w.facts[project] = f
	m := report.Text(f)
	if len(f.Sessions) > 0 {
		m.Picture, err = report.Picture(f, true)
		m.Alt = report.Alt(f)
	}
	return m, err
}

// live returns the texts of live messages.
type live struct{ *fixture }

func (l live) Text(chat, key string) (bot.Message, bool) {
	m, ok := bot.Live(l.service, key, clock())
	if !ok {
		return bot.Message{}, false
	}
	if person, in := l.engine.Shared().Person(chat); in {
		m = m.For(person.Role)
	}
	s, _ := l.engine.State(strings.TrimPrefix(key, "status/"))
	r := s.Project.Run
	return m, !r.Over() && r.State != ledger.RunPaused
}

// drawPicture draws the picture of a message as the daemon does.
func (w *fixture) drawPicture(m bot.Message) bot.Message {
	if len(m.Drawing.Wave) == 0 {
		return m
	}
	var of report.Wave
	if err := json.Unmarshal(m.Drawing.Wave, &of); err != nil {
		w.t.Error(err)
	}
	var err error
	if m.Picture, err = report.WavePicture(of.In(berlin), true); err != nil {
		w.t.Error(err)
	}
	m.Alt = report.WaveAlt(of.In(berlin))
	return m
}

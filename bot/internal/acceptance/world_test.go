package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"os"
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
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
	"github.com/nightporter/nightporter/store"
)

// porter is nightporter as cmd/nightporter assembles it, with one platform and
// without processes and git: the real core, engine, store, outbox, delivery,
// adapter and receiver.
type porter struct {
	t      *testing.T
	store  *store.Store
	engine *engine.Engine
	notify *notify.Notifier
	post   *delivery.Dispatcher
	phone  phone
	out    *outside
	drawn  []bot.Message           // digests to send with the next decision
	facts  map[string]report.Facts // by project: the facts of its digest
	chat   []byte                  // picture of Mira's chat, at the time that the README shows
}

// quiet are everybody's quiet hours.
const quiet = ledger.Hours("23:00-07:00")

// open starts everything and stops it when the test ends.
func open(t *testing.T, p phone) *porter {
	t.Helper()
	dir := t.TempDir()
	if d, err := os.MkdirTemp("/dev/shm", "story-"); err == nil { //nolint:usetesting // a sync costs nothing there
		dir = d
		t.Cleanup(func() { _ = os.RemoveAll(d) })
	}
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &porter{t: t, store: db, phone: p, facts: map[string]report.Facts{}}
	if _, err := db.Commit(t.Context(), ledger.Batch{Key: "before", Time: clock(), Records: before(), Answer: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	w.out = &outside{script: script(), plan: plan(), running: map[string]chan ledger.Exit{}, ended: map[string]ledger.Exit{}}
	w.out.emit = func(e loop.Emit) error {
		a, err := w.engine.Do(context.Background(), loop.Input{Project: "shop", Actor: "agent", Body: e})
		if err == nil && !a.OK {
			err = errors.New(a.Text)
		}
		return err
	}
	w.notify = notify.New(notify.Options{
		ChatsWith: w.where, Group: func(chat string) bool { return telegram.IsGroup(chat) || slack.IsGroup(chat) },
		Quiet: func() ledger.Hours { return quiet }, Zone: berlin,
		Digests: func(string, ledger.Person) []bot.Message { return w.drawn },
	})
	w.engine, err = engine.Open(t.Context(), engine.Options{
		Ledger: db, Runner: w.out, Agents: w.out, Sockets: w.out, Ports: w.out.ports, Compose: w.compose,
		Sent: func(chats []string) { w.post.Wake(chats...) },
		Observe: func(_, after loop.State, e ledger.Entry) {
			if b, ok := e.Body.(ledger.QuestionAnswered); ok {
				time.AfterFunc(loop.UndoTime, func() { w.noUndo(after.Project.Name, b.ID) })
			}
			w.post.RefreshLive(bot.LiveKey(after.Project.Name))
			w.post.RefreshLive(bot.LiveKey(""))
		},
	}, []string{ledger.ProjectStream("blog")})
	if err != nil {
		t.Fatal(err)
	}
	w.post = delivery.New(p.options(delivery.Options{
		Outbox: db, Clock: clock, Live: live{w},
		Quiet: func(chat string, at time.Time) bool { return w.engine.Shared().QuietHours(chat, quiet).Has(at) },
	}))
	r := inbound.New(p.reception(inbound.Options{
		Service: host{w}, Zone: berlin, Hash: func(code string) string { return "hash of " + code },
	}, db))
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		if err := w.engine.Run(ctx, func(string) bool { return true }); err != nil {
			t.Error(err)
		}
	})
	work.Go(func() { _ = w.post.Run(ctx) })      // the error says why ctx ended
	work.Go(func() { _ = p.listen(ctx, db, r) }) // the error says why ctx ended
	t.Cleanup(func() {
		cancel()
		work.Wait()
		p.close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		for _, f := range w.out.faults {
			t.Error(f)
		}
	})
	return w
}

// compose checks each composed message with messagelint.
func (w *porter) compose(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing {
	out := w.notify.Compose(before, d, in)
	for _, o := range out {
		var m bot.Message
		if err := json.Unmarshal(o.Body, &m); err != nil {
			w.t.Error(err)
		}
		messagelint.Check(w.t, "story", m)
	}
	return out
}

// noUndo removes [Undo] from an answer whose minute is over.
func (w *porter) noUndo(project, question string) {
	s, _ := w.engine.State(project)
	messages := w.notify.RemoveUndo(s, question, time.Now(), func(chat, key string) (m bot.Message, ok bool) {
		sent, found, err := w.store.SentFor(context.Background(), chat, key)
		return m, err == nil && found && json.Unmarshal(sent.Body, &m) == nil
	})
	if err := w.engine.Say(context.Background(), "settled:"+question, time.Now(), messages, nil); err != nil {
		w.t.Error(err)
	}
}

func (w *porter) where(key string) []string {
	chats, err := w.store.ChatsWith(context.Background(), key)
	if err != nil {
		w.t.Error(err)
	}
	return chats
}

// until advances the night to a time.
func (w *porter) until(t time.Time) {
	if d := time.Until(t); d > 0 {
		time.Sleep(d)
	}
	synctest.Wait()
}

// input sends an input of the daemon.
func (w *porter) input(body loop.InputBody) {
	w.t.Helper()
	a, err := w.engine.Do(w.t.Context(), loop.Input{Time: clock(), Actor: "daemon", Idle: true, Body: body})
	if err != nil || !a.OK {
		w.t.Fatalf("%s: %s, %v", body.InputKind(), a.Text, err)
	}
}

// letIn pairs a user: the host shows a code, and the user sends it.
func (w *porter) letIn(name string, role ledger.Role, code string) {
	w.t.Helper()
	w.input(people.OfferPairing{Hash: "hash of " + code, Role: role})
	w.phone.say(name, "/pair "+code)
	time.Sleep(20 * time.Second)
	synctest.Wait()
	if p, in := w.engine.Shared().Person(w.phone.id(name)); !in || p.Role != role {
		w.t.Fatalf("%s is not let in as %s: %+v", name, role, w.engine.Shared().People)
	}
}

// press presses a button and waits for its effect.
func (w *porter) press(who, first, label string) {
	w.t.Helper()
	if err := w.phone.press(who, first, label); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// digest sends the digest, as cmd/nightporter does at 07:30.
func (w *porter) digest(due time.Time) {
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

func (w *porter) draw(project string, from, to time.Time) (bot.Message, error) {
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
type live struct{ *porter }

func (l live) Text(chat, key string) (bot.Message, bool) {
	m, ok := bot.Live(host(l), key, clock())
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

// host is the bot.Service of a running daemon.
type host struct{ *porter }

func (h host) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	return h.engine.Do(ctx, in)
}

func (h host) DoWith(ctx context.Context, in loop.Input, with func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (ledger.Answer, error) {
	return h.engine.DoWith(ctx, in, with)
}

func (h host) Say(ctx context.Context, key string, at time.Time, msgs []ledger.Outgoing, cursor *ledger.Cursor) error {
	return h.engine.Say(ctx, key, at, msgs, cursor)
}
func (h host) State(p string) (loop.State, bool) { return h.engine.State(p) }
func (h host) Shared() loop.Shared               { return h.engine.Shared() }
func (h host) Projects() []string                { return h.engine.Projects() }
func (h host) Configured() []string              { return []string{"shop", "blog"} }
func (h host) QuietHours() ledger.Hours          { return quiet }

func (h host) Hats(context.Context, string, string) (bot.HatSet, error) {
	set := settings()
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

func (h host) Diff(context.Context, string, string) (string, error) { return "", nil }

func (h host) Offer(_ context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	if project != "shop" {
		return loop.OfferRun{}, errors.New("not in this story")
	}
	set := settings()
	set.From, set.Only = f.From, f.Only
	return loop.OfferRun{Settings: set, MaxSessions: 1, Tasks: len(plan().Tasks), First: "Task 1"}, nil
}

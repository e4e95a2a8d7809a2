package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// admins are paired, all with the role admin.
var admins = []string{"telegram:48213377", "telegram:51120934", "telegram:60011223"}

// unlimited is a platform without limits.
var unlimited = delivery.Limits{
	Private: delivery.Rate{Every: time.Nanosecond, Burst: 1 << 20},
	Group:   delivery.Rate{Every: time.Nanosecond, Burst: 1 << 20},
	All:     delivery.Rate{Every: time.Nanosecond, Burst: 1 << 20},
}

// BenchmarkCommand is from the moment when what a person sent is handed to the
// Receiver until its effect, the reply in the outbox and the place up to which
// the chat was read are durable, while agents work: 50 sessions a second begin
// and end, every third task's planner asks a question, and delivery empties
// the outbox. All real but Telegram, which takes everything at once.
//
// "one" is one project; "twenty" are twenty, with some 2,000 tasks done and all
// of it in the ledger. Figure: p99 ≤ 50 ms. Baseline: one bare transaction of
// the store, in turns with the commands.
func BenchmarkCommand(b *testing.B) {
	b.Run("one", func(b *testing.B) { commands(b, 1, 0) })
	b.Run("twenty", func(b *testing.B) { commands(b, 20, 6000) })
}

func commands(b *testing.B, projects, before int) {
	h := newChatFixture(b, projects)
	h.agents(before)
	took := map[string][]time.Duration{}
	var all, commits []time.Duration
	for b.Loop() {
		h.project = h.names[h.said%len(h.names)]
		for _, c := range h.round() {
			// Commands come when they come, not in step with the agents.
			wait(b, time.Duration(rand.IntN(6000))*time.Microsecond)
			commits = append(commits, h.commit())
			d := h.receive(c)
			took[c.kind] = append(took[c.kind], d)
			all = append(all, d)
		}
	}
	h.replied()
	entries := h.entries(took)
	p50, p99, most := tail(all)
	commit, slow, _ := tail(commits)
	b.ReportMetric(float64(len(all)), "commands")
	b.ReportMetric(float64(entries), "entries")
	b.ReportMetric(ms(p50), "p50-ms")
	b.ReportMetric(ms(p99), "p99-ms")
	b.ReportMetric(ms(most), "max-ms")
	b.ReportMetric(ms(commit), "commit-ms")
	b.ReportMetric(ms(slow), "commit-p99-ms")
	b.ReportMetric(float64(p50)/float64(commit), "p50/commit")
	b.ReportMetric(float64(p99)/float64(slow), "p99/commit-p99")
	for kind, each := range took {
		p50, p99, _ := tail(each)
		b.ReportMetric(ms(p50), kind+"-ms")
		b.ReportMetric(ms(p99), kind+"-p99-ms")
	}
	b.ReportMetric(0, "ns/op") // of a whole round: says nothing
}

// tail returns the middle of the values, the one that 99 of 100 do not pass,
// and the largest.
func tail(values []time.Duration) (p50, p99, most time.Duration) {
	if len(values) == 0 {
		return 0, 0, 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2], sorted[len(sorted)*99/100], sorted[len(sorted)-1]
}

// chatFixture is a fixture with people in chats.
type chatFixture struct {
	*fixture
	names    []string // of the projects
	receiver *inbound.Receiver
	delivery atomic.Pointer[delivery.Dispatcher]
	platform *platform
	// endDelivery ends the delivery to platform.
	endDelivery func()
	said        int               // by people, so far
	awaited     map[string]string // what was said, by the message that is to be answered
	pause       atomic.Int64      // how long a session lasts, in ns
	ended       atomic.Int64      // sessions
	read        []time.Duration   // how long the text of each digest took
}

func newChatFixture(b *testing.B, projects int) *chatFixture {
	return newChatFixtureOn(b, projects, projects, nil)
}

// newChatFixtureOn is newChatFixture on a ledger that seed, unless nil, has
// filled before. The first projects have a run.
func newChatFixtureOn(b *testing.B, projects, atWork int, seed func(*fixture)) *chatFixture {
	b.Helper()
	h := &chatFixture{platform: &platform{}, awaited: map[string]string{}}
	for n := range projects {
		h.names = append(h.names, fmt.Sprintf("shop-%d", n+1))
	}
	h.fixture = openFixture(b, h.names[:atWork], nil, func(w *fixture, o *engine.Options) {
		if seed != nil {
			seed(w)
		}
		o.Compose = notify.New(notify.Options{ChatsWith: func(key string) []string {
			chats, err := w.ledger.ChatsWith(context.Background(), key)
			if err != nil {
				b.Error(err)
			}
			return chats
		}, Zone: func() *time.Location { return time.UTC }}).Compose
		o.Sent = func(chats []string) {
			if p := h.delivery.Load(); p != nil {
				p.Wake(chats...)
			}
		}
	})
	p := delivery.New(delivery.Options{Outbox: h.ledger, Sender: h.platform, Prefix: "telegram:", Platform: "Telegram", Limits: unlimited})
	h.delivery.Store(p)
	h.endDelivery = h.background(func(ctx context.Context) { _ = p.Run(ctx) }) // says why ctx ended
	h.receiver = inbound.New(inbound.Options{
		Service: &service{&scenario.DaemonService{Engine: h.engine, Store: h.ledger, Names: h.names}, h}, Outbox: h.ledger, Hash: func(code string) string { return "hash of " + code },
	})
	for _, who := range admins {
		const code = "K7QX-M2PD"
		offer := loop.Input{Actor: "console", Time: time.Now(), Body: people.OfferPairing{Hash: "hash of " + code, Role: ledger.RoleAdmin}}
		if a, err := h.engine.Do(b.Context(), offer); err != nil || !a.OK {
			b.Fatalf("offer a pairing: %v %s", err, a.Text)
		}
		h.receive(request{who: who, text: "/start " + code})
		if _, ok := h.engine.Shared().Person(who); !ok {
			b.Fatalf("%s is not paired", who)
		}
	}
	return h
}

// background runs a function until the benchmark ends, or end is called.
func (h *chatFixture) background(do func(context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(h.b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx)
	}()
	end = func() {
		cancel()
		<-done
	}
	h.b.Cleanup(end)
	return end
}

// agents begin to work: so many sessions as fast as it goes, before it returns,
// and from then on 50 a second in all.
func (h *chatFixture) agents(fast int) {
	reached := make(chan struct{})
	h.background(func(ctx context.Context) {
		var sessions sync.WaitGroup
		defer sessions.Wait()
		for {
			select {
			case <-ctx.Done():
				return
			case l := <-h.ready:
				sessions.Go(func() {
					if err := h.session(ctx, l); err != nil && ctx.Err() == nil {
						h.b.Errorf("session %s: %v", l.Session, err)
					}
					if h.ended.Add(1) == int64(max(fast, 1)) {
						h.pause.Store(int64(len(h.names)) * int64(time.Second) / 50)
						close(reached)
					}
				})
			}
		}
	})
	select {
	case <-reached:
	case <-time.After(5 * time.Minute):
		h.b.Fatalf("only %d sessions have ended", h.ended.Load())
	}
}

// session is what an agent does: it takes its time, and ends as its hat should
// or with a question.
func (h *chatFixture) session(ctx context.Context, l launched) error {
	e, pause := events[l.Hat], time.Duration(h.pause.Load())
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(l.Task, "Task ")); err == nil && n%3 == 0 && pause > 0 && h.asks(l) {
		e.kind, e.data = ledger.EventQuestion, `{"text":"Round half up or half even?","options":["half up","half even"],"choice":"half up"}`
	}
	data, err := h.reported(l, e.data)
	if err != nil {
		return err
	}
	err = scenario.Emit(ctx, h.engine, l.Project, loop.Emit{Session: l.Session, Type: e.kind, Data: data})
	h.exit(l.Session)
	return err
}

// reported adds to an event's data what became of the guidance that the session
// was given.
func (h *chatFixture) reported(l launched, data string) (json.RawMessage, error) {
	s, _ := h.engine.State(l.Project)
	session, ok := s.Project.Session(l.Session)
	if !ok || len(session.Planned.Guidance.Bound) == 0 {
		return json.RawMessage(data), nil
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(data), &fields); err != nil {
		return nil, err
	}
	var heeded []map[string]any
	for _, id := range session.Planned.Guidance.Bound {
		heeded = append(heeded, map[string]any{"id": id, "done": true, "note": "rounded at the end"})
	}
	fields["guidance"] = heeded
	return json.Marshal(fields)
}

// asks reports whether it is the first planner of a task.
func (h *chatFixture) asks(l launched) bool {
	s, _ := h.engine.State(l.Project)
	t, ok := s.Project.Find(l.Task)
	return ok && l.Hat == "planner" && t.Attempt != nil && t.Attempt.Sessions <= 1
}

// A request is a line that a person sends.
type request struct{ kind, who, text string }

// round is one of each, for one project, and the answers to its open questions.
func (h *chatFixture) round() []request {
	to := ""
	if len(h.names) > 1 {
		to = h.project + ": "
	}
	who := admins[h.said%len(admins)]
	out := []request{
		{"guidance", who, to + "/guidance Sums are rounded once, at the end, and never before."},
		{"status", who, to + "/status"},
		{"pause", who, to + "/pause"},
		{"resume", who, to + "/resume"},
		{"tasks", who, to + "/tasks"},
		{"stranger", fmt.Sprintf("telegram:%d", 99000000+h.said), "/stop"},
	}
	s, _ := h.engine.State(h.project)
	for _, q := range s.Project.Questions {
		if q.Kind == ledger.AskAgent {
			out = append(out, request{"answer", who, q.ID + " half even"})
		}
	}
	return out
}

// receive hands a request to the Receiver and returns how long that took.
func (h *chatFixture) receive(c request) time.Duration {
	h.b.Helper()
	h.said++
	in := bot.Inbound{
		Key: fmt.Sprintf("telegram:%d", h.said), Cursor: &ledger.Cursor{Name: "telegram:1", Value: strconv.Itoa(h.said + 1)},
		Actor: c.who, Chat: c.who, Name: "Mira", Private: true, Text: c.text, Message: strconv.Itoa(h.said), Sent: time.Now(),
	}
	switch c.kind {
	case "status", "stranger": // a message of its own, and none
	default:
		h.awaited[in.Message] = c.text
	}
	began := time.Now()
	err := h.receiver.Receive(h.b.Context(), in)
	took := time.Since(began)
	if err != nil {
		h.b.Fatal(err)
	}
	return took
}

// replied waits until everything was delivered, and looks whether everybody
// had their answer: figures of commands that came to nothing would be worth
// nothing.
func (h *chatFixture) replied() {
	h.b.Helper()
	for patience := 2000; ; patience-- {
		missing, first := h.platform.missing(h.awaited)
		if missing == 0 {
			break
		}
		if patience == 0 {
			h.b.Fatalf("%d of %d have no answer, %q among them", missing, len(h.awaited), first)
		}
		wait(h.b, 10*time.Millisecond)
	}
	refused := 0
	for _, text := range h.platform.refusals() {
		if refused++; refused <= 3 {
			h.b.Logf("refused: %s", text)
		}
	}
	if refused > len(h.awaited)/20 {
		h.b.Errorf("%d of %d commands were refused", refused, len(h.awaited))
	}
}

// entries counts what is in the ledger, and looks whether it has the effects
// of what was said.
func (h *chatFixture) entries(said map[string][]time.Duration) (sum int) {
	h.b.Helper()
	streams, err := h.ledger.Streams(h.b.Context())
	if err != nil {
		h.b.Fatal(err)
	}
	found := map[string]int{}
	for _, s := range streams {
		err := h.ledger.Records(h.b.Context(), s, 0, func(r ledger.Record) error {
			sum++
			found[r.Type]++
			return nil
		})
		if err != nil {
			h.b.Fatal(err)
		}
	}
	for _, c := range []struct {
		effect ledger.Body
		of     int
	}{
		{ledger.GuidanceQueued{}, len(said["guidance"])},
		{ledger.QuestionAnswered{}, len(said["answer"])},
		{ledger.RunStateSet{}, len(said["pause"]) + len(said["resume"])},
	} {
		if kind := c.effect.EntryType(); found[kind] < c.of {
			h.b.Errorf("the ledger has %d of %s after %d commands", found[kind], kind, c.of)
		}
	}
	return sum
}

// service is a DaemonService with digests.
type service struct {
	*scenario.DaemonService
	h *chatFixture
}

// Digest returns a digest with its picture.
func (s *service) Digest(ctx context.Context, project string, q bot.DigestQuery) (bot.Message, error) {
	state, _ := s.State(project)
	began := time.Now()
	f, err := report.Read(ctx, s.h.ledger, state, q.From(state.Shared.Digest), q.Now)
	if err != nil {
		return bot.Message{}, err
	}
	m := report.Text(f)
	s.h.read = append(s.h.read, time.Since(began))
	if len(f.Sessions) == 0 {
		return m, nil
	}
	m.Picture, err = report.Picture(f, true)
	return m, err
}

// platform takes every message at once.
type platform struct {
	mu      sync.Mutex
	sent    int
	first   time.Time       // when the first was sent
	replies map[string]bool // to which message
	refused []string
}

var _ bot.Sender = (*platform)(nil)

func (p *platform) Send(_ context.Context, _ string, m bot.Message, o bot.SendOptions) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.replies == nil {
		p.replies = map[string]bool{}
	}
	if p.sent++; p.sent == 1 {
		p.first = time.Now()
	}
	if o.ReplyTo != "" {
		p.replies[o.ReplyTo] = true
		if strings.HasPrefix(m.First(), bot.SignFailed) || strings.HasPrefix(m.First(), bot.SignAsk) {
			p.refused = append(p.refused, m.Text(0))
		}
	}
	return strconv.Itoa(p.sent), nil
}

func (*platform) Edit(context.Context, bot.Ref, bot.Message) error { return nil }
func (*platform) Delete(context.Context, bot.Ref) error            { return nil }
func (*platform) Notice(context.Context, string, string) error     { return nil }

func (p *platform) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// missing counts the messages that had no reply, and names one.
func (p *platform) missing(awaited map[string]string) (n int, first string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, text := range awaited {
		if !p.replies[id] {
			n++
			first = text
		}
	}
	return n, first
}

func (p *platform) refusals() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

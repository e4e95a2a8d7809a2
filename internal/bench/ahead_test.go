package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/loop/ledger"
)

// looksAhead is the number of looks of BenchmarkStatusAhead, and lookPause the time
// between two. Each of the three people looks every twelve seconds.
const (
	looksAhead = 30
	lookPause  = 4 * time.Second
)

// BenchmarkStatusAhead is from the moment when a person's /status is handed to the
// Receiver until the platform is called with the answer, while 10,000 messages wait in
// 40 chats of others and 500 in the person's own, at Telegram's rates, and an agent
// works. All real but Telegram, which takes at once what its rates allow. Goal: 0.1 s
// at the median.
//
// Baseline: the same looks before anything waits.
func BenchmarkStatusAhead(b *testing.B) {
	for b.Loop() {
	}
	h := newChatFixture(b, 1)
	far := &lookPlatform{platform: h.platform, shown: make(chan string, 100)}
	p := delivery.New(delivery.Options{Outbox: h.ledger, Sender: far, Prefix: "telegram:", Platform: "Telegram", Limits: delivery.TelegramLimits})
	h.delivery.Swap(p)
	h.agents(1)
	h.pause.Store(int64(time.Hour)) // one session stays at work, so its status is that of a run
	for h.platform.count() < 2 {
		wait(b, 20*time.Millisecond)
	}
	h.endDelivery()
	h.background(func(ctx context.Context) { _ = p.Run(ctx) }) // says why ctx ended
	look := func(n int) time.Duration {
		who := admins[n%len(admins)]
		began := time.Now()
		h.receive(request{kind: "status", who: who, text: "/status"})
		for {
			select {
			case chat := <-far.shown:
				if chat == who {
					return time.Since(began)
				}
			case <-time.After(time.Minute):
				b.Fatalf("%s has no status", who)
			}
		}
	}
	var idle, busy []time.Duration
	for n := range looksAhead {
		idle = append(idle, look(n))
		wait(b, lookPause)
	}
	h.enqueue(queuedMessages/queuedChats, 500)
	wait(b, 5*time.Second)
	before := h.platform.count()
	for n := range looksAhead {
		busy = append(busy, look(n))
		wait(b, lookPause)
	}
	if left, err := h.ledger.QueueLength(b.Context()); err != nil || left < queuedMessages/2 {
		b.Errorf("%d messages are left, %v", left, err)
	}
	alone, _, _ := tail(idle)
	p50, _, most := tail(busy)
	b.ReportMetric(ms(alone), "idle-ms")
	b.ReportMetric(ms(p50), "p50-ms")
	b.ReportMetric(ms(most), "max-ms")
	b.ReportMetric(float64(p50)/float64(alone), "p50/idle")
	b.ReportMetric(float64(h.platform.count()-before)/(looksAhead*lookPause).Seconds(), "messages/s")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// enqueue commits so many messages for each of 40 chats of others, and for each
// person's own.
func (h *chatFixture) enqueue(others, own int) {
	h.b.Helper()
	body, err := json.Marshal(bot.Message{Lines: []bot.Line{{Text: "✓ #4 done, 2 rounds · Move orders to the new API"}, {Text: "6 of 12 done"}}})
	if err != nil {
		h.b.Fatal(err)
	}
	batch := ledger.Batch{Time: time.Now()}
	add := func(chat string, n int) {
		for range n {
			batch.Messages = append(batch.Messages, ledger.Outgoing{Chat: chat, Class: ledger.ClassNotice, Silent: true, Body: body})
		}
	}
	for c := range queuedChats {
		add(fmt.Sprintf("telegram:77%d", c), others)
	}
	for _, who := range admins {
		add(who, own)
	}
	r, err := h.ledger.Commit(h.b.Context(), batch)
	if err != nil {
		h.b.Fatal(err)
	}
	h.delivery.Load().Wake(r.Chats...)
}

// lookPlatform tells of each status that it is sent.
type lookPlatform struct {
	*platform
	shown chan string // the chats
}

// Send takes a message at once.
func (p *lookPlatform) Send(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	if strings.HasPrefix(m.Key, "status.") {
		p.shown <- chat
	}
	return p.platform.Send(ctx, chat, m, o)
}

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
	"github.com/nightporter/nightporter/store/storetest"
)

// What is queued when the drain begins: so many messages in so many chats,
// half of them groups.
const (
	queuedChats    = 40
	queuedMessages = 10_000
)

// BenchmarkDrain is the outbox's own work for a message: picking it, marking
// that its sending is begun, and settling it, both durable. 10,000 messages are
// queued in 40 chats, the platform takes each at once and has no limits. (That
// they go out at the platform's rate, none lost, doubled or out of order, is
// tested under a simulated clock, in package post.)
//
// Baseline: two bare transactions of the store, measured before and after.
func BenchmarkDrain(b *testing.B) {
	for b.Loop() {
	}
	ledgerStore := storetest.Open(b, b.TempDir())
	w := &fixture{b: b, ledger: ledgerStore}
	var commits []time.Duration
	baseline := func() {
		for range 500 {
			commits = append(commits, w.commit())
		}
	}
	baseline()
	body, err := json.Marshal(bot.Message{Lines: []bot.Line{
		{Text: "✓ #4 done, 2 rounds · Move orders to the new API"}, {Text: "3 files +120 −48 · verified in 0:38"}, {Text: "6 of 12 done"},
	}})
	if err != nil {
		b.Fatal(err)
	}
	for range queuedMessages / queuedChats {
		batch := ledger.Batch{Time: time.Now()}
		for c := range queuedChats {
			chat := fmt.Sprintf("telegram:48%d", c)
			if c%2 == 1 {
				chat = fmt.Sprintf("telegram:-100%d", c)
			}
			batch.Messages = append(batch.Messages, ledger.Outgoing{Chat: chat, Class: ledger.ClassNotice, Body: body})
		}
		if _, err := ledgerStore.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	far := &platform{}
	p := delivery.New(delivery.Options{Outbox: ledgerStore, Sender: far, Prefix: "telegram:", Platform: "Telegram", Limits: unlimited})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		_ = p.Run(ctx) // says why ctx ended
	}()
	took := emptied(b, ledgerStore, began)
	cancel()
	<-done
	baseline()
	if n := far.count(); n != queuedMessages {
		b.Errorf("%d messages were sent of %d", n, queuedMessages)
	}
	each := took / queuedMessages
	commit, _ := median(commits)
	b.ReportMetric(took.Seconds(), "drain-s")
	b.ReportMetric(ms(far.first.Sub(began))/ms(each), "first/message")
	b.ReportMetric(ms(each), "message-ms")
	b.ReportMetric(1/each.Seconds(), "messages/s")
	b.ReportMetric(ms(commit), "commit-ms")
	b.ReportMetric(float64(each)/float64(2*commit), "message/(2*commit)")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// emptied waits until nothing is queued any more, and returns when that was.
func emptied(b *testing.B, ledgerStore *store.Store, began time.Time) time.Duration {
	b.Helper()
	for time.Since(began) < 5*time.Minute {
		chats, err := ledgerStore.Chats(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if len(chats) == 0 {
			return time.Since(began)
		}
		wait(b, 20*time.Millisecond)
	}
	b.Fatal("the outbox is not emptied in five minutes")
	return 0
}

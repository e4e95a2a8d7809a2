package chat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/chat"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOutage tells each person once that nothing can be saved, and once that it is
// over, without the outbox. An outage of a moment is not told.
func TestOutage(t *testing.T) {
	const away, back = "! nothing can be saved", "↻ saved again"
	full := engine.Outage{Since: time.Now(), Fault: ledger.FaultDisk, Text: "database or disk is full"}
	chat.SetOutageFor(t, time.Hour)
	f := newThreadFixture(t, config.Topic{Chat: -1001234567890, Thread: 42})
	f.connections.TellOutage(full)
	f.connections.TellOutage(engine.Outage{}) // a moment later

	chat.SetOutageFor(t, time.Millisecond)
	for n := 1; n <= 2; n++ {
		f.connections.TellOutage(full)
		f.waitShown(1, n, away)
		worse := full
		worse.Text = "the disk reports an error"
		f.connections.TellOutage(worse)
		f.connections.TellOutage(engine.Outage{})
		f.waitShown(1, n, back)
		if a, b := f.count(1, away), f.count(1, back); a != n || b != n {
			t.Errorf("told %d times that nothing can be saved, and %d times that it is over, want %d", a, b, n)
		}
	}
	queued, err := f.Store.Queued(t.Context(), "telegram:1") // the fixture's own greeting may wait there
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range queued {
		if strings.Contains(string(m.Body), "saved") {
			t.Errorf("in the outbox: %s", m.Body)
		}
	}
}

// TestDiskWarning checks that the warning of a disk that fills up reaches each
// person's own chat, once and without the outbox, which would need that disk.
func TestDiskWarning(t *testing.T) {
	f := newThreadFixture(t, config.Topic{Chat: -1001234567890, Thread: 42})
	now := time.Now()
	low, free := bot.DiskLow(1500e6, 2<<30, 700e6, now), bot.DiskFree(9e9, now)
	f.connections.TellDirectly(low)
	f.waitShown(1, 1, "! the disk fills up")
	f.connections.TellDirectly(free)
	f.waitShown(1, 1, "↻ the disk has room again")
	if n := f.count(1, "! the disk fills up"); n != 1 {
		t.Errorf("told %d times", n)
	}
	queued, err := f.Store.Queued(t.Context(), "telegram:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range queued {
		if m.Key == low.Key || m.Key == free.Key {
			t.Errorf("in the outbox: %s", m.Body)
		}
	}
}

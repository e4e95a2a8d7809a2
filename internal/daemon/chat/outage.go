package chat

import (
	"context"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// outageFor is how long the ledger takes no commits before people are told. A full
// disk or a damaged database seldom mends itself; another process that holds the
// database ends.
var outageFor = map[ledger.Fault]time.Duration{
	ledger.FaultDisk: 10 * time.Second, ledger.FaultLedger: 10 * time.Second, ledger.FaultMachine: 5 * time.Minute,
}

// TellOutage tells all people once that the ledger takes no commits, and once that
// it takes them again. It sends directly, because the outbox is in the ledger's
// database. A message that fails is not repeated: it is on other ways, too.
func (c *Connections) TellOutage(x engine.Outage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := func() time.Time { return time.Now().In(c.hub.o.Catalog.Zone()) }
	if x.Since.IsZero() {
		if c.endOutage != nil {
			c.endOutage()
			c.endOutage = nil
		}
		if since := c.toldOutage; !since.IsZero() {
			c.toldOutage = time.Time{}
			c.Go(func(ctx context.Context) { c.sendDirectly(ctx, bot.SavedAgain(since, now())) })
		}
		return
	}
	if c.endOutage != nil || !c.toldOutage.IsZero() {
		return // the same outage, for another reason
	}
	over, pause := make(chan struct{}), outageFor[x.Fault]
	c.endOutage = func() { close(over) }
	c.Go(func(ctx context.Context) {
		wait := time.NewTimer(pause)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-over:
			return
		case <-ctx.Done():
			return
		}
		c.mu.Lock()
		if c.endOutage == nil { // it ended at this moment
			c.mu.Unlock()
			return
		}
		c.endOutage, c.toldOutage = nil, x.Since
		c.mu.Unlock()
		c.sendDirectly(ctx, bot.Unsaved(x.Text, x.Fault, x.Since.In(now().Location()), now()))
	})
}

// TellDirectly sends a message to all people without the outbox, once.
func (c *Connections) TellDirectly(m bot.Message) {
	c.Go(func(ctx context.Context) { c.sendDirectly(ctx, m) })
}

// sendDirectly sends a message to each person's own chat without the outbox.
func (c *Connections) sendDirectly(ctx context.Context, m bot.Message) {
	for _, who := range c.hub.o.Engine.Shared().People {
		for _, conn := range c.all {
			if !strings.HasPrefix(who.ID, conn.platform.Prefix()) {
				continue
			}
			try, cancel := context.WithTimeout(ctx, 30*time.Second)
			_, err := conn.adapter.Sender.Send(try, who.ID, m, bot.SendOptions{})
			cancel()
			if err != nil && ctx.Err() == nil {
				c.hub.o.Log.Warn("not told directly", "chat", who.ID, "message", m.Key, "error", err)
			}
		}
	}
}

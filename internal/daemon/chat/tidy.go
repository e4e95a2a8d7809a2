package chat

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/platform"
)

// retention is how long settled messages, and the ids of handled updates, stay in
// the database. It applies to strangers' messages too.
const retention = 30 * 24 * time.Hour

// tidy removes old messages and update ids at the start and once a day. Without
// it, the database of a daemon that runs for months would only grow.
func (h *Hub) tidy(ctx context.Context) {
	daily := time.NewTicker(24 * time.Hour)
	defer daily.Stop()
	for {
		before := time.Now().Add(-retention)
		if _, err := h.o.Store.PruneMessages(ctx, before); err != nil && ctx.Err() == nil {
			h.o.Log.Warn("old messages are not removed", "error", err)
		}
		for _, p := range platform.All {
			if _, err := h.o.Store.PruneInputs(ctx, p.Prefix(), before); err != nil && ctx.Err() == nil {
				h.o.Log.Warn("old updates are not forgotten", "platform", p.Name, "error", err)
			}
		}
		select {
		case <-daily.C:
		case <-ctx.Done():
			return
		}
	}
}

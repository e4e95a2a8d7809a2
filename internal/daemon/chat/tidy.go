package chat

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/platform"
)

// kept is how long messages are kept after they were settled, and how long it
// is known that an update was handled: strangers' messages are kept no longer.
const kept = 30 * 24 * time.Hour

// tidy removes what is kept no longer, at the start and once a day: nightporter
// stays for months.
func (h *Hub) tidy(ctx context.Context) {
	daily := time.NewTicker(24 * time.Hour)
	defer daily.Stop()
	for {
		before := time.Now().Add(-kept)
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

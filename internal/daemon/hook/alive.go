package hook

import (
	"context"
	"slices"
	"time"
)

// aliveEvery is the time between two signs of life.
const aliveEvery = 5 * time.Minute

// alive posts signs of life until ctx ends.
func (h *Hooks) alive(ctx context.Context) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		h.signs(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// signs posts a sign of life on the hooks that ask for it, once the engine and the
// ledger have answered. A sign that fails is not repeated: the next one comes.
func (h *Hooks) signs(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, aliveEvery/2)
	defer cancel()
	for _, hook := range h.o.Hooks() {
		if !slices.Contains(hook.On, Alive) {
			continue
		}
		err := h.o.Alive(ctx)
		if err == nil {
			err = h.post(ctx, hook, Event{Event: Alive, Project: hook.Project, Time: h.o.Clock().UTC(), Text: h.o.Status()})
		}
		if err != nil && ctx.Err() == nil {
			h.o.Log.Warn("no sign of life was posted", "hook", hook.Name(), "error", err)
		}
	}
}

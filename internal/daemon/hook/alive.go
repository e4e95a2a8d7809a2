package hook

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/config"
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

// signs posts a sign of life on the hooks that ask for it, each by itself, once the
// engine and the ledger have answered. A sign that fails is not repeated: the next one
// comes.
func (h *Hooks) signs(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, aliveEvery/2)
	defer cancel()
	var posting sync.WaitGroup
	defer posting.Wait()
	for _, hook := range h.o.Hooks() {
		if slices.Contains(hook.On, Alive) {
			posting.Go(func() { h.sign(ctx, hook) })
		}
	}
}

// sign posts a sign of life on one hook.
func (h *Hooks) sign(ctx context.Context, hook config.Hook) {
	err := h.o.Alive(ctx)
	if err == nil {
		err = h.deliver(ctx, hook, Event{Event: Alive, Project: hook.Project, Time: h.o.Clock().UTC(), Text: h.o.Status()})
	}
	if err != nil && ctx.Err() == nil {
		h.o.Log.Warn("no sign of life was sent", "hook", hook.Name(), "error", err)
	}
}

package chat

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// tellAfter is how long a project cannot be worked on before people are told: a
// disk that is mounted a little late is no news.
const tellAfter = time.Minute

// TellObstacles tells people of each project that cannot be worked on for
// tellAfter, once a day, and that it can be again. The calls must not overlap.
func (h *Hub) TellObstacles(ctx context.Context) {
	if h == nil {
		return
	}
	now := time.Now().In(h.o.Catalog.Zone())
	for _, pr := range h.o.Catalog.Config().Projects {
		o, since := h.o.Catalog.Obstacle(pr.Name)
		switch {
		case o.Why == "" && h.obstacles[pr.Name]:
			delete(h.obstacles, pr.Name)
			h.tellAll(ctx, fmt.Sprintf("unblocked:%s:%d", pr.Name, now.UnixNano()), pr.Name, bot.Unblocked(pr.Name, now))
		case o.Why != "" && now.Sub(since) >= tellAfter && !h.obstacles[pr.Name]:
			if h.obstacles == nil {
				h.obstacles = map[string]bool{}
			}
			h.obstacles[pr.Name] = true
			key := fmt.Sprintf("blocked:%s:%s:%x", pr.Name, now.Format(time.DateOnly), sha256.Sum256([]byte(o.Why)))
			h.tellAll(ctx, key, pr.Name, bot.Blocked(pr.Name, o.Why, o.Rests, now))
		}
	}
}

// tellAll commits a message for the project's threads, or for everybody where it
// has none, once for each key.
func (h *Hub) tellAll(ctx context.Context, key, project string, m bot.Message) {
	chats := h.Threads.Of(project)
	if len(chats) == 0 {
		for _, who := range h.o.Engine.Shared().People {
			chats = append(chats, who.ID)
		}
	}
	var msgs []ledger.Outgoing
	for _, chat := range chats {
		msgs = append(msgs, silentMessage(chat, m))
	}
	if err := h.o.Engine.Say(ctx, key, time.Now(), msgs, nil); err != nil && !errors.Is(err, engine.ErrStopped) && ctx.Err() == nil {
		h.o.Log.Error("tell of a project", "project", project, "error", err)
	}
}

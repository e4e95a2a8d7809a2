package chat

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// menus holds the command menus that the platform has confirmed in this
// process. Menus of an earlier process are set again, which changes nothing.
type menus struct {
	prefix string // prefix of the platform's addresses
	tell   func(ctx context.Context, chat string, items []bot.MenuItem) error
	log    *slog.Logger
	set    map[string]ledger.Role // role by chat; "" = the empty menu of all other chats
}

// update sets the menus that differ from people's roles. It returns the delay
// before the next attempt, 0 when nothing is left to set. A menu that the
// platform refuses is not tried again.
func (m *menus) update(ctx context.Context, people []ledger.Person) (retry time.Duration) {
	want := map[string]ledger.Role{"": ""}
	for _, p := range people {
		if strings.HasPrefix(p.ID, m.prefix) {
			want[p.ID] = p.Role
		}
	}
	all := slices.Sorted(maps.Keys(want))
	for chat := range m.set {
		if _, in := want[chat]; !in {
			all = append(all, chat)
		}
	}
	for _, chat := range all {
		role, in := want[chat]
		if now, set := m.set[chat]; set && in && now == role {
			continue
		}
		err := m.tell(ctx, chat, bot.Menu(role))
		if err != nil && ctx.Err() == nil {
			m.log.Warn("a menu is not set", "chat", chat, "error", err)
		}
		if err != nil && !errors.Is(err, bot.ErrRejected) && !errors.Is(err, bot.ErrChatClosed) {
			retry = max(retry, time.Minute)
			var limited *bot.SendError
			if errors.As(err, &limited) {
				retry = max(retry, limited.RetryAfter)
			}
			continue
		}
		if m.set[chat] = role; !in {
			delete(m.set, chat)
		}
	}
	return retry
}

package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/loop"
)

// menus keeps the menu of commands in everybody's own chat as their role is
// (PHONE 2), until ctx ends. Strangers have none, and neither have groups,
// where strangers read. A menu is a convenience: what cannot be set is logged.
func (l *telegramLine) menus(ctx context.Context) {
	m := menus{bot: l.bot, log: l.porter.log, set: map[string]loop.Role{}}
	for ctx.Err() == nil {
		rung := l.porter.changes.Next()
		if l.bot.State().Connected {
			if retry := m.update(ctx, l.porter.engine.Shared().People); retry > 0 {
				_ = transport.Wait(ctx, retry) // says why ctx ended
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
		}
	}
}

// menus are those that the platform was told. What an earlier process told it
// is told again: it changes nothing.
type menus struct {
	bot interface {
		SetCommands(ctx context.Context, chat string, list []telegram.MenuCommand) error
	}
	log *slog.Logger
	set map[string]loop.Role // by chat; "" is everybody else's, which is empty
}

// update makes the menus as the roles are. It returns after which time to try
// again, 0 where nothing is left to do: what is refused is not tried again.
func (m *menus) update(ctx context.Context, people []loop.Person) (retry time.Duration) {
	want := map[string]loop.Role{"": ""}
	for _, p := range people {
		if strings.HasPrefix(p.ID, telegram.Prefix) {
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
		err := m.bot.SetCommands(ctx, chat, menuOf(role))
		var fault *bot.SendError
		known := errors.As(err, &fault)
		if err != nil && ctx.Err() == nil {
			m.log.Warn("telegram: a menu is not set", "chat", chat, "error", err)
		}
		if err != nil && (!known || fault.Fault != bot.FaultRefused && fault.Fault != bot.FaultChatClosed) {
			if retry = max(retry, time.Minute); known {
				retry = max(retry, fault.After)
			}
			continue
		}
		if m.set[chat] = role; !in {
			delete(m.set, chat)
		}
	}
	return retry
}

func menuOf(r loop.Role) []telegram.MenuCommand {
	var list []telegram.MenuCommand
	for _, c := range bot.Menu(r) {
		list = append(list, telegram.MenuCommand{Name: c.Command, Description: c.Help})
	}
	return list
}

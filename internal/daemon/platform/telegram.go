package platform

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Telegram is the row of Telegram: a bot with private chats, groups and topics.
var Telegram = Platform{
	Name:  "telegram",
	Title: "Telegram",
	// Telegram has no forms: the bot asks by message. A notice is shown for seconds.
	Lacks: []string{"Ask", "NoticeStays"},

	Section: func(c *config.Config) any {
		if c.Telegram == nil {
			return nil
		}
		return *c.Telegram
	},
	Tokens: []Token{{
		File:    func(c *config.Config) string { return c.Telegram.TokenFile },
		Form:    regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`), // the bot's number and a secret
		Example: "123456789:AAHnight",
		Ask:     "Ask @BotFather for a token and put it there, mode 0600",
		Want:    "no bot token: one line like 123456789:ABC…, as @BotFather gives it, and nothing else",
	}},
	TokenFix: func(e *TokenError) (fix, text string) {
		if e.Reason != nil {
			return "give the file to who runs nightporter, mode 0600", fmt.Sprintf("%s cannot be read: %v", filepath.Base(e.File), e.Reason)
		}
		return "put what @BotFather gave you, and nothing else, into " + e.File, filepath.Base(e.File) + " holds no token of a bot"
	},

	Connect: func(c *config.Config, tokens []transport.Secret, h Hooks) (*Conn, error) {
		b, err := telegram.New(telegram.Options{Token: tokens[0], API: c.Telegram.API, Log: h.Log, OnChange: h.Changed, OnChatMoved: h.Moved, OnTopicGone: h.Lost})
		if err != nil {
			return nil, err
		}
		return &Conn{
			ID: c.Telegram.API + " " + b.ID(), Cursor: b.CursorName(), Sender: b, State: b.State, Close: b.Close, Listen: b.Poll, Reads: b.IsMember, Fetch: b.Fetch,
			BotName: func(ctx context.Context) (string, error) {
				me, err := b.Me(ctx)
				return me.Username, err
			},
			SetMenu: func(ctx context.Context, chat string, items []bot.MenuItem) error {
				var list []telegram.MenuCommand
				for _, i := range items {
					list = append(list, telegram.MenuCommand{Name: i.Command, Description: i.Help})
				}
				return b.SetCommands(ctx, chat, list)
			},
		}, nil
	},
	Probe: func(ctx context.Context, c *config.Config, tokens []transport.Secret) ([]ledger.Diagnostic, error) {
		b, err := telegram.New(telegram.Options{Token: tokens[0], API: c.Telegram.API, Timeout: probeTime})
		if err != nil {
			return nil, err
		}
		var threads []string
		for _, pr := range c.Projects {
			if at := pr.TelegramTopic; at.Chat != 0 {
				threads = append(threads, telegram.Address(at.Chat, at.Thread))
			}
		}
		return b.Probe(ctx, threads...), nil
	},
	Limits: &delivery.TelegramLimits,

	IsGroup: telegram.IsGroup,
	Group:   telegram.GroupOf,
	Thread: func(pr config.Project) string {
		if at := pr.TelegramTopic; at.Chat != 0 {
			return telegram.Address(at.Chat, at.Thread)
		}
		return ""
	},
	ThreadKey: "telegram_topic",
	ThreadName: func(id string) (kind, name string) {
		if _, topic, is := strings.Cut(id, "/"); is {
			return "topic", topic
		}
		return "group", id
	},
	// Message ids count per group, not per topic: a message for a deleted topic
	// stands in the general topic, under the address of the deleted one.
	SentAt: func(ctx context.Context, sent inbound.Outbox, threads []string, chat, id string) (ledger.SentMessage, bool, error) {
		m, found, err := sent.SentAt(ctx, chat, id)
		if found || err != nil || !telegram.IsGroup(chat) || telegram.GroupOf(chat) != chat {
			return m, found, err
		}
		for _, thread := range threads {
			if thread != chat && telegram.GroupOf(thread) == chat {
				if m, found, err = sent.SentAt(ctx, thread, id); found || err != nil {
					return m, found, err
				}
			}
		}
		return m, found, err
	},

	PairLabel: "Send the bot",
	PairLine:  func(code string) string { return "/pair " + code },
	PairLink:  func(bot, code string) string { return fmt.Sprintf("https://t.me/%s?start=%s", bot, code) },
}

// probeTime limits how long doctor waits for a platform.
const probeTime = 10 * time.Second

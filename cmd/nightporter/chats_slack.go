package main

import (
	"context"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// connectSlack makes the connection to Slack, where one is configured.
func connectSlack(p *porter) (c platform, wanted bool, err error) {
	cfg := p.config().Slack
	if cfg == nil {
		return c, false, nil
	}
	app, token, err := slackTokens(cfg)
	if err != nil {
		return c, false, unusableChat(err)
	}
	line := &slackLine{porter: p}
	sl, err := slack.New(slack.Options{
		AppToken: transport.Secret(app), BotToken: transport.Secret(token), API: cfg.API, Log: p.log,
		OnChange: line.changed, Mentions: p.slackPeople, RepliedTo: line.answered, OpenQuestions: line.open, OnChannelActive: line.alive,
	})
	if err != nil {
		return c, false, unusableChat(err)
	}
	// Slack gives each socket of an app a part of what is said.
	lock, err := lockBot(p.log, cfg.API, sl.ID())
	if err != nil {
		return c, false, err
	}
	line.post = delivery.New(delivery.Options{
		Outbox: p.store, Sender: sl, OnChatClosed: p.shut, Prefix: slack.Prefix, Platform: "Slack", Log: p.log, Limits: delivery.SlackLimits, IsGroup: slack.IsGroup,
		Clock: func() time.Time { return time.Now().In(p.zone()) }, Live: liveStatus{p}, Unauthorized: p.barred, Quiet: p.quiet,
	})
	o := p.receptionOptions()
	o.Outbox, o.Notice, o.Ask, o.ProjectOf = threadOutbox{p.store}, sl.Notice, sl.OpenForm, p.threadProject
	receiver := waking{inbound.New(o), line.post, p.wrote}
	cursor := func(ctx context.Context) (string, error) {
		c, _, err := p.store.Cursor(ctx, sl.CursorName())
		return c.Value, err
	}
	return platform{
		name: "slack", post: line.post, lock: lock, connected: func() bool { return sl.State().Connected },
		listen: func(ctx context.Context) { _ = sl.Run(ctx, cursor, receiver) }, // says why ctx ended
	}, true, nil
}

// slackPeople are those who may steer, whom a message in a channel names so
// that it makes a sound.
func (p *porter) slackPeople(string) []string {
	var out []string
	for _, who := range p.engine.Shared().People {
		if strings.HasPrefix(who.ID, slack.Prefix) && who.Role.May(ledger.RoleSteer) {
			out = append(out, who.ID)
		}
	}
	return out
}

// threadOutbox is the outbox as threads of Slack point at it: what is said below
// somebody's own message answers what we answered there.
type threadOutbox struct{ inbound.Outbox }

// SentAt finds the message of ours that an id stands for.
func (o threadOutbox) SentAt(ctx context.Context, chat, id string) (ledger.SentMessage, bool, error) {
	if slack.IsUserMessage(id) {
		return o.AnswerTo(ctx, chat, id)
	}
	return o.Outbox.SentAt(ctx, chat, id)
}

// slackLine is the connection to Slack as the rest of nightporter sees it.
type slackLine struct {
	porter *porter
	post   *delivery.Dispatcher
}

// changed is told of every coming and going of the connection.
func (l *slackLine) changed(s transport.State) {
	if s.Connected {
		l.porter.remarks.set("", remarkSlack, "")
		l.post.MarkReachable()
		return
	}
	if s.Trouble != transport.TroubleStart {
		l.porter.remarks.set("", remarkSlack, "! Slack: "+s.Text)
	}
}

// answered reports whether somebody's message has an answer of ours.
func (l *slackLine) answered(ctx context.Context, chat, id string) bool {
	_, found, err := l.porter.store.AnswerTo(ctx, chat, id)
	if err != nil {
		l.porter.log.Error("look up an answer", "chat", chat, "error", err)
	}
	return found
}

// alive notes that a channel takes messages, which it may not have before.
func (l *slackLine) alive(chat string) {
	l.post.Reopen(chat)
	l.porter.wrote(bot.Inbound{Chat: chat})
}

// open are the messages of a chat whose questions wait for an answer.
func (l *slackLine) open(ctx context.Context, chat string) []string {
	var out []string
	for _, name := range l.porter.engine.Projects() {
		s, _ := l.porter.engine.State(name)
		for _, q := range s.Project.Questions {
			m, found, err := l.porter.store.SentFor(ctx, chat, q.ID)
			if err != nil {
				l.porter.log.Error("look up a question", "chat", chat, "question", q.ID, "error", err)
			}
			if found {
				out = append(out, m.ID)
			}
		}
	}
	return out
}

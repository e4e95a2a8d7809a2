package inbound

import (
	"context"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// run carries out a command, and commits its reply and the cursor.
func (v *request) run(ctx context.Context, line string) error {
	v.line = line
	if c, err := bot.Parse(line); err == nil && !v.who.Role.May(bot.RequiredRoleHere(v.o.Service, v.project, v.in.Private, c)) {
		return v.forbidden(ctx, c)
	}
	if c, err := bot.Parse(line); err == nil {
		v.plain = v.plain || c.Verb == bot.VerbWords
		v.takes = c.Verb == bot.VerbTakeBack
	}
	if v.lookAnswered(line) {
		return v.commit(ctx)
	}
	d := &requestService{Service: v.o.Service, request: v}
	chat := ""
	if !v.in.Private {
		chat = v.in.Chat
	}
	m, err := bot.Handle(ctx, d, bot.Request{
		Key: v.in.Key, Actor: v.in.Actor, Name: v.input("", nil).Name, Project: v.project, Chat: chat, Text: line, Time: v.now,
		Reply: v.replyTo, About: v.about(),
	})
	switch {
	case d.err != nil:
		return d.err
	case err != nil: // a read failed: tell the sender, so that the next input is handled
		v.o.Log.Error("command", "key", v.in.Key, "error", err)
	}
	switch {
	case d.done:
	case d.senderRemoved:
		return v.commit(ctx)
	default:
		replies := []ledger.Outgoing{v.readReply(m, line)}
		for _, also := range m.Also {
			replies = append(replies, v.readReply(also, line))
		}
		if d.accepted && v.in.Press != "" && strings.HasPrefix(v.key, onceKey) {
			replies = append(replies, v.removeButtons(answered)...)
		}
		if err := v.commit(ctx, replies...); err != nil {
			return err
		}
		v.noteLook(line)
	}
	v.acknowledge(ctx, d)
	return nil
}

// about returns the task of the message that plain words reply to.
func (v *request) about() string {
	if v.in.Press != "" {
		return ""
	}
	return v.pressed.About
}

// acknowledge acknowledges a press. It shows no text if a message will show the
// result, except for a refusal.
func (v *request) acknowledge(ctx context.Context, d *requestService) {
	if v.in.Press == "" || d.senderRemoved {
		return
	}
	v.notice(ctx, d.toast)
}

// forbidden replies to a command that the sender's role does not permit.
func (v *request) forbidden(ctx context.Context, c bot.Command) error {
	m := bot.Forbidden(v.o.Service.Shared(), v.who)
	in := v.input("", people.RefuseCommand{Command: string(c.Verb), For: v.project})
	_, err := v.o.Service.DoWith(ctx, in, func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
		if v.in.Press != "" {
			return nil, v.in.Cursor
		}
		return []ledger.Outgoing{v.answer(m)}, v.in.Cursor
	})
	if err == nil && v.in.Press != "" {
		v.notice(ctx, m.First())
	}
	return err
}

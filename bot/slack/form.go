package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
)

// formID names our forms, their one field, and its block.
const formID = "words"

// form is what a form has to remember until it is filled in.
type form struct {
	Command string `json:"command"` // that the words complete: "q5 guide"
	Chat    string `json:"chat"`
	Message string `json:"message"` // whose button asked for them
}

// OpenForm opens a form for the words that a button needs, instead of a message
// that waits for a reply. ask is that message, command what its words complete.
// It reports false where there is none to open: the press is some seconds old,
// or the platform refuses it.
func (b *Bot) OpenForm(ctx context.Context, in bot.Inbound, command string, ask bot.Message) bool {
	p, known := readPress(in.PressID)
	if !known || p.trigger == "" {
		return false
	}
	memory, err := json.Marshal(form{Command: command, Chat: in.Chat, Message: in.Message})
	if err != nil {
		return false
	}
	const mostLabel = 150
	label := cutRunes(strings.TrimSpace(strings.TrimPrefix(bot.Clean(ask.First()), bot.SignAsk)), mostLabel)
	field := slack.NewPlainTextInputBlockElement(nil, formID)
	field.Multiline = true
	text := func(s string) *slack.TextBlockObject {
		return slack.NewTextBlockObject(slack.PlainTextType, s, false, false)
	}
	_, err = b.api.OpenViewContext(ctx, p.trigger, slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: formID, PrivateMetadata: string(memory),
		Title: text("nightporter"), Submit: text("Send"), Close: text("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewInputBlock(formID, text(cmp.Or(label, "Your words:")), nil, field)}},
	})
	if err != nil {
		b.o.Log.Info("no form is opened; its words are asked for by a message", "error", b.o.redact(err.Error()))
	}
	return err == nil
}

// asUnknown finds what bot.Parse says of a word that is no command.
func asUnknown(err error) (*bot.UnknownError, bool) {
	var u *bot.UnknownError
	return u, errors.As(err, &u)
}

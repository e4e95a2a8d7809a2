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

// formID is the id of our forms, of their only block and of its field.
const formID = "words"

// form is the state that Slack keeps for an open form.
type form struct {
	Command string `json:"command"` // the text completes this command: "q5 guide"
	Chat    string `json:"chat"`
	Message string `json:"message"` // the message with the button that opened the form
}

// OpenForm opens a form for the text that a button's command needs, so that no
// message has to ask for it. ask is the message that would ask; the text
// completes command. OpenForm returns false if no form was opened: a trigger
// expires after some seconds, and Slack may refuse it.
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
		b.o.Log.Info("no form is opened; a message asks for the text", "error", b.o.redact(err.Error()))
	}
	return err == nil
}

// asUnknown returns the error of bot.Parse for a word that is no command.
func asUnknown(err error) (*bot.UnknownError, bool) {
	var u *bot.UnknownError
	return u, errors.As(err, &u)
}

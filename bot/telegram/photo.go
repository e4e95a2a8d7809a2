package telegram

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// sendPhoto sends a message below its picture. A text that is too long for a
// caption follows as a message. A picture that Telegram refuses is left out: the
// text contains everything that the picture shows.
func (b *Bot) sendPhoto(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	where, thread, err := parseAddress(chat)
	if err != nil {
		return "", &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	d := draft{chat: where, thread: thread, photo: m.Picture, photoName: cmp.Or(m.PictureName, m.Key+".png"), silent: o.Silent, replyTo: o.ReplyTo}
	caption, fits := asCaption(m)
	if fits {
		d.part, d.markup = caption, replyMarkup(m, o.ReplyTo != "")
	}
	id, err := 0, error(&bot.SendError{Reason: bot.ErrRejected, Text: "the picture is too large"})
	if len(m.Picture) <= bot.MaxPicture {
		id, err = b.send(ctx, d)
	}
	m.Picture = nil
	switch {
	case err == nil && fits:
		return strconv.Itoa(id), nil
	case err == nil:
		o.Silent, o.ReplyTo = true, ""
	case isPhotoRefusal(err):
		b.o.Log.Warn("Telegram rejects a picture; its text is sent alone", "error", err)
	default:
		return "", err
	}
	// The picture is not sent again; the second message is the text alone.
	id2, err := b.Send(ctx, chat, m, o)
	if err != nil && id != 0 {
		return "", errors.New("the picture was sent, its text was not: " + b.redact(err.Error()))
	}
	return id2, err
}

// isPhotoRefusal reports whether Telegram refused the picture, as opposed to a
// problem of the chat or the connection.
func isPhotoRefusal(err error) bool {
	var refused *bot.SendError
	return errors.Is(err, bot.ErrRejected) || errors.As(err, &refused) && strings.Contains(refused.Text, textNoPhotoRights)
}

package telegram

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// maxPhotoCaption is what stands below a picture, in UTF-16 units; the platform's
// own limit is 1024.
const maxPhotoCaption = 1000

// asPhotoCaption is a message as one caption, false where it is too long for that.
func asPhotoCaption(m bot.Message) (Part, bool) {
	all := packParts(renderLines(m))
	return all[0], len(all) == 1 && utf16Units(all[0].Text) <= maxPhotoCaption
}

// sendPhoto shows a message under its picture. A text that is no caption follows
// it; a picture that the platform does not take is left out, because the text
// says all that it shows.
func (b *Bot) sendPhoto(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	where, thread, err := parseAddress(chat)
	if err != nil {
		return "", &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	d := draft{chat: where, thread: thread, photo: m.Picture, silent: o.Silent, replyTo: o.ReplyTo}
	caption, fits := asPhotoCaption(m)
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
		b.o.Log.Warn("Telegram refuses a picture; its text is sent without", "error", err)
	default:
		return "", err
	}
	// What was sent is not sent again: the rest of it is only text.
	id2, err := b.Send(ctx, chat, m, o)
	if err != nil && id != 0 {
		return "", errors.New("the picture was sent, its text was not: " + b.redact(err.Error()))
	}
	return id2, err
}

// isPhotoRefusal reports whether it is the picture that the platform does not
// take, and not the chat or the connection.
func isPhotoRefusal(err error) bool {
	var refused *bot.SendError
	return errors.Is(err, bot.ErrRejected) || errors.As(err, &refused) && strings.Contains(refused.Text, textNoPhotoRights)
}

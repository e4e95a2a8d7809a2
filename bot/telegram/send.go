package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nightporter/nightporter/bot"
)

// ForceReplyPrefix begins the keys of messages that ask for words: they are sent so
// that the person's keyboard opens with an answer to them.
const ForceReplyPrefix = "words."

const (
	perRow    = 3   // buttons
	maxNotice = 200 // UTF-16 units
	// maxPartWait is how long the rest of a message that needs several may be
	// held up by the platform before its fate is called unknown.
	maxPartWait = time.Minute
)

// sentMessage is what the platform says of a message that it took.
type sentMessage struct {
	ID int `json:"message_id"`
}

// Send shows a message. One that needs several parts has its buttons, and its
// id, with the last one. A part after the first that fails leaves open whether
// the message arrived.
func (b *Bot) Send(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	where, thread, err := parseAddress(chat)
	if err != nil {
		return "", &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	if len(m.Picture) > 0 {
		return b.sendPhoto(ctx, chat, m, o)
	}
	id := 0
	all := Render(m)
	for n, part := range all {
		d := draft{chat: where, thread: thread, part: part, silent: o.Silent || n > 0}
		if n == 0 {
			d.replyTo = o.ReplyTo
		}
		if n == len(all)-1 {
			d.markup = replyMarkup(m, o.ReplyTo != "")
		}
		if id, err = b.sendPart(ctx, d, n > 0); err != nil {
			if n > 0 {
				return "", fmt.Errorf("part %d of %d of a message: %s", n+1, len(all), b.redact(err.Error()))
			}
			return "", err
		}
	}
	return strconv.Itoa(id), nil
}

// sendPart sends one part; one that is not the first waits for the platform, since
// what was sent before it cannot be taken back.
func (b *Bot) sendPart(ctx context.Context, d draft, patient bool) (int, error) {
	waited := time.Duration(0)
	for {
		id, err := b.send(ctx, d)
		var slow *bot.SendError
		if !patient || !errors.As(err, &slow) || !errors.Is(slow, bot.ErrRateLimited) || waited+slow.RetryAfter > maxPartWait {
			return id, err
		}
		waited += slow.RetryAfter
		if err := b.o.Sleep(ctx, slow.RetryAfter); err != nil {
			return 0, err
		}
	}
}

// draft is one message of the platform before it is sent.
type draft struct {
	chat        int64
	thread      int
	part        Part
	photo       []byte // the part is its caption
	replyTo     string
	silent      bool
	markup      any
	unformatted bool // without formatting
}

// send sends a draft, and again without what the platform does not accept:
// formatting, a topic that is gone, a message to answer that is gone. In each
// of these cases nothing was sent yet.
func (b *Bot) send(ctx context.Context, d draft) (int, error) {
	var got sentMessage
	var err error
	topic := d.thread
	for range 4 {
		switch {
		case d.photo != nil:
			err = b.upload(ctx, "sendPhoto", d.params("caption"), "photo", "digest.png", d.photo, &got)
		case d.part.File != nil:
			err = b.upload(ctx, "sendDocument", d.params("caption"), "document", d.part.File.Name, d.part.File.Data, &got)
		default:
			err = b.call(ctx, "sendMessage", d.params("text"), &got)
		}
		switch {
		case isRefusal(err, textUnparsable) && !d.unformatted:
			b.o.Log.Warn("Telegram refuses the formatting of a message; it is sent without", "error", err)
			d.unformatted = true
		case (isRefusal(err, textNoThread) || isRefusal(err, textTopicDeleted)) && d.thread != 0:
			d.thread = 0
		case isReplyTargetGone(err) && d.replyTo != "":
			d.replyTo = ""
		default:
			if err == nil && d.thread != topic {
				b.o.OnTopicGone(Address(d.chat, topic))
			}
			return got.ID, sendError(err)
		}
	}
	return got.ID, sendError(err)
}

// params are a draft's, with its text in the field of that name.
func (d draft) params(field string) tgbotapi.Params {
	p := tgbotapi.Params{"chat_id": strconv.FormatInt(d.chat, 10)}
	p.AddNonZero("message_thread_id", d.thread)
	p.AddBool("disable_notification", d.silent)
	if n, err := strconv.Atoi(d.replyTo); err == nil && n > 0 {
		p["reply_parameters"] = encode(map[string]any{"message_id": n, "allow_sending_without_reply": true})
	}
	d.text(p, field)
	if d.markup != nil {
		p["reply_markup"] = encode(d.markup)
	}
	return p
}

func (d draft) text(p tgbotapi.Params, field string) {
	p[field] = d.part.Text
	if !d.unformatted {
		p[field] = d.part.HTML
		p["parse_mode"] = tgbotapi.ModeHTML
	}
	if field == "text" {
		p["link_preview_options"] = `{"is_disabled":true}`
	}
}

// encode is JSON of what cannot fail to be some.
func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// inlineButton is one button of the platform.
type inlineButton struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// keyboard is a message's buttons, three to a row; nil for none.
func keyboard(m bot.Message) any {
	var rows [][]inlineButton
	for n, button := range m.Buttons {
		if n%perRow == 0 {
			rows = append(rows, nil)
		}
		label := bot.Cut(bot.Clean(button.Label), bot.LabelWidth)
		if label == "" {
			label = "…" // the platform takes no empty ones
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], inlineButton{Text: label, Data: Data(m, n)})
	}
	if rows == nil {
		return nil
	}
	return map[string]any{"inline_keyboard": rows}
}

// replyMarkup is what stands below a new message: buttons, or a request for words.
func replyMarkup(m bot.Message, replies bool) any {
	if strings.HasPrefix(m.Key, ForceReplyPrefix) {
		// Selective asks only whom the message answers.
		return map[string]any{"force_reply": true, "selective": replies}
	}
	return keyboard(m)
}

// Edit takes the place of a message that was sent. A text that is too long for
// one message is cut. Buttons that the new message lacks go.
func (b *Bot) Edit(ctx context.Context, at bot.Ref, m bot.Message) error {
	chat, _, err := parseAddress(at.Chat)
	if err != nil {
		return &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	d := draft{chat: chat, part: renderOne(m)}
	method, field := "editMessageText", "text"
	if len(m.Picture) > 0 {
		method, field, d.part = "editMessageCaption", "caption", renderOne(m)
		if p, fits := asPhotoCaption(m); fits {
			d.part = p
		}
	}
	for range 3 {
		p := tgbotapi.Params{"chat_id": strconv.FormatInt(chat, 10), "message_id": at.ID}
		d.text(p, field)
		if k := keyboard(m); k != nil {
			p["reply_markup"] = encode(k)
		}
		err = b.call(ctx, method, p, nil)
		switch {
		case isRefusal(err, textNotModified):
			return nil
		case isRefusal(err, textUnparsable) && !d.unformatted:
			d.unformatted = true
		case isRefusal(err, textNoText) && field == "text": // it was sent as a file
			method, field = "editMessageCaption", "caption"
			d.part = composePart(renderLines(fileCaption(m)))
			if p, fits := asPhotoCaption(m); fits {
				d.part = p
			}
		case isRefusal(err, textNoCaption) && field == "caption": // its picture was refused
			method, field = "editMessageText", "text"
		default:
			return sendError(err)
		}
	}
	return sendError(err)
}

// Delete takes a message away. One that is gone already is no error.
func (b *Bot) Delete(ctx context.Context, at bot.Ref) error {
	chat, _, err := parseAddress(at.Chat)
	if err != nil {
		return &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	err = b.call(ctx, "deleteMessage", tgbotapi.Params{"chat_id": strconv.FormatInt(chat, 10), "message_id": at.ID}, nil)
	if isRefusal(err, textNothingToDelete) {
		return nil
	}
	return sendError(err)
}

// Pin makes a message the one that stands above its chat, without a sound. In
// groups it needs a right that the bot may not have: then it is FaultRefused or
// FaultClosed, and nothing else is wrong.
func (b *Bot) Pin(ctx context.Context, at bot.Ref) error {
	chat, _, err := parseAddress(at.Chat)
	if err != nil {
		return &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	return sendError(b.call(ctx, "pinChatMessage", tgbotapi.Params{
		"chat_id": strconv.FormatInt(chat, 10), "message_id": at.ID, "disable_notification": "true",
	}, nil))
}

// Unpin takes a message away from above its chat. One that is not there is no
// error.
func (b *Bot) Unpin(ctx context.Context, at bot.Ref) error {
	chat, _, err := parseAddress(at.Chat)
	if err != nil {
		return &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	err = b.call(ctx, "unpinChatMessage", tgbotapi.Params{"chat_id": strconv.FormatInt(chat, 10), "message_id": at.ID}, nil)
	if isRefusal(err, textNothingToUnpin) {
		return nil
	}
	return sendError(err)
}

// Notice answers a press. One that is too old is no error.
func (b *Bot) Notice(ctx context.Context, pressID, text string) error {
	p := tgbotapi.Params{"callback_query_id": pressID}
	if text = bot.Clean(text); utf16Units(text) > maxNotice {
		text = splitLine(text, maxNotice-1)[0] + "…"
	}
	p.AddNonEmpty("text", text)
	err := b.call(ctx, "answerCallbackQuery", p, nil)
	if isRefusal(err, textPressTooOld) || isRefusal(err, textPressUnknown) {
		return nil
	}
	return sendError(err)
}

package telegram

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nightporter/nightporter/bot"
)

// ForceReplyPrefix starts the keys of messages that ask the person for a text.
// They are sent with force_reply, so that the keyboard opens with a reply.
const ForceReplyPrefix = "words."

const (
	perRow    = 3   // buttons
	maxNotice = 200 // UTF-16 units
)

// sentMessage holds the fields of Telegram's response to a send that this
// package uses.
type sentMessage struct {
	ID int `json:"message_id"`
}

// Send posts a message. A text that is too long for one is a file.
func (b *Bot) Send(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	where, thread, err := parseAddress(chat)
	if err != nil {
		return "", &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	if len(m.Picture) > 0 {
		return b.sendPhoto(ctx, chat, m, o)
	}
	id, err := b.send(ctx, draft{chat: where, thread: thread, part: Render(m), silent: o.Silent, replyTo: o.ReplyTo, markup: replyMarkup(m, o.ReplyTo != "")})
	if err != nil {
		return "", err
	}
	return strconv.Itoa(id), nil
}

// draft is a Telegram message before it is sent.
type draft struct {
	chat        int64
	thread      int
	part        Rendered
	photo       []byte // part is its caption
	photoName   string
	replyTo     string
	silent      bool
	markup      any
	unformatted bool // send the plain text
}

// send sends a draft. If Telegram rejects its formatting, its topic or the
// message that it replies to, send tries again without the rejected part. A
// rejected draft was never posted.
func (b *Bot) send(ctx context.Context, d draft) (int, error) {
	var got sentMessage
	var err error
	topic := d.thread
	for range 4 {
		switch {
		case d.photo != nil:
			err = b.upload(ctx, "sendPhoto", d.params("caption"), "photo", d.photoName, d.photo, &got)
		case d.part.File != nil:
			err = b.upload(ctx, "sendDocument", d.params("caption"), "document", d.part.File.Name, d.part.File.Data, &got)
		default:
			err = b.call(ctx, "sendMessage", d.params("text"), &got)
		}
		switch {
		case isRefusal(err, textUnparsable) && !d.unformatted:
			b.o.Log.Warn("Telegram rejects the formatting of a message; it is sent as plain text", "error", err)
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

// params returns the parameters of a draft, with its text in the named field.
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

// encode returns the JSON of v, which only holds strings, numbers and lists.
func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// inlineButton is a button as the Bot API takes it.
type inlineButton struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// keyboard returns m's buttons, three to a row, or nil.
func keyboard(m bot.Message) any {
	var rows [][]inlineButton
	for n, button := range m.Buttons {
		if n%perRow == 0 {
			rows = append(rows, nil)
		}
		label := bot.Cut(bot.Clean(button.Label), bot.LabelWidth)
		if label == "" {
			label = "…" // Telegram rejects empty labels
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], inlineButton{Text: label, Data: Data(m, n)})
	}
	if rows == nil {
		return nil
	}
	return map[string]any{"inline_keyboard": rows}
}

// replyMarkup returns the markup below a new message: its buttons, or a forced
// reply.
func replyMarkup(m bot.Message, replies bool) any {
	if strings.HasPrefix(m.Key, ForceReplyPrefix) {
		// With selective, only the author of the replied message is asked for a
		// reply.
		return map[string]any{"force_reply": true, "selective": replies}
	}
	return keyboard(m)
}

// Edit replaces a sent message. Of a text that is too long for one message, the
// beginning is shown.
// The buttons are replaced too.
func (b *Bot) Edit(ctx context.Context, at bot.Ref, m bot.Message) error {
	chat, _, err := parseAddress(at.Chat)
	if err != nil {
		return &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	d := draft{chat: chat, part: renderEdit(m)}
	method, field := "editMessageText", "text"
	if len(m.Picture) > 0 {
		method, field, d.part = "editMessageCaption", "caption", captionOf(m)
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
		case isRefusal(err, textNoText) && field == "text": // the message was sent as a file, which has a caption instead of a text
			method, field = "editMessageCaption", "caption"
			d.part = captionOf(m)
		case isRefusal(err, textNoCaption) && field == "caption": // its picture was refused
			method, field, d.part = "editMessageText", "text", renderEdit(m)
		default:
			return sendError(err)
		}
	}
	return sendError(err)
}

// Delete deletes a sent message. A message that is gone is no error.
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

// Pin pins a message without a notification. In a group without the permission it
// returns bot.ErrRejected or bot.ErrChatClosed.
func (b *Bot) Pin(ctx context.Context, at bot.Ref) error {
	chat, _, err := parseAddress(at.Chat)
	if err != nil {
		return &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	return sendError(b.call(ctx, "pinChatMessage", tgbotapi.Params{
		"chat_id": strconv.FormatInt(chat, 10), "message_id": at.ID, "disable_notification": "true",
	}, nil))
}

// Unpin unpins a message. A message that is not pinned is no error.
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

// Notice answers a press with a short text. An expired press is no error.
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

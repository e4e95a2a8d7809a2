package telegram

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Values of Inbound.Unpairable: why the sender can never be paired.
const (
	SenderAnonymous  = "anonymous"         // an administrator who writes as the group
	SenderChannel    = "a channel"         // a channel post, or a person who writes as a channel
	SenderBot        = "a bot"             //
	SenderService    = "a service message" // a service message, such as a new member or title: no person wrote it
	SenderUnreadable = "not understood"    // an update that is not in Telegram's form, or of a kind that was not requested
)

// allowedUpdates lists the requested kinds of updates. It is sent with every poll,
// because Telegram remembers the last list.
const allowedUpdates = `["message","edited_message","callback_query","message_reaction"]`

// update holds the fields of a Telegram update that this package uses. Unknown
// fields, and other fields of an unexpected type, cannot make decoding fail.
type update struct {
	ID      *int      `json:"update_id"`
	Message *message  `json:"message"`
	Edited  *message  `json:"edited_message"`
	Press   *callback `json:"callback_query"`

	Reaction *reaction `json:"message_reaction"`
}

type user struct {
	ID    int64  `json:"id"`
	Bot   bool   `json:"is_bot"`
	First string `json:"first_name"`
	Last  string `json:"last_name"`
	Name  string `json:"username"`
}

type chat struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
	Forum bool   `json:"is_forum"`
}

// topicName is the name of a topic in a service message that opened or renamed
// the topic.
type topicName struct {
	Name string `json:"name"`
}

type message struct {
	ID         int        `json:"message_id"`
	Thread     int        `json:"message_thread_id"`
	Topic      bool       `json:"is_topic_message"`
	From       *user      `json:"from"`
	SenderChat *chat      `json:"sender_chat"`
	Chat       chat       `json:"chat"`
	Date       int64      `json:"date"`
	Edit       int64      `json:"edit_date"`
	ReplyTo    *message   `json:"reply_to_message"`
	Opened     *topicName `json:"forum_topic_created"`
	Renamed    *topicName `json:"forum_topic_edited"`
	Moved      int64      `json:"migrate_to_chat_id"`
	Text       string     `json:"text"`
	Caption    string     `json:"caption"`

	Album string `json:"media_group_id"`
	media
}

// media are the attachments of a message. A message has one, except that an
// animation is also a document and a venue also a location.
type media struct {
	Photo, Document, Audio, Voice, Video, Animation, Sticker json.RawMessage
	VideoNote                                                json.RawMessage `json:"video_note"`
	PaidMedia                                                json.RawMessage `json:"paid_media"`
	Contact, Location, Venue, Poll, Dice, Game, Story        json.RawMessage
	Checklist, Giveaway                                      json.RawMessage
}

type callback struct {
	ID      string   `json:"id"`
	From    user     `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}

// fromUpdate converts a Telegram update. ok is false if it has no id, so that
// it cannot be confirmed. moved is the new address of a group whose address
// changed, else "".
func (b *Bot) fromUpdate(raw json.RawMessage) (in bot.Inbound, moved string, ok bool) {
	var u update
	err := json.Unmarshal(raw, &u)
	if u.ID == nil {
		// Decoding may have failed before it reached the id.
		var only struct {
			ID *int `json:"update_id"`
		}
		_ = json.Unmarshal(raw, &only) // after an error the id stays nil
		if u.ID = only.ID; u.ID == nil {
			return in, "", false
		}
	}
	now := b.o.Clock()
	switch {
	case err != nil:
		in.Unpairable = SenderUnreadable
	case u.Message != nil:
		in = b.fromMessage(u.Message)
		if u.Message.Moved != 0 {
			moved = Address(u.Message.Moved, 0)
		}
	case u.Edited != nil:
		in = b.fromMessage(u.Edited)
		in.Edited = true
		if u.Edited.Edit != 0 {
			in.Sent = time.Unix(u.Edited.Edit, 0)
		}
	case u.Reaction != nil:
		in = u.Reaction.toInbound()
	case u.Press != nil:
		in = u.Press.toInbound()
		in.Sent = now // a press has no time; Telegram keeps presses for 150 s
	default:
		in.Unpairable = SenderUnreadable
	}
	// Update ids are only unique for one bot.
	in.Key = b.CursorName() + ":" + strconv.Itoa(*u.ID)
	// The id is not compared with the stored cursor: after a week without
	// updates ids continue from a random number, and another server has its own.
	in.Cursor = &ledger.Cursor{Name: b.CursorName(), Value: strconv.Itoa(*u.ID + 1), Time: now}
	return in, moved, true
}

// fromMessage converts a message.
func (b *Bot) fromMessage(m *message) bot.Inbound {
	in := bot.Inbound{
		Chat: Address(m.Chat.ID, m.topic()), Private: m.Chat.Type == "private",
		Text: m.Text, Message: strconv.Itoa(m.ID), Album: m.Album, Sent: time.Unix(m.Date, 0),
	}
	in.Kind, in.Media = m.attachment()
	in.Files = m.files()
	in.Title = m.title()
	if in.Text == "" {
		in.Text = m.Caption
	}
	// Telegram marks each message in a topic as a reply to the topic's first one.
	if r := m.ReplyTo; r != nil && r.Opened == nil {
		in.ReplyTo = strconv.Itoa(r.ID)
		text := r.Text
		if text == "" {
			text = r.Caption
		}
		if r.From != nil && strconv.FormatInt(r.From.ID, 10) == b.id {
			in.ReplyToText, _, _ = strings.Cut(text, "\n")
		} else {
			in.ReplyToWhole = text
		}
	}
	in.Actor, in.Name = m.From.actor()
	switch {
	case m.SenderChat != nil && m.SenderChat.ID == m.Chat.ID && m.SenderChat.Type != "channel":
		in.Unpairable = SenderAnonymous
	case m.SenderChat != nil || m.From == nil || m.Chat.Type == "channel":
		in.Unpairable = SenderChannel
		if m.SenderChat != nil {
			in.Actor, in.Name = Address(m.SenderChat.ID, 0), "channel"
		}
	case m.From.Bot:
		in.Unpairable = SenderBot
	case in.Text == "" && !in.Media:
		in.Unpairable = SenderService
	}
	return in
}

// reaction is a change of a person's reactions to a message. Telegram does not say
// whose message it is, nor in which topic.
type reaction struct {
	Chat    chat     `json:"chat"`
	Message int      `json:"message_id"`
	User    *user    `json:"user"` // nil: anonymous
	Date    int64    `json:"date"`
	Old     []symbol `json:"old_reaction"`
	New     []symbol `json:"new_reaction"`
}

// symbol is one reaction; Emoji is "" for those of other types.
type symbol struct {
	Emoji string `json:"emoji"`
}

// toInbound converts a reaction. Its text is the symbol that was added, "" for none.
func (r *reaction) toInbound() bot.Inbound {
	id := strconv.Itoa(r.Message)
	in := bot.Inbound{Chat: Address(r.Chat.ID, 0), Private: r.Chat.Type == "private", Reaction: true, Message: id, ReplyTo: id, Sent: time.Unix(r.Date, 0)}
	for _, s := range r.New {
		if !slices.Contains(r.Old, s) {
			in.Text = s.Emoji
		}
	}
	in.Actor, in.Name = r.User.actor()
	switch {
	case r.User == nil:
		in.Unpairable = SenderAnonymous
	case r.User.Bot:
		in.Unpairable = SenderBot
	}
	return in
}

// toInbound converts a press. For an old message, Telegram gives only the chat
// and the id, or nothing.
func (c *callback) toInbound() bot.Inbound {
	in := bot.Inbound{Press: c.Data, PressID: c.ID}
	in.Actor, in.Name = c.From.actor()
	if m := c.Message; m != nil && m.Chat.ID != 0 {
		in.Chat, in.Message = Address(m.Chat.ID, m.topic()), strconv.Itoa(m.ID)
		in.Private = m.Chat.Type == "private"
	}
	if c.From.Bot {
		in.Unpairable = SenderBot
	}
	return in
}

// topic returns the forum topic of a message, 0 for none. In groups without
// topics a reply has a thread id too, which messages cannot be sent to. Presses
// do not say whether the group is a forum, so the replied message decides.
func (m *message) topic() int {
	r := m.ReplyTo
	if m.Topic || m.Chat.Forum || r == nil || r.Topic || r.Opened != nil {
		return m.Thread
	}
	return 0
}

// title returns the name of the message's topic or group, "" if the message
// does not contain the name.
func (m *message) title() string {
	opened := m.Opened
	if m.Renamed != nil && m.Renamed.Name != "" {
		opened = m.Renamed
	}
	if opened == nil && m.ReplyTo != nil {
		opened = m.ReplyTo.Opened
	}
	switch {
	case m.topic() != 0 && opened != nil:
		return bot.Clean(opened.Name)
	case m.topic() != 0:
		return ""
	}
	return bot.Clean(m.Chat.Title) // empty for private chats
}

// attachment returns the kind of a message's attachment in words for people. It
// returns false for a message without an attachment.
func (m *media) attachment() (string, bool) {
	for _, is := range []struct {
		field json.RawMessage
		name  string
	}{
		{m.Photo, "photo"}, {m.Voice, "voice note"}, {m.Audio, "audio file"}, {m.Animation, "animation"}, {m.Video, "video"}, {m.VideoNote, "video note"},
		{m.Sticker, "sticker"}, {m.Document, "file"}, {m.Contact, "contact"}, {m.Venue, "place"}, {m.Location, "place"}, {m.Poll, "poll"},
		{m.Dice, "dice"}, {m.Game, "game"}, {m.Story, "story"}, {m.Checklist, "checklist"}, {m.Giveaway, "giveaway"}, {m.PaidMedia, "paid media"},
	} {
		if len(is.field) > 0 && string(is.field) != "null" {
			return is.name, true
		}
	}
	return "", false
}

// actor returns a user's address and display name.
func (u *user) actor() (actor, name string) {
	if u == nil {
		return "", ""
	}
	name = bot.Clean(strings.TrimSpace(u.First + " " + u.Last))
	if name == "" {
		name = bot.Clean(u.Name)
	}
	return Address(u.ID, 0), name
}

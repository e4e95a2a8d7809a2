package telegram

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// What an Inbound says in Stands: why its sender is nobody who can be let in.
const (
	StandsAnonymous = "anonymous"         // an admin who writes as the group
	StandsChannel   = "a channel"         // a post, or somebody who writes as a channel
	StandsBot       = "a bot"             //
	StandsService   = "a service message" // somebody came, a title changed: nothing was said
	StandsUnread    = "not understood"    // not of the platform's form, or of none that was asked for
)

// allowed are the kinds of updates that are asked for, always: what was asked
// for last stays in force.
const allowed = `["message","edited_message","callback_query"]`

// update is one update, as much of it as matters. Fields that are missing here
// cannot break its reading.
type update struct {
	ID      *int      `json:"update_id"`
	Message *message  `json:"message"`
	Edited  *message  `json:"edited_message"`
	Press   *callback `json:"callback_query"`
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

// named is what tells a topic's name: that it was opened, or called otherwise.
type named struct {
	Name string `json:"name"`
}

type message struct {
	ID      int      `json:"message_id"`
	Thread  int      `json:"message_thread_id"`
	Topic   bool     `json:"is_topic_message"`
	From    *user    `json:"from"`
	As      *chat    `json:"sender_chat"`
	Chat    chat     `json:"chat"`
	Date    int64    `json:"date"`
	Edit    int64    `json:"edit_date"`
	ReplyTo *message `json:"reply_to_message"`
	Opened  *named   `json:"forum_topic_created"`
	Renamed *named   `json:"forum_topic_edited"`
	Moved   int64    `json:"migrate_to_chat_id"`
	Text    string   `json:"text"`
	Caption string   `json:"caption"`

	Album string `json:"media_group_id"`
	media
}

// media is what a message holds besides words, one of them at a time but for
// an animation, which is a document, and a venue, which is a location.
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

// inbound reads one update. It is false where there is not even an id, so that
// nothing can be confirmed. moved is the group's new address, "" mostly.
func (b *Bot) inbound(raw json.RawMessage) (in bot.Inbound, moved string, ok bool) {
	var u update
	err := json.Unmarshal(raw, &u)
	if u.ID == nil {
		// Decoding may have stopped before it came to the id.
		var only struct {
			ID *int `json:"update_id"`
		}
		_ = json.Unmarshal(raw, &only) // then there is none
		if u.ID = only.ID; u.ID == nil {
			return in, "", false
		}
	}
	now := b.o.Clock()
	switch {
	case err != nil:
		in.Stands = StandsUnread
	case u.Message != nil:
		in = b.said(u.Message)
		if u.Message.Moved != 0 {
			moved = Address(u.Message.Moved, 0)
		}
	case u.Edited != nil:
		in = b.said(u.Edited)
		in.Edited = true
		if u.Edited.Edit != 0 {
			in.Sent = time.Unix(u.Edited.Edit, 0)
		}
	case u.Press != nil:
		in = u.Press.inbound()
		in.Sent = now // the platform does not say; it keeps presses for 150 s
	default:
		in.Stands = StandsUnread
	}
	// The ids are this bot's own: those of the one before it may be the same.
	in.Key = b.CursorName() + ":" + strconv.Itoa(*u.ID)
	// Ids are not compared with the stored one: after a week without updates
	// they go on from a random number, and on another server from any.
	in.Cursor = &ledger.Cursor{Name: b.CursorName(), Value: strconv.Itoa(*u.ID + 1), Time: now}
	return in, moved, true
}

// said reads a message.
func (b *Bot) said(m *message) bot.Inbound {
	in := bot.Inbound{
		Chat: Address(m.Chat.ID, m.topic()), Private: m.Chat.Type == "private",
		Text: m.Text, Message: strconv.Itoa(m.ID), Album: m.Album, Sent: time.Unix(m.Date, 0),
	}
	in.Kind, in.Media = m.kind()
	in.Title = m.title()
	if in.Text == "" {
		in.Text = m.Caption
	}
	// What stands in a topic answers its first message, says the platform.
	if r := m.ReplyTo; r != nil && r.Opened == nil {
		in.ReplyTo = strconv.Itoa(r.ID)
		if r.From != nil && strconv.FormatInt(r.From.ID, 10) == b.id {
			text := r.Text
			if text == "" {
				text = r.Caption
			}
			in.Answers, _, _ = strings.Cut(text, "\n")
		}
	}
	in.Actor, in.Name = m.From.actor()
	switch {
	case m.As != nil && m.As.ID == m.Chat.ID && m.As.Type != "channel":
		in.Stands = StandsAnonymous
	case m.As != nil || m.From == nil || m.Chat.Type == "channel":
		in.Stands = StandsChannel
		if m.As != nil {
			in.Actor, in.Name = Address(m.As.ID, 0), "channel"
		}
	case m.From.Bot:
		in.Stands = StandsBot
	case in.Text == "" && !in.Media:
		in.Stands = StandsService
	}
	return in
}

// inbound reads a press. The message may be too old to be handed out; then
// there is its chat and id only, or not even these.
func (c *callback) inbound() bot.Inbound {
	in := bot.Inbound{Press: c.Data, PressID: c.ID}
	in.Actor, in.Name = c.From.actor()
	if m := c.Message; m != nil && m.Chat.ID != 0 {
		in.Chat, in.Message = Address(m.Chat.ID, m.topic()), strconv.Itoa(m.ID)
		in.Private = m.Chat.Type == "private"
	}
	if c.From.Bot {
		in.Stands = StandsBot
	}
	return in
}

// topic is the forum topic that a message stands in, 0 for none. In groups
// without topics an answer bears a thread, too, which is none to send to. That
// the group is a forum is not said with presses, so what a message answers has
// to tell.
func (m *message) topic() int {
	r := m.ReplyTo
	if m.Topic || m.Chat.Forum || r == nil || r.Topic || r.Opened != nil {
		return m.Thread
	}
	return 0
}

// title is what people call the topic or the group that a message stands in,
// "" where this message does not tell.
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
	return bot.Clean(m.Chat.Title) // private chats have none
}

// kind is what people call what a message holds besides words, false where it
// holds words alone.
func (m *media) kind() (string, bool) {
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

// actor is who somebody is, and the name that the platform shows of them.
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

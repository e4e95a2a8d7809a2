package telegram

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// UserMessage is a message of a person.
type UserMessage struct {
	From       User
	Chat       int64 // the person's id for a private chat, negative for a group
	Thread     int   // topic; a new one is opened
	Text       string
	Photo      bool   // has a picture, with Text as the caption
	Attachment string // field of another attachment, "voice" or "sticker", with Text as the caption
	File       File   // of Photo or Attachment; without data it is a small one
	Seconds    int    // length of a recording
	Album      string // id of the media group
	ReplyTo    int
	Anonymous  bool // written as the group by a hidden administrator
	Channel    int64
	Date       time.Time // zero = now
	Service    string    // field of a service message, such as "group_chat_created"
}

// topicName is the name of every topic.
const topicName = "night of the shop"

// Say posts a person's message and returns its id.
func (s *Server) Say(from User, chat int64, text string) int {
	return s.Post(UserMessage{From: from, Chat: chat, Text: text})
}

// Reply posts a person's reply.
func (s *Server) Reply(from User, chat int64, to int, text string) int {
	return s.Post(UserMessage{From: from, Chat: chat, Text: text, ReplyTo: to})
}

// Post posts a message and returns its id.
func (s *Server) Post(w UserMessage) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(w.Chat)
	if w.Thread != 0 {
		c.topics[w.Thread] = true
	}
	if !isGroup(w.Chat) {
		c.refusal = nil // writing to the bot unblocks it
	}
	m := &Message{From: w.From, Thread: w.Thread, Text: w.Text, ReplyTo: w.ReplyTo, Date: w.Date}
	if m.Date.IsZero() {
		m.Date = s.o.Clock()
	}
	if w.Photo {
		m.File = &File{Name: "photo.jpg", Photo: true, Data: w.File.Data, Size: w.File.Size}
		if m.File.Data == nil {
			m.File.Data = []byte("\xff\xd8\xff a photo")
		}
	}
	if w.Anonymous {
		m.From = User{ID: 1087968824, Name: "GroupAnonymousBot", Bot: true}
	}
	c.add(m)
	wire := s.wire(c, m)
	switch {
	case w.Anonymous:
		wire["sender_chat"] = wire["chat"]
	case w.Channel != 0:
		wire["from"] = User{ID: 136817688, Name: "Channel_Bot", Bot: true}.wire()
		wire["sender_chat"] = map[string]any{"id": w.Channel, "type": "channel", "title": "a channel"}
	}
	if w.Thread != 0 && w.ReplyTo == 0 { // Telegram marks messages in a topic as replies to its first message
		opened := s.wire(c, &Message{ID: w.Thread, Thread: w.Thread, From: w.From, Date: m.Date})
		opened["forum_topic_created"] = map[string]any{"name": topicName, "icon_color": 7322096}
		wire["reply_to_message"] = opened
	}
	if w.Attachment != "" {
		delete(wire, "text")
		data := w.File.Data
		if data == nil {
			data = []byte("a " + w.Attachment)
		}
		file := s.keep(fmt.Sprintf("%s-%d.%d", w.Attachment, c.id, m.ID), w.Attachment, "bin", data, w.File.Size)
		for name, v := range map[string]string{"file_name": w.File.Name, "mime_type": w.File.Type} {
			if v != "" {
				file[name] = v
			}
		}
		if w.Seconds > 0 {
			file["duration"] = w.Seconds
		}
		wire[w.Attachment] = file
		if w.Text != "" {
			wire["caption"] = w.Text
		}
	}
	if w.Album != "" {
		wire["media_group_id"] = w.Album
	}
	if w.Service != "" {
		wire[w.Service] = true
	}
	s.push("message", wire)
	return m.ID
}

// EditText changes the text of a person's message. It returns false if the person
// has no such message.
func (s *Server) EditText(from User, chat int64, message int, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(chat)
	m := c.message(message)
	if m == nil || m.From.ID != from.ID {
		return false
	}
	m.Text = text
	m.Edits++
	wire := s.wire(c, m)
	wire["edit_date"] = s.o.Clock().Unix()
	s.push("edited_message", wire)
	return true
}

// React puts a reaction on a message; "" takes it away.
func (s *Server) React(from User, chat int64, message int, emoji string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "private"
	if isGroup(chat) {
		kind = "supergroup"
	}
	one := []any{map[string]any{"type": "emoji", "emoji": emoji}}
	was, is := []any{}, one
	if emoji == "" {
		was, is = []any{map[string]any{"type": "emoji", "emoji": "👍"}}, []any{}
	}
	s.push("message_reaction", map[string]any{
		"chat": map[string]any{"id": chat, "type": kind}, "message_id": message, "user": from.wire(), "date": s.o.Clock().Unix(),
		"old_reaction": was, "new_reaction": is,
	})
}

// Press presses the button with a label and returns the id of the press. The
// error lists the existing buttons.
func (s *Server) Press(from User, chat int64, message int, label string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(chat)
	m := c.message(message)
	if m == nil {
		return "", fmt.Errorf("chat %d has no message %d", chat, message)
	}
	i := slices.Index(m.Labels(), label)
	if i < 0 {
		return "", fmt.Errorf("message %d has no button %q, only %q", message, label, m.Labels())
	}
	return s.press(from, c, m, label, slices.Concat(m.Buttons...)[i].Data), nil
}

// PressData sends a press with any data, as a client with an old message does.
func (s *Server) PressData(from User, chat int64, message int, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(chat)
	return s.press(from, c, c.message(message), "", data)
}

func (s *Server) press(from User, c *chat, m *Message, label, data string) string {
	s.nextID++
	id := strconv.FormatInt(from.ID, 10) + "0" + strconv.Itoa(s.nextID)
	s.presses[id] = &press{chat: c.id, label: label, at: s.o.Clock()}
	what := map[string]any{"id": id, "from": from.wire(), "chat_instance": strconv.FormatInt(c.id, 10), "data": data}
	if m != nil {
		w := s.wire(c, m)
		if s.o.Clock().Sub(m.Date) > deletableFor { // Telegram does not return old messages
			w = map[string]any{"message_id": m.ID, "chat": w["chat"], "date": 0}
		}
		if where, is := w["chat"].(map[string]any); is {
			delete(where, "is_forum") // Telegram omits it here
		}
		what["message"] = w
	}
	s.push("callback_query", what)
	return id
}

// Block makes a person block the bot, or a group remove it. The person's next
// message unblocks it.
func (s *Server) Block(chat int64) {
	a := forbidden("bot was blocked by the user")
	if isGroup(chat) {
		a = forbidden("bot was kicked from the supergroup chat")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat(chat).refusal = &a
	s.notifyChange()
}

// LetIn takes a bot that was removed into the group again.
func (s *Server) LetIn(chat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat(chat).refusal = nil
}

// Migrate turns a group into a supergroup with a new id.
func (s *Server) Migrate(from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.chat(from)
	a := bad("group chat was upgraded to a supergroup chat")
	a.params = map[string]any{"migrate_to_chat_id": to}
	old.refusal = &a
	s.chat(to)
	m := old.add(&Message{From: User{ID: 1, Name: "owner"}, Date: s.o.Clock()})
	wire := s.wire(old, m)
	wire["migrate_to_chat_id"] = to
	s.push("message", wire)
}

// Topic opens or closes a topic of a group.
func (s *Server) Topic(chat int64, thread int, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat(chat).topics[thread] = open
}

// RemoveTopic deletes a topic of a group.
func (s *Server) RemoveTopic(chat int64, thread int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.chat(chat).topics, thread)
}

// Remove deletes a message.
func (s *Server) Remove(chat int64, message int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.chat(chat).message(message); m != nil {
		m.Deleted = true
	}
	s.notifyChange()
}

// Chat is a snapshot of a chat.
type Chat struct {
	ID       int64
	Messages []Message // in order, without deleted ones
	Notices  []Notice  // answers to presses
	Count    Count
}

// Notice is the bot's answer to a press.
type Notice struct {
	Label string // label of the button
	Text  string
	Alert bool
}

// Count counts the bot's calls in a chat.
type Count struct {
	Messages int // sent, including deleted ones
	Sounds   int // sends with a notification
	Edits    int
	Deletes  int
	Refused  int // calls rejected because of the rate limits
}

// Last returns the newest message, the zero value if there is none.
func (c Chat) Last() Message {
	if len(c.Messages) == 0 {
		return Message{}
	}
	return c.Messages[len(c.Messages)-1]
}

// Find returns the newest message for which is returns true.
func (c Chat) Find(is func(Message) bool) (Message, bool) {
	for _, m := range slices.Backward(c.Messages) {
		if is(m) {
			return m, true
		}
	}
	return Message{}, false
}

// Chat returns a snapshot of a chat.
func (s *Server) Chat(id int64) Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot(id)
}

func (s *Server) snapshot(id int64) Chat {
	c := s.chats[id]
	if c == nil {
		return Chat{ID: id}
	}
	out := Chat{ID: id, Notices: slices.Clone(c.notices), Count: c.count}
	for _, m := range c.messages {
		if !m.Deleted {
			out.Messages = append(out.Messages, *m)
		}
	}
	return out
}

// WaitFor waits until is returns true for a chat, and returns the chat. If ctx
// ends first, the error shows the chat.
func (s *Server) WaitFor(ctx context.Context, chat int64, is func(Chat) bool) (Chat, error) {
	var c Chat
	err := s.Wait(ctx, func() bool {
		c = s.snapshot(chat)
		return is(c)
	})
	if err != nil {
		return c, fmt.Errorf("chat %d: %w; it stands at:\n%s", chat, err, s.Transcript(chat))
	}
	return c, nil
}

// Wait waits until a condition holds. It calls is after each change with the
// server locked, so is must not call the server.
func (s *Server) Wait(ctx context.Context, is func() bool) error {
	for {
		s.mu.Lock()
		done, changed := is(), s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// WaitPolling waits until a bot polls and all updates are confirmed.
func (s *Server) WaitPolling(ctx context.Context) error {
	return s.Wait(ctx, func() bool { return s.updates.poller != nil && len(s.updates.waiting) == 0 })
}

// WaitConfirmed waits until the bot has confirmed every update.
func (s *Server) WaitConfirmed(ctx context.Context) error {
	return s.Wait(ctx, func() bool { return len(s.updates.waiting) == 0 })
}

// WaitCalls waits until n calls of a method are answered.
func (s *Server) WaitCalls(ctx context.Context, method string, n int) error {
	return s.Wait(ctx, func() bool {
		got := 0
		for _, c := range s.calls {
			if c.Method == method {
				got++
			}
		}
		return got >= n
	})
}

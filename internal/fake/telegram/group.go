package telegram

import (
	"slices"
	"strconv"
)

// SetPinRight gives the bot the right to pin in a group, or revokes it. Private
// chats need no right.
func (s *Server) SetPinRight(chat int64, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat(chat).mayPin = may
}

// Leave makes a person leave a group. Telegram's service message about it is left
// out: large groups have none.
func (s *Server) Leave(from User, chat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(chat)
	if c.left == nil {
		c.left = map[int64]bool{}
	}
	c.left[from.ID] = true
}

func title(id int64) string { return "group " + strconv.FormatInt(id, 10) }

func (s *Server) getChat(c call) methodResult {
	ch, refusal := s.findChat(c)
	if refusal != nil {
		return *refusal
	}
	if !isGroup(ch.id) {
		return ok(map[string]any{"id": ch.id, "type": "private"})
	}
	is := map[string]any{"id": ch.id, "type": "supergroup", "title": title(ch.id), "permissions": map[string]any{"can_send_messages": true, "can_pin_messages": false}}
	if len(ch.topics) > 0 {
		is["is_forum"] = true
	}
	return ok(is)
}

// getMember returns a chat's member. A bot that is no administrator learns about
// itself only. Everybody who has written is a member.
func (s *Server) getMember(c call) methodResult {
	ch, refusal := s.findChat(c)
	if refusal != nil {
		return *refusal
	}
	id := c.num("user_id")
	is := map[string]any{"status": "member", "user": User{ID: id, Name: "somebody"}.wire()}
	switch {
	case id == s.BotID() && ch.mayPin:
		is["status"], is["can_pin_messages"] = "administrator", true
	case id == s.BotID():
	case !ch.mayPin:
		return bad("CHAT_ADMIN_REQUIRED")
	case ch.left[id], !slices.ContainsFunc(ch.messages, func(m *Message) bool { return m.From.ID == id }):
		is["status"] = "left"
	}
	return ok(is)
}

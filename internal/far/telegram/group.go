package telegram

import "strconv"

// MayPin lets a group give the bot the right to pin, or take it back. Nobody
// has to ask for it in a private chat.
func (s *Server) MayPin(chat int64, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat(chat).pins = may
}

func title(id int64) string { return "group " + strconv.FormatInt(id, 10) }

func (s *Server) getChat(c call) answer {
	ch, refusal := s.place(c)
	if refusal != nil {
		return *refusal
	}
	if !group(ch.id) {
		return ok(map[string]any{"id": ch.id, "type": "private"})
	}
	is := map[string]any{"id": ch.id, "type": "supergroup", "title": title(ch.id), "permissions": map[string]any{"can_send_messages": true, "can_pin_messages": false}}
	if len(ch.topics) > 0 {
		is["is_forum"] = true
	}
	return ok(is)
}

// getMember says what the bot is in a chat. Of others it is told only where it
// is an administrator, and nobody here asks.
func (s *Server) getMember(c call) answer {
	ch, refusal := s.place(c)
	switch {
	case refusal != nil:
		return *refusal
	case c.num("user_id") != s.BotID():
		return bad("CHAT_ADMIN_REQUIRED")
	case ch.pins:
		return ok(map[string]any{"status": "administrator", "user": s.bot().wire(), "can_pin_messages": true})
	}
	return ok(map[string]any{"status": "member", "user": s.bot().wire()})
}

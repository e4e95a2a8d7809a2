package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// UserMessage is a message of a person or of another app.
type UserMessage struct {
	User, Channel, Text string
	Root                string // timestamp of the thread's first message
	Bot                 bool   // written by another app
	File                bool   // has a file that is gone
	Files               []File
}

// Say posts a person's message and returns its timestamp. "@porter" in it becomes
// a mention of the app.
func (s *Server) Say(user, channel, text string) string {
	return s.Post(UserMessage{User: user, Channel: channel, Text: text})
}

// Reply is Say in a thread.
func (s *Server) Reply(user, channel, root, text string) string {
	return s.Post(UserMessage{User: user, Channel: channel, Text: text, Root: root})
}

// Post posts a message and returns its timestamp.
func (s *Server) Post(w UserMessage) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(w.Channel)
	m := &Message{TS: s.stamp(), User: w.User, Text: wireText(w.Text), Root: w.Root, Bot: w.Bot}
	if w.File {
		m.Files = []string{s.next("F")}
	}
	for _, f := range w.Files {
		f.ID = s.next("F")
		f.address = strings.TrimSuffix(s.URL(), "/") + "/files-pri/" + f.ID + "/" + url.PathEscape(f.Name)
		s.files[f.ID] = &f
		m.Files, m.sent = append(m.Files, f.ID), append(m.sent, f)
	}
	c.messages = append(c.messages, m)
	body := m.wire(c)
	body["channel"], body["event_ts"] = c.id, m.TS
	s.event(c, body)
	if strings.Contains(m.Text, "<@"+BotUser+">") && c.with == "" {
		again := m.wire(c)
		again["type"], again["channel"], again["event_ts"] = "app_mention", c.id, m.TS
		s.event(c, again)
	}
	s.notifyChange()
	return m.TS
}

func wireText(s string) string {
	s = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
	return strings.ReplaceAll(s, "@porter", "<@"+BotUser+">")
}

// Edit changes the text of a message.
func (s *Server) Edit(channel, ts, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	m := c.find(ts)
	before := m.wire(c)
	m.Text, m.EditedTS = wireText(text), s.stamp()
	s.event(c, map[string]any{
		"type": "message", "subtype": "message_changed", "channel": c.id, "ts": m.EditedTS, "event_ts": m.EditedTS,
		"message": m.wire(c), "previous_message": before,
	})
	s.notifyChange()
}

// Delete deletes a message of any author.
func (s *Server) Delete(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	for i, m := range c.messages {
		if m.TS == ts {
			c.messages = append(c.messages[:i:i], c.messages[i+1:]...)
			return
		}
	}
}

// event sends a message event. The caller holds mu.
func (s *Server) event(c *channel, body map[string]any) {
	if s.refuseSockets {
		return // Slack retries for an hour at most, which is shorter than the outages of the tests
	}
	if c.with != "" {
		body["channel_type"] = "im"
	} else {
		body["channel_type"] = "channel"
	}
	s.send("events_api", map[string]any{
		"type": "event_callback", "team_id": Team, "api_app_id": AppID, "event_id": s.next("Ev"), "event_time": time.Now().Unix(),
		"authorizations": []any{map[string]any{"team_id": Team, "user_id": BotUser, "is_bot": true}}, "event": body,
	})
}

// Event sends an event as given.
func (s *Server) Event(body map[string]any) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send("events_api", map[string]any{"type": "event_callback", "team_id": Team, "event_id": s.next("Ev"), "event": body})
}

// React puts a reaction on a message of the bot.
func (s *Server) React(user, channel, ts, name string) (id string) {
	return s.Event(map[string]any{
		"type": "reaction_added", "user": user, "reaction": name, "item_user": BotUser, "event_ts": s.Stamp(),
		"item": map[string]any{"type": "message", "channel": channel, "ts": ts},
	})
}

// Stamp returns a new time stamp.
func (s *Server) Stamp() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stamp()
}

// Slash types "/porter TEXT" and returns the envelope's id.
func (s *Server) Slash(user, channel, text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := "general"
	if strings.HasPrefix(channel, "D") {
		name = "directmessage"
	}
	s.channel(channel)
	return s.send("slash_commands", map[string]any{
		"command": "/porter", "text": text, "user_id": user, "user_name": strings.ToLower(strings.TrimPrefix(user, "U")), "team_id": Team,
		"channel_id": channel, "channel_name": name, "trigger_id": s.trigger(user), "response_url": "https://hooks.slack.example/x", "api_app_id": AppID,
	})
}

func (s *Server) trigger(user string) string { return user + "." + s.next("T") }

// Press presses the button with a label and returns the envelope's id.
func (s *Server) Press(user, channel, ts, label string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	m := c.find(ts)
	if m == nil {
		return "", errors.New("no such message")
	}
	for _, b := range m.Buttons {
		if b.Label == label {
			return s.press(user, c, m, b), nil
		}
	}
	return "", fmt.Errorf("no button %q: %v", label, m.Buttons)
}

func (s *Server) press(user string, c *channel, m *Message, b Button) string {
	container := map[string]any{"type": "message", "message_ts": m.TS, "channel_id": c.id, "is_ephemeral": m.VisibleTo != ""}
	return s.send("interactive", map[string]any{
		"type": "block_actions", "team": map[string]any{"id": Team}, "api_app_id": AppID, "trigger_id": s.trigger(user),
		"user": map[string]any{"id": user, "username": strings.ToLower(strings.TrimPrefix(user, "U"))}, "container": container,
		"channel": map[string]any{"id": c.id}, "message": m.wire(c),
		"actions": []any{map[string]any{"type": "button", "action_id": b.Action, "value": b.Value, "action_ts": s.stamp()}},
	})
}

// PressValue sends a press with any value, even of a button that does not exist.
func (s *Server) PressValue(user, channel, ts, value string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	m := c.find(ts)
	if m == nil {
		m = &Message{TS: ts}
	}
	return s.press(user, c, m, Button{Value: value, Action: "ba"})
}

// Submit submits the form that was opened last.
func (s *Server) Submit(words string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.views) == 0 {
		return "", errors.New("no form is open")
	}
	v := s.views[len(s.views)-1]
	return s.send("interactive", map[string]any{
		"type": "view_submission", "team": map[string]any{"id": Team}, "api_app_id": AppID,
		"user": map[string]any{"id": v.User, "username": strings.ToLower(strings.TrimPrefix(v.User, "U"))},
		"view": map[string]any{
			"id": v.ID, "callback_id": "words", "private_metadata": v.Metadata,
			"state": map[string]any{"values": map[string]any{v.Block: map[string]any{v.Action: map[string]any{"type": "plain_text_input", "value": words}}}},
		},
	}), nil
}

// Envelope sends any envelope.
func (s *Server) Envelope(kind string, payload any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(kind, payload)
}

// send sends an envelope. Until it is acknowledged, every new socket gets it
// again. The caller holds mu.
func (s *Server) send(kind string, payload any) string {
	e := envelope{id: s.next("env-")}
	e.body = map[string]any{"envelope_id": e.id, "type": kind, "payload": payload, "accepts_response_payload": kind != "events_api"}
	if s.refuseSockets {
		return e.id // Slack tells the person that the app does not respond
	}
	s.unacked = append(s.unacked, e)
	if s.conn != nil {
		s.write(e.body)
	}
	return e.id
}

func (s *Server) write(body any) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
	if s.conn.WriteJSON(body) != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}

// Redeliver sends all unacknowledged envelopes again.
func (s *Server) Redeliver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redeliver()
}

func (s *Server) redeliver() {
	for _, e := range s.unacked {
		if s.conn == nil {
			return
		}
		e.body["retry_attempt"], e.body["retry_reason"] = 1, "timeout"
		s.write(e.body)
	}
}

// socket serves one connection of the app.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	s.mu.Lock()
	if old := s.conn; old != nil {
		_ = old.Close()
	}
	s.conn = conn
	s.sockets++
	s.write(map[string]any{"type": "hello", "num_connections": 1, "connection_info": map[string]any{"app_id": AppID}})
	s.redeliver()
	s.notifyChange()
	s.mu.Unlock()
	for {
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := conn.ReadJSON(&ack); err != nil {
			break
		}
		s.mu.Lock()
		s.acks[ack.ID] = ack.Payload
		for i, e := range s.unacked {
			if e.id == ack.ID {
				s.unacked = append(s.unacked[:i:i], s.unacked[i+1:]...)
				break
			}
		}
		s.notifyChange()
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = conn.Close()
	if s.conn == conn {
		s.conn = nil
	}
	s.notifyChange()
}

// Ping sends Slack's keep-alive.
func (s *Server) Ping() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.WriteControl(websocket.PingMessage, []byte("Ping from tests"), time.Now().Add(time.Second))
	}
}

// Refresh asks the app to open another socket.
func (s *Server) Refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.write(map[string]any{"type": "disconnect", "reason": "refresh_requested"})
	}
}

// Raw writes any text to the socket.
func (s *Server) Raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.WriteMessage(websocket.TextMessage, []byte(text))
	}
}

// Cut closes the socket.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
	s.notifyChange()
}

// RefuseSockets closes the socket, rejects new ones and drops events, until it is
// called with false.
func (s *Server) RefuseSockets(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuseSockets = on
	if on {
		s.unacked = nil
		if s.conn != nil {
			_ = s.conn.Close()
			s.conn = nil
		}
	}
	s.notifyChange()
}

// Connected reports whether the app has a socket.
func (s *Server) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn != nil
}

// Sockets returns the number of sockets opened so far.
func (s *Server) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sockets
}

// Acked reports whether an envelope was acknowledged, and returns the payload.
func (s *Server) Acked(id string) (payload string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.acks[id]
	return string(p), ok
}

// Unacked returns the number of unacknowledged envelopes.
func (s *Server) Unacked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unacked)
}

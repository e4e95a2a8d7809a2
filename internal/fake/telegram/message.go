package telegram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // decodes photos
	_ "image/png"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// User is a person or a bot.
type User struct {
	ID   int64
	Name string
	Bot  bool
}

func (u User) wire() map[string]any {
	w := map[string]any{"id": u.ID, "is_bot": u.Bot, "first_name": u.Name}
	if u.Bot {
		w["username"] = u.Name
	}
	return w
}

// Message is a message as the members of its chat see it.
type Message struct {
	ID         int
	Thread     int // topic, 0 = none
	From       User
	Bot        bool // sent by the bot under test
	Date       time.Time
	Text       string // text or caption, as it is seen
	Entities   []Entity
	Taps       []string // tappable texts: commands, mentions, links
	Buttons    [][]Button
	ForceReply bool
	ReplyTo    int // 0 = none, or the replied message is gone
	Silent     bool
	Edits      int
	Deleted    bool
	Pinned     bool
	Preview    bool // a link preview is shown
	File       *File
}

// Button is a button of an inline keyboard.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
	URL  string `json:"url,omitempty"`
}

// File is the attachment of a message.
type File struct {
	Name  string
	Photo bool
	Data  []byte

	// Of a person's file alone.
	Type string // media type
	Size int64  // as the bot is told; 0 = that of Data
}

// Labels returns the labels of all buttons, in order.
func (m *Message) Labels() []string {
	var out []string
	for _, row := range m.Buttons {
		for _, b := range row {
			out = append(out, b.Text)
		}
	}
	return out
}

// Telegram's limits, in UTF-16 units after parsing.
const (
	maxText    = 4096
	maxCaption = 1024
	maxNotice  = 200
	maxData    = 64 // bytes
)

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// markup is the reply markup of a message.
type markup struct {
	Keyboard   [][]Button `json:"inline_keyboard"`
	ForceReply bool       `json:"force_reply"`
}

// readMarkup decodes reply markup; problem is Telegram's error, "" = none.
func readMarkup(raw string) (m markup, problem string) {
	if raw == "" {
		return m, ""
	}
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		return m, "can't parse reply keyboard markup JSON object"
	}
	m.Keyboard = slices.DeleteFunc(m.Keyboard, func(row []Button) bool { return len(row) == 0 })
	n := 0
	for _, row := range m.Keyboard {
		for _, b := range row {
			switch {
			case strings.TrimSpace(b.Text) == "":
				return m, "inline keyboard button text must be non-empty"
			case b.URL == "" && (b.Data == "" || len(b.Data) > maxData):
				return m, "BUTTON_DATA_INVALID"
			}
			n++
		}
	}
	if n > 100 {
		return m, "REPLY_MARKUP_TOO_LONG"
	}
	return m, ""
}

// compose parses the text of a message by the bot.
func compose(c call, field string, limit int) (text string, entities []Entity, problem string) {
	text = c.params[field]
	switch strings.ToLower(c.params["parse_mode"]) {
	case "html":
		var err error
		if text, entities, err = ParseHTML(text); err != nil {
			return "", nil, "can't parse entities: " + err.Error()
		}
	case "":
	default:
		return "", nil, "this server understands HTML only"
	}
	text, entities = trim(text, entities)
	switch {
	case field == "text" && text == "":
		return "", nil, "message text is empty"
	case units(text) > limit && field == "text":
		return "", nil, "message is too long"
	case units(text) > limit:
		return "", nil, "message caption is too long"
	}
	return text, entities, ""
}

// trim removes white space at both ends, as Telegram does.
func trim(text string, entities []Entity) (string, []Entity) {
	left := units(text) - units(strings.TrimLeft(text, " \n\t"))
	text = strings.Trim(text, " \n\t")
	end := units(text)
	var out []Entity
	for _, e := range entities {
		from, to := max(e.Offset-left, 0), min(e.Offset+e.Length-left, end)
		if from < to {
			e.Offset, e.Length = from, to-from
			out = append(out, e)
		}
	}
	return text, out
}

// findChat returns the chat of a call, or the error if the bot may not send there.
func (s *Server) findChat(c call) (*chat, *methodResult) {
	ch := s.chats[c.num("chat_id")]
	if ch == nil {
		a := bad("chat not found")
		return nil, &a
	}
	if ch.refusal != nil {
		return nil, ch.refusal
	}
	return ch, nil
}

// post posts a message of the bot.
func (s *Server) post(c call, m *Message) methodResult {
	ch, refusal := s.findChat(c)
	if refusal != nil {
		return *refusal
	}
	if thread := int(c.num("message_thread_id")); thread != 0 {
		switch open, known := ch.topics[thread]; {
		case !known:
			return bad("message thread not found")
		case !open:
			return bad("TOPIC_CLOSED")
		}
		m.Thread = thread
	}
	mk, problem := readMarkup(c.params["reply_markup"])
	if problem != "" {
		return bad(problem)
	}
	if raw := c.params["reply_parameters"]; raw != "" {
		var r struct {
			ID      int  `json:"message_id"`
			Without bool `json:"allow_sending_without_reply"`
		}
		if json.Unmarshal([]byte(raw), &r) != nil {
			return bad("can't parse reply parameters JSON object")
		}
		switch there := ch.message(r.ID) != nil; {
		case there:
			m.ReplyTo = r.ID
		case !r.Without:
			return bad("message to be replied not found")
		}
	}
	if wait := s.tooFast(ch.id); wait > 0 {
		ch.count.Refused++
		return tooMany(wait)
	}
	m.Bot, m.From, m.Date = true, s.bot(), s.o.Clock()
	m.Buttons, m.ForceReply, m.Silent = mk.Keyboard, mk.ForceReply, c.flag("disable_notification")
	m.Preview = wantsPreview(c) && len(links(m.Text, m.Entities)) > 0
	m.Taps = Taps(m.Text, m.Entities)
	ch.add(m)
	ch.count.Messages++
	if !m.Silent {
		ch.count.Sounds++
	}
	s.notifyChange()
	return ok(s.wire(ch, m))
}

func tooMany(seconds int) methodResult {
	f := TooMany(seconds)
	return methodResult{code: f.Code, text: f.Text, params: map[string]any{"retry_after": seconds}}
}

func wantsPreview(c call) bool {
	var o struct {
		Off bool `json:"is_disabled"`
	}
	return json.Unmarshal([]byte(c.params["link_preview_options"]), &o) != nil || !o.Off
}

func (s *Server) sendMessage(c call) methodResult {
	text, entities, problem := compose(c, "text", maxText)
	if problem != "" {
		return bad(problem)
	}
	return s.post(c, &Message{Text: text, Entities: entities})
}

func (s *Server) sendFile(c call, kind string) methodResult {
	caption, entities, problem := compose(c, "caption", maxCaption)
	f, given := c.files[kind]
	switch {
	case problem != "":
		return bad(problem)
	case !given:
		return bad("there is no " + kind + " in the request")
	case len(f.Data) == 0:
		return bad("file must be non-empty")
	}
	if f.Photo = kind == "photo"; f.Photo {
		p, _, err := image.DecodeConfig(bytes.NewReader(f.Data))
		switch {
		case err != nil:
			return bad("IMAGE_PROCESS_FAILED")
		case len(f.Data) > 10<<20:
			return bad("too big for a photo")
		case p.Width+p.Height > 10000 || p.Width > 20*p.Height || p.Height > 20*p.Width:
			return bad("PHOTO_INVALID_DIMENSIONS")
		}
	}
	return s.post(c, &Message{Text: caption, Entities: entities, File: &f})
}

// edit replaces the text, the caption, or only the buttons.
func (s *Server) edit(c call, field string) methodResult {
	ch, refusal := s.findChat(c)
	if refusal != nil {
		return *refusal
	}
	m := ch.message(int(c.num("message_id")))
	switch {
	case m == nil:
		return bad("message to edit not found")
	case !m.Bot:
		return bad("message can't be edited")
	case field == "text" && m.File != nil:
		return bad("there is no text in the message to edit")
	case field == "caption" && m.File == nil:
		return bad("there is no caption in the message to edit")
	}
	text, entities := m.Text, m.Entities
	if field != "" {
		limit := maxText
		if field == "caption" {
			limit = maxCaption
		}
		var problem string
		if text, entities, problem = compose(c, field, limit); problem != "" {
			return bad(problem)
		}
	}
	mk, problem := readMarkup(c.params["reply_markup"])
	if problem != "" {
		return bad(problem)
	}
	if mk.ForceReply {
		return bad("inline keyboard expected")
	}
	if wait := s.tooFast(ch.id); wait > 0 {
		ch.count.Refused++
		return tooMany(wait)
	}
	if text == m.Text && slices.Equal(entities, m.Entities) && slices.EqualFunc(mk.Keyboard, m.Buttons, slices.Equal[[]Button]) {
		return bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m.Text, m.Entities, m.Buttons = text, entities, mk.Keyboard
	m.Taps = Taps(text, entities)
	m.Edits++
	ch.count.Edits++
	s.notifyChange()
	return ok(s.wire(ch, m))
}

// deletableFor is the age up to which a bot may delete a message.
const deletableFor = 48 * time.Hour

func (s *Server) deleteMessage(c call) methodResult {
	ch, refusal := s.findChat(c)
	if refusal != nil {
		return *refusal
	}
	m := ch.message(int(c.num("message_id")))
	switch {
	case m == nil:
		return bad("message to delete not found")
	case s.o.Clock().Sub(m.Date) > deletableFor:
		return bad("message can't be deleted")
	}
	m.Deleted = true
	ch.count.Deletes++
	s.notifyChange()
	return ok(true)
}

// pin pins or unpins a message. In a group the bot needs the right, which it does
// not have by default.
func (s *Server) pin(c call, on bool) methodResult {
	ch, refusal := s.findChat(c)
	if refusal != nil {
		return *refusal
	}
	m := ch.message(int(c.num("message_id")))
	switch {
	case isGroup(ch.id) && !ch.mayPin:
		return bad("not enough rights to manage pinned messages in the chat")
	case m == nil && on:
		return bad("message to pin not found")
	case m == nil || !on && !m.Pinned:
		return bad("message to unpin not found")
	}
	m.Pinned = on
	s.notifyChange()
	return ok(true)
}

// press is a button press that waits for an answer.
type press struct {
	chat     int64
	label    string
	at       time.Time
	answered bool
}

func (s *Server) answerPress(c call) methodResult {
	p := s.presses[c.params["callback_query_id"]]
	switch {
	case p == nil || p.answered || s.o.Clock().Sub(p.at) > keepPresses:
		return bad("query is too old and response timeout expired or query ID is invalid")
	case units(c.params["text"]) > maxNotice:
		return bad("MESSAGE_TOO_LONG")
	}
	p.answered = true
	ch := s.chat(p.chat)
	ch.notices = append(ch.notices, Notice{Label: p.label, Text: c.params["text"], Alert: c.flag("show_alert")})
	s.notifyChange()
	return ok(true)
}

// wire returns a message as the bot receives it. The caller holds s.mu.
func (s *Server) wire(c *chat, m *Message) map[string]any {
	where := map[string]any{"id": c.id, "type": "private", "first_name": m.From.Name}
	if isGroup(c.id) {
		where = map[string]any{"id": c.id, "type": "supergroup", "title": title(c.id)}
	}
	w := map[string]any{"message_id": m.ID, "from": m.From.wire(), "chat": where, "date": m.Date.Unix()}
	if m.Thread != 0 {
		w["message_thread_id"], w["is_topic_message"] = m.Thread, true
		where["is_forum"] = true
	}
	field, about := "text", "entities"
	if f := m.File; f != nil {
		field, about = "caption", "caption_entities"
		if f.Photo {
			w["photo"] = s.photoSizes(fmt.Sprintf("photo-%d.%d", c.id, m.ID), f)
		} else {
			doc := s.keep(fmt.Sprintf("document-%d.%d", c.id, m.ID), "documents", "bin", f.Data, f.Size)
			doc["file_name"] = f.Name
			if f.Type != "" {
				doc["mime_type"] = f.Type
			}
			w["document"] = doc
		}
	}
	if m.Text != "" {
		w[field] = m.Text
	}
	if len(m.Entities) > 0 {
		w[about] = m.Entities
	}
	if to := c.message(m.ReplyTo); to != nil {
		inner := s.wire(c, &Message{ID: to.ID, Thread: to.Thread, From: to.From, Date: to.Date, Text: to.Text})
		w["reply_to_message"] = inner
	}
	if len(m.Buttons) > 0 {
		w["reply_markup"] = map[string]any{"inline_keyboard": m.Buttons}
	}
	return w
}

package slack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Message is a message in a conversation.
type Message struct {
	TS, User, Text string
	Bot            bool
	Root           string // timestamp of the thread's first message, "" = no thread
	VisibleTo      string // the reader of an ephemeral message, "" = everybody
	Blocks         json.RawMessage
	Edits          int
	Files          []string // ids
	Buttons        []Button
	Image, Alt     string // file id of the picture above the text, and its alternative text
	EditedTS       string

	sent []File // by a person
}

// Button is a button of a message.
type Button struct{ Label, Value, Action, Style string }

// File is an uploaded file.
type File struct {
	ID, Name string
	Alt      string
	Data     []byte
	Channel  string // conversation that it was shared in
	Root     string

	complete bool
	refusals int // number of messages with the file that are still to be rejected

	// Of a person's file alone.
	Type    string // media type
	address string
}

// View is a form that was opened.
type View struct {
	ID       string
	User     string
	Raw      json.RawMessage
	Metadata string
	Block    string
	Action   string
	Label    string
}

// methods are the API methods by name.
var methods map[string]func(*Server, map[string]string) map[string]any

func init() {
	methods = map[string]func(*Server, map[string]string) map[string]any{
		"auth.test": func(*Server, map[string]string) map[string]any {
			return map[string]any{"url": "https://house.example/", "team": "House", "user": "porter", "team_id": Team, "user_id": BotUser, "bot_id": BotID}
		},
		"apps.connections.open":        (*Server).open,
		"chat.postMessage":             (*Server).postMessage,
		"chat.postEphemeral":           (*Server).postEphemeral,
		"chat.update":                  (*Server).update,
		"chat.delete":                  (*Server).remove,
		"conversations.info":           (*Server).info,
		"conversations.open":           (*Server).openDirect,
		"conversations.history":        (*Server).history,
		"conversations.replies":        (*Server).replies,
		"users.conversations":          (*Server).conversations,
		"views.open":                   (*Server).openView,
		"files.getUploadURLExternal":   (*Server).uploadURL,
		"files.completeUploadExternal": (*Server).share,
	}
}

func (s *Server) open(map[string]string) map[string]any {
	if s.refuseSockets {
		return apiError("internal_error")
	}
	return map[string]any{"url": s.ws + "?ticket=5ec7e77icke7"}
}

func (s *Server) openDirect(f map[string]string) map[string]any {
	if !strings.HasPrefix(f["users"], "U") {
		return apiError("user_not_found")
	}
	id := s.direct(f["users"])
	if why := s.channels[id].closed; why != "" {
		return apiError(why)
	}
	return map[string]any{"channel": map[string]any{"id": id}}
}

// info returns a channel. A private channel without the app is not found.
func (s *Server) info(f map[string]string) map[string]any {
	c := s.channels[f["channel"]]
	if c == nil || c.closed == "channel_not_found" {
		return apiError("channel_not_found")
	}
	return map[string]any{"channel": map[string]any{
		"id": c.id, "name": cmp.Or(c.name, strings.ToLower(c.id)), "is_channel": c.with == "", "is_im": c.with != "",
		"is_archived": c.closed == "is_archived", "is_member": c.closed == "",
	}}
}

// findChannel returns the conversation of a call, and the error code if it
// accepts no messages.
func (s *Server) findChannel(f map[string]string) (*channel, string) {
	c := s.channels[f["channel"]]
	if c == nil {
		return nil, "channel_not_found"
	}
	return c, c.closed
}

func (s *Server) postMessage(f map[string]string) map[string]any {
	c, why := s.findChannel(f)
	if why == "" {
		why = s.checkBlocks(f)
	}
	if root := f["thread_ts"]; why == "" && root != "" && c.find(root) == nil {
		why = "thread_not_found"
	}
	if why != "" {
		return apiError(why)
	}
	m := &Message{TS: s.stamp(), User: BotUser, Bot: true, Root: f["thread_ts"]}
	m.apply(f)
	c.messages = append(c.messages, m)
	// Slack echoes the message with fields that client libraries do not expect.
	return map[string]any{"channel": c.id, "ts": m.TS, "message": map[string]any{"type": "message", "blocks": []any{map[string]any{"type": 7}}, "user": []int{1}}}
}

func (s *Server) postEphemeral(f map[string]string) map[string]any {
	c, why := s.findChannel(f)
	if why == "" {
		why = s.checkBlocks(f)
	}
	if why != "" {
		return apiError(why)
	}
	m := &Message{TS: s.stamp(), User: BotUser, Bot: true, Root: f["thread_ts"], VisibleTo: f["user"]}
	m.apply(f)
	c.messages = append(c.messages, m)
	return map[string]any{"message_ts": m.TS}
}

func (s *Server) update(f map[string]string) map[string]any {
	c, why := s.findChannel(f)
	if why != "" {
		return apiError(why)
	}
	m := c.find(f["ts"])
	switch {
	case m == nil || m.VisibleTo != "":
		return apiError("message_not_found")
	case !m.Bot:
		return apiError("cant_update_message")
	}
	if why := s.checkBlocks(f); why != "" {
		return apiError(why)
	}
	m.apply(f)
	m.Edits++
	return map[string]any{"channel": c.id, "ts": m.TS, "text": m.Text}
}

func (s *Server) remove(f map[string]string) map[string]any {
	c, why := s.findChannel(f)
	if why != "" {
		return apiError(why)
	}
	for i, m := range c.messages {
		if m.TS == f["ts"] && m.Bot {
			c.messages = append(c.messages[:i:i], c.messages[i+1:]...)
			return map[string]any{"channel": c.id, "ts": m.TS}
		}
	}
	return apiError("message_not_found")
}

func (c *channel) find(ts string) *Message {
	for _, m := range c.messages {
		if m.TS == ts {
			return m
		}
	}
	return nil
}

// apply sets the content of a message.
func (m *Message) apply(f map[string]string) {
	m.Text, m.Buttons, m.Image, m.Alt = f["text"], nil, "", ""
	if m.Blocks = json.RawMessage(f["blocks"]); len(m.Blocks) == 0 {
		m.Blocks = json.RawMessage("[]")
	}
	walk(m.Blocks, func(node map[string]any) {
		if ref, is := node["slack_file"].(map[string]any); is {
			m.Image, m.Alt = text(ref["id"]), text(node["alt_text"])
		}
		if node["type"] == "button" {
			label, _ := node["text"].(map[string]any)
			m.Buttons = append(m.Buttons, Button{Label: text(label["text"]), Value: text(node["value"]), Action: text(node["action_id"]), Style: text(node["style"])})
		}
	})
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// walk visits all objects of a JSON text in order.
func walk(raw json.RawMessage, visit func(map[string]any)) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return
	}
	var in func(any)
	in = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				in(e)
			}
		case map[string]any:
			visit(v)
			for _, k := range []string{"elements", "text", "accessory", "element", "label"} {
				in(v[k])
			}
		}
	}
	in(v)
}

// Plain returns all text in a message's blocks, separated by "|".
func (m Message) Plain() string {
	var lines []string
	walk(m.Blocks, func(node map[string]any) {
		switch node["type"] {
		case "text", "plain_text", "mrkdwn":
			if s := text(node["text"]); s != "" {
				lines = append(lines, s)
			}
		case "user":
			lines = append(lines, "<@"+text(node["user_id"])+">")
		}
	})
	return strings.Join(lines, "|")
}

// checkBlocks returns the error code for a message that Slack rejects, "" = none.
func (s *Server) checkBlocks(f map[string]string) string {
	var blocks []map[string]any
	if raw := f["blocks"]; raw != "" && json.Unmarshal([]byte(raw), &blocks) != nil {
		return "invalid_blocks_format"
	}
	if len(blocks) == 0 && f["text"] == "" {
		return "no_text"
	}
	total, bad := 0, len(blocks) > 50 || utf8.RuneCountInString(f["text"]) > 40_000
	actions, ids := map[string]bool{}, map[string]bool{}
	longest := func(v any, most int) {
		n := utf8.RuneCountInString(text(v))
		bad = bad || n > most || n == 0
	}
	walk(json.RawMessage(f["blocks"]), func(node map[string]any) {
		if id := text(node["block_id"]); id != "" {
			bad = bad || ids[id] || utf8.RuneCountInString(id) > 255
			ids[id] = true
		}
		elements, _ := node["elements"].([]any)
		switch node["type"] {
		case "text":
			total += utf8.RuneCountInString(text(node["text"]))
			longest(node["text"], 40_000)
		case "plain_text", "mrkdwn":
			total += utf8.RuneCountInString(text(node["text"]))
			longest(node["text"], 3000)
		case "button":
			longest(node["value"], 2000)
			longest(node["action_id"], 255)
			bad = bad || actions[text(node["action_id"])]
			actions[text(node["action_id"])] = true
			label, _ := node["text"].(map[string]any)
			longest(label["text"], 75)
		case "image":
			total += utf8.RuneCountInString(text(node["alt_text"]))
			longest(node["alt_text"], 2000)
			bad = bad || !s.acceptsImage(node)
		case "actions":
			bad = bad || len(elements) == 0 || len(elements) > 25
		case "context":
			bad = bad || len(elements) == 0 || len(elements) > 10
		case "rich_text", "rich_text_section", "rich_text_quote", "rich_text_preformatted":
			bad = bad || len(elements) == 0
		}
	})
	switch {
	case bad:
		return "invalid_blocks"
	case total > 13_200:
		return "msg_blocks_too_long"
	}
	return ""
}

var fileID = regexp.MustCompile(`^F[A-Z0-9]{8,}$`)

// acceptsImage reports whether an image block shows a PNG file of the app. Like
// Slack, it rejects a new file at first.
func (s *Server) acceptsImage(image map[string]any) bool {
	ref, _ := image["slack_file"].(map[string]any)
	id := text(ref["id"])
	f := s.files[id]
	if image["image_url"] != nil || len(ref) != 1 || !fileID.MatchString(id) || f == nil || !f.complete || !bytes.HasPrefix(f.Data, []byte("\x89PNG\r\n\x1a\n")) {
		return false
	}
	if f.refusals > 0 {
		f.refusals--
		return false
	}
	return true
}

// DelayFiles sets how many messages with a new file are rejected; the default is 1.
func (s *Server) DelayFiles(refusals int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fileDelay = refusals
}

// wire returns a message as the API and events contain it.
func (m *Message) wire(c *channel) map[string]any {
	out := map[string]any{"type": "message", "ts": m.TS, "user": m.User, "text": m.Text, "team": Team, "blocks": m.Blocks}
	if m.Blocks == nil {
		delete(out, "blocks")
	}
	if m.Bot {
		out["bot_id"] = BotID
		if m.User != BotUser {
			out["bot_id"], out["subtype"] = "B0OTHER", "bot_message"
		}
	}
	if len(m.Files) > 0 {
		list := []any{map[string]any{"id": m.Files[0], "mode": "tombstone"}}
		for n, f := range m.sent {
			file := map[string]any{"id": f.ID, "mode": "hosted", "name": f.Name, "mimetype": f.Type, "size": len(f.Data), "url_private": f.address}
			if list = append(list, file); n == 0 {
				list = []any{file}
			}
		}
		out["files"] = list
		out["subtype"] = "file_share"
	}
	if m.EditedTS != "" {
		out["edited"] = map[string]any{"user": m.User, "ts": m.EditedTS}
	}
	if m.Root != "" {
		out["thread_ts"] = m.Root
		if root := c.find(m.Root); root != nil && root != m {
			out["parent_user_id"] = root.User
		}
	}
	var latest string
	var who []string
	for _, reply := range c.messages {
		if reply.Root == m.TS && reply != m {
			latest = reply.TS
			who = append(who, reply.User)
		}
	}
	if latest != "" {
		out["thread_ts"], out["latest_reply"], out["reply_users"], out["reply_count"] = m.TS, latest, who, len(who)
	}
	return out
}

func (s *Server) conversations(f map[string]string) map[string]any {
	var list []map[string]any
	all := s.ids()
	at, _ := strconv.Atoi(f["cursor"])
	const page = 2
	for _, id := range all[min(at, len(all)):min(at+page, len(all))] {
		if s.channels[id].closed != "not_in_channel" {
			list = append(list, map[string]any{"id": id, "is_im": strings.HasPrefix(id, "D"), "user": s.channels[id].with})
		}
	}
	next := ""
	if at+page < len(all) {
		next = strconv.Itoa(at + page)
	}
	return map[string]any{"channels": list, "response_metadata": map[string]any{"next_cursor": next}}
}

// page returns one page of messages in the given order.
func page(list []map[string]any, f map[string]string) map[string]any {
	at, _ := strconv.Atoi(f["cursor"])
	const most = 3
	end := min(at+most, len(list))
	out := map[string]any{"messages": list[min(at, len(list)):end], "has_more": end < len(list)}
	if end < len(list) {
		out["response_metadata"] = map[string]any{"next_cursor": strconv.Itoa(end)}
	}
	return out
}

func (s *Server) history(f map[string]string) map[string]any {
	c, why := s.findChannel(f)
	if c == nil || why == "not_in_channel" {
		return apiError("channel_not_found")
	}
	list := []map[string]any{}
	for i := len(c.messages) - 1; i >= 0; i-- {
		if m := c.messages[i]; m.Root == "" && m.VisibleTo == "" && m.TS > f["oldest"] && (f["latest"] == "" || m.TS < f["latest"]) {
			list = append(list, m.wire(c))
		}
	}
	return page(list, f)
}

func (s *Server) replies(f map[string]string) map[string]any {
	c, _ := s.findChannel(f)
	if c == nil || c.find(f["ts"]) == nil {
		return apiError("thread_not_found")
	}
	list := []map[string]any{c.find(f["ts"]).wire(c)}
	for _, m := range c.messages {
		if m.Root == f["ts"] && m.TS > f["oldest"] {
			list = append(list, m.wire(c))
		}
	}
	return page(list, f)
}

func (s *Server) openView(f map[string]string) map[string]any {
	user, _, known := strings.Cut(f["trigger_id"], ".")
	if !known || s.opened[f["trigger_id"]] {
		return apiError("expired_trigger_id")
	}
	s.opened[f["trigger_id"]] = true
	v := View{ID: s.next("V"), User: user, Raw: json.RawMessage(f["view"])}
	var form struct {
		Metadata string `json:"private_metadata"`
		Blocks   []struct {
			ID    string `json:"block_id"`
			Label struct {
				Text string `json:"text"`
			} `json:"label"`
			Element struct {
				Action string `json:"action_id"`
			} `json:"element"`
		} `json:"blocks"`
	}
	if json.Unmarshal(v.Raw, &form) != nil || len(form.Blocks) != 1 {
		return apiError("invalid_arguments")
	}
	v.Metadata, v.Block, v.Action, v.Label = form.Metadata, form.Blocks[0].ID, form.Blocks[0].Element.Action, form.Blocks[0].Label.Text
	s.views = append(s.views, v)
	return map[string]any{"view": map[string]any{"id": v.ID, "blocks": 7}}
}

func (s *Server) uploadURL(f map[string]string) map[string]any {
	length, err := strconv.Atoi(f["length"])
	if err != nil || length <= 0 || f["filename"] == "" {
		return apiError("invalid_arguments")
	}
	if utf8.RuneCountInString(f["alt_txt"]) > 1000 {
		return apiError("alt_txt_too_large")
	}
	s.last++
	id := fmt.Sprintf("F%09d", s.last)
	s.files[id] = &File{ID: id, Name: f["filename"], Alt: f["alt_txt"], refusals: s.fileDelay}
	return map[string]any{"upload_url": strings.TrimSuffix(s.URL(), "/") + "/upload/" + id, "file_id": id}
}

func (s *Server) takeFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[strings.TrimPrefix(r.URL.Path, "/upload/")]
	part, _, err := r.FormFile("file")
	if f == nil || err != nil || r.Header.Get("Authorization") != "" || r.ContentLength <= 0 {
		http.Error(w, "no file", http.StatusBadRequest)
		return
	}
	if f.Data, err = io.ReadAll(part); err != nil {
		http.Error(w, "half a file", http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprintf(w, "OK - %d", len(f.Data))
}

// giveFile gives a person's file to the app, if it may read files. Others are led to
// the login page, as Slack does.
func (s *Server) giveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notifyChange()
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/files-pri/"), "/")
	s.calls = append(s.calls, Call{Method: "file", Form: map[string]string{"id": id}, Code: http.StatusOK})
	if f, failing := s.nextFault("file"); failing {
		w.Header().Set("Content-Type", "text/html")
		f.write(w)
		return
	}
	may := r.Header.Get("Authorization") == "Bearer "+BotToken && strings.Contains(s.scopes, "files:read")
	f := s.files[id]
	switch {
	case !may:
		http.Redirect(w, r, "/login", http.StatusFound)
	case f == nil || f.address == "":
		http.Error(w, "no such file", http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", f.Type)
		_, _ = w.Write(f.Data) // the caller may be gone
	}
}

// share ends an upload. Without a channel the file belongs to the app.
func (s *Server) share(f map[string]string) map[string]any {
	var list []struct {
		ID string `json:"id"`
	}
	if json.Unmarshal([]byte(f["files"]), &list) != nil || len(list) != 1 || s.files[list[0].ID] == nil {
		return apiError("invalid_arguments")
	}
	file := s.files[list[0].ID]
	if len(file.Data) == 0 || file.complete {
		return apiError("file_not_found")
	}
	if f["channel_id"] != "" {
		c, why := s.findChannel(map[string]string{"channel": f["channel_id"]})
		if why != "" {
			return apiError(why)
		}
		file.Channel, file.Root = c.id, f["thread_ts"]
		c.messages = append(c.messages, &Message{TS: s.stamp(), User: BotUser, Bot: true, Root: f["thread_ts"], Files: []string{file.ID}})
	}
	file.complete = true
	return map[string]any{"files": []any{map[string]any{"id": file.ID}}}
}

// File returns an uploaded file, shared or not.
func (s *Server) File(id string) (File, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[id]
	if f == nil {
		return File{}, false
	}
	return *f, true
}

// Files returns the shared files.
func (s *Server) Files() []File {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []File
	for _, f := range s.files {
		if f.Channel != "" {
			out = append(out, *f)
		}
	}
	return out
}

// Messages returns the messages of a conversation.
func (s *Server) Messages(id string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	if c := s.channels[id]; c != nil {
		for _, m := range c.messages {
			out = append(out, *m)
		}
	}
	return out
}

// Views returns the forms that were opened.
func (s *Server) Views() []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]View(nil), s.views...)
}

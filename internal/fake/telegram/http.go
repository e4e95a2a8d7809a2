package telegram

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Call is a call of the bot and its result.
type Call struct {
	Method string
	Params map[string]string // parameters; a file is represented by its name
	Code   int               // HTTP status; 0 = cut or hanging
	Time   time.Time
}

// call is a call in progress.
type call struct {
	ctx    context.Context //nolint:containedctx // the request's context, used only while it is served
	params map[string]string
	files  map[string]File
}

func (c call) num(name string) int64 {
	n, err := strconv.ParseInt(c.params[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (c call) flag(name string) bool {
	on, err := strconv.ParseBool(c.params[name])
	return err == nil && on
}

// methodResult is the result of a method, or an error of Telegram.
type methodResult struct {
	result any
	code   int // 0 = success
	text   string
	params map[string]any
}

func bad(text string) methodResult       { return methodResult{code: 400, text: "Bad Request: " + text} }
func ok(result any) methodResult         { return methodResult{result: result} }
func forbidden(text string) methodResult { return methodResult{code: 403, text: "Forbidden: " + text} }

func (a methodResult) body() map[string]any {
	if a.code == 0 {
		return map[string]any{"ok": true, "result": a.result}
	}
	body := map[string]any{"ok": false, "error_code": a.code, "description": a.text}
	if a.params != nil {
		body["parameters"] = a.params
	}
	return body
}

// ServeHTTP serves one call of the bot.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/file/bot") {
		s.serveFile(w, r)
		return
	}
	token, method, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	c, err := s.read(r)
	switch {
	case err != nil:
		write(w, bad(err.Error()))
		return
	case !found || !strings.HasPrefix(r.URL.Path, "/bot"):
		write(w, methodResult{code: 404, text: "Not Found"})
		return
	case token != s.o.Token:
		write(w, methodResult{code: 401, text: "Unauthorized"})
		return
	}
	f := s.nextFault(method)
	if f != nil && !f.After {
		s.fail(w, r, method, c, *f)
		return
	}
	a := s.dispatch(method, c)
	if f != nil {
		s.fail(w, r, method, c, *f)
		return
	}
	if r.Context().Err() != nil {
		return // the caller is gone
	}
	s.record(method, c, write(w, a))
}

// dispatch calls the method.
func (s *Server) dispatch(method string, c call) methodResult {
	if method == "getUpdates" {
		return s.getUpdates(c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case "getMe":
		me := s.bot().wire()
		me["can_join_groups"], me["can_read_all_group_messages"] = true, false
		return ok(me)
	case "getFile":
		return s.getFile(c)
	case "getWebhookInfo":
		return ok(map[string]any{"url": s.webhook, "has_custom_certificate": false, "pending_update_count": len(s.updates.waiting)})
	case "sendMessage":
		return s.sendMessage(c)
	case "sendDocument":
		return s.sendFile(c, "document")
	case "sendPhoto":
		return s.sendFile(c, "photo")
	case "editMessageText":
		return s.edit(c, "text")
	case "editMessageCaption":
		return s.edit(c, "caption")
	case "editMessageReplyMarkup":
		return s.edit(c, "")
	case "deleteMessage":
		return s.deleteMessage(c)
	case "pinChatMessage":
		return s.pin(c, true)
	case "unpinChatMessage":
		return s.pin(c, false)
	case "getChat":
		return s.getChat(c)
	case "getChatMember":
		return s.getMember(c)
	case "answerCallbackQuery":
		return s.answerPress(c)
	case "setMyCommands":
		return s.setCommands(c)
	case "deleteMyCommands":
		return s.deleteCommands(c)
	case "getMyCommands":
		return s.getCommands(c)
	case "sendChatAction":
		if s.chats[c.num("chat_id")] == nil {
			return bad("chat not found")
		}
		return ok(true)
	}
	return methodResult{code: 404, text: "Not Found: method not found"}
}

// maxUpload limits a call, in bytes.
const maxUpload = 60 << 20

// read decodes the parameters of a call from any of the encodings that Telegram
// accepts.
func (s *Server) read(r *http.Request) (call, error) {
	c := call{ctx: r.Context(), params: map[string]string{}, files: map[string]File{}}
	r.Body = http.MaxBytesReader(nil, r.Body, maxUpload)
	for name, v := range r.URL.Query() {
		c.params[name] = v[0]
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // no content type means no body
	switch kind {
	case "":
	case "application/json":
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return c, err
		}
		for name, raw := range body {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			c.params[name] = text
		}
	case "multipart/form-data":
		return c, c.multipart(r)
	default:
		if err := r.ParseForm(); err != nil {
			return c, err
		}
		for name, v := range r.PostForm {
			c.params[name] = v[0]
		}
	}
	return c, nil
}

func (c call) multipart(r *http.Request) error {
	if err := r.ParseMultipartForm(maxUpload); err != nil {
		return err
	}
	for name, v := range r.MultipartForm.Value {
		c.params[name] = v[0]
	}
	for name, v := range r.MultipartForm.File {
		f, err := v[0].Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		c.files[name] = File{Name: v[0].Filename, Data: data}
	}
	return r.MultipartForm.RemoveAll()
}

// write sends an answer and returns its HTTP status.
func write(w http.ResponseWriter, a methodResult) int {
	code := 200
	if a.code != 0 {
		code = a.code
	}
	w.Header().Set("Content-Type", "application/json")
	if after, ok := a.params["retry_after"].(int); ok {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(a.body()) // the caller may be gone
	return code
}

func (s *Server) record(method string, c call, code int) {
	params := maps.Clone(c.params)
	for name, f := range c.files {
		params[name] = f.Name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{Method: method, Params: params, Code: code, Time: s.o.Clock()})
	s.notifyChange()
}

// Calls returns the completed calls of a method, "" = of all methods, in order.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			out = append(out, c)
		}
	}
	return out
}

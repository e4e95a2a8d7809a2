package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack/slacktest"
)

// The app and its tokens.
const (
	AppID    = "A0NIGHT"
	AppToken = "xapp-1-A0NIGHT-77-5ec7e7a99"
	BotToken = "xoxb-77-88-5ec7e7b0770ken"
	BotUser  = "U0PORTER"
	BotID    = "B0PORTER"
	Team     = "T0HOUSE"
)

// Scopes are those that the app has when nothing else is said.
const Scopes = "app_mentions:read,channels:history,channels:read,chat:write,commands,files:write,groups:history,groups:read,im:history,im:read,im:write"

// Server is the workspace.
type Server struct {
	url, ws string // addresses of the API and of the socket
	stop    func()

	mu            sync.Mutex
	changed       chan struct{} // closed and made anew with every change
	scopes        string
	clock         int64 // microseconds, of the last time stamp
	channels      map[string]*channel
	faults        map[string][]Fault
	calls         []Call
	unacked       []envelope
	acks          map[string]json.RawMessage
	conn          *websocket.Conn
	refuseSockets bool // nobody gets a socket
	sockets       int
	last          int // number of the last envelope, press, form or file
	views         []View
	files         map[string]*File
	fileDelay     int             // refusals of a message with a new file
	opened        map[string]bool // triggers that were used
}

// channel is one conversation.
type channel struct {
	id, name string
	with     string // the person of a conversation of two
	closed   string // why nothing can be sent there, "" = it can
	messages []*Message
}

// Call is a call that was made.
type Call struct {
	Method string
	Form   map[string]string
	Code   int
}

// envelope is one thing on the socket.
type envelope struct {
	id   string
	body map[string]any
}

// Start opens the workspace on a free port of 127.0.0.1.
func Start() *Server {
	s := open()
	h := slacktest.NewTestServer(func(c slacktest.Customize) { s.routes(c.Handle) })
	s.url, s.ws, s.stop = h.GetAPIURL(), h.GetWSURL(), h.Stop
	h.Start()
	return s
}

// StartOn opens the workspace on a listener of the caller's, with what is of
// its own alone: nothing of slacktest answers there.
func StartOn(l net.Listener) *Server {
	s, mux := open(), http.NewServeMux()
	s.routes(func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, h) })
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	s.url, s.ws = "http://"+l.Addr().String()+"/", "ws://"+l.Addr().String()+"/ws"
	s.stop = func() { _ = h.Close() } // the connections are cut on purpose
	go h.Serve(l)                     //nolint:errcheck // it ends by Close, with the error that says so
	return s
}

func open() *Server {
	return &Server{
		changed: make(chan struct{}), scopes: Scopes, clock: time.Now().UnixMicro(), channels: map[string]*channel{},
		faults: map[string][]Fault{}, acks: map[string]json.RawMessage{}, files: map[string]*File{}, fileDelay: 1, opened: map[string]bool{},
	}
}

func (s *Server) routes(handle func(pattern string, h http.HandlerFunc)) {
	for method := range methods {
		handle("/"+method, s.serve(method))
	}
	handle("/upload/", s.takeFile)
	handle("/ws", s.socket)
}

// Close ends it.
func (s *Server) Close() {
	s.Cut()
	s.stop()
}

// URL is the address of the API.
func (s *Server) URL() string { return s.url }

// SetScopes says which scopes the bot has.
func (s *Server) SetScopes(scopes string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = scopes
}

// notifyChange tells whoever waits. The caller holds mu.
func (s *Server) notifyChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait blocks until something is so. is may call the Server.
func (s *Server) Wait(ctx context.Context, is func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if is() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Calls are those of a method so far; "" is all of them.
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

// stamp is the next time stamp. The caller holds mu.
func (s *Server) stamp() string {
	s.clock = max(s.clock+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.clock/1e6, s.clock%1e6)
}

// AdvanceClock moves the clock of what is said from now on.
func (s *Server) AdvanceClock(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock += d.Microseconds()
}

func (s *Server) next(prefix string) string {
	s.last++
	return fmt.Sprintf("%s%d", prefix, s.last)
}

// channel is a conversation, opened where there is none. The caller holds mu.
func (s *Server) channel(id string) *channel {
	c := s.channels[id]
	if c == nil {
		c = &channel{id: id}
		s.channels[id] = c
	}
	return c
}

// Direct is the conversation with a person, opened where there is none.
func (s *Server) Direct(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.direct(user)
}

func (s *Server) direct(user string) string {
	id := "D" + strings.TrimPrefix(user, "U")
	s.channel(id).with = user
	return id
}

// CloseChannel makes a conversation take nothing: "is_archived", "not_in_channel".
func (s *Server) CloseChannel(id, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channel(id).closed = why
}

// Rename gives a channel another name.
func (s *Server) Rename(id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channel(id).name = name
}

// ids are those of all conversations, sorted. The caller holds mu.
func (s *Server) ids() []string { return slices.Sorted(maps.Keys(s.channels)) }

// serve answers one method.
func (s *Server) serve(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		form := map[string]string{}
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			var body map[string]json.RawMessage
			if json.NewDecoder(r.Body).Decode(&body) == nil {
				for k, v := range body {
					var text string
					if json.Unmarshal(v, &text) != nil {
						text = string(v)
					}
					form[k] = text
				}
			}
		} else if r.ParseForm() == nil {
			for k := range r.Form {
				form[k] = r.Form.Get(k)
			}
		}
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token == "" {
			token = form["token"]
		}
		delete(form, "token")
		s.mu.Lock()
		defer s.mu.Unlock()
		defer s.notifyChange()
		w.Header().Set("Date", time.UnixMicro(max(s.clock, time.Now().UnixMicro())).UTC().Format(http.TimeFormat))
		call := Call{Method: method, Form: form, Code: http.StatusOK}
		f, failing := s.fault(method)
		if failing && !f.After {
			call.Code = f.code()
			s.calls = append(s.calls, call)
			f.write(w)
			return
		}
		want := BotToken
		if method == "apps.connections.open" {
			want = AppToken
		}
		out := map[string]any{"ok": false, "error": "invalid_auth"}
		if token == want {
			out = methods[method](s, form)
		}
		if _, set := out["ok"]; !set {
			out["ok"] = true
		}
		if failing {
			call.Code = f.code()
			s.calls = append(s.calls, call)
			f.write(w)
			return
		}
		s.calls = append(s.calls, call)
		w.Header().Set("X-OAuth-Scopes", s.scopes)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out) // the client may be gone
	}
}

func apiError(why string) map[string]any { return map[string]any{"ok": false, "error": why} }

// Fault is one answer that is no success.
type Fault struct {
	Code    int    // of HTTP, 0 = 200
	Error   string // "invalid_auth"
	Needed  string // scope
	Seconds int    // Retry-After
	Body    string // instead of an answer
	Cut     bool   // the connection ends without one
	After   bool   // the call has its effect first
}

// Faults that happen.
func RateLimited(seconds int) Fault   { return Fault{Code: http.StatusTooManyRequests, Seconds: seconds} }
func Rejected(why string) Fault       { return Fault{Error: why} }
func ForeignPage(code int) Fault      { return Fault{Code: code, Body: "<html>Welcome to the hotel</html>"} }
func ResponseLost() Fault             { return Fault{Cut: true, After: true} }
func MissingScope(scope string) Fault { return Fault{Error: "missing_scope", Needed: scope} }
func (f Fault) code() int {
	if f.Code == 0 {
		return http.StatusOK
	}
	return f.Code
}

// Fault makes the next calls of a method fail, one after the other; "" is any.
func (s *Server) Fault(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// ClearFaults ends them.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
}

func (s *Server) fault(method string) (Fault, bool) {
	for _, m := range []string{method, ""} {
		if list := s.faults[m]; len(list) > 0 {
			s.faults[m] = list[1:]
			return list[0], true
		}
	}
	return Fault{}, false
}

func (f Fault) write(w http.ResponseWriter) {
	if f.Cut {
		if h, is := w.(http.Hijacker); is {
			if conn, _, err := h.Hijack(); err == nil {
				_ = conn.Close()
			}
		}
		return
	}
	if f.Seconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(f.Seconds))
	}
	w.WriteHeader(f.code())
	if f.Body == "" {
		out := apiError(f.Error)
		if f.Needed != "" {
			out["needed"] = f.Needed
		}
		_ = json.NewEncoder(w).Encode(out)
		return
	}
	_, _ = w.Write([]byte(f.Body))
}

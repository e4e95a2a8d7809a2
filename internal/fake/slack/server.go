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

// Ids and tokens of the app.
const (
	AppID    = "A0NIGHT"
	AppToken = "xapp-1-A0NIGHT-77-5ec7e7a99"
	BotToken = "xoxb-77-88-5ec7e7b0770ken"
	BotUser  = "U0PORTER"
	BotID    = "B0PORTER"
	Team     = "T0HOUSE"
)

// Scopes are the default scopes of the app.
const Scopes = "app_mentions:read,channels:history,channels:read,chat:write,commands,files:read,files:write,groups:history,groups:read,im:history,im:read,im:write,reactions:read"

// Server is a fake workspace. Its methods may be called from any goroutine.
type Server struct {
	url, ws string // addresses of the API and of the socket
	stop    func()

	mu            sync.Mutex
	changed       chan struct{} // closed and replaced at every change
	scopes        string
	clock         int64 // the last timestamp, in microseconds
	channels      map[string]*channel
	faults        map[string][]Fault
	calls         []Call
	unacked       []envelope
	acks          map[string]json.RawMessage
	conn          *websocket.Conn
	refuseSockets bool // no sockets, no events
	sockets       int
	last          int // last number used in an id
	views         []View
	files         map[string]*File
	fileDelay     int             // number of messages that are rejected for each new file
	opened        map[string]bool // used triggers
}

// channel is a conversation.
type channel struct {
	id, name string
	with     string // the person of a direct conversation
	closed   string // error code for messages to the conversation, "" = open
	messages []*Message
}

// Call is a call of the app.
type Call struct {
	Method string
	Form   map[string]string
	Code   int
}

// envelope is a request over the socket.
type envelope struct {
	id   string
	body map[string]any
}

// Start starts a workspace on a free port of 127.0.0.1.
func Start() *Server {
	s := open()
	h := slacktest.NewTestServer(func(c slacktest.Customize) { s.routes(c.Handle) })
	s.url, s.ws, s.stop = h.GetAPIURL(), h.GetWSURL(), h.Stop
	h.Start()
	return s
}

// StartOn starts a workspace on a listener, without the methods that slacktest
// adds.
func StartOn(l net.Listener) *Server {
	s, mux := open(), http.NewServeMux()
	s.routes(func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, h) })
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	s.url, s.ws = "http://"+l.Addr().String()+"/", "ws://"+l.Addr().String()+"/ws"
	s.stop = func() { _ = h.Close() } // cuts the connections, as intended
	go h.Serve(l)                     //nolint:errcheck // Close ends it with an error that says so
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
	handle("/files-pri/", s.giveFile)
	handle("/ws", s.socket)
}

// Close stops the server.
func (s *Server) Close() {
	s.Cut()
	s.stop()
}

// URL returns the address of the API.
func (s *Server) URL() string { return s.url }

// SetScopes sets the scopes of the app.
func (s *Server) SetScopes(scopes string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = scopes
}

// notifyChange wakes the callers of Wait. The caller holds mu.
func (s *Server) notifyChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait blocks until is returns true. is may call the Server.
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

// Calls returns the calls of a method so far, "" = of all methods.
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

// stamp returns the next timestamp. The caller holds mu.
func (s *Server) stamp() string {
	s.clock = max(s.clock+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.clock/1e6, s.clock%1e6)
}

// AdvanceClock moves the timestamps of later messages.
func (s *Server) AdvanceClock(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock += d.Microseconds()
}

func (s *Server) next(prefix string) string {
	s.last++
	return fmt.Sprintf("%s%d", prefix, s.last)
}

// channel returns a conversation, created if necessary. The caller holds mu.
func (s *Server) channel(id string) *channel {
	c := s.channels[id]
	if c == nil {
		c = &channel{id: id}
		s.channels[id] = c
	}
	return c
}

// Direct returns the id of a person's direct conversation, opened if necessary.
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

// CloseChannel makes posting fail with a code: "is_archived", "not_in_channel".
func (s *Server) CloseChannel(id, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channel(id).closed = why
}

// Rename renames a channel.
func (s *Server) Rename(id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channel(id).name = name
}

// ids returns the ids of all conversations, sorted. The caller holds mu.
func (s *Server) ids() []string { return slices.Sorted(maps.Keys(s.channels)) }

// serve returns the handler of a method.
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
		f, failing := s.nextFault(method)
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

// Fault is a failure of one call.
type Fault struct {
	Code    int    // HTTP status, 0 = 200
	Error   string // error code: "invalid_auth"
	Needed  string // missing scope
	Seconds int    // Retry-After header
	Body    string // body that replaces the response
	Cut     bool   // close the connection without a response
	After   bool   // the fault comes after the call has had its effect
}

// Common faults: ForeignPage is a page of a proxy; after ResponseLost the call has
// had its effect.
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

// Fault makes the next calls of a method fail, in order; "" means any method.
func (s *Server) Fault(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
}

func (s *Server) nextFault(method string) (Fault, bool) {
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

package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxBody limits a request, in bytes. Agents send the whole conversation each
// time.
const maxBody = 256 << 20

// Server is a fake of the providers' APIs (see dialect) on one listener.
type Server struct {
	http   *http.Server
	addr   string
	script func(Request) Turn
	closed chan struct{} // ends hanging requests

	mu    sync.Mutex
	seen  []Request
	tries map[string]int // by session and step
	n     int
	once  sync.Once
}

// T is the part of testing.TB that Start uses.
type T interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}

// Start serves on a free port of 127.0.0.1 until the test ends.
func Start(t T, script func(Request) Turn) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // nothing to wait for on loopback
	if err != nil {
		t.Fatal("models: listen:", err)
	}
	s := Serve(l, script)
	t.Cleanup(s.Close)
	return s
}

// Serve answers on l with the script until Close. Parallel agents call the script
// from several goroutines.
func Serve(l net.Listener, script func(Request) Turn) *Server {
	s := &Server{addr: l.Addr().String(), script: script, closed: make(chan struct{}), tries: map[string]int{}}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve)} //nolint:gosec // on loopback, for tests
	go func() { _ = s.http.Serve(l) }()                       // ends with Close
	return s
}

// Close stops the server and ends hanging requests.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closed)
		_ = s.http.Close() // the listener is closed either way
	})
}

// URL returns the server's address, for ANTHROPIC_BASE_URL.
func (s *Server) URL() string { return "http://" + s.addr }

// Env returns the variables that direct Claude Code here, with a dummy key.
func (s *Server) Env() []string {
	return []string{"ANTHROPIC_BASE_URL=" + s.URL(), "ANTHROPIC_API_KEY=dummy-key"}
}

// Requests returns all requests in order, including auxiliary ones.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Turns returns the requests that the script answered.
func (s *Server) Turns() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Auxiliary || r.CountTokens })
}

func (s *Server) serve(w http.ResponseWriter, hr *http.Request) {
	d := dialectOf(hr)
	if d == nil {
		fail(w, Fault{Status: http.StatusNotFound, Type: "not_found_error", Message: "there is nothing at " + hr.URL.Path})
		return
	}
	body, err := io.ReadAll(io.LimitReader(hr.Body, maxBody))
	if err != nil {
		return // the caller stopped sending
	}
	r, err := d.parse(body, hr)
	if err != nil {
		d.fail(w, Fault{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()})
		return
	}
	r.CountTokens = strings.HasSuffix(strings.ToLower(strings.ReplaceAll(hr.URL.Path, "_", "")), "counttokens")
	id := s.record(&r)
	switch {
	case r.CountTokens:
		writeJSON(w, map[string]any{"input_tokens": len(body) / 4, "totalTokens": len(body) / 4})
		return
	case r.Auxiliary:
		s.respond(w, hr, d, r, id, Say(`{"title": "Work in progress", "isNewTopic": false}`))
		return
	}
	s.respond(w, hr, d, r, id, s.script(r))
}

// dialect is an API of a provider: how a request is read, and how an answer and an
// error are written.
type dialect struct {
	serves  func(path string) bool // path of a POST
	parse   func(body []byte, hr *http.Request) (Request, error)
	stream  func(t Turn, w http.ResponseWriter, r Request, id string, half bool) error
	message func(t Turn, r Request, id string) map[string]any // answer to a request without streaming
	fail    func(w http.ResponseWriter, f Fault)
}

var dialects = []*dialect{&messagesAPI, &responsesAPI, &chatAPI, &geminiAPI}

// dialectOf returns the API that a request belongs to, nil for none.
func dialectOf(hr *http.Request) *dialect {
	n := slices.IndexFunc(dialects, func(d *dialect) bool { return hr.Method == http.MethodPost && d.serves(hr.URL.Path) })
	if n < 0 {
		return nil
	}
	return dialects[n]
}

// messagesAPI is Anthropic's Messages API.
var messagesAPI = dialect{
	serves: func(path string) bool {
		return strings.HasSuffix(path, "/v1/messages") || strings.HasSuffix(path, "/v1/messages/count_tokens")
	},
	parse: parse, stream: Turn.stream, message: Turn.message, fail: fail,
}

// record stores the request, sets its Try and returns an id for the answer.
func (s *Server) record(r *Request) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	if !r.Auxiliary && !r.CountTokens {
		key := fmt.Sprintf("%s %d", r.Session, r.Step)
		r.Try = s.tries[key]
		s.tries[key]++
	}
	s.seen = append(s.seen, *r)
	return fmt.Sprintf("%06d", s.n)
}

// respond sends a turn, or its fault.
func (s *Server) respond(w http.ResponseWriter, hr *http.Request, d *dialect, r Request, id string, t Turn) {
	if t.Before != nil {
		t.Before()
	}
	f := t.Fault
	if f != nil && f.Times > 0 && r.Try >= f.Times {
		f = nil
	}
	if f != nil && f.Status != 0 {
		d.fail(w, *f)
		return
	}
	for k, v := range t.Header {
		w.Header().Set(k, v)
	}
	half := f != nil && f.AfterHalf
	if f == nil || half {
		var err error
		switch {
		case r.Stream:
			w.Header().Set("Content-Type", "text/event-stream")
			err = d.stream(t, w, r, id, half)
		case !half:
			writeJSON(w, d.message(t, r, id))
		}
		if err != nil && !errors.Is(err, net.ErrClosed) {
			panic(http.ErrAbortHandler) // the caller is gone, or the request is not JSON
		}
	}
	switch {
	case f == nil:
	case f.Hang:
		select {
		case <-hr.Context().Done():
		case <-s.closed:
		}
		panic(http.ErrAbortHandler)
	case f.Cut:
		panic(http.ErrAbortHandler) // net/http closes the connection without an end
	}
}

func writeJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // a caller that misses the answer asks again
}

func fail(w http.ResponseWriter, f Fault) {
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": f.Type, "message": f.Message}})
}

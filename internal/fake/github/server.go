package github

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is a fake GitHub with one repository.
type Server struct {
	URL     string // of the interface
	Storage string // of the server that has the logs of jobs
	Token   string
	Login   string // the account of the token

	api, storage *httptest.Server

	mu    sync.Mutex
	now   time.Time
	calls []Call
	// foreign are the Authorization headers that reached the storage.
	foreign []string
	faults  []*Fault
	repo    repository
	agents  agentState
}

// Call is a call that the server answered.
type Call struct {
	Method, Path string
	Status       int
	Conditional  bool // it had an ETag
	At           time.Time
	Took         time.Duration // until the answer was ready, by the machine's clock as At
}

// Fault is what happens to the next call that it fits.
type Fault struct {
	Method string // "" = any
	Path   string // part of the path
	Writes bool   // no call that reads
	Status int
	Body   string
	Header http.Header
	After  bool // the call has its effect first
	Drop   bool // the connection breaks instead of an answer
	Times  int  // 0 = once
}

// New starts a server with the repository "acme/shop", the branch main and the
// account porter, whose token may write.
func New() *Server {
	s := &Server{Token: "ghp_faketoken0123456789abcdefghijklmnop", Login: "porter", now: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)}
	s.repo = newRepository()
	s.repo.permissions[s.Login] = "write"
	s.repo.push("main", s.hash("main"), "", s.now)
	s.storage = httptest.NewServer(http.HandlerFunc(s.serveLog))
	s.api = httptest.NewServer(s)
	s.URL, s.Storage = s.api.URL+"/", s.storage.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.api.Close()
	s.storage.Close()
}

// Now returns the server's time.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Advance moves the server's clock. Every change moves it by ten seconds, and every
// call by one.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// Fail adds a fault.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// Calls returns all calls since the last one of it.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.calls
	s.calls = nil
	return out
}

// Foreign returns the Authorization headers that reached the server of the logs.
func (s *Server) Foreign() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.foreign)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Second)
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3") // as GitHub Enterprise has it
	out := httptest.NewRecorder()
	fault := s.fault(r)
	if fault == nil || fault.After {
		s.route(out, r)
	}
	if fault != nil {
		if fault.Drop {
			panic(http.ErrAbortHandler)
		}
		out = httptest.NewRecorder()
		for name, values := range fault.Header {
			out.Header()[name] = values
		}
		out.WriteHeader(fault.Status)
		out.Body.WriteString(fault.Body)
	}
	s.send(w, r, out, at)
}

// fault returns what happens to a call, nil = nothing.
func (s *Server) fault(r *http.Request) *Fault {
	n := slices.IndexFunc(s.faults, func(f *Fault) bool {
		return (f.Method == "" || f.Method == r.Method) && !(f.Writes && r.Method == http.MethodGet) && strings.Contains(r.URL.Path, f.Path)
	})
	if n < 0 {
		return nil
	}
	f := s.faults[n]
	if f.Times--; f.Times == 0 {
		s.faults = slices.Delete(s.faults, n, n+1)
	}
	return f
}

// send answers, with an ETag, or with 304 where the client has the answer.
func (s *Server) send(w http.ResponseWriter, r *http.Request, out *httptest.ResponseRecorder, at time.Time) {
	body := out.Body.Bytes()
	code := out.Code
	header := w.Header()
	for name, values := range out.Header() {
		header[name] = values
	}
	header.Set("Date", s.now.UTC().Format(http.TimeFormat))
	header.Set("X-GitHub-Request-Id", "0")
	known := r.Header.Get("If-None-Match")
	if r.Method == http.MethodGet && code == http.StatusOK {
		sum := sha256.Sum256(body)
		tag := `W/"` + hex.EncodeToString(sum[:]) + `"`
		header.Set("ETag", tag)
		if known == tag {
			code, body = http.StatusNotModified, nil
		}
	}
	s.calls = append(s.calls, Call{r.Method, r.URL.Path, code, known != "", at, time.Since(at)})
	w.WriteHeader(code)
	_, _ = w.Write(body)
}

// route answers a call.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+s.Token {
		fail(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	path := r.URL.Path
	switch {
	case path == "/user":
		reply(w, http.StatusOK, s.user(s.Login))
		return
	case path == "/graphql" || path == "/api/graphql":
		s.graphQL(w, r)
		return
	}
	if rest, ok := strings.CutPrefix(path, "/repositories/1"); ok {
		s.repository(w, r, rest)
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(path, "/repos/"), "/", 3)
	if !strings.HasPrefix(path, "/repos/") || len(parts) < 2 {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	rest := ""
	if len(parts) == 3 {
		rest = "/" + parts[2]
	}
	switch name := parts[0] + "/" + parts[1]; {
	case strings.EqualFold(name, s.repo.name):
		s.repository(w, r, rest)
	case slices.Contains(s.repo.former, name):
		code := http.StatusTemporaryRedirect
		if r.Method == http.MethodGet || s.repo.all301 {
			code = http.StatusMovedPermanently
		}
		to := s.URL + "repositories/1" + rest
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", to)
		fail(w, code, "Moved Permanently")
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

// reply answers with a value.
func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // all values have a JSON form
	}
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

// fail answers with an error.
func fail(w http.ResponseWriter, code int, message string, errs ...string) {
	body := map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(code)}
	if len(errs) > 0 {
		var all []map[string]string
		for _, e := range errs {
			all = append(all, map[string]string{"resource": "PullRequest", "code": "custom", "message": e})
		}
		body["errors"] = all
	}
	reply(w, code, body)
}

// read decodes the body of a call.
func read[T any](r *http.Request) (v T) {
	var buf bytes.Buffer
	_, _ = buf.ReadFrom(r.Body)
	_ = json.Unmarshal(buf.Bytes(), &v) // a field that is missing is checked by whoever needs it
	return v
}

// page answers with a page of a list, and with links to the others.
func page[T any](s *Server, w http.ResponseWriter, r *http.Request, all []T, show func(T) any, in func([]any) any) {
	q := r.URL.Query()
	per, n := number(q.Get("per_page"), 30), number(q.Get("page"), 1)
	last := max(1, (len(all)+per-1)/per)
	var links []string
	link := func(rel string, page int) {
		q.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, s.URL, strings.TrimPrefix(r.URL.Path, "/"), q.Encode(), rel))
	}
	if n < last {
		link("next", n+1)
		link("last", last)
	}
	if n > 1 {
		link("first", 1)
		link("prev", n-1)
	}
	if len(links) > 0 {
		w.Header().Set("Link", strings.Join(links, ", "))
	}
	out := []any{}
	for i := (n - 1) * per; i < min(n*per, len(all)); i++ {
		out = append(out, show(all[i]))
	}
	reply(w, http.StatusOK, in(out))
}

// number reads a number of a query.
func number(text string, usual int) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return usual
}

// hash returns a commit's name.
func (s *Server) hash(seed ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(append(seed, s.now.UnixNano())...)))
	return hex.EncodeToString(sum[:20])
}

// tick moves the clock for a change and returns the time of it.
func (s *Server) tick() time.Time {
	s.now = s.now.Add(10 * time.Second)
	return s.now
}

// stamp returns a time as GitHub writes it.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

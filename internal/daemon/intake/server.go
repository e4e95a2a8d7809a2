package intake

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Path is where reports are posted.
const Path = "/bugs"

// Limits of what is posted. A site that meets them posts again later: it is told when.
const (
	maxBytes   = 64 << 10 // of one report
	maxConns   = 64
	burst      = 30 // reports at once after a pause
	every      = 2 * time.Second
	wrongBurst = 10 // calls without the token
	wrongEvery = 5 * time.Second
	takeTime   = 20 * time.Second // from a report's arrival to the ledger
	stopTime   = 5 * time.Second  // that Stop waits for it
)

// Inbox is a project's inbox at one moment.
type Inbox struct {
	Repo   string
	Source ledger.SourceRef
	Tasks  []ledger.Task
}

// Engine takes inputs. When Do returns, the ledger has what was decided.
type Engine interface {
	Do(ctx context.Context, in loop.Input) (ledger.Answer, error)
	State(project string) (loop.State, bool)
}

// Options are what a Server needs of the daemon.
type Options struct {
	Config func() *config.Config // in force now, with a section [bugs]
	Engine Engine
	Inbox  func(ctx context.Context, project string) (Inbox, error) // an error: no report can be written now
	Warn   func(text string)                                        // shows people a problem; "" = it is over
	Clock  func() time.Time                                         // nil = the machine's
	Log    *slog.Logger
}

// Server takes reports at the address of the configuration with which it starts.
type Server struct {
	o     Options
	http  http.Server
	addr  net.Addr // nil: it does not listen
	right *rate.Limiter
	wrong *rate.Limiter

	began  sync.WaitGroup
	taking sync.Mutex // one report at a time: its id must be no other's
}

// New returns a server that does not listen yet.
func New(o Options) *Server {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	s := &Server{o: o, right: rate.NewLimiter(rate.Every(every), burst), wrong: rate.NewLimiter(rate.Every(wrongEvery), wrongBurst)}
	s.http = http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: takeTime + 10*time.Second, IdleTimeout: 30 * time.Second, MaxHeaderBytes: 8 << 10,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug), // hostile callers cause these errors
	}
	return s
}

// Start listens. An address that cannot be had keeps nothing else from running: people
// are told.
func (s *Server) Start(ctx context.Context) error {
	address := s.o.Config().Bugs.Listen
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		s.o.Log.Error("bug reports are not taken", "address", address, "error", err)
		s.o.Warn("! no bug reports are taken: " + address + " is in use, or not of this machine")
		return nil
	}
	s.addr = l.Addr()
	s.o.Log.Info("bug reports are taken", "address", "http://"+s.addr.String()+Path)
	s.began.Go(s.begin)
	go func() {
		if err := s.http.Serve(netutil.LimitListener(l, maxConns)); !errors.Is(err, http.ErrServerClosed) {
			s.o.Log.Error("bug reports are not taken any more", "error", err)
		}
	}()
	return nil
}

// Stop ends the server. A report that is being taken has some seconds.
func (s *Server) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	s.began.Wait()
}

// begin has the reports written that the inbox did not take before.
func (s *Server) begin() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	s.taking.Lock()
	defer s.taking.Unlock()
	project := s.o.Config().BugsProject()
	if len(s.owed(project)) == 0 {
		return
	}
	if inbox, err := s.o.Inbox(ctx, project); err == nil {
		s.again(ctx, project, inbox)
	}
}

// owed returns the reports that the inbox did not take.
func (s *Server) owed(project string) (owed []loop.Addition) {
	state, _ := s.o.Engine.State(project)
	for _, a := range state.Project.Additions {
		if a.Owed() {
			owed = append(owed, a)
		}
	}
	return owed
}

// again asks for the reports that the inbox did not take, which can be read now.
func (s *Server) again(ctx context.Context, project string, inbox Inbox) {
	for _, a := range s.owed(project) {
		in := loop.Input{Project: project, Actor: "site", Body: loop.AddTasks{Tasks: a.Tasks, Repo: inbox.Repo, Source: inbox.Source, Known: inbox.Tasks}}
		if answer, err := s.o.Engine.Do(ctx, in); err != nil || !answer.OK {
			s.o.Log.Warn("a bug report of before is not in the inbox", "id", a.Tasks[0].ID, "answer", answer.Text, "error", err)
		}
	}
}

// Addr returns the address, nil where there is none.
func (s *Server) Addr() net.Addr { return s.addr }

// answer is what a site is told.
type answer struct {
	ID      string   `json:"id,omitempty"`
	Ignored []string `json:"ignored,omitempty"` // keys that were not taken
	Error   string   `json:"error,omitempty"`   // why the report was not taken
}

// ServeHTTP takes one report.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, a := s.serve(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // a site without an answer posts again
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) (status int, a answer) {
	refuse := func(status int, text string) (int, answer) { return status, answer{Error: text} }
	b := s.o.Config().Bugs
	if b == nil {
		return refuse(http.StatusServiceUnavailable, "no bug reports are taken any more")
	}
	token, err := forge.ReadToken(b.TokenFile, config.IsCredential(b.TokenFile))
	if err != nil {
		s.o.Log.Error("the token of [bugs] cannot be read", "error", err)
		return refuse(http.StatusServiceUnavailable, "nightporter cannot read its token: ask again later")
	}
	if !allowed(r, string(token)) {
		if !s.wrong.Allow() {
			return s.later(w, wrongEvery, "too many calls without the token")
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		return refuse(http.StatusUnauthorized, "the token is missing or another one: send the header Authorization: Bearer TOKEN")
	}
	if r.URL.Path != Path {
		return refuse(http.StatusNotFound, "post reports to "+Path)
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return refuse(http.StatusMethodNotAllowed, "use POST")
	}
	if typ, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || typ != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "send JSON, with the header Content-Type: application/json")
	}
	if !s.right.Allow() {
		return s.later(w, every, "too many reports at once")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return refuse(http.StatusRequestEntityTooLarge, "the report is larger than 64 kB: send the address of a picture, not the picture, and the last console errors alone")
	} else if err != nil {
		return refuse(http.StatusBadRequest, "the report did not arrive in whole")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), takeTime) // a site that hangs up may post again
	defer cancel()
	return s.take(ctx, data)
}

// later refuses a call for now.
func (s *Server) later(w http.ResponseWriter, after time.Duration, text string) (int, answer) {
	w.Header().Set("Retry-After", strconv.Itoa(int(after/time.Second)))
	return http.StatusTooManyRequests, answer{Error: text + ": ask again later"}
}

// allowed reports whether a request has the token.
func allowed(r *http.Request, token string) bool {
	got, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(token)) // of one length, whatever was sent
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && bearer && token != ""
}

// take puts a report into the ledger.
func (s *Server) take(ctx context.Context, data []byte) (int, answer) {
	t, ignored, err := readReport(data)
	if err != nil {
		return http.StatusUnprocessableEntity, answer{Error: mistake(err)}
	}
	s.taking.Lock()
	defer s.taking.Unlock()
	project := s.o.Config().BugsProject()
	inbox, err := s.o.Inbox(ctx, project)
	if err != nil {
		s.o.Log.Error("a posted bug report is not taken", "project", project, "error", err)
		s.o.Warn("! a site's bug report was not taken: the inbox of " + project + " cannot be read")
		return http.StatusServiceUnavailable, answer{Error: "the inbox cannot be read now: ask again later"}
	}
	s.again(ctx, project, inbox)
	listed := slices.Clip(inbox.Tasks)
	if state, ok := s.o.Engine.State(project); ok {
		for _, a := range state.Project.Additions {
			if !a.Done {
				listed = append(listed, a.Tasks...)
			}
		}
	}
	var there bool
	if t.ID, there = idOf(data, s.o.Clock(), t, listed); there {
		return http.StatusOK, answer{ID: t.ID, Ignored: ignored}
	}
	a, err := s.o.Engine.Do(ctx, loop.Input{
		Project: project, Actor: "site", Body: loop.AddTasks{Tasks: []ledger.Task{t}, Repo: inbox.Repo, Source: inbox.Source, Known: inbox.Tasks},
	})
	switch {
	case err != nil:
		s.o.Log.Error("a posted bug report is not taken", "project", project, "error", err)
		return http.StatusServiceUnavailable, answer{Error: "nightporter cannot take it now: ask again later"}
	case a.OK:
		s.o.Warn("")
		return http.StatusCreated, answer{ID: t.ID, Ignored: ignored}
	case a.Code == ledger.CodeTooLong, a.Code == ledger.CodeNoWords, a.Code == ledger.CodeNotText:
		return http.StatusUnprocessableEntity, answer{Error: a.Text}
	}
	return http.StatusServiceUnavailable, answer{Error: a.Text + ": ask again later"}
}

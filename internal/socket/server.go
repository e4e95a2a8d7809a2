package socket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// Server serves one listener.
type Server struct {
	http   *http.Server
	log    *slog.Logger
	meter  *meter        // of a session; nil: the operator's
	served chan struct{} // closed when the server accepts no more connections

	mu      sync.Mutex
	active  int           // requests being handled
	closing bool          // no more requests are accepted
	idle    chan struct{} // closed once closing is set and active is 0
}

// Serve answers requests on the operator's listener l with h until Close; log gets
// errors. The context of a request ends when its caller hangs up or Close gives up waiting: a
// handler that must not be interrupted has to detach from it.
func Serve(l net.Listener, h http.Handler, log *slog.Logger) *Server {
	return newServer(log).serve(l, h, defaults, func() {})
}

// ServeSession answers requests on the listener l of a session with h until Close,
// for callers with the token; log gets errors. Requests and connections have
// limits, see SessionHandler.Throttled.
func ServeSession(l net.Listener, h SessionHandler, token, session string, log *slog.Logger) *Server {
	s := newServer(log.With("session", session))
	s.meter = newMeter(func(refused int) {
		go s.count(func() { h.Throttled(context.Background(), session, refused) })
	})
	return s.serve(l, newSession(h, token, session, s.log, s.meter), sessionLimits(), s.meter.refuse)
}

func newServer(log *slog.Logger) *Server {
	return &Server{log: log, served: make(chan struct{}), idle: make(chan struct{})}
}

// serve starts the server. dropped is called for each connection that lost its
// place to a later one.
func (s *Server) serve(l net.Listener, h http.Handler, lim limits, dropped func()) *Server {
	s.http = &http.Server{
		Handler:           s.countActive(h),
		ReadHeaderTimeout: lim.header,
		ReadTimeout:       lim.read,
		WriteTimeout:      lim.write,
		IdleTimeout:       lim.header,
		MaxHeaderBytes:    4 << 10,
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // level debug: hostile callers cause these errors
	}
	s.http.SetKeepAlivesEnabled(false) // one request per connection
	go func() {
		defer close(s.served)
		if err := s.http.Serve(newLimit(l, lim, dropped)); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("socket: no longer listening", "addr", l.Addr().String(), "err", err)
		}
	}()
	return s
}

// Close stops listening and waits for the requests being handled, until ctx
// ends; then it cuts their connections. Cut-off callers ask again, with the
// same key.
//
// It does not use http.Server.Shutdown, which polls and waits five seconds for
// connections that never sent anything.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closing {
		s.closing = true
		if s.active == 0 {
			close(s.idle)
		}
	}
	s.mu.Unlock()
	var err error
	select {
	case <-s.idle:
	case <-ctx.Done():
		err = fmt.Errorf("socket: requests were cut off: %w", context.Cause(ctx))
	}
	// Close ends the listener even if it returns an error.
	_ = s.http.Close()
	<-s.served
	if s.meter != nil && s.meter.count() > 0 {
		s.log.Warn("a session called too often", "refused", s.meter.count())
	}
	return err
}

// countActive counts the requests being handled, for Close.
func (s *Server) countActive(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := s.count(func() {
			defer s.answerPanic(w, r)
			h.ServeHTTP(w, r)
		})
		if !counted {
			writeReply(w, http.StatusServiceUnavailable, refuse("nightporter is stopping: ask again"))
		}
	})
}

// count calls do as something that Close waits for. It returns false, and calls
// nothing, after Close.
func (s *Server) count(do func()) bool {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return false
	}
	s.active++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.active--; s.active == 0 && s.closing {
			close(s.idle)
		}
	}()
	do()
	return true
}

// answerPanic turns a handler's panic into an answer, so that one failing
// request does not look like an absent daemon.
func (s *Server) answerPanic(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		s.log.Error("socket: panic", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", stack())
		writeReply(w, http.StatusInternalServerError, refuse(internalText))
	}
}

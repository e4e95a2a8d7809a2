package socket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// limits are the limits of one server.
type limits struct {
	conns  int           // concurrent connections
	header time.Duration // until the headers have arrived
	read   time.Duration // until the whole request has arrived
	write  time.Duration // from there until the answer has been written
}

// defaults suit two programs on one machine, where a slower request will never
// complete. The write limit is longer, because an answer may wait for a busy
// disk.
var defaults = limits{conns: 32, header: 5 * time.Second, read: 10 * time.Second, write: time.Minute}

// Server serves one listener.
type Server struct {
	http   *http.Server
	log    *slog.Logger
	served chan struct{} // closed when the server accepts no more connections

	mu      sync.Mutex
	active  int           // requests being handled
	closing bool          // no more requests are accepted
	idle    chan struct{} // closed once closing is set and active is 0
}

// Serve answers requests on l with h until Close; log gets errors. The context
// of a request ends when its caller hangs up or Close gives up waiting: a
// handler that must not be interrupted has to detach from it.
func Serve(l net.Listener, h http.Handler, log *slog.Logger) *Server {
	return serve(l, h, log, defaults)
}

func serve(l net.Listener, h http.Handler, log *slog.Logger, lim limits) *Server {
	s := &Server{log: log, served: make(chan struct{}), idle: make(chan struct{})}
	s.http = &http.Server{
		Handler:           s.countActive(h),
		ReadHeaderTimeout: lim.header,
		ReadTimeout:       lim.read,
		WriteTimeout:      lim.write,
		IdleTimeout:       lim.header,
		MaxHeaderBytes:    4 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // level debug: hostile callers cause these errors
	}
	s.http.SetKeepAlivesEnabled(false) // one request per connection
	go func() {
		defer close(s.served)
		if err := s.http.Serve(newLimit(l, lim.conns)); !errors.Is(err, http.ErrServerClosed) {
			log.Error("socket: no longer listening", "addr", l.Addr().String(), "err", err)
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
	return err
}

// countActive counts the requests being handled, for Close.
func (s *Server) countActive(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.closing {
			s.mu.Unlock()
			writeReply(w, http.StatusServiceUnavailable, refuse("nightporter is stopping: ask again"))
			return
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
		defer s.answerPanic(w, r)
		h.ServeHTTP(w, r)
	})
}

// answerPanic turns a handler's panic into an answer, so that one failing
// request does not look like an absent daemon.
func (s *Server) answerPanic(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		s.log.Error("socket: panic", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", stack())
		writeReply(w, http.StatusInternalServerError, refuse(internalText))
	}
}

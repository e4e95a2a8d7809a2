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

// limits of one server.
type limits struct {
	conns  int           // connections at a time
	header time.Duration // until the headers have arrived
	read   time.Duration // until the whole request has arrived
	write  time.Duration // from there until the answer has left
}

// Both sides are programs on the same machine: what takes longer than this
// is not going to come. An answer may take the time of a busy disk.
var defaults = limits{conns: 32, header: 5 * time.Second, read: 10 * time.Second, write: time.Minute}

// Server serves one listener.
type Server struct {
	http   *http.Server
	log    *slog.Logger
	served chan struct{} // closed when nothing is accepted any more

	mu      sync.Mutex
	active  int           // requests that a handler has in hand
	closing bool          // no more are taken
	idle    chan struct{} // closed when closing and active is 0
}

// Serve answers requests on l with h until Close; log gets what goes wrong. A
// request's context ends when its caller hangs up or the server is closed by
// force: what must not be given up half-way is the handler's to detach.
func Serve(l net.Listener, h http.Handler, log *slog.Logger) *Server {
	return serve(l, h, log, defaults)
}

func serve(l net.Listener, h http.Handler, log *slog.Logger, lim limits) *Server {
	s := &Server{log: log, served: make(chan struct{}), idle: make(chan struct{})}
	s.http = &http.Server{
		Handler:           s.counted(h),
		ReadHeaderTimeout: lim.header,
		ReadTimeout:       lim.read,
		WriteTimeout:      lim.write,
		IdleTimeout:       lim.header,
		MaxHeaderBytes:    4 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // what hostile callers do is no error of ours
	}
	s.http.SetKeepAlivesEnabled(false) // one request a connection
	go func() {
		defer close(s.served)
		if err := s.http.Serve(newLimit(l, lim.conns)); !errors.Is(err, http.ErrServerClosed) {
			log.Error("socket: no longer listening", "addr", l.Addr().String(), "err", err)
		}
	}()
	return s
}

// Close stops listening, waits for the requests in hand to be answered, at
// most until ctx ends, and cuts what is left. Callers who are cut off ask
// again, with the same key.
//
// It is not http.Server.Shutdown: that polls, and waits five seconds for
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
	// The listener's own error is of no use to anybody: it is gone either way.
	_ = s.http.Close()
	<-s.served
	return err
}

// counted lets Close know of requests in hand.
func (s *Server) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.closing {
			s.mu.Unlock()
			answer(w, http.StatusServiceUnavailable, refuse("nightporter is stopping: ask again"))
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
		defer s.recovered(w, r)
		h.ServeHTTP(w, r)
	})
}

// recovered turns a handler's panic into an answer: one request that the
// daemon trips over must not look like a daemon that is gone.
func (s *Server) recovered(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		s.log.Error("socket: panic", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", stack())
		answer(w, http.StatusInternalServerError, refuse(internalText))
	}
}

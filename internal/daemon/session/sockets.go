package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/socket"
)

// Sockets opens one socket per session. A session's token is derived from the
// operator's key, which sessions cannot read. So the token is the same after a
// restart, and none has to be stored.
type Sockets struct {
	key     string
	runners *Runners
	handler socket.SessionHandler
	log     *slog.Logger

	mu   sync.Mutex
	open map[string]*socket.Server
}

// NewSockets returns the sockets of a state folder with this operator's key.
// Call Handle before Open.
func NewSockets(key string, r *Runners, log *slog.Logger) *Sockets {
	return &Sockets{key: key, runners: r, log: log, open: map[string]*socket.Server{}}
}

// Handle sets the handler of all requests. Call it once, before the first Open.
func (s *Sockets) Handle(h socket.SessionHandler) { s.handler = h }

// Token returns the token that the session's requests must carry.
func (s *Sockets) Token(session string) string {
	mac := hmac.New(sha256.New, []byte(s.key))
	mac.Write([]byte("session " + session))
	return hex.EncodeToString(mac.Sum(nil))
}

// Open begins to listen for a session. An open socket of the same session is
// replaced.
func (s *Sockets) Open(session string) error {
	path := s.runners.SocketPath(session)
	if err := os.MkdirAll(filepath.Dir(path), 0o711); err != nil {
		return fmt.Errorf("folder of the session's socket: %w", err)
	}
	var opts []socket.Option
	if uid, gid := s.runners.User(); uid >= 0 {
		opts = append(opts, socket.WithOwner(uid, gid))
	}
	s.Close(session)
	listener, err := socket.Listen(path, 0o600, opts...)
	if err != nil {
		return err
	}
	server := socket.ServeSession(listener, s.handler, s.Token(session), session, s.log)
	s.mu.Lock()
	s.open[session] = server
	s.mu.Unlock()
	return nil
}

// Close stops listening for a session and waits at most 2 s for its requests.
func (s *Sockets) Close(session string) {
	s.mu.Lock()
	server := s.open[session]
	delete(s.open, session)
	s.mu.Unlock()
	if server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		s.log.Debug("session socket", "session", session, "error", err)
	}
}

// Stop closes the sockets of all sessions. Running hats retry for a while, so
// they reach the next daemon.
func (s *Sockets) Stop() {
	s.mu.Lock()
	names := make([]string, 0, len(s.open))
	for name := range s.open {
		names = append(names, name)
	}
	s.mu.Unlock()
	for _, name := range names {
		s.Close(name)
	}
}

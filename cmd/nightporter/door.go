package main

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

// sessionSockets opens one socket per session. A session's token is derived from the
// operator's key, which sessions cannot read: so it is the same after a
// restart, and nothing has to be kept.
type sessionSockets struct {
	key     string
	runner  *runners
	handler socket.SessionHandler
	log     *slog.Logger

	mu   sync.Mutex
	open map[string]*socket.Server
}

// Token is what the session has to bear.
func (d *sessionSockets) Token(session string) string {
	mac := hmac.New(sha256.New, []byte(d.key))
	mac.Write([]byte("session " + session))
	return hex.EncodeToString(mac.Sum(nil))
}

// Open listens for a session.
func (d *sessionSockets) Open(session string) error {
	path := d.runner.SocketPath(session)
	if err := os.MkdirAll(filepath.Dir(path), 0o711); err != nil {
		return fmt.Errorf("folder of the session's socket: %w", err)
	}
	var opts []socket.Option
	if uid, gid := d.runner.User(); uid >= 0 {
		opts = append(opts, socket.WithOwner(uid, gid))
	}
	d.Close(session)
	listener, err := socket.Listen(path, 0o600, opts...)
	if err != nil {
		return err
	}
	server := socket.Serve(listener, socket.NewSession(d.handler, d.Token(session), session, d.log), d.log)
	d.mu.Lock()
	d.open[session] = server
	d.mu.Unlock()
	return nil
}

// Close stops listening for a session.
func (d *sessionSockets) Close(session string) {
	d.mu.Lock()
	server := d.open[session]
	delete(d.open, session)
	d.mu.Unlock()
	if server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		d.log.Debug("session socket", "session", session, "error", err)
	}
}

func (d *sessionSockets) closeAll() {
	d.mu.Lock()
	names := make([]string, 0, len(d.open))
	for name := range d.open {
		names = append(names, name)
	}
	d.mu.Unlock()
	for _, name := range names {
		d.Close(name)
	}
}

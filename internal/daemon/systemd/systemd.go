// Package systemd speaks with the service manager that started the daemon, by
// the protocol of sd_notify.
package systemd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/nightporter/nightporter/internal/service"
)

// Manager is the service manager that started this process. Without one,
// nothing happens.
type Manager struct {
	service.Base
	log *slog.Logger
	of  Status
}

// New returns the manager that the environment names.
func New(log *slog.Logger, of Status) *Manager { return &Manager{log: log, of: of} }

// Status is the daemon as the manager shows it.
type Status struct {
	Line    func() string               // "2 projects, 1 at work"
	Alive   func(context.Context) error // comes back in time while the daemon works
	Changes *service.Broadcast          // rung when Line may be another one
}

// Start says that the daemon is ready, keeps its status line true, and feeds
// the manager's watchdog where it has one.
func (m *Manager) Start(context.Context) error {
	if err := m.Begin(); err != nil {
		return err
	}
	line := m.of.Line()
	m.Tell(daemon.SdNotifyReady + "\nSTATUS=" + line)
	if every := m.watchdog(); every > 0 {
		m.Go(func(ctx context.Context) { m.feed(ctx, every, m.of.Alive) })
	}
	m.Go(func(ctx context.Context) { m.report(ctx, line) })
	return nil
}

// Reloading and Reloaded stand around a reload of the configuration.
func (m *Manager) Reloading() { m.Tell(daemon.SdNotifyReloading) }

// Reloaded says that the settings in force are those of the file, or that the
// file was refused.
func (m *Manager) Reloaded() { m.Tell(daemon.SdNotifyReady) }

// Stopping says that the daemon is about to end.
func (m *Manager) Stopping() { m.Tell(daemon.SdNotifyStopping) }

// tellTime bounds one message. Its socket's queue can be full, and a manager
// that does not read must not keep the daemon from working, nor from ending;
// the library's own call waits for ever.
const tellTime = time.Second

// Tell sends one or more lines, such as READY=1.
func (m *Manager) Tell(state string) {
	at := os.Getenv("NOTIFY_SOCKET")
	if at == "" {
		return
	}
	if err := send(at, state); err != nil {
		m.log.Warn("service manager", "state", state, "error", err)
	}
}

func send(at, state string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: at, Net: "unixgram"})
	if err != nil {
		return err
	}
	if err = conn.SetWriteDeadline(time.Now().Add(tellTime)); err == nil {
		_, err = conn.Write([]byte(state))
	}
	return errors.Join(err, conn.Close())
}

// watchdog is how often the manager wants a sign of life, 0 for never.
func (m *Manager) watchdog() time.Duration {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		m.log.Warn("service manager", "error", err)
		return 0
	}
	return every
}

// feed tells the manager that the daemon lives, for as long as probe returns
// in time. It is fed by nothing else: a process that still breathes while its
// engine hangs is one that has to be started again.
func (m *Manager) feed(ctx context.Context, every time.Duration, probe func(context.Context) error) {
	tick := time.NewTicker(every / 4)
	defer tick.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, every/2)
		err := probe(try)
		cancel()
		switch {
		case err == nil:
			m.Tell(daemon.SdNotifyWatchdog)
		case ctx.Err() == nil:
			m.log.Error("no sign of life from the engine: the watchdog is not fed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// report keeps the manager's status line true until ctx ends; last is what it
// shows.
func (m *Manager) report(ctx context.Context, last string) {
	for {
		rung := m.of.Changes.Next()
		if line := m.of.Line(); line != last {
			m.Tell("STATUS=" + line)
			last = line
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return
		}
	}
}

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

// Manager reports to the service manager that started this process. Without a
// service manager all methods do nothing.
type Manager struct {
	service.Base
	log *slog.Logger
	of  Status
}

// New returns the manager named by the environment variable NOTIFY_SOCKET.
func New(log *slog.Logger, of Status) *Manager { return &Manager{log: log, of: of} }

// Status provides what the manager shows and checks. All fields are required.
type Status struct {
	Line    func() string               // "2 projects, 1 at work"
	Alive   func(context.Context) error // returns nil while the daemon works; blocks or fails otherwise
	Changes *service.Broadcast          // signalled when Line may have changed
}

// Start reports that the daemon is ready. Until Stop it updates the status
// line, and feeds the watchdog if the manager has one.
func (m *Manager) Start(context.Context) error {
	if err := m.Begin(); err != nil {
		return err
	}
	line := m.of.Line()
	m.Notify(daemon.SdNotifyReady + "\nSTATUS=" + line)
	if every := m.watchdog(); every > 0 {
		m.Go(func(ctx context.Context) { m.feed(ctx, every, m.of.Alive) })
	}
	m.Go(func(ctx context.Context) { m.report(ctx, line) })
	return nil
}

// Reloading reports that the daemon reloads its configuration. Reloaded must
// follow.
func (m *Manager) Reloading() { m.Notify(daemon.SdNotifyReloading) }

// Reloaded reports that the reload is over, whether it succeeded or not.
func (m *Manager) Reloaded() { m.Notify(daemon.SdNotifyReady) }

// Stopping reports that the daemon is about to end.
func (m *Manager) Stopping() { m.Notify(daemon.SdNotifyStopping) }

// notifyTime limits one message. The socket's queue may be full, and a manager
// that does not read must delay neither the daemon's work nor its end. The
// library's own call blocks without a limit.
const notifyTime = time.Second

// Notify sends one or more lines, such as READY=1. Errors are logged.
func (m *Manager) Notify(state string) {
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
	if err = conn.SetWriteDeadline(time.Now().Add(notifyTime)); err == nil {
		_, err = conn.Write([]byte(state))
	}
	return errors.Join(err, conn.Close())
}

// watchdog returns the interval at which the manager expects a signal, 0 for
// never.
func (m *Manager) watchdog() time.Duration {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		m.log.Warn("service manager", "error", err)
		return 0
	}
	return every
}

// feed signals the watchdog only after probe has returned in time. A timer
// alone would keep a process alive whose engine hangs and that must be
// restarted.
func (m *Manager) feed(ctx context.Context, every time.Duration, probe func(context.Context) error) {
	tick := time.NewTicker(every / 4)
	defer tick.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, every/2)
		err := probe(try)
		cancel()
		switch {
		case err == nil:
			m.Notify(daemon.SdNotifyWatchdog)
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

// report sends the status line whenever it changes, until ctx ends. last is the
// line that the manager shows.
func (m *Manager) report(ctx context.Context, last string) {
	for {
		rung := m.of.Changes.Next()
		if line := m.of.Line(); line != last {
			m.Notify("STATUS=" + line)
			last = line
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return
		}
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/internal/socket"
)

// start starts the daemon of up. Where the disk is full, read-only or not there
// yet, it waits in this process: an exit would be final under a unit that
// restarts only what a restart can mend, and a crash loop under any other.
type start struct {
	state   string
	config  *config.Config
	read    func() (*config.Config, error)
	signals chan os.Signal
	out     io.Writer // for people

	listener net.Listener // passed by the service manager; nil = none
	asked    bool         // whether the service manager was asked for it
	told     string       // the last problem that was printed
}

// Pauses between two tries, and how long the service manager is asked to wait
// beyond a pause: as long as the unit lets a start take.
const (
	firstStart = time.Second
	lastStart  = time.Minute
	startTime  = 5 * time.Minute
)

// run returns the daemon once it has started, and nil if a signal ended the
// start. An error is one that a person has to mend before another start.
func (s *start) run(ctx context.Context) (*daemon.Daemon, error) {
	for pause := firstStart; ; pause = min(2*pause, lastStart) {
		d, err := s.open(ctx)
		if err == nil {
			var signalled bool
			if signalled, err = startUntilSignal(ctx, d, s.signals); signalled {
				return nil, nil //nolint:nilnil // the end was asked for
			}
		}
		if err == nil {
			return d, nil
		}
		if !daemon.MayPass(err) {
			return nil, err
		}
		s.tell(err, pause)
		if !s.wait(ctx, pause) {
			return nil, nil //nolint:nilnil // the end was asked for
		}
	}
}

// open makes the state folder, and a daemon in it that has not started.
func (s *start) open(ctx context.Context) (*daemon.Daemon, error) {
	if err := daemon.MakeState(ctx, s.state, s.config); err != nil {
		return nil, err
	}
	if !s.asked { // the variables are gone afterwards
		var err error
		if s.listener, err = socket.Activated(s.state); err != nil {
			return nil, err
		}
		s.asked = true
	}
	listener, err := copyOf(s.listener)
	if err != nil {
		return nil, err
	}
	return daemon.New(daemon.Options{
		Version: Version, State: s.state, Config: s.config, Agents: builtin(0), Person: personName(), LogTo: stderrLog(), Stays: true, Listener: listener, Reload: s.read,
	}), nil
}

// copyOf returns a second listener on the same socket, because a start that
// fails closes its own. nil gives nil.
func copyOf(l net.Listener) (net.Listener, error) {
	unix, ok := l.(*net.UnixListener)
	if !ok {
		return nil, nil //nolint:nilnil // the daemon makes its own
	}
	f, err := unix.File()
	if err != nil {
		return nil, fmt.Errorf("socket of the service manager: %w", err)
	}
	defer func() { _ = f.Close() }()
	return net.FileListener(f)
}

// tell says why nothing has started: to people once for each problem, and to the
// service manager for each try, which else takes the start for one that hangs.
func (s *start) tell(err error, pause time.Duration) {
	text := strings.TrimRight(project.Problems(err), "\n")
	if text != s.told {
		s.told = text
		fmt.Fprintf(problemWriter(s.out, slog.LevelWarn), "%s\nNot started yet: tried again by itself, at least once a minute.\n", text)
	}
	line, _, _ := strings.Cut(text, "\n")
	systemd.New(stderrLogger(), systemd.Status{}).Notify(fmt.Sprintf("STATUS=not started yet: %s\nEXTEND_TIMEOUT_USEC=%d",
		strings.TrimSpace(strings.TrimPrefix(line, "✗")), (pause + startTime).Microseconds()))
}

// wait waits for a pause. SIGHUP reads the configuration again and ends it; it
// returns false for any other signal.
func (s *start) wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case sig := <-s.signals:
		if sig != syscall.SIGHUP {
			return false
		}
		s.reload()
		return true
	}
}

// reload reads the configuration again. One with mistakes leaves the earlier one
// in force.
func (s *start) reload() {
	cfg, err := s.read()
	if err == nil {
		_, err = autostart.SchedulesOf(cfg)
	}
	if err != nil {
		printProblems(problemWriter(s.out, slog.LevelError), err)
		return
	}
	s.config, s.told = cfg, ""
}

// startUntilSignal starts the daemon unless a signal arrives first: resuming
// runs needs git, which can hang with its disk. signalled reports whether a signal
// ended the start.
func startUntilSignal(ctx context.Context, d *daemon.Daemon, signals chan os.Signal) (signalled bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- d.Start(ctx) }()
	reload := false
	for {
		select {
		case err := <-done:
			if reload && err == nil {
				select {
				case signals <- syscall.SIGHUP: // serve reloads
				default: // the full queue contains a signal that ends the daemon
				}
			}
			return false, err
		case sig := <-signals:
			if sig == syscall.SIGHUP {
				reload = true // reloads after the start
				continue
			}
			cancel()
			select {
			case <-stopAsync(d):
			case <-time.After(stopTime):
			}
			return true, nil
		}
	}
}

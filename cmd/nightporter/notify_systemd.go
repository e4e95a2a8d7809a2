package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/nightporter/nightporter/loop"
)

// manager is the service manager that started this process, by the protocol of
// sd_notify. Without one, nothing happens.
type manager struct{ log *slog.Logger }

// tellTime bounds one message. Its socket's queue can be full, and a manager
// that does not read must not keep the daemon from working, nor from ending;
// the library's own call waits for ever.
const tellTime = time.Second

// tell sends one or more lines, such as READY=1.
func (m manager) tell(state string) {
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
func (m manager) watchdog() time.Duration {
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
func (m manager) feed(ctx context.Context, every time.Duration, probe func(context.Context) error) {
	tick := time.NewTicker(every / 4)
	defer tick.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, every/2)
		err := probe(try)
		cancel()
		switch {
		case err == nil:
			m.tell(daemon.SdNotifyWatchdog)
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

// alive is a round through the goroutine that decides and the database that
// keeps: what does not come back from it hangs.
func (p *porter) alive(ctx context.Context) error {
	// An input that says nothing, of no project: it is taken, and leads to nothing.
	if _, err := p.engine.Do(ctx, loop.Input{Actor: "daemon", Body: loop.Wake{}}); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if _, _, err := p.store.Head(ctx, loop.SharedStream); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// statusLine is the daemon in one line: "STATUS=2 projects, 1 at work".
func (p *porter) statusLine() string {
	d := &operatorService{porter: p}
	atWork := 0
	names := d.Projects()
	for _, name := range names {
		if s, ok := d.State(name); ok && len(s.Project.Sessions) > 0 {
			atWork++
		}
	}
	noun := "projects"
	if len(names) == 1 {
		noun = "project"
	}
	return fmt.Sprintf("%d %s, %d at work", len(names), noun, atWork)
}

// report keeps the manager's status line true until ctx ends.
func (m manager) report(ctx context.Context, p *porter) {
	last := ""
	for {
		rung := p.changes.Next()
		if line := p.statusLine(); line != last {
			m.tell("STATUS=" + line)
			last = line
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return
		}
	}
}

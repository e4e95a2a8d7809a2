package daemon_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// listening is a service manager's end of sd_notify.
type listening struct{ conn *net.UnixConn }

func notifySocket(t *testing.T) listening {
	t.Helper()
	path := filepath.Join(daemontest.ShortDir(t), "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return listening{conn}
}

// next returns the next message, "" when none came in that time.
func (l listening) next(t *testing.T, within time.Duration) string {
	t.Helper()
	if err := l.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := l.conn.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

// TestWatchdog checks that the manager gets signals while the engine decides
// and the ledger answers, and none once the engine's goroutine hangs.
func TestWatchdog(t *testing.T) {
	l := notifySocket(t)
	hang := make(chan struct{})
	release := sync.OnceFunc(func() { close(hang) })
	wedge := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := daemon.New(daemon.Options{
		State: filepath.Join(daemontest.ShortDir(t), "s"), Config: config.Empty(), Stays: true, Paused: true,
		Observe: func(_, _ loop.State, _ ledger.Entry) {
			select {
			case <-wedge:
				<-hang // in the engine's goroutine
			default:
			}
		},
	})
	if err := p.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	defer release()
	const every = 400 * time.Millisecond
	t.Setenv("WATCHDOG_USEC", strconv.FormatInt(every.Microseconds(), 10))
	t.Setenv("WATCHDOG_PID", "")
	m := systemd.New(slog.New(slog.DiscardHandler), systemd.Status{Line: func() string { return "x" }, Alive: p.Alive, Changes: p.Changes})
	if err := m.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer m.Stop()
	if got := l.next(t, daemontest.Patience); got != "READY=1\nSTATUS=x" {
		t.Fatalf("got %q", got)
	}
	for range 3 {
		if got := l.next(t, daemontest.Patience); got != "WATCHDOG=1" {
			t.Fatalf("got %q", got)
		}
	}
	wedge <- struct{}{}
	offer := make(chan error, 1)
	go func() {
		_, err := p.Engine.Do(ctx, loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "x", Role: ledger.RoleAdmin}})
		offer <- err
	}()
	// The socket may still hold signals from before the engine hung.
	for n := 0; len(wedge) > 0 && n < 100; n++ {
		l.next(t, every/4)
	}
	for n := 0; l.next(t, every) != ""; n++ {
		if n == 10 {
			t.Fatal("fed again and again while the engine hangs")
		}
	}
	if got := l.next(t, 2*every); got != "" {
		t.Errorf("fed while the engine hangs: %q", got)
	}
	release()
	if err := <-offer; err != nil {
		t.Fatal(err)
	}
	if got := l.next(t, daemontest.Patience); got != "WATCHDOG=1" {
		t.Errorf("not fed after the engine went on: %q", got)
	}
}

package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// listening is a service manager's end of sd_notify.
type listening struct{ conn *net.UnixConn }

func notifySocket(t *testing.T) listening {
	t.Helper()
	path := filepath.Join(shortDir(t), "n")
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

// shortDir is a folder whose sockets' paths are short enough.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "np") //nolint:usetesting // t.TempDir has the test's name in it, and sockets' paths are limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestWatchdog: the manager is fed while the engine decides and the ledger
// answers, and by nothing once the engine's goroutine hangs, whatever else of
// the process still runs.
func TestWatchdog(t *testing.T) {
	l := notifySocket(t)
	hang := make(chan struct{})
	release := sync.OnceFunc(func() { close(hang) })
	wedge := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := openPorter(ctx, porterOptions{
		state: filepath.Join(shortDir(t), "s"), cfg: config.Empty(), stays: true,
		observe: func(_, _ loop.State, _ ledger.Entry) {
			select {
			case <-wedge:
				<-hang // in the engine's goroutine
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	defer release()
	const every = 400 * time.Millisecond
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		manager{slog.New(slog.DiscardHandler)}.feed(ctx, every, p.alive)
	}()
	for range 3 {
		if got := l.next(t, patienceHere); got != "WATCHDOG=1" {
			t.Fatalf("got %q", got)
		}
	}
	wedge <- struct{}{}
	offer := make(chan error, 1)
	go func() {
		_, err := p.do(ctx, loop.Input{Actor: "console", Body: loop.OfferPairing{Hash: "x", Role: ledger.RoleAdmin}})
		offer <- err
	}()
	// What was sent before the wedge may still lie in the socket.
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
	if got := l.next(t, patienceHere); got != "WATCHDOG=1" {
		t.Errorf("not fed after the engine went on: %q", got)
	}
	cancel()
	<-fed
}

// patienceHere is how long something may take that takes no time.
const patienceHere = 20 * time.Second

func TestManager(t *testing.T) {
	m := manager{slog.New(slog.DiscardHandler)}
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	m.tell("READY=1") // nobody is there: nothing happens
	if m.watchdog() != 0 {
		t.Error("a watchdog without a manager")
	}
	t.Setenv("WATCHDOG_USEC", "60000000")
	t.Setenv("WATCHDOG_PID", "")
	if got := m.watchdog(); got != time.Minute {
		t.Errorf("watchdog: %v", got)
	}
	t.Setenv("WATCHDOG_USEC", "soon")
	if got := m.watchdog(); got != 0 {
		t.Errorf("watchdog: %v", got)
	}
	l := notifySocket(t)
	m.tell("READY=1\nSTATUS=2 projects")
	if got := l.next(t, patienceHere); got != "READY=1\nSTATUS=2 projects" {
		t.Errorf("told %q", got)
	}
}

// TestManagerDeaf: a manager that reads nothing keeps nobody from going on.
func TestManagerDeaf(t *testing.T) {
	notifySocket(t)
	m := manager{slog.New(slog.DiscardHandler)}
	at := os.Getenv("NOTIFY_SOCKET")
	full := false
	for range 5000 { // until its queue is full; how much it takes is the kernel's setting
		if err := send(at, "STATUS=x"); errors.Is(err, os.ErrDeadlineExceeded) {
			full = true
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !full {
		t.Fatal("the queue was never full")
	}
	began := time.Now()
	m.tell("STOPPING=1")
	if took := time.Since(began); took > 5*tellTime {
		t.Errorf("it took %v", took)
	}
}

// TestTelegramToken: read from a file or a credential, and no error shows any
// of it.
func TestTelegramToken(t *testing.T) {
	const token = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
	dir := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	file := filepath.Join(dir, "telegram-token")
	cfg := &config.Config{Telegram: &config.Telegram{TokenFile: file}}
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		credential bool
		want       string // in the error; "" = the token
	}{
		{"as BotFather gives it", token, 0o600, false, ""},
		{"with a line end and spaces", "  " + token + "\r\n", 0o400, false, ""},
		{"others can read it", token, 0o644, false, "chmod 600"},
		{"a credential", token, 0o440, true, ""},
		{"empty", "", 0o600, false, "holds no bot token"},
		{"two lines", token + "\n" + token, 0o600, false, "holds no bot token"},
		{"something else", "hunter2", 0o600, false, "holds no bot token"},
		{"not there", "", 0, false, "@BotFather"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Remove(file)
			if c.mode != 0 {
				if err := os.WriteFile(file, []byte(c.text), c.mode); err != nil {
					t.Fatal(err)
				}
			}
			if c.credential {
				t.Setenv("CREDENTIALS_DIRECTORY", dir+"/")
			}
			got, err := telegramToken(cfg)
			if c.want == "" {
				if err != nil || got != token {
					t.Fatalf("%q, %v", got, err)
				}
				return
			}
			if err == nil || got != "" || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%q, %v, want %q", got, err, c.want)
			}
			if strings.Contains(err.Error(), "AAHd") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it shows what is in the file: %v", err)
			}
		})
	}
	if got, err := telegramToken(config.Empty()); got != "" || err != nil {
		t.Errorf("no Telegram: %q, %v", got, err)
	}
	if got := redact("Post \"https://api.telegram.org/bot" + token + "/getMe\": EOF"); strings.Contains(got, "AAHd") {
		t.Error(got)
	}
}

package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

func TestListenMode(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	for _, umask := range []int{0, 0o022, 0o777} {
		for _, mode := range []fs.FileMode{0o600, 0o660, 0o666} {
			path := filepath.Join(t.TempDir(), "s")
			syscall.Umask(umask)
			l, err := Listen(path, mode)
			syscall.Umask(0o022)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if err != nil || info.Mode().Perm() != mode || info.Mode().Type() != fs.ModeSocket {
				t.Errorf("umask %o, mode %o: %v, %v", umask, mode, info.Mode(), err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after Close: %v", err)
			}
		}
	}
}

func TestListenOwner(t *testing.T) {
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 65534, 65534 // a normal user cannot change owners
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(path, 0o600, WithOwner(uid, gid))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); int(s.Uid) != uid || int(s.Gid) != gid {
		t.Errorf("owner %d:%d, want %d:%d", s.Uid, s.Gid, uid, gid)
	}
}

func TestListenOccupiedPath(t *testing.T) {
	t.Run("stale", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s")
		left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		left.SetUnlinkOnClose(false) // as a killed process does
		left.Close()
		l, err := Listen(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	})
	t.Run("alive", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s")
		first, err := Listen(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		if _, err := Listen(path, 0o600); !errors.Is(err, ErrInUse) {
			t.Errorf("%v, want ErrInUse", err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("the first one's socket: %v", err)
		}
	})
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s")
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(path, 0o600); err == nil || !strings.Contains(err.Error(), "is no socket") {
			t.Errorf("%v", err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
			t.Errorf("the file: %q, %v", got, err)
		}
	})
	t.Run("a successor's is left alone", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s")
		first, err := Listen(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		second, err := Listen(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer second.Close()
		first.Close()
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("the second one's socket: %v", err)
		}
	})
}

func TestListenPath(t *testing.T) {
	for _, path := range []string{"", "/tmp/a\x00b", "/tmp/" + strings.Repeat("x", api.MaxPath), filepath.Join(t.TempDir(), "no", "folder")} {
		if l, err := Listen(path, 0o600); err == nil {
			l.Close()
			t.Errorf("%q was taken", path)
		}
	}
}

// TestNoLeaks opens and closes many listeners: no descriptor and no goroutine
// stays.
func TestNoLeaks(t *testing.T) {
	dir := t.TempDir()
	before := runtime.NumGoroutine()
	files := openFiles(t)
	for range 100 {
		path := filepath.Join(dir, "s")
		l, err := Listen(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		s := Serve(l, newSession(&handler{}, token, "s", discardLog, nil), discardLog)
		idle, err := net.Dial("unix", path) // sends nothing
		if err != nil {
			t.Fatal(err)
		}
		if err := api.Call(t.Context(), path, token, api.PathGuidance, api.Empty{}, &api.Reply{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		idle.Close()
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("after Close: %v", err)
		}
	}
	// The last goroutines may still be ending.
	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		if runtime.NumGoroutine() <= before && openFiles(t) <= files {
			return
		}
		if time.Now().After(end) {
			all := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, before %d; %d files, before %d\n%s", runtime.NumGoroutine(), before, openFiles(t), files, all[:runtime.Stack(all, true)])
		}
	}
}

// openFiles counts this process's open files; 0 if the system does not tell.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// TestCloseWaits checks that a request in progress is answered before Close
// returns, and none after it.
func TestCloseWaits(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	h := &handler{emit: func(context.Context, string, api.Emit) (api.Reply, error) {
		close(began)
		<-finish
		return api.Reply{OK: true, Receipt: "r"}, nil
	}}
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, newSession(h, token, "s", discardLog, nil), discardLog)
	var reply api.Reply
	answered := make(chan error, 1)
	go func() {
		answered <- api.Call(t.Context(), path, token, api.PathEmit, api.Emit{Type: "x"}, &reply)
	}()
	<-began
	closed := make(chan error, 1)
	go func() { closed <- s.Close(t.Context()) }()
	select {
	case err := <-closed:
		t.Errorf("closed before the answer: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(finish)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil || reply.Receipt != "r" {
		t.Errorf("%+v, %v", reply, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// TestAnswerIsFlushed checks that an answer has left when its handler
// returns, so that closing the server cannot lose it.
func TestAnswerIsFlushed(t *testing.T) {
	release := make(chan struct{})
	path := open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeReply(w, http.StatusOK, api.Reply{OK: true})
		<-release
	}), defaults)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var r api.Reply
	if err := api.Call(ctx, path, token, api.PathGuidance, api.Empty{}, &r); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
	close(release)
}

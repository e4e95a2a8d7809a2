package chat

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLockBot checks that a second lock is refused, and that a foreign file in
// its place neither keeps nightporter from starting nor is followed or changed.
func TestLockBot(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	lock := func() (*os.File, error) { return lockBot(log, "https://api.example 1") }
	first, err := lock()
	if err != nil || first == nil {
		t.Fatalf("%v, %v", first, err)
	}
	var refused *ledger.InputError
	if _, err := lock(); !errors.As(err, &refused) {
		t.Errorf("a second one: %v", err)
	}
	if other, err := lockBot(log, "https://api.example 2"); err != nil || other == nil {
		t.Errorf("with another bot: %v, %v", other, err)
	} else if err := other.Close(); err != nil {
		t.Error(err)
	}
	path := first.Name()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "target")
	for name, trap := range map[string]func() error{
		"a link":   func() error { return os.Symlink(target, path) },
		"a folder": func() error { return os.Mkdir(path, 0o700) },
		"a pipe":   func() error { return syscall.Mkfifo(path, 0o600) },
		"a file of somebody else, who holds it": func() error {
			if os.Geteuid() != 0 {
				return errSkip
			}
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = f.Close() })
			return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_EX), f.Chown(65534, 65534))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if err := trap(); errors.Is(err, errSkip) {
				t.Skip("only root can make one")
			} else if err != nil {
				t.Fatal(err)
			}
			if f, err := lock(); f != nil || err != nil {
				t.Errorf("%v, %v", f, err)
			}
			if _, err := os.Lstat(target); !os.IsNotExist(err) {
				t.Error("the link was followed")
			}
		})
	}
	if want := fmt.Sprintf("-%d-", os.Geteuid()); !strings.HasPrefix(path, filepath.Join(dir, "nightporter-bot"+want)) {
		t.Errorf("the lock is %s", path)
	}
}

var errSkip = errors.New("not here")

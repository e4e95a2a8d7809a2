package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLockBot: a second one is refused, and nothing that others put where the
// lock stands keeps nightporter from starting, or is followed or changed.
func TestLockBot(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	lock := func() (*os.File, error) { return lockBot(log, "https://api.example", "1") }
	first, err := lock()
	if err != nil || first == nil {
		t.Fatalf("%v, %v", first, err)
	}
	var refused *ledger.InputError
	if _, err := lock(); !errors.As(err, &refused) {
		t.Errorf("a second one: %v", err)
	}
	if other, err := lockBot(log, "https://api.example", "2"); err != nil || other == nil {
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

// TestTakenOut: the live status of somebody who was taken out stands still, and
// what waits for them is not delivered.
func TestTakenOut(t *testing.T) {
	p, _ := opened(t, house(t, "manual"))
	const ana, group = "telegram:5", "telegram:-1001/7"
	do := func(actor string, body loop.InputBody) {
		t.Helper()
		if a, err := p.do(t.Context(), loop.Input{Actor: actor, Name: "Ana", Body: body}); err != nil || !a.OK {
			t.Fatal(a, err)
		}
	}
	look := func(step string, chat string, sees bool) {
		t.Helper()
		m, _ := liveStatus{p}.Text(chat, "status/shop")
		if (len(m.Lines) > 0) != sees || p.barred(chat) == sees {
			t.Errorf("%s, %s is told %q, barred %v", step, chat, m.First(), p.barred(chat))
		}
	}
	look("unknown", ana, false)
	do("console", loop.OfferPairing{Hash: "h", Role: ledger.RoleView})
	do(ana, loop.TryPairing{Hash: "h"})
	look("paired", ana, true)
	do("console", loop.RemovePerson{ID: ana})
	look("taken out", ana, false)
	look("always", group, true)
}

var errSkip = errors.New("not here")

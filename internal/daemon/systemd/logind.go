package systemd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
)

// Errors of logind's calls.
var (
	// ErrNoLogind: this host has no logind, or it does not answer.
	ErrNoLogind = errors.New("no logind answers")
	// ErrRefused: the policy of this host (polkit) does not let this user keep it
	// awake.
	ErrRefused = errors.New("not allowed to keep this machine awake")
)

// PolkitRule is the remedy for ErrRefused: a file of deploy/, and its place.
const PolkitRule = "install -m 644 deploy/nightporter.rules /etc/polkit-1/rules.d/50-nightporter.rules"

// logindTime limits one conversation with logind. It may have to be started.
const logindTime = 10 * time.Second

// logindCall calls a method of logind's manager on a connection of its own, and
// stores the results. Logind is asked seldom, so a connection is not worth
// keeping.
func logindCall(ctx context.Context, method string, args []any, results ...any) error {
	ctx, cancel := context.WithTimeout(ctx, logindTime)
	defer cancel()
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoLogind, err)
	}
	defer func() { _ = conn.Close() }()
	manager := conn.Object("org.freedesktop.login1", "/org/freedesktop/login1")
	err = manager.CallWithContext(ctx, "org.freedesktop.login1.Manager."+method, 0, args...).Store(results...)
	var answer dbus.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer) && slices.Contains([]string{"org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"}, answer.Name):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return fmt.Errorf("%w: %w", ErrNoLogind, err)
}

// who is the name of this program in the lists of locks.
const who = "nightporter"

// KeepAwake takes logind's lock against sleep, whoever asks for it: a person, a
// desktop's timer, or an empty battery. Close of the file releases it, and so does
// the end of this process. The switch of a laptop's lid is not covered
// (LidSwitchIgnoreInhibited in logind.conf).
func KeepAwake(ctx context.Context) (*os.File, error) {
	var fd dbus.UnixFD
	if err := logindCall(ctx, "Inhibit", []any{"sleep", who, "a run works", "block"}, &fd); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "logind lock"), nil
}

// CanSleep reports whether this machine is able to sleep at all. Servers and
// containers often are not.
func CanSleep(ctx context.Context) (bool, error) {
	var answer string // yes, no, challenge, na; no and challenge are about the caller's rights
	if err := logindCall(ctx, "CanSuspend", nil, &answer); err != nil {
		return false, err
	}
	return answer != "na", nil
}

// KeptAwake reports whether the process pid holds a lock against sleep.
func KeptAwake(ctx context.Context, pid int) (bool, error) {
	var locks []struct {
		What, Who, Why, Mode string
		UID, PID             uint32
	}
	if err := logindCall(ctx, "ListInhibitors", nil, &locks); err != nil {
		return false, err
	}
	for _, l := range locks {
		if l.Who == who && int(l.PID) == pid {
			return true, nil
		}
	}
	return false, nil
}

package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/coreos/go-systemd/v22/activation"
)

// Activated returns the operator's listener if a service manager passed one to
// this process (systemd's LISTEN_FDS), else nil. While the daemon restarts,
// clients wait in that socket's queue instead of being refused. Closing the
// listener keeps the socket.
//
// Anything but one stream socket at the operator's path of the state folder is
// an error, because commands connect to that path only.
func Activated(state string) (net.Listener, error) {
	files := activation.Files(true) // true: children do not inherit the variables
	if len(files) == 0 {
		return nil, nil
	}
	defer func() {
		for _, f := range files {
			_ = f.Close() // the listener works on a copy
		}
	}()
	l, err := activated(files, OperatorPath(state))
	if err != nil {
		return nil, fmt.Errorf("socket of the service manager: %w", err)
	}
	return l, nil
}

func activated(files []*os.File, want string) (net.Listener, error) {
	if len(files) != 1 {
		return nil, fmt.Errorf("%d sockets were passed, one is expected: write a single ListenStream=%s", len(files), want)
	}
	l, err := net.FileListener(files[0])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("what was passed is no listening socket: write ListenStream=%s", want), err)
	}
	at := l.Addr()
	if at.Network() != "unix" || !sameFolder(at.String(), want) {
		_ = l.Close()
		return nil, fmt.Errorf("it listens at %s %s, and commands look for it at %s: change ListenStream= or --state", at.Network(), at, want)
	}
	return l, nil
}

// sameFolder compares folders by identity, because a link may give the state
// folder a second path.
func sameFolder(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	x, errX := os.Stat(filepath.Dir(a))
	y, errY := os.Stat(filepath.Dir(b))
	return errX == nil && errY == nil && os.SameFile(x, y)
}

//go:build !linux

package agent

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Where there is no Linux, the boundary has level 1: a session is a process of its
// user, and what it writes outside is found by comparison (docs/spec 12.1). None of
// this has been run on such a system.

var errLinuxOnly = errors.New("namespaces and filters of system calls are Linux only")

func setUpMounts(plan) error { return errLinuxOnly }

func applySeccomp() error { return errLinuxOnly }

func hasSeccomp() bool { return false }

func namespaces(int, bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func setUpNetwork([]listener, *os.File) error { return errLinuxOnly }

func superviseSockets(*os.File) error { return errLinuxOnly }

func answerSockets(*os.File, func(netip.AddrPort) bool, []string) error { return errLinuxOnly }

func receiveListener(*os.File) (*os.File, int, error) { return nil, 0, errLinuxOnly }

func socketPair() (ours, theirs *os.File, err error) { return nil, nil, errLinuxOnly }

func dropUser(uid, _ int) error {
	if uid < 0 {
		return nil
	}
	return errLinuxOnly
}

func dropCapabilities() error { return nil }

func gainNoPrivileges() error { return nil }

func becomeSubreaper() error { return nil }

func installedMemory() int64 { return 0 }

func changedAt(st *syscall.Stat_t) int64 { return st.Ctimespec.Sec }

func allocate(*os.File, int64) error { return unix.EOPNOTSUPP }

func onOverlay(string) bool { return false }

// killIf ends the process with a number if it is the one that is meant.
func killIf(pid int, is func() bool) {
	if is() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func waitProcess(ctx context.Context, pid int, start uint64) error {
	return pollProcess(ctx, pid, start)
}

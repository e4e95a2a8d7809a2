package agent

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces returns the reaper's process attributes for a level. At level 3
// the reaper dies with its parent, and its namespace with it. At lower levels
// it notices the end of the control pipe, because it has to end the tree first.
// closed adds a network of its own.
func namespaces(level int, closed bool) *syscall.SysProcAttr {
	if level < 3 {
		return &syscall.SysProcAttr{}
	}
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	if closed {
		attr.Cloneflags |= syscall.CLONE_NEWNET
	}
	if uid := os.Geteuid(); uid != 0 {
		// The ids inside equal those outside. The ambient capabilities survive
		// exec, where a user other than root would lose them: the one to mount,
		// and those with which the kernel works in an overlay's own folders on
		// behalf of the reaper. The confine stage gives all of them up.
		gid := os.Getegid()
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER}
		if closed {
			// To bring up its loopback, and to listen on 53, 80 and 443 there.
			attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE)
		}
	}
	return attr
}

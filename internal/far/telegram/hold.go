package telegram

import (
	"net/netip"
	"syscall"
)

// hold keeps an address of this machine for us while nobody listens there:
// calls are refused, as they are to be, and the system gives its port to no
// other server meanwhile. An address that is none keeps nothing.
func hold(address string) (release func()) {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Is4() {
		return func() {}
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	// Calls that were cut are still known to the system under the port.
	_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	_ = syscall.Bind(fd, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()})
	return func() { _ = syscall.Close(fd) }
}

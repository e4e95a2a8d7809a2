package agent

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// setUpNetwork brings up the loopback of this process's network namespace and
// makes the listeners in it. Their sockets go to the supervisor, which serves them
// from outside; nothing here keeps one.
func setUpNetwork(listeners []listener, supervisor *os.File) error {
	err := raiseLoopback()
	for i := 0; i < len(listeners) && err == nil; i++ {
		err = listeners[i].handOver(int(supervisor.Fd()), byte(i))
	}
	if err := errors.Join(err, supervisor.Close()); err != nil {
		return fmt.Errorf("set up the network: %w", err)
	}
	return nil
}

// raiseLoopback brings up the interface lo, and with it all addresses of
// 127.0.0.0/8 and ::1.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring up the loopback: %w", err)
	}
	return nil
}

// handOver makes the socket and sends it through a Unix socket, with the
// listener's number.
func (l listener) handOver(to int, number byte) error {
	var file *os.File
	var err error
	if l.Network == "udp" {
		var conn net.PacketConn
		if conn, err = net.ListenPacket(l.Network, l.Address); err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		file, err = conn.(*net.UDPConn).File()
	} else {
		var ln net.Listener
		if ln, err = net.Listen(l.Network, l.Address); err != nil {
			return err
		}
		defer func() { _ = ln.Close() }()
		file, err = ln.(*net.TCPListener).File()
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := unix.Sendmsg(to, []byte{number}, unix.UnixRights(int(file.Fd())), nil, 0); err != nil {
		return fmt.Errorf("hand over %s: %w", l.Address, err)
	}
	return nil
}

// receiveListener receives a socket that handOver sent, and its number. After the
// last one the error is syscall.EPIPE.
func receiveListener(from *os.File) (*os.File, int, error) {
	number, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	var n, oobn int
	var err error
	for {
		n, oobn, _, _, err = unix.Recvmsg(int(from.Fd()), number, rights, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch {
	case err != nil:
		return nil, 0, err
	case n == 0:
		return nil, 0, syscall.EPIPE
	}
	messages, err := unix.ParseSocketControlMessage(rights[:oobn])
	if err != nil {
		return nil, 0, err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err == nil && len(fds) == 1 {
			return os.NewFile(uintptr(fds[0]), "listener"), int(number[0]), nil
		}
	}
	return nil, 0, errors.New("a listener came without its socket")
}

// socketPair returns two connected Unix sockets that keep the bounds of messages.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "network"), os.NewFile(uintptr(fds[1]), "network"), nil
}

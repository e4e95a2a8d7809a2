package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Without namespaces a session shares the machine's network. To close it, the kernel
// lets a session make sockets of TCP and of this machine alone, and asks the
// supervisor about each connect, bind and listen (seccomp_unotify(2)). The supervisor
// does the call itself, on a duplicate of the session's descriptor and with an
// address that it has read and judged: the session cannot exchange either of them
// between the judgement and the call. It never lets a connect or a listen continue.

// supervisedFilter returns a filter of sockets and of the calls that the supervisor
// does.
func supervisedFilter() []unix.SockFilter {
	return filterFor(func(c callNumbers) []unix.SockFilter {
		var block []unix.SockFilter
		block = append(block, when(c.socket, socketRules()...)...)
		for _, number := range c.asked {
			block = append(block, when(number, result(unix.SECCOMP_RET_USER_NOTIF))...)
		}
		// MSG_FASTOPEN connects by sending.
		for _, s := range c.sending {
			block = append(block, when(s.number,
				op(opLoad, offsetFirst+8*s.flags, 0, 0), op(opBits, unix.MSG_FASTOPEN, 0, 1), fail(unix.EPERM), allow)...)
		}
		return block
	})
}

// socketRules permit streams and sequenced packets of this machine, streams of TCP,
// and the kernel's answers about interfaces.
func socketRules() []unix.SockFilter {
	const typeMask = 0xf // the rest of the argument are flags
	// Two branches at the end: TCP and Unix, after the family was compared.
	tcp := []unix.SockFilter{
		op(opLoad, offsetSecond, 0, 0), op(opAnd, typeMask, 0, 0), op(opEqual, unix.SOCK_STREAM, 1, 0), fail(unix.EACCES),
		op(opLoad, offsetThird, 0, 0), op(opEqual, 0, 2, 0), op(opEqual, unix.IPPROTO_TCP, 1, 0), fail(unix.EACCES), allow,
	}
	local := []unix.SockFilter{
		op(opLoad, offsetSecond, 0, 0), op(opAnd, typeMask, 0, 0), op(opEqual, unix.SOCK_STREAM, 2, 0), op(opEqual, unix.SOCK_SEQPACKET, 1, 0), fail(unix.EACCES), allow,
	}
	kernel := []unix.SockFilter{op(opLoad, offsetThird, 0, 0), op(opEqual, unix.NETLINK_ROUTE, 1, 0), fail(unix.EACCES), allow}
	rules := []unix.SockFilter{op(opLoad, offsetFirst, 0, 0)}
	rules = append(rules, op(opEqual, unix.AF_INET, 0, uint8(len(tcp))))
	rules = append(rules, tcp...)
	rules = append(rules, op(opEqual, unix.AF_INET6, 0, uint8(len(tcp))))
	rules = append(rules, tcp...)
	rules = append(rules, op(opEqual, unix.AF_UNIX, 0, uint8(len(local))))
	rules = append(rules, local...)
	rules = append(rules, op(opEqual, unix.AF_NETLINK, 0, uint8(len(kernel))))
	rules = append(rules, kernel...)
	return append(rules, fail(unix.EAFNOSUPPORT))
}

// superviseSockets puts this thread and its successors under supervisedFilter, and
// sends the descriptor from which the kernel's questions are read.
func superviseSockets(supervisor *os.File) error {
	filter := supervisedFilter()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(&prog)
	if e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	err := unix.Sendmsg(int(supervisor.Fd()), []byte{0}, unix.UnixRights(int(fd)), nil, 0)
	return errors.Join(err, unix.Close(int(fd)), supervisor.Close())
}

// notification is struct seccomp_notif, and response struct seccomp_notif_resp.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

const notifIDValid = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID

// socketSupervisor answers the kernel's questions about one session's sockets.
type socketSupervisor struct {
	fd      int
	permits func(netip.AddrPort) bool // addresses of this machine's network that the session may connect to
	folders []string                  // below which it may connect to Unix sockets
}

// serve answers until all processes of the session are gone.
func (s *socketSupervisor) serve() {
	for {
		poll := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		switch {
		case poll[0].Revents&unix.POLLIN != 0:
		case poll[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0:
			return // nobody is left under the filter
		default:
			continue
		}
		n := &notification{}
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(n))); e != 0 {
			continue // the caller was ended meanwhile
		}
		go func() {
			r := response{id: n.id}
			if proceed, err := s.do(n); err != nil {
				r.errno = -int32(errnoOf(err))
			} else if proceed {
				r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
			}
			_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
		}()
	}
}

func errnoOf(err error) unix.Errno {
	var e unix.Errno
	if errors.As(err, &e) {
		return e
	}
	return unix.EACCES
}

// do does one call for the session. It reports whether the session's own call may
// proceed instead.
func (s *socketSupervisor) do(n *notification) (proceed bool, err error) {
	numbers, ok := numbersOf(n.arch)
	if !ok {
		return false, unix.ENOSYS
	}
	socket, err := s.take(n)
	if err != nil {
		return false, err
	}
	defer func() { _ = unix.Close(socket) }()
	domain, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return false, err
	}
	switch uint32(n.nr) {
	case numbers.asked[callListen]:
		return false, s.listen(socket, domain, int(int32(n.args[1])))
	case numbers.asked[callBind]:
		if domain != unix.AF_INET && domain != unix.AF_INET6 {
			// Only listen makes an address of any use, and a bound one cannot change
			// until then.
			return true, nil
		}
		return false, s.bind(n, socket, domain)
	case numbers.asked[callConnect]:
		return false, s.connect(n, socket, domain)
	}
	return false, unix.ENOSYS
}

// take duplicates the descriptor that is the call's first argument.
func (s *socketSupervisor) take(n *notification) (int, error) {
	pid, err := processOf(int(n.pid))
	if err != nil {
		return -1, err
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(pidfd) }()
	if !s.valid(n) { // the number could belong to another process by now
		return -1, unix.ESRCH
	}
	return unix.PidfdGetfd(pidfd, int(int32(n.args[0])), 0)
}

// valid reports whether the caller still waits for the answer.
func (s *socketSupervisor) valid(n *notification) bool {
	id := n.id
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), notifIDValid, uintptr(unsafe.Pointer(&id)))
	return e == 0
}

// processOf returns the process that a thread belongs to.
func processOf(thread int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "Tgid:"); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, unix.ESRCH
}

// address reads the socket address that is the call's second and third argument.
func (s *socketSupervisor) address(n *notification) ([]byte, error) {
	size := n.args[2]
	if size < 2 || size > 128 {
		return nil, unix.EINVAL
	}
	buf := make([]byte, size)
	local := []unix.Iovec{{Base: &buf[0], Len: size}}
	got, err := unix.ProcessVMReadv(int(n.pid), local, []unix.RemoteIovec{{Base: uintptr(n.args[1]), Len: int(size)}}, 0)
	if err != nil {
		return nil, err
	}
	if got != len(buf) || !s.valid(n) {
		return nil, unix.EFAULT
	}
	return buf, nil
}

// inet reads an address of TCP.
func inet(raw []byte) (netip.AddrPort, error) {
	switch family := binary.NativeEndian.Uint16(raw); {
	case family == unix.AF_INET && len(raw) >= unix.SizeofSockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[4:8])), binary.BigEndian.Uint16(raw[2:])), nil
	case family == unix.AF_INET6 && len(raw) >= unix.SizeofSockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(raw[8:24])), binary.BigEndian.Uint16(raw[2:])), nil
	}
	return netip.AddrPort{}, unix.EAFNOSUPPORT
}

// sockaddr returns an address for a socket of a family.
func sockaddr(a netip.AddrPort, domain int) unix.Sockaddr {
	if domain == unix.AF_INET6 {
		return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
	}
	return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().Unmap().As4()}
}

// bind binds a socket of TCP to the loopback, also where the session names all
// addresses: nobody outside is to fetch what it has.
func (s *socketSupervisor) bind(n *notification, socket, domain int) error {
	raw, err := s.address(n)
	if err != nil {
		return err
	}
	a, err := inet(raw)
	if err != nil {
		return err
	}
	return bindLoopback(socket, domain, a)
}

func bindLoopback(socket, domain int, a netip.AddrPort) error {
	switch host := a.Addr().Unmap(); {
	case host.IsLoopback():
	case !host.IsUnspecified():
		return unix.EADDRNOTAVAIL
	case domain == unix.AF_INET:
		a = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port())
	default:
		only, err := unix.GetsockoptInt(socket, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY)
		if err != nil {
			return err
		}
		a = netip.AddrPortFrom(netip.MustParseAddr("::ffff:127.0.0.1"), a.Port())
		if only != 0 {
			a = netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
		}
	}
	return unix.Bind(socket, sockaddr(a, domain))
}

// listen listens on a socket that is bound to the loopback; one that is not bound at
// all would listen on all addresses.
func (s *socketSupervisor) listen(socket, domain, backlog int) error {
	if domain == unix.AF_INET || domain == unix.AF_INET6 {
		bound, err := boundTo(socket)
		if err != nil {
			return err
		}
		switch {
		case bound.Port() == 0:
			if err := bindLoopback(socket, domain, netip.AddrPortFrom(netip.IPv4Unspecified(), 0)); err != nil {
				return err
			}
		case !bound.Addr().Unmap().IsLoopback():
			return unix.EACCES
		}
	}
	return unix.Listen(socket, backlog)
}

// boundTo returns the address that a socket of TCP is bound to.
func boundTo(socket int) (netip.AddrPort, error) {
	sa, err := unix.Getsockname(socket)
	if err != nil {
		return netip.AddrPort{}, err
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), nil
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)), nil
	}
	return netip.AddrPort{}, unix.EAFNOSUPPORT
}

// connect connects a socket to where the session may.
func (s *socketSupervisor) connect(n *notification, socket, domain int) error {
	raw, err := s.address(n)
	if err != nil {
		return err
	}
	switch domain {
	case unix.AF_UNIX:
		return s.connectLocal(n, socket, raw)
	case unix.AF_INET, unix.AF_INET6:
		a, err := inet(raw)
		if err != nil {
			return err
		}
		host := a.Addr().Unmap()
		if host.IsUnspecified() { // it means the loopback
			host = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		}
		to := netip.AddrPortFrom(host, a.Port())
		switch {
		case !host.IsLoopback():
			return unix.ENETUNREACH
		case s.permits(to) || ownListener(to):
			return unix.Connect(socket, sockaddr(netip.AddrPortFrom(a.Addr(), a.Port()), domain))
		}
		return unix.ECONNREFUSED
	}
	return unix.EACCES
}

// connectLocal connects to a Unix socket in one of the session's folders. The path
// means what it means for the session, and what it leads to is opened before it is
// judged.
func (s *socketSupervisor) connectLocal(n *notification, socket int, raw []byte) error {
	path, _, _ := strings.Cut(string(raw[2:]), "\x00")
	if path == "" {
		return unix.ECONNREFUSED // an abstract one, which belongs to no folder
	}
	if !filepath.IsAbs(path) {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", n.pid))
		if err != nil {
			return err
		}
		path = filepath.Join(cwd, path)
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	handle := fmt.Sprintf("/proc/self/fd/%d", fd)
	real, err := os.Readlink(handle)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(s.folders, func(dir string) bool { return within(real, dir) }) {
		return unix.EACCES
	}
	return unix.Connect(socket, &unix.SockaddrUnix{Name: handle})
}

// ownListener reports whether a process of the session listens at an address of the
// loopback.
func ownListener(at netip.AddrPort) bool {
	inodes := listeningAt(at)
	if len(inodes) == 0 {
		return false
	}
	for _, p := range descendants(os.Getpid()) {
		dir := fmt.Sprintf("/proc/%d/fd", p.pid)
		entries, _ := os.ReadDir(dir) // a process that has ended listens nowhere
		for _, e := range entries {
			to, _ := os.Readlink(filepath.Join(dir, e.Name()))
			if inode, ok := strings.CutPrefix(to, "socket:["); ok && slices.Contains(inodes, strings.TrimSuffix(inode, "]")) {
				return true
			}
		}
	}
	return false
}

// listeningAt returns the inodes of the sockets that listen at an address.
func listeningAt(at netip.AddrPort) []string {
	const stateListen = "0A"
	var inodes []string
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, _ := os.ReadFile(file) // without IPv6 there is no second one
		for line := range strings.Lines(string(data)) {
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != stateListen {
				continue
			}
			addr, port, _ := strings.Cut(fields[1], ":")
			n, err := strconv.ParseUint(port, 16, 16)
			if err != nil || uint16(n) != at.Port() || !hexAddr(addr).Unmap().IsLoopback() {
				continue
			}
			inodes = append(inodes, fields[9])
		}
	}
	return inodes
}

// hexAddr reads an address as /proc/net/tcp writes it: words of four bytes in the
// machine's order.
func hexAddr(s string) netip.Addr {
	var raw []byte
	for i := 0; i+8 <= len(s); i += 8 {
		word, err := strconv.ParseUint(s[i:i+8], 16, 32)
		if err != nil {
			return netip.Addr{}
		}
		raw = binary.NativeEndian.AppendUint32(raw, uint32(word))
	}
	a, _ := netip.AddrFromSlice(raw)
	return a
}

// answerSockets receives the descriptor that superviseSockets sent, and answers the
// kernel's questions until the session has ended.
func answerSockets(from *os.File, permits func(netip.AddrPort) bool, folders []string) error {
	file, _, err := receiveListener(from)
	if errors.Is(err, syscall.EPIPE) {
		return nil // the session was not started
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	s := &socketSupervisor{fd: int(file.Fd()), permits: permits, folders: folders}
	s.serve()
	return nil
}

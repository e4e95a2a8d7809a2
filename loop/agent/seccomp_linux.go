package agent

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// callNumbers are the numbers of the filtered system calls in one ABI.
type callNumbers struct {
	arch                         uint32
	prlimit, setpriority, ioprio uint32
	socket                       uint32
	asked                        [3]uint32      // connect, bind, listen
	sending                      [3]sendingCall // sendto, sendmsg, sendmmsg
	keys                         [3]uint32      // add_key, request_key, keyctl
	foreign                      uint32         // numbers from here on belong to a second ABI, which is refused; 0 = there is none
	multiplexer                  uint32         // socketcall, whose arguments a filter cannot read; 0 = there is none
}

// Indexes of callNumbers.asked.
const (
	callConnect = iota
	callBind
	callListen
)

// sendingCall is a call that sends, and which of its arguments has the flags.
type sendingCall struct{ number, flags uint32 }

// ioUring is the number of io_uring_setup in every ABI.
const ioUring = 425

// callTable has every ABI of the machines that nightporter is built for,
// including the 32-bit ones that a 64-bit kernel runs too.
var callTable = []callNumbers{
	{arch: unix.AUDIT_ARCH_X86_64, prlimit: 302, setpriority: 141, ioprio: 251, socket: 41, asked: [3]uint32{42, 49, 50}, sending: [3]sendingCall{{44, 3}, {46, 2}, {307, 3}}, keys: [3]uint32{248, 249, 250}, foreign: 0x40000000},
	{arch: unix.AUDIT_ARCH_I386, prlimit: 340, setpriority: 97, ioprio: 289, socket: 359, asked: [3]uint32{362, 361, 363}, sending: [3]sendingCall{{369, 3}, {370, 2}, {345, 3}}, keys: [3]uint32{286, 287, 288}, multiplexer: 102},
	{arch: unix.AUDIT_ARCH_AARCH64, prlimit: 261, setpriority: 140, ioprio: 30, socket: 198, asked: [3]uint32{203, 200, 201}, sending: [3]sendingCall{{206, 3}, {211, 2}, {269, 3}}, keys: [3]uint32{217, 218, 219}},
	{arch: unix.AUDIT_ARCH_ARM, prlimit: 369, setpriority: 97, ioprio: 314, socket: 281, asked: [3]uint32{283, 282, 284}, sending: [3]sendingCall{{290, 3}, {296, 2}, {374, 3}}, keys: [3]uint32{309, 310, 311}},
	{arch: unix.AUDIT_ARCH_RISCV64, prlimit: 261, setpriority: 140, ioprio: 30, socket: 198, asked: [3]uint32{203, 200, 201}, sending: [3]sendingCall{{206, 3}, {211, 2}, {269, 3}}, keys: [3]uint32{217, 218, 219}},
}

// socketFamilies are the families of sockets that a session may make: of this
// machine, of the two internets, and of the kernel's own answers about interfaces,
// without which names are not resolved. All others lead past the boundary, such as
// the one to the host of a virtual machine, or into old code of the kernel.
var socketFamilies = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// Offsets in struct seccomp_data: the number, the ABI, and the low half of the
// first three arguments. The kernel reads no more of an argument that is an int.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetFirst  = 16
	offsetSecond = 24
	offsetThird  = 32
)

// Operations of the kernel's filters (bpf(4)).
const (
	opLoad  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opAnd   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	opEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
)

func op(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
}

func result(r uint32) unix.SockFilter { return op(unix.BPF_RET|unix.BPF_K, r, 0, 0) }

func fail(err unix.Errno) unix.SockFilter { return result(unix.SECCOMP_RET_ERRNO | uint32(err)) }

var allow = result(unix.SECCOMP_RET_ALLOW)

// when runs a body that ends the filter for the call number.
func when(number uint32, body ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{op(opEqual, number, 0, uint8(len(body)))}, body...)
}

// filterFor returns a filter that has the rules of each ABI, and permits all else. A
// second ABI of the same name, and the call whose arguments cannot be read, are
// refused.
func filterFor(rules func(callNumbers) []unix.SockFilter) []unix.SockFilter {
	prog := []unix.SockFilter{op(opLoad, offsetArch, 0, 0)}
	for _, c := range callTable {
		block := []unix.SockFilter{op(opLoad, offsetNumber, 0, 0)}
		if c.foreign > 0 {
			block = append(block, op(opLeast, c.foreign, 0, 1), fail(unix.EPERM))
		}
		if c.multiplexer > 0 {
			block = append(block, when(c.multiplexer, fail(unix.ENOSYS))...)
		}
		block = append(append(block, rules(c)...), allow)
		prog = append(append(prog, op(opEqual, c.arch, 0, uint8(len(block)))), block...)
	}
	return append(prog, allow)
}

// numbersOf returns the numbers of an ABI.
func numbersOf(arch uint32) (callNumbers, bool) {
	for _, c := range callTable {
		if c.arch == arch {
			return c, true
		}
	}
	return callNumbers{}, false
}

// sessionFilter returns a filter of what no session needs and the rest of the
// boundary does not control:
//
//   - changing limits and priorities of other processes. The kernel allows both to
//     every process of the same user, and a process whose limit of files is 3 cannot
//     go on. A session may change its own (process 0, the caller);
//   - sockets of other families than socketFamilies;
//   - io_uring, through which sockets are made that no filter sees, and the kernel's
//     keyrings, which belong to the user and not to the session.
func sessionFilter() []unix.SockFilter {
	// only allows the call number if the argument at each offset equals a value.
	only := func(number uint32, conditions ...[2]uint32) []unix.SockFilter {
		body := []unix.SockFilter{}
		for _, c := range conditions {
			body = append(body, op(opLoad, c[0], 0, 0), op(opEqual, c[1], 1, 0), fail(unix.EPERM))
		}
		return when(number, append(body, allow)...)
	}
	families := []unix.SockFilter{op(opLoad, offsetFirst, 0, 0)}
	for i, f := range socketFamilies {
		families = append(families, op(opEqual, f, uint8(len(socketFamilies)-i), 0))
	}
	families = append(families, fail(unix.EAFNOSUPPORT), allow)
	return filterFor(func(c callNumbers) []unix.SockFilter {
		block := only(c.prlimit, [2]uint32{offsetFirst, 0})
		block = append(block, only(c.setpriority, [2]uint32{offsetFirst, unix.PRIO_PROCESS}, [2]uint32{offsetSecond, 0})...)
		block = append(block, only(c.ioprio, [2]uint32{offsetFirst, ioprioProcess}, [2]uint32{offsetSecond, 0})...)
		block = append(block, when(c.socket, families...)...)
		for _, number := range append(c.keys[:], ioUring) {
			block = append(block, when(number, fail(unix.ENOSYS))...)
		}
		return block
	})
}

// ioprioProcess is IOPRIO_WHO_PROCESS of ioprio_set(2).
const ioprioProcess = 1

// hasSeccomp reports whether the kernel has filters of system calls.
func hasSeccomp() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return !errors.Is(err, unix.EINVAL)
}

// applySeccomp puts this thread and its successors under sessionFilter. It
// does nothing on a kernel without filters, which Runner.Exposed tells.
func applySeccomp() error {
	if !hasSeccomp() {
		return nil
	}
	filter := sessionFilter()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
	runtime.KeepAlive(&prog)
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

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
	foreign                      uint32 // numbers from here on belong to a second ABI, which is refused; 0 = there is none
}

// callTable has every ABI of the machines that nightporter is built for,
// including the 32-bit ones that a 64-bit kernel runs too.
var callTable = []callNumbers{
	{arch: unix.AUDIT_ARCH_X86_64, prlimit: 302, setpriority: 141, ioprio: 251, foreign: 0x40000000},
	{arch: unix.AUDIT_ARCH_I386, prlimit: 340, setpriority: 97, ioprio: 289},
	{arch: unix.AUDIT_ARCH_AARCH64, prlimit: 261, setpriority: 140, ioprio: 30},
	{arch: unix.AUDIT_ARCH_ARM, prlimit: 369, setpriority: 97, ioprio: 314},
	{arch: unix.AUDIT_ARCH_RISCV64, prlimit: 261, setpriority: 140, ioprio: 30},
}

// Offsets in struct seccomp_data: the number, the ABI, and the low half of the
// first two arguments. The kernel reads no more of an argument that is an int.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetFirst  = 16
	offsetSecond = 24
)

// ownProcessFilter returns a filter that refuses to change limits and
// priorities of other processes. The kernel allows both to every process of the
// same user, Landlock does not control them, and a process whose limit of files
// is 3 cannot go on. A session may change its own (process 0, the caller).
func ownProcessFilter() []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		end   = unix.BPF_RET | unix.BPF_K
	)
	op := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
	}
	allow := op(end, unix.SECCOMP_RET_ALLOW, 0, 0)
	refuse := op(end, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM), 0, 0)
	// only allows the call number if the argument at offset equals value.
	only := func(number uint32, conditions ...[2]uint32) []unix.SockFilter {
		body := []unix.SockFilter{}
		for _, c := range conditions {
			body = append(body, op(load, c[0], 0, 0), op(equal, c[1], 1, 0), refuse)
		}
		body = append(body, allow)
		return append([]unix.SockFilter{op(equal, number, 0, uint8(len(body)))}, body...)
	}
	prog := []unix.SockFilter{op(load, offsetArch, 0, 0)}
	for _, c := range callTable {
		block := []unix.SockFilter{op(load, offsetNumber, 0, 0)}
		if c.foreign > 0 {
			block = append(block, op(least, c.foreign, 0, 1), refuse)
		}
		block = append(block, only(c.prlimit, [2]uint32{offsetFirst, 0})...)
		block = append(block, only(c.setpriority, [2]uint32{offsetFirst, unix.PRIO_PROCESS}, [2]uint32{offsetSecond, 0})...)
		block = append(block, only(c.ioprio, [2]uint32{offsetFirst, ioprioProcess}, [2]uint32{offsetSecond, 0})...)
		block = append(block, allow)
		prog = append(append(prog, op(equal, c.arch, 0, uint8(len(block)))), block...)
	}
	return append(prog, allow)
}

// ioprioProcess is IOPRIO_WHO_PROCESS of ioprio_set(2).
const ioprioProcess = 1

// hasSeccomp reports whether the kernel has filters of system calls.
func hasSeccomp() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return !errors.Is(err, unix.EINVAL)
}

// applySeccomp puts this thread and its successors under ownProcessFilter. It
// does nothing on a kernel without filters, which Runner.Exposed tells.
func applySeccomp() error {
	if !hasSeccomp() {
		return nil
	}
	filter := ownProcessFilter()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
	runtime.KeepAlive(&prog)
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

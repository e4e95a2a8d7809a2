package fault

import (
	"errors"
	"slices"
	"syscall"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Error is an error that names its own Fault. Errors of the system need not.
type Error interface {
	error
	Fault() ledger.Fault
}

// errnos lists the errors of the system that are Faults. Any other, such as
// EINVAL, EACCES or ENOENT, is the fault of what was asked for.
var errnos = map[ledger.Fault][]syscall.Errno{
	ledger.FaultDisk: {syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS},
	ledger.FaultMachine: {
		syscall.EAGAIN, syscall.EINTR, syscall.EBUSY, syscall.ETXTBSY, syscall.ENOLCK, syscall.EDEADLK, // something else is at it
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, // too much of something is in use
		syscall.EIO, syscall.ETIMEDOUT, syscall.ESTALE, syscall.ENOTCONN, syscall.EHOSTDOWN, syscall.ENETUNREACH, // a device or a mount fails
	},
}

// Of returns the Fault that made err, "" for none. An InputError has none: a
// person has to correct something.
func Of(err error) ledger.Fault {
	if err == nil {
		return ""
	}
	if _, wrong := errors.AsType[*ledger.InputError](err); wrong {
		return ""
	}
	if f, ok := errors.AsType[Error](err); ok {
		return f.Fault()
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return ""
	}
	for fault, list := range errnos {
		if slices.Contains(list, errno) {
			return fault
		}
	}
	return ""
}

package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

type ownFault struct{}

func (ownFault) Error() string       { return "the far side is down" }
func (ownFault) Fault() ledger.Fault { return ledger.FaultMachine }

func TestOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want ledger.Fault
	}{
		{nil, ""},
		{errors.New("no space left on device"), ""}, // words prove nothing
		{&fs.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}, ledger.FaultDisk},
		{&fs.PathError{Op: "fork/exec", Path: "git", Err: syscall.EAGAIN}, ledger.FaultMachine},
		{os.NewSyscallError("pipe2", syscall.EMFILE), ledger.FaultMachine},
		{fmt.Errorf("restore: %w", fmt.Errorf("open: %w", syscall.ENOMEM)), ledger.FaultMachine},
		{syscall.EROFS, ledger.FaultDisk},
		{syscall.EACCES, ""},
		{syscall.EINVAL, ""},
		{fs.ErrNotExist, ""},
		{fmt.Errorf("push: %w", ownFault{}), ledger.FaultMachine},
		{errors.Join(syscall.EMFILE, &ledger.InputError{}), ""},
	} {
		if got := fault.Of(c.err); got != c.want {
			t.Errorf("Of(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

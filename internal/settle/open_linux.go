package settle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openForWriting reports whether any program has the file open for writing.
// The kernel grants a lease for reading only while there is none (fcntl(2)).
// The lease is given back at once. It is refused, too, for a file of another
// user, or by the file system: then the answer is not known, and false.
func openForWriting(file *os.File) bool {
	_, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, _ = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return errors.Is(err, unix.EAGAIN)
}

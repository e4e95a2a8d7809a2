package statelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// ForeignError is the error for a state folder of another user, which this one may
// not open.
type ForeignError struct {
	Dir  string
	User string // its owner's name, or #UID
}

// Error says who may.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s belongs to %s, and only that user can open it: sudo -u %s nightporter …; or name a folder of your own: --state DIR", e.Dir, e.User, e.User)
}

// Foreign returns a *ForeignError for an error that comes of opening something in
// another user's state folder, and any other error as it is.
func Foreign(dir string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	info, statErr := os.Stat(dir)
	if statErr != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) == os.Geteuid() {
		return err
	}
	name := "#" + strconv.Itoa(int(st.Uid)) // the form that sudo accepts
	if u, lookErr := user.LookupId(strconv.Itoa(int(st.Uid))); lookErr == nil {
		name = u.Username
	}
	return &ForeignError{Dir: dir, User: name}
}

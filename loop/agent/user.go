package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// nobody is the default user id of sessions when the daemon runs as root. It
// needs no account (docs/spec 12.1).
const nobody = 65534

// sessionUser is the user that sessions run as. A uid of -1 means the daemon's
// own user.
type sessionUser struct {
	uid, gid int
	name     string
}

// parseUser reads the setting session_user: "", "NAME", "UID" or "UID:GID". It
// is ignored unless the daemon runs as root, because only root can change
// users.
func parseUser(s string, euid int) (sessionUser, error) {
	if euid != 0 {
		u := sessionUser{uid: -1, gid: -1, name: "session"}
		if me, err := user.LookupId(strconv.Itoa(euid)); err == nil {
			u.name = me.Username
		}
		return u, nil
	}
	u := sessionUser{uid: nobody, gid: nobody, name: "session"}
	if s == "" {
		return u, nil
	}
	id, group, hasGroup := strings.Cut(s, ":")
	n, err := strconv.Atoi(id)
	if err != nil {
		acc, err := user.Lookup(s)
		if err != nil {
			return u, fmt.Errorf("session_user %q: no such account: name one that exists, or a number such as \"65534\"", s)
		}
		if n, err = strconv.Atoi(acc.Uid); err != nil {
			return u, fmt.Errorf("session_user %q: %w", s, err)
		}
		id, group, hasGroup = acc.Uid, acc.Gid, true
	}
	u.uid, u.gid = n, n
	if acc, err := user.LookupId(id); err == nil {
		u.name = acc.Username
		if !hasGroup {
			group, hasGroup = acc.Gid, true
		}
	}
	if hasGroup {
		if u.gid, err = strconv.Atoi(group); err != nil {
			return u, fmt.Errorf("session_user %q: group %q is not a number", s, group)
		}
	}
	if u.uid <= 0 || u.gid <= 0 {
		return u, fmt.Errorf("session_user %q: sessions never run as root: name another user, or leave it out", s)
	}
	return u, nil
}

// barrier returns the topmost ancestor of path that the user cannot enter, or
// "". It ignores access control lists, because their mask appears in the mode
// bits.
func (u sessionUser) barrier(path string) string {
	if u.uid < 0 {
		return ""
	}
	at := string(filepath.Separator)
	for _, part := range strings.Split(strings.Trim(filepath.Dir(path), "/"), "/") {
		at = filepath.Join(at, part)
		fi, err := os.Stat(at)
		if err != nil {
			return ""
		}
		if !u.permits(fi, 0o1) {
			return at
		}
	}
	return ""
}

// permits reports whether the mode bits give the user the rights in bits, which
// are written as for others.
func (u sessionUser) permits(fi os.FileInfo, bits os.FileMode) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || u.uid < 0 {
		return true
	}
	switch {
	case int(st.Uid) == u.uid:
		bits <<= 6
	case int(st.Gid) == u.gid:
		bits <<= 3
	}
	return fi.Mode()&bits == bits
}

// chownTree makes the session's user the owner of a folder and its content. It
// skips files that have several names and another owner: a session could have
// linked a file from outside to obtain it.
func (u sessionUser) chownTree(root string) error {
	if u.uid < 0 {
		return nil
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		st, ok := fi.Sys().(*syscall.Stat_t)
		if !ok || (int(st.Uid) == u.uid && int(st.Gid) == u.gid) {
			return nil
		}
		if fi.Mode().IsRegular() && st.Nlink > 1 {
			return nil
		}
		return os.Lchown(path, u.uid, u.gid)
	})
}

// chown makes the session's user the owner of one path.
func (u sessionUser) chown(path string) error {
	if u.uid < 0 {
		return nil
	}
	return os.Lchown(path, u.uid, u.gid)
}

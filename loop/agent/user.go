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

// nobody is the user that sessions of a root-started daemon run as. No
// account is needed: it is a number (docs/spec 12.1).
const nobody = 65534

// sessionUser is who sessions run as. The zero uid -1 means: as the daemon.
type sessionUser struct {
	uid, gid int
	name     string
}

// parseUser reads the setting session_user: "", "NAME", "UID" or "UID:GID".
// It counts for a daemon started as root only; others cannot change users.
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

// barrier returns the topmost ancestor of path that the user cannot enter, ""
// where there is none. Access lists are not looked at: who uses them keeps
// the mode bits in step.
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
		if !u.may(fi, 0o1) {
			return at
		}
	}
	return ""
}

// may reports whether the mode bits give the user what bits (as for others)
// ask.
func (u sessionUser) may(fi os.FileInfo, bits os.FileMode) bool {
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

// handOver gives a folder and all in it to the session's user. A file with
// several names that somebody else owns stays theirs: one of the names may
// lie outside, made by a session that hoped for just this.
func (u sessionUser) handOver(root string) error {
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

// give makes one path the session user's.
func (u sessionUser) give(path string) error {
	if u.uid < 0 {
		return nil
	}
	return os.Lchown(path, u.uid, u.gid)
}

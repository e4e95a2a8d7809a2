package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// setUpMounts builds the session's view of the file system in its own mount
// namespace. Hidden paths are empty, needed paths inside them appear under
// their usual names, and only the plan's folders are writable. Landlock alone
// would still permit changes of modes and times elsewhere.
func setUpMounts(p plan) error {
	// Mounts made here must not propagate to the host.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	steps, err := planMounts(p)
	if err != nil {
		return err
	}
	defer closeSteps(steps)
	for _, s := range steps {
		if err := s.do(); err != nil {
			return err
		}
	}
	// The session gets shared memory of its own, so that it cannot write that
	// of others.
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil && !isGone(err) {
		return fmt.Errorf("mount /dev/shm: %w", err)
	}
	if err := readOnly(p.Write); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// mountStep is one mount: it hides a path under an empty folder or file, or
// shows again the content of a hidden path.
type mountStep struct {
	path string
	from int // handle of the content to show, -1 to hide
	dir  bool
	own  bool // binds a visible folder onto itself
}

// planMounts plans the mounts, parents before children. It opens all handles
// before anything is hidden.
func planMounts(p plan) ([]mountStep, error) {
	hide := slices.Concat(p.Hide, p.Veil, runFolders)
	show := slices.Concat(p.Write, p.Read, runKept, []string{resolvePath("/etc/resolv.conf")})
	slices.Sort(hide)
	slices.Sort(show)
	var steps []mountStep
	for _, h := range slices.Compact(hide) {
		var st unix.Stat_t
		if err := unix.Lstat(h, &st); err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
			continue // missing, or an alias of another path in the list
		}
		steps = append(steps, mountStep{path: h, from: -1, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR})
	}
	for _, s := range slices.Compact(show) {
		if slices.Contains(hide, s) {
			continue
		}
		fd, err := unix.Open(s, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) && !slices.Contains(p.Write, s) {
			continue
		}
		if err != nil {
			closeSteps(steps)
			return nil, fmt.Errorf("open %s: %w", s, err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			closeSteps(steps)
			return nil, errors.Join(fmt.Errorf("stat %s: %w", s, err), unix.Close(fd))
		}
		hidden := slices.ContainsFunc(steps, func(t mountStep) bool { return t.from < 0 && within(s, t.path) })
		if !hidden && !slices.Contains(p.Write, s) {
			if err := unix.Close(fd); err != nil {
				return nil, err
			}
			continue // already visible
		}
		steps = append(steps, mountStep{path: s, from: fd, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR, own: !hidden})
	}
	slices.SortFunc(steps, func(a, b mountStep) int {
		if c := strings.Count(a.path, "/") - strings.Count(b.path, "/"); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	return steps, nil
}

func closeSteps(steps []mountStep) {
	for _, s := range steps {
		if s.from >= 0 {
			_ = unix.Close(s.from)
		}
	}
}

func (s mountStep) do() error {
	if s.from < 0 {
		return s.hide()
	}
	if !s.own {
		if err := s.makeMountPoint(); err != nil {
			return fmt.Errorf("make a place for %s: %w", s.path, err)
		}
	}
	from := fmt.Sprintf("/proc/self/fd/%d", s.from)
	if err := unix.Mount(from, s.path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s: %w", s.path, err)
	}
	return nil
}

// hide hides the path. The path may have disappeared together with a hidden
// parent.
func (s mountStep) hide() error {
	if _, err := os.Lstat(s.path); err != nil {
		return nil //nolint:nilerr // what is not there needs no cover
	}
	var err error
	if s.dir {
		// Mode 0755 lets another user pass to the visible paths inside.
		err = unix.Mount("tmpfs", s.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m")
	} else {
		err = unix.Mount("/dev/null", s.path, "", unix.MS_BIND, "")
	}
	if err != nil {
		return fmt.Errorf("hide %s: %w", s.path, err)
	}
	return nil
}

// makeMountPoint creates an empty folder or file as the mount point.
func (s mountStep) makeMountPoint() error {
	if s.dir {
		return os.MkdirAll(s.path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// readOnly makes all mounts read-only except those of the given folders.
func readOnly(write []string) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("make what is outside read-only: %w", err)
	}
	attr = unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	// The kernel checks a device's own mode, not the mount's; terminals are
	// created in /dev/pts.
	for _, w := range append(slices.Clone(write), "/dev/shm", "/dev/pts") {
		if err := unix.MountSetattr(unix.AT_FDCWD, w, unix.AT_RECURSIVE, &attr); err != nil {
			if strings.HasPrefix(w, "/dev/") {
				continue // not a mount point here
			}
			return fmt.Errorf("make %s writable: %w", w, err)
		}
	}
	return nil
}

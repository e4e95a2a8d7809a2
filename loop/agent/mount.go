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

// mounts makes the session's view of the file system, in a mount namespace of
// its own: what is hidden is empty, what is needed inside it is there under
// the same path as outside, and nothing but the plan's folders can be
// written, not even its mode or time, which Landlock would let pass.
func mounts(p plan) error {
	// Nothing that is done here may reach the mounts outside.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	steps, err := layout(p)
	if err != nil {
		return err
	}
	defer closeSteps(steps)
	for _, s := range steps {
		if err := s.do(); err != nil {
			return err
		}
	}
	// Private shared memory: what others have there is not ours to write.
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

// step is one mount: an empty folder or file over path, or what lies at path
// outside shown there again.
type step struct {
	path string
	from int // open handle on what to show, -1 to hide
	dir  bool
	own  bool // bind onto itself: for a folder that was never hidden
}

// layout plans the mounts, parents before what lies in them. The handles are
// opened before anything is covered.
func layout(p plan) ([]step, error) {
	hide := slices.Concat(p.Hide, p.Veil, runFolders)
	show := slices.Concat(p.Write, p.Read, runKept, []string{real("/etc/resolv.conf")})
	slices.Sort(hide)
	slices.Sort(show)
	var steps []step
	for _, h := range slices.Compact(hide) {
		var st unix.Stat_t
		if err := unix.Lstat(h, &st); err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
			continue // not there, or a second name for something that is in the list itself
		}
		steps = append(steps, step{path: h, from: -1, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR})
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
		hidden := slices.ContainsFunc(steps, func(t step) bool { return t.from < 0 && within(s, t.path) })
		if !hidden && !slices.Contains(p.Write, s) {
			if err := unix.Close(fd); err != nil {
				return nil, err
			}
			continue // it can be seen as it is
		}
		steps = append(steps, step{path: s, from: fd, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR, own: !hidden})
	}
	slices.SortFunc(steps, func(a, b step) int {
		if c := strings.Count(a.path, "/") - strings.Count(b.path, "/"); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	return steps, nil
}

func closeSteps(steps []step) {
	for _, s := range steps {
		if s.from >= 0 {
			_ = unix.Close(s.from)
		}
	}
}

func (s step) do() error {
	if s.from < 0 {
		return s.cover()
	}
	if !s.own {
		if err := s.place(); err != nil {
			return fmt.Errorf("make a place for %s: %w", s.path, err)
		}
	}
	from := fmt.Sprintf("/proc/self/fd/%d", s.from)
	if err := unix.Mount(from, s.path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s: %w", s.path, err)
	}
	return nil
}

// cover hides what lies at the path. It may be gone already, hidden with a
// folder above it.
func (s step) cover() error {
	if _, err := os.Lstat(s.path); err != nil {
		return nil //nolint:nilerr // what is not there needs no cover
	}
	var err error
	if s.dir {
		// 0755: another user has to get through to what is shown again below.
		err = unix.Mount("tmpfs", s.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m")
	} else {
		err = unix.Mount("/dev/null", s.path, "", unix.MS_BIND, "")
	}
	if err != nil {
		return fmt.Errorf("hide %s: %w", s.path, err)
	}
	return nil
}

// place makes an empty folder or file to mount onto.
func (s step) place() error {
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

// readOnly makes every mount read-only but those of the given folders.
func readOnly(write []string) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("make what is outside read-only: %w", err)
	}
	attr = unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	// Devices ask their driver, not the mount; a terminal is made on use.
	for _, w := range append(slices.Clone(write), "/dev/shm", "/dev/pts") {
		if err := unix.MountSetattr(unix.AT_FDCWD, w, unix.AT_RECURSIVE, &attr); err != nil {
			if strings.HasPrefix(w, "/dev/") {
				continue // not a mount here
			}
			return fmt.Errorf("make %s writable: %w", w, err)
		}
	}
	return nil
}

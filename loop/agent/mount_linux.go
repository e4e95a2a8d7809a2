package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
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
	if err := mountDevices(p.Limits); err != nil {
		return err
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

	over *overlayHandles // mounts an overlay instead of content
}

// overlayHandles are the open folders of an overlay. Their paths may be hidden
// when it is mounted.
type overlayHandles struct {
	lower       []int // topmost first
	upper, work int
}

// planMounts plans the mounts, parents before children. It opens all handles
// before anything is hidden.
func planMounts(p plan) ([]mountStep, error) {
	hide := slices.Concat(p.Hide, p.Veil, runFolders)
	show := slices.Concat(p.Write, p.Read, runKept)
	mounted := map[string]ledger.Mount{}
	resolver := resolvePath("/etc/resolv.conf")
	if p.Closed {
		// The daemons that resolve names for the machine would do it for a session,
		// and a name can carry what it wants to send.
		show = slices.DeleteFunc(show, func(path string) bool { return slices.Contains(runResolvers, path) })
		mounted[resolver] = ledger.Mount{At: resolver, Upper: p.Resolver}
	}
	if _, err := os.Stat(resolver); err == nil { // without it, programs ask 127.0.0.1
		show = append(show, resolver)
	}
	for _, m := range p.Mounts {
		mounted[m.At] = m
	}
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
		m, other := mounted[s]
		if other && len(m.Lower) > 0 {
			over, err := openOverlay(m)
			if err != nil {
				closeSteps(steps)
				return nil, err
			}
			steps = append(steps, mountStep{path: s, from: over.upper, dir: true, own: !isHidden(steps, s), over: over})
			continue
		}
		content := s
		if other {
			content = m.Upper
		}
		fd, err := unix.Open(content, unix.O_PATH|unix.O_CLOEXEC, 0)
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
		hidden := isHidden(steps, s)
		if !hidden && !other && !slices.Contains(p.Write, s) {
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

// isHidden reports whether a step hides a folder above the path.
func isHidden(steps []mountStep, path string) bool {
	return slices.ContainsFunc(steps, func(t mountStep) bool { return t.from < 0 && within(path, t.path) })
}

func closeSteps(steps []mountStep) {
	for _, s := range steps {
		if s.over != nil {
			s.over.close()
			continue
		}
		if s.from >= 0 {
			_ = unix.Close(s.from)
		}
	}
}

// openOverlay opens the folders of an overlay.
func openOverlay(m ledger.Mount) (*overlayHandles, error) {
	o := &overlayHandles{upper: -1, work: -1}
	open := func(path string) (int, error) {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
		if err != nil {
			err = fmt.Errorf("open %s: %w", path, err)
		}
		return fd, err
	}
	var err error
	if o.upper, err = open(m.Upper); err == nil {
		o.work, err = open(m.Work)
	}
	for _, dir := range m.Lower {
		if err != nil {
			break
		}
		var fd int
		if fd, err = open(dir); err == nil {
			o.lower = append(o.lower, fd)
		}
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (o *overlayHandles) close() {
	for _, fd := range append(o.lower, o.upper, o.work) {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// mount mounts the overlay. The option userxattr keeps what the kernel notes in
// the upper folder in attributes that an ordinary user may write, so that the
// same upper folder works with and without root.
func (o *overlayHandles) mount(at string) error {
	handle := func(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }
	lower := make([]string, len(o.lower))
	for i, fd := range o.lower {
		lower[i] = handle(fd)
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", strings.Join(lower, ":"), handle(o.upper), handle(o.work))
	if err := unix.Mount("overlay", at, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount an overlay at %s: %w", at, err)
	}
	return nil
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
	if s.over != nil {
		return s.over.mount(s.path)
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

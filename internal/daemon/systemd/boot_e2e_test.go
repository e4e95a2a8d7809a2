//go:build e2e

package systemd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// This file is the first process of a machine: the test program, which a test
// starts in namespaces of its own. It makes a root of its own, checks that nothing
// of the host is left in it but programs that it cannot write, and becomes
// systemd.
//
// systemd empties /tmp and writes below /var, /run and /etc. Two things keep it
// from those of the host, each by itself: its root is nobody there (a user
// namespace), and checkRoot refuses to start it.

// bootName is the name under which the test program is the first process.
const bootName = "nightporter-e2e-boot"

// bootOrder is what a test wants of a machine, as JSON in an argument.
type bootOrder struct {
	Dir      string   // folder of the machine, see ownFolders
	Programs string   // folder that is /usr/local/bin
	Exec     []string // the program that is started in the root
}

// ownFolders outlive the machine, so it can be booted again. Each is a folder of
// that name in the folder of the machine.
var ownFolders = []string{"etc", "var", "home", "root", "srv", "opt"}

// memoryFolders are empty at each boot.
var memoryFolders = []string{"tmp", "run", "dev"}

// devices are the device nodes of a machine; they are the host's.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

func init() {
	if os.Args[0] == bootName {
		runtime.LockOSThread() // its cgroup namespace is one of a thread
	}
}

// exitForbidden is the exit code of a first process that the host does not let make
// its root, as a container does whose /proc is covered in parts.
const exitForbidden = 77

// bootMain does not return.
func bootMain() {
	err := boot()
	fmt.Fprintln(os.Stderr, "boot:", err)
	if isForbidden(err) {
		os.Exit(exitForbidden)
	}
	os.Exit(1)
}

// isForbidden reports whether an error is about rights.
func isForbidden(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS)
}

func boot() error {
	var o bootOrder
	if err := json.Unmarshal([]byte(os.Args[1]), &o); err != nil {
		return err
	}
	if os.Getpid() != 1 {
		return errors.New("not the first process of a PID namespace")
	}
	host, err := identities("/", "/tmp", "/run", "/var", "/etc", "/home", "/root")
	if err != nil {
		return err
	}
	made, err := makeRoot(o)
	if err != nil {
		return err
	}
	if err := checkRoot(o, made, host); err != nil {
		return fmt.Errorf("systemd is not started: %w", err)
	}
	// What systemd mounts for a service it mounts from a child, and expects to see
	// itself. Only namespaces that are made from now on share these mounts.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("share mounts within the machine: %w", err)
	}
	env := []string{"container=nightporter-e2e", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG=C.UTF-8"}
	return fmt.Errorf("exec %s: %w", o.Exec[0], unix.Exec(o.Exec[0], o.Exec, env))
}

// identities returns the device and inode of each path.
func identities(paths ...string) (map[[2]uint64]string, error) {
	out := map[[2]uint64]string{}
	for _, path := range paths {
		var s unix.Stat_t
		if err := unix.Stat(path, &s); err != nil {
			return nil, fmt.Errorf("stat %s: %w", path, err)
		}
		out[[2]uint64{s.Dev, s.Ino}] = path
	}
	return out, nil
}

// rootMaker makes mounts until one fails.
type rootMaker struct {
	root string
	made []string // mount points, as they are called in the root
	err  error
}

func (m *rootMaker) do(what string, err error) {
	if m.err == nil && err != nil {
		m.err = fmt.Errorf("%s: %w", what, err)
	}
}

// mount mounts on a folder of the root, or on a file of it for a bind of a file.
func (m *rootMaker) mount(source, at, kind string, flags uintptr, data string) {
	if m.err != nil {
		return
	}
	to := filepath.Join(m.root, at)
	info, err := os.Stat(source)
	if flags&unix.MS_BIND != 0 && err == nil && !info.IsDir() {
		m.do("make "+at, os.WriteFile(to, nil, 0o644))
	} else {
		m.do("make "+at, os.MkdirAll(to, 0o755))
	}
	if m.err == nil {
		m.do("mount "+at, unix.Mount(source, to, kind, flags, data))
		m.made = append(m.made, filepath.Clean("/"+at))
	}
}

// readOnly makes a bind mount read-only, and keeps the flags of its source.
func (m *rootMaker) readOnly(at string) {
	if m.err != nil {
		return
	}
	to := filepath.Join(m.root, at)
	var s unix.Statfs_t
	m.do("statfs "+at, unix.Statfs(to, &s))
	kept := uintptr(s.Flags) & (unix.ST_NOSUID | unix.ST_NODEV | unix.ST_NOEXEC | unix.ST_NOATIME | unix.ST_NODIRATIME | unix.ST_RELATIME)
	m.do("make "+at+" read-only", unix.Mount("", to, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|kept, ""))
}

func (m *rootMaker) link(to, at string) { m.do("link "+at, os.Symlink(to, filepath.Join(m.root, at))) }

// makeRoot makes the root of the machine and enters it. It returns all mount
// points.
func makeRoot(o bootOrder) ([]string, error) {
	m := &rootMaker{root: filepath.Join(o.Dir, "mount")}
	// The namespace of the cgroups begins at the one that this process is in.
	m.do("unshare cgroups", unix.Unshare(unix.CLONE_NEWCGROUP))
	m.do("make mounts private", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	m.mount("root", "", "tmpfs", 0, "mode=755")
	m.mount("/usr", "usr", "", unix.MS_BIND, "")
	m.readOnly("usr")
	m.mount(o.Programs, "usr/local/bin", "", unix.MS_BIND, "")
	m.readOnly("usr/local/bin")
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64"} {
		if to, err := os.Readlink("/" + name); err == nil && m.err == nil {
			m.link(to, name)
		}
	}
	for _, name := range ownFolders {
		m.mount(filepath.Join(o.Dir, name), name, "", unix.MS_BIND, "")
	}
	for _, name := range memoryFolders {
		mode := "mode=755"
		if name == "tmp" {
			mode = "mode=1777"
		}
		m.mount(name, name, "tmpfs", unix.MS_NOSUID, mode)
	}
	for _, name := range devices {
		m.mount("/dev/"+name, "dev/"+name, "", unix.MS_BIND, "")
	}
	m.mount("devpts", "dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	m.mount("shm", "dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	m.mount("mqueue", "dev/mqueue", "mqueue", 0, "")
	m.link("pts/ptmx", "dev/ptmx")
	for to, name := range map[string]string{"": "fd", "/0": "stdin", "/1": "stdout", "/2": "stderr"} {
		m.link("/proc/self/fd"+to, "dev/"+name)
	}
	m.mount("proc", "proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	m.mount("sysfs", "sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "")
	m.mount("cgroup2", "sys/fs/cgroup", "cgroup2", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if m.err != nil {
		return nil, m.err
	}
	m.do("hostname", unix.Sethostname([]byte("porter")))
	m.do("enter the root", unix.Chdir(m.root))
	m.do("change the root", unix.PivotRoot(".", "."))
	m.do("leave the old root", unix.Unmount(".", unix.MNT_DETACH))
	m.do("enter /", unix.Chdir("/"))
	return m.made, m.err
}

// checkRoot returns an error unless everything that this process can reach is the
// machine's own, or a program that it cannot write. host identifies folders of
// the host.
func checkRoot(o bootOrder, made []string, host map[[2]uint64]string) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	mounted := map[string]string{} // options of mounts, by mount point
	for line := range strings.Lines(string(text)) {
		fields, _, ok := strings.Cut(line, " - ")
		f := strings.Fields(fields)
		if !ok || len(f) < 6 {
			return fmt.Errorf("/proc/self/mountinfo: %q", line)
		}
		if len(f) > 6 {
			return fmt.Errorf("%s is shared with other namespaces: %s", f[4], strings.Join(f[6:], " "))
		}
		if !slices.Contains(made, f[4]) {
			return fmt.Errorf("%s is mounted, and this process did not", f[4])
		}
		mounted[f[4]] = f[5]
	}
	for _, at := range made {
		if _, ok := mounted[at]; !ok {
			return fmt.Errorf("%s is not mounted", at)
		}
	}
	for _, at := range []string{"/usr", "/usr/local/bin"} {
		if !slices.Contains(strings.Split(mounted[at], ","), "ro") {
			return fmt.Errorf("%s is writable", at)
		}
	}
	own, err := identities("/", "/tmp", "/run", "/var", "/etc", "/home", "/root")
	if err != nil {
		return err
	}
	for id, path := range own {
		if theirs, ok := host[id]; ok {
			return fmt.Errorf("%s is %s of the host", path, theirs)
		}
		if mounted[path] == "" {
			return fmt.Errorf("%s is not a mount of its own", path)
		}
	}
	if _, err := os.Lstat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s of the host is within reach: %w", o.Dir, err)
	}
	ids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return err
	}
	if f := strings.Fields(string(ids)); len(f) != 3 || f[0] != "0" || f[1] == "0" {
		return fmt.Errorf("root of the machine is not somebody else on the host: %s", ids)
	}
	return nil
}

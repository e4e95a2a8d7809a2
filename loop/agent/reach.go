package agent

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// abiScope is the first Landlock version that can block abstract sockets;
// abiResolve is the first that can block sockets whose path is unreadable.
const (
	abiScope   = 6
	abiResolve = 9
)

// acceptCon is the kernel's flag __SO_ACCEPTCON, which marks a listening
// socket.
const acceptCon = 1 << 16

// knownSockets lists powerful sockets that may be missing in the kernel's list:
// a socket mounted into a container has its path outside of it.
var knownSockets = []string{
	"/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock",
	"/run/libvirt/libvirt-sock", "/run/dbus/system_bus_socket", "/run/snapd.socket", "/run/systemd/private",
	"/run/mysqld/mysqld.sock", "/run/postgresql/.s.PGSQL.5432", "/tmp/.s.PGSQL.5432",
	"/var/lib/docker.sock", "/var/lib/incus/unix.socket", "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
}

// Reachable lists the Unix sockets of this machine that a session could connect
// to at its boundary level, sorted; names of abstract ones begin with @. It
// leaves out sockets below the state folder: sessions may use their own one,
// and the operator's requires a key.
//
// It uses the kernel's list of listening sockets and a list of well-known
// paths. It misses sockets created later and those of other network namespaces,
// so an empty list does not prove that no socket is reachable.
func (r *Runner) Reachable() []string {
	level, _ := r.Level()
	paths := slices.Clone(knownSockets)
	if sock := os.Getenv("SSH_AUTH_SOCK"); filepath.IsAbs(sock) {
		paths = append(paths, sock)
	}
	paths = append(paths, listening()...)
	var out []string
	for _, p := range paths {
		if strings.HasPrefix(p, "@") {
			// From level 2 on, Landlock blocks abstract sockets if the kernel
			// supports it.
			if level < 2 || landlockABI() < abiScope {
				out = append(out, p)
			}
			continue
		}
		if p = resolvePath(p); r.reaches(p, level) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reaches reports whether a session could connect to the socket. path contains
// no links.
func (r *Runner) reaches(path string, level int) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 || within(path, r.o.State) {
		return false
	}
	under := func(list []string) bool {
		return slices.ContainsFunc(list, func(h string) bool { return path == h || within(path, h) })
	}
	switch {
	case level >= 3 && (under(r.hide) || under(runFolders) && !under(runKept)):
		return false
	case level == 2 && landlockABI() >= abiResolve && under(r.hide):
		return false
	}
	// Connecting requires the right to write.
	if r.user.uid < 0 {
		return unix.Access(path, unix.W_OK) == nil
	}
	return r.user.permits(info, 0o2) && r.user.barrier(path) == ""
}

// HidesAgents reports whether no session can connect to the agents that hold the
// keys of the daemon's user, whose sockets only that user may use: they have another
// user, or the boundary hides hidden paths from connect, too.
func (r *Runner) HidesAgents() bool {
	level, _ := r.Level()
	return r.user.uid >= 0 && r.user.uid != os.Geteuid() || level >= 3 || level == 2 && landlockABI() >= abiResolve
}

// listening returns the listening Unix sockets of the kernel's list; names of
// abstract ones begin with @.
func listening() []string {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil // without /proc/net/unix only knownSockets are checked
	}
	defer func() { _ = f.Close() }()
	var out []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// The columns are: Num RefCount Protocol Flags Type St Inode Path.
		var flags uint64
		fields := strings.SplitN(strings.Join(strings.Fields(lines.Text()), " "), " ", 8)
		if len(fields) < 8 {
			continue
		}
		if _, err := fmt.Sscanf(fields[3], "%x", &flags); err != nil || flags&acceptCon == 0 {
			continue
		}
		if p := fields[7]; strings.HasPrefix(p, "/") || strings.HasPrefix(p, "@") {
			out = append(out, p)
		}
	}
	return out
}

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

// abiScope is the first version of Landlock that keeps a session from abstract
// sockets; abiResolve the first that keeps it from those with a path that it
// may not read.
const (
	abiScope   = 6
	abiResolve = 9
)

// acceptCon is the kernel's __SO_ACCEPTCON: somebody called listen.
const acceptCon = 1 << 16

// knownSockets are sockets that give away much and that the kernel's list may
// not have: one that was put into a container has its name outside of it.
var knownSockets = []string{
	"/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock",
	"/run/libvirt/libvirt-sock", "/run/dbus/system_bus_socket", "/run/snapd.socket", "/run/systemd/private",
	"/run/mysqld/mysqld.sock", "/run/postgresql/.s.PGSQL.5432", "/tmp/.s.PGSQL.5432",
	"/var/lib/docker.sock", "/var/lib/incus/unix.socket", "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
}

// Reachable lists the Unix sockets of this machine that a session could
// connect to at the boundary level that it gets, sorted; abstract ones begin
// with @. The state folder's own are left out: sessions are meant to reach
// their own one, and the operator's asks for a key.
//
// It goes by the kernel's list of who listens, and by a list of well-known
// paths. A socket that is made later, or that only another network namespace
// listens on, is not found: the list says what stays open, not that the rest
// is closed.
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
			// Each level but the lowest has a Landlock scope where the kernel can.
			if level < 2 || landlockABI() < abiScope {
				out = append(out, p)
			}
			continue
		}
		if p = real(p); r.reaches(p, level) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reaches reports whether a session could connect to the socket at a real
// path.
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
	// To connect is to write.
	if r.user.uid < 0 {
		return unix.Access(path, unix.W_OK) == nil
	}
	return r.user.may(info, 0o2) && r.user.barrier(path) == ""
}

// listening lists the Unix sockets that somebody listens on, as the kernel
// has them; abstract ones with a leading @.
func listening() []string {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil // not Linux, or no /proc: what is known by name remains
	}
	defer func() { _ = f.Close() }()
	var out []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// Num RefCount Protocol Flags Type St Inode Path
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

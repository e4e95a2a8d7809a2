//go:build e2e

package systemd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/programtest"
)

// firstID is the id on the host of the machine's root. Its 65,536 users and
// groups are nobody there.
const firstID = 1 << 20

// machine is a computer with Debian's systemd as its first process: namespaces of
// its own, in which nothing is the host's but /usr.
type machine struct {
	t       *testing.T
	dir     string // see ownFolders
	cgroup  string // its cgroup on the host
	init    *exec.Cmd
	console *programtest.Buffer
	off     chan struct{} // closed when the first process has ended
	bot     string        // address on the host that is botAddress on the machine; "" = none
}

// newMachine prepares a machine, or skips the test with the reason why none can
// be booted here.
func newMachine(t *testing.T) *machine {
	t.Helper()
	if reason := cannotBoot(); reason != "" {
		t.Skip("no systemd is booted here: " + reason)
	}
	dir, err := os.MkdirTemp(programtest.WorkDir(), "m") //nolint:usetesting // the machine's users have to get there
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir}
	m.noError(os.Chmod(dir, 0o755))
	for _, name := range append([]string{"mount"}, ownFolders...) {
		m.noError(os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	// Nobody but the host's root may read its 0700 folder, where go test built this.
	m.noError(copyFile("/proc/self/exe", filepath.Join(dir, bootName), 0o755))
	m.writeEtc()
	m.giveAway()
	t.Cleanup(func() {
		m.kill()
		if t.Failed() {
			t.Logf("console:\n%s", m.console)
		}
		m.removeCgroups()
	})
	m.tryBoot()
	return m
}

// cannotBoot returns why no machine can be booted, "" if it can.
func cannotBoot() string {
	if os.Geteuid() != 0 {
		return "that takes root"
	}
	for _, file := range []string{"/lib/systemd/systemd", "/usr/bin/nsenter", "/usr/sbin/useradd"} {
		if _, err := os.Stat(file); err != nil {
			return err.Error() + " (Debian: systemd, util-linux, passwd)"
		}
	}
	if target, err := os.Readlink("/lib"); err != nil || target != "usr/lib" {
		return "/lib is not in /usr"
	}
	if cgroups() == "" {
		return "no cgroup2 is mounted"
	}
	return ""
}

// cgroups returns where the host's cgroup2 is mounted, "" if nowhere.
func cgroups() string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if front, back, ok := strings.Cut(line, " - "); ok && strings.HasPrefix(back, "cgroup2 ") {
			return strings.Fields(front)[4]
		}
	}
	return ""
}

func copyFile(from, to string, mode os.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, mode)
}

func (m *machine) noError(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// path returns the host's path of a file of ownFolders.
func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

// write writes a file of root's into ownFolders.
func (m *machine) write(name, text string, mode os.FileMode) {
	m.t.Helper()
	dir := filepath.Dir(m.path(name))
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		m.noError(os.MkdirAll(dir, 0o755))
		m.noError(os.Lchown(dir, firstID, firstID))
	}
	m.noError(os.WriteFile(m.path(name), []byte(text), mode))
	m.noError(os.Chmod(m.path(name), mode))
	m.noError(os.Lchown(m.path(name), firstID, firstID))
}

// masked are units that would look for hardware or set up the host's kernel.
var masked = []string{
	"systemd-udevd.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket", "systemd-sysctl.service", "systemd-modules-load.service",
	"systemd-timesyncd.service", "systemd-firstboot.service", "systemd-remount-fs.service", "getty.target", "console-getty.service",
	"dev-hugepages.mount", "dev-mqueue.mount", "sys-fs-fuse-connections.mount", "sys-kernel-config.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount",
	"modprobe@.service", "systemd-binfmt.service", "proc-sys-fs-binfmt_misc.automount", "systemd-networkd.service", "systemd-networkd.socket",
}

// writeEtc makes an /etc of a machine that was just installed. Nothing secret of
// the host's is copied.
func (m *machine) writeEtc() {
	for name, text := range map[string]string{
		"passwd":                "root:x:0:0::/root:/bin/sh\nmessagebus:x:101:101::/nonexistent:/usr/sbin/nologin\npolkitd:x:102:102::/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
		"group":                 "root:x:0:\ntty:x:5:\nmessagebus:x:101:\npolkitd:x:102:\nnogroup:x:65534:\nsystemd-journal:x:103:\n",
		"shadow":                "root:*:20000::::::\n",
		"gshadow":               "",
		"hostname":              "porter\n",
		"machine-id":            "0123456789abcdef0123456789abcdef\n",
		"nsswitch.conf":         "passwd: files\ngroup: files\nhosts: files\n",
		"hosts":                 "127.0.0.1 localhost porter\n",
		"pam.d/other":           "auth required pam_permit.so\naccount required pam_permit.so\npassword required pam_permit.so\nsession required pam_permit.so\n",
		"pam.d/runuser":         "auth sufficient pam_rootok.so\nsession required pam_permit.so\n",
		"ld.so.conf":            "/usr/local/lib\n",
		"systemd/journald.conf": "[Journal]\nStorage=persistent\nAudit=no\n",
	} {
		m.write("etc/"+name, text, 0o644)
	}
	for _, name := range []string{"ld.so.cache", "login.defs", "localtime"} {
		if err := copyFile("/etc/"+name, m.path("etc/"+name), 0o644); err != nil && !errors.Is(err, os.ErrNotExist) {
			m.t.Fatal(err)
		}
	}
	m.noError(os.Symlink("../usr/lib/os-release", m.path("etc/os-release")))
	m.noError(os.CopyFS(m.path("etc/alternatives"), os.DirFS("/etc/alternatives")))
	m.noError(os.MkdirAll(m.path("etc/systemd/system"), 0o755))
	for _, unit := range masked {
		m.noError(os.Symlink("/dev/null", m.path("etc/systemd/system/"+unit)))
	}
}

// giveAway gives the folders of the machine to its root.
func (m *machine) giveAway() {
	for _, name := range ownFolders {
		m.noError(filepath.WalkDir(m.path(name), func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, firstID, firstID))
		}))
	}
}

// tryBoot skips the test where the host does not let a machine be booted.
func (m *machine) tryBoot() {
	m.t.Helper()
	err := m.start("/bin/true")
	if err == nil {
		<-m.off
	}
	switch {
	case isForbidden(err):
		m.t.Skipf("no systemd is booted here: %v", err)
	case err != nil:
		m.t.Fatal(err)
	case m.init.ProcessState.ExitCode() == exitForbidden:
		m.t.Skipf("no systemd is booted here: %s", m.console)
	}
}

// power starts the machine with a program in place of systemd.
func (m *machine) power(program ...string) {
	m.t.Helper()
	m.noError(m.start(program...))
}

// start is power without an end of the test.
func (m *machine) start(program ...string) error {
	m.cgroup = filepath.Join(cgroups(), fmt.Sprintf("nightporter-e2e-%d", os.Getpid()))
	if err := os.Mkdir(m.cgroup, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	for _, name := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(m.cgroup, name), firstID, firstID); err != nil {
			return err
		}
	}
	group, err := os.Open(m.cgroup)
	if err != nil {
		return err
	}
	defer func() { _ = group.Close() }()
	order, err := json.Marshal(bootOrder{Dir: m.dir, Programs: programtest.BinDir(), Exec: program})
	if err != nil {
		return err
	}
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: firstID, Size: 1 << 16}}
	m.console, m.off = &programtest.Buffer{}, make(chan struct{})
	m.init = exec.Command(m.path(bootName))
	m.init.Args = []string{bootName, string(order)}
	m.init.Env = []string{}
	m.init.Dir = "/"
	m.init.Stdout, m.init.Stderr = m.console, m.console
	m.init.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		UidMappings: ids, GidMappings: ids, GidMappingsEnableSetgroups: true,
		Credential:  &syscall.Credential{Uid: 0, Gid: 0},
		Setsid:      true,
		UseCgroupFD: true, CgroupFD: int(group.Fd()),
		Pdeathsig: syscall.SIGKILL, // with it, all of the machine ends
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig is about the thread; it lives as long as the machine
		defer close(m.off)
		err := m.init.Start()
		started <- err
		if err == nil {
			_ = m.init.Wait()
		}
	}()
	return <-started
}

// boot starts systemd and waits until it has started everything.
func (m *machine) boot() {
	m.t.Helper()
	m.power("/lib/systemd/systemd", "--system", "--log-target=journal-or-kmsg", "--show-status=false", "--unit=multi-user.target")
	if m.bot != "" {
		m.forward(m.bot)
	}
	m.await("the end of the boot", func() bool {
		out, _ := m.try("systemctl", "is-system-running")
		return strings.Contains(out, "running") || strings.Contains(out, "degraded")
	})
}

// kill ends the machine like a power cut.
func (m *machine) kill() {
	if m.init == nil || m.init.Process == nil {
		return
	}
	_ = m.init.Process.Kill() // it may have ended
	<-m.off
}

// removeCgroups removes the machine's cgroups from the host.
func (m *machine) removeCgroups() {
	if m.cgroup == "" {
		return
	}
	var all []string
	_ = filepath.WalkDir(m.cgroup, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			all = append(all, path)
		}
		return nil
	})
	for n := len(all) - 1; n >= 0; n-- {
		if err := unix.Rmdir(all[n]); err != nil {
			m.t.Errorf("%s is left: %v", all[n], err)
		}
	}
}

// command returns a command of the machine's root.
func (m *machine) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/usr/bin/nsenter", append([]string{"--target", fmt.Sprint(m.init.Process.Pid), "--all", "--wd=/"}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME=/root", "LANG=C.UTF-8", "SYSTEMD_PAGER=", "SYSTEMD_COLORS=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// try runs a command of the machine and returns its output and exit code.
func (m *machine) try(args ...string) (string, int) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), programtest.Patience)
	defer cancel()
	cmd := m.command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// run runs a command of the machine that must succeed, and returns its output.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, code := m.try(args...)
	if code != 0 {
		m.t.Fatalf("%s: exit %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// await waits for a condition, and fails with what the machine's console shows.
func (m *machine) await(what string, condition func() bool) {
	m.t.Helper()
	if err := programtest.WaitFor(what, func() (bool, error) {
		select {
		case <-m.off:
			return false, errors.New("the machine is off: " + m.console.String())
		default:
			return condition(), nil
		}
	}); err != nil {
		m.t.Fatal(err)
	}
}

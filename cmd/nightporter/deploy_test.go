package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// maxExposure is the highest permitted score of `systemd-analyze security` for
// the unit, times ten: 3.5 of 10, "OK". Sessions need namespaces, JIT compilers
// and the network, which prevents a lower one; the unit explains each setting.
const maxExposure = "35"

// installUnits copies the units of deploy/ to a folder, with the path of the
// built program in place of the installed one.
func installUnits(t *testing.T) (service, listener string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"nightporter.service", "nightporter.socket"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("/usr/local/bin/nightporter up"), []byte(filepath.Join(programtest.BinDir(), "nightporter")+" up"))
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "nightporter.service"), filepath.Join(dir, "nightporter.socket")
}

func analyze(t *testing.T, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed, so the units of deploy/ are not checked here (package systemd)")
	}
	out, err := exec.Command("systemd-analyze", append([]string{"--no-pager"}, args...)...).CombinedOutput()
	return string(out), err
}

func TestUnitsVerify(t *testing.T) {
	t.Parallel()
	service, listener := installUnits(t)
	if out, err := analyze(t, "verify", service, listener); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("%v\n%s", err, out)
	}
	// The check must fail for a weaker unit.
	text, err := os.ReadFile(service)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.service")
	if err := os.WriteFile(bad, append(text, "[Service]\nWatchdogSecs=1\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, _ := analyze(t, "verify", bad); !strings.Contains(out, "WatchdogSecs") {
		t.Errorf("a planted mistake is not found:\n%s", out)
	}
}

func TestUnitsSecurity(t *testing.T) {
	t.Parallel()
	service, _ := installUnits(t)
	if out, err := analyze(t, "security", "--help"); err != nil || !strings.Contains(out, "--offline") {
		t.Skipf("this systemd-analyze cannot look at a unit that is not loaded (--offline, from 250 on): %v", err)
	}
	out, err := analyze(t, "security", "--offline=true", "--threshold="+maxExposure, service)
	level := regexp.MustCompile(`(?m)Overall exposure level.*$`).FindString(out)
	if err != nil || level == "" {
		t.Errorf("%v: over %s/10\n%s", err, maxExposure, out)
	}
	t.Log(level)
}

// TestBackupUnits: systemd accepts the units of the daily backup, and their command
// is one that nightporter takes.
func TestBackupUnits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"nightporter-backup.service", "nightporter-backup.timer"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := analyze(t, "verify", filepath.Join(dir, "nightporter-backup.timer"), filepath.Join(dir, "nightporter-backup.service")); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "nightporter-backup.service"))
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile(`(?m)^ExecStart=/bin/sh -c '(.*)'$`).FindSubmatch(text)
	if script == nil {
		t.Fatal("no command")
	}
	command := strings.NewReplacer("$$", "$", "%%", "%", "/usr/local/bin/nightporter", filepath.Join(programtest.BinDir(), "nightporter"), "/var/lib/nightporter", filepath.Join(dir, "state")).Replace(string(script[1]))
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", command)
	cmd.Env = append(os.Environ(), "STATE_DIRECTORY="+dir)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), filepath.Join(dir, "state")) || strings.Contains(string(out), "unknown") {
		t.Errorf("a backup of a state folder that is not there: %v\n%s", err, out)
	}
}

// TestUnitsAllowSessions: the unit's restrictions also hold for sessions, which
// are children of the daemon. They must permit all that the boundary needs,
// because a lower boundary level would remain unnoticed.
func TestUnitsAllowSessions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "nightporter.service"))
	if err != nil {
		t.Fatal(err)
	}
	set := map[string][]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			set[key] = append(set[key], strings.Fields(value)...)
		}
	}
	// Each of these covers a part of /proc, whereupon the kernel refuses a new
	// /proc to a session's namespace; or it ends programs that agents are.
	for _, key := range []string{"ProtectKernelTunables", "ProtectKernelLogs", "ProcSubset", "MemoryDenyWriteExecute", "PrivateTmp", "PrivateUsers"} {
		if set[key] != nil {
			t.Errorf("%s is set: the unit's own comment says why it must not be", key)
		}
	}
	for _, need := range []string{"user", "mnt", "pid", "ipc"} {
		if !slices.Contains(set["RestrictNamespaces"], need) {
			t.Errorf("RestrictNamespaces lacks %s", need)
		}
	}
	for key, want := range map[string]string{"KillMode": "process", "Type": "notify", "Restart": "on-failure", "StateDirectory": "nightporter", "LoadCredential": "telegram-token slack-app-token slack-bot-token"} {
		if strings.Join(set[key], " ") != want {
			t.Errorf("%s=%q, want %q", key, set[key], want)
		}
	}
	listener, err := os.ReadFile(filepath.Join("..", "..", "deploy", "nightporter.socket"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(listener, []byte("\nListenStream=/var/lib/nightporter/nightporter.sock\n")) || !bytes.Contains(text, []byte(" --state /var/lib/nightporter\n")) {
		t.Error("socket and service disagree about the state folder")
	}
	allowed := map[string]bool{}
	var open func(name string)
	open = func(name string) {
		if allowed[name] {
			return
		}
		allowed[name] = true
		if !strings.HasPrefix(name, "@") {
			return
		}
		out, err := analyze(t, "syscall-filter", name)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		for _, line := range strings.Split(out, "\n") {
			if f := strings.Fields(line); strings.HasPrefix(line, " ") && len(f) == 1 {
				open(f[0])
			}
		}
	}
	for _, name := range set["SystemCallFilter"] {
		open(name)
	}
	for _, call := range []string{
		"unshare", "clone", "clone3", "mount", "umount2", "mount_setattr", "pidfd_open", "pidfd_send_signal", "prctl", "setsid",
		"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp", "inotify_init1", "fcntl", "flock",
	} {
		if !allowed[call] {
			t.Errorf("SystemCallFilter does not allow %s, which sessions need", call)
		}
	}
}

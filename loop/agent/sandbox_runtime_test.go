package agent

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sandboxRuntime is @anthropic-ai/sandbox-runtime, with which the ways out are tried
// to compare: what Claude Code shuts its commands in with.
type sandboxRuntime struct {
	cli, version string
	dir          string // an empty folder, its home and what it may write
}

// findSandboxRuntime skips the test where NIGHTPORTER_SANDBOX_RUNTIME, the folder of
// the package, is not set, or what it needs is missing: bubblewrap, socat, ripgrep and,
// for a file of hosts of its own, root.
func findSandboxRuntime(t testing.TB) *sandboxRuntime {
	t.Helper()
	folder := os.Getenv("NIGHTPORTER_SANDBOX_RUNTIME")
	if folder == "" {
		t.Skip("SKIPPED: NIGHTPORTER_SANDBOX_RUNTIME, the folder of @anthropic-ai/sandbox-runtime, is not set (make soak sets it)")
	}
	for _, program := range []string{"node", "bwrap", "socat", "rg", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("SKIPPED: sandbox-runtime needs " + program)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can give sandbox-runtime a file of hosts of its own")
	}
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var pkg struct{ Version string }
	if err := json.Unmarshal(text, &pkg); err != nil || pkg.Version == "" {
		t.Fatalf("%s: no version: %v", folder, err)
	}
	return &sandboxRuntime{cli: filepath.Join(folder, "dist", "cli.js"), version: pkg.Version, dir: t.TempDir()}
}

// run runs a shell script in the sandbox, where the hosts' names lead to this machine,
// and returns what it prints.
func (s *sandboxRuntime) run(t testing.TB, script string, hosts ...string) string {
	t.Helper()
	settings, err := json.Marshal(map[string]any{
		"network":    map[string]any{"allowedDomains": hosts, "deniedDomains": []string{}},
		"filesystem": map[string]any{"denyRead": []string{}, "allowWrite": []string{s.dir}, "denyWrite": []string{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	names := "127.0.0.1 localhost models.example.org registry.example.org\n"
	for name, text := range map[string]string{"settings.json": string(settings), "hosts": names, "script.sh": script} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", `mount --bind "$1/hosts" /etc/hosts && shift && exec "$@"`, "sh", s.dir,
		"node", s.cli, "--settings", filepath.Join(s.dir, "settings.json"), "sh", filepath.Join(s.dir, "script.sh"))
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TMPDIR=" + s.dir, canaryVar + "=canary"}
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("sandbox-runtime: %v", err) // the script's last way may have failed, as it should
	}
	return string(out)
}

// TestWaysSandboxRuntime tries the same ways in sandbox-runtime and holds the table of
// docs/network.md against what came of it.
func TestWaysSandboxRuntime(t *testing.T) {
	s := findSandboxRuntime(t)
	if out := s.run(t, "echo inside", "models.example.org"); !strings.Contains(out, "inside") {
		t.Fatalf("sandbox-runtime runs nothing here:\n%s", out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	helper := l.Addr().String()
	_ = l.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, fmt.Sprintf("(setsid %s serve %s >/dev/null 2>&1 &) ; sleep 0.3", program, helper), "models.example.org")
	sockets := t.TempDir()
	w := newWaysWorld(t, filepath.Join(sockets, "np.sock"), filepath.Join(sockets, "s"), helper)
	script, tried := w.script(program, filepath.Join(s.dir, "ways.txt"), func(kind string) bool { return kind == "relay" })
	s.run(t, "export TMPDIR="+s.dir+"\n"+script,
		"models.example.org", "127.0.0.1:"+w.allowedPort, "127.0.0.1:"+w.tlsPort, "registry.example.org")
	said, _ := os.ReadFile(filepath.Join(s.dir, "ways.txt"))
	t.Logf("%s\nreached:\n%s", said, w.reached.Bytes())
	results := w.results(string(said), tried)
	var page strings.Builder
	fmt.Fprintf(&page, "| # | way | nightporter, level 3 | sandbox-runtime %s |\n|---|---|---|---|\n", s.version)
	for i, way := range ways {
		ours, theirs := "stopped", results[i]
		switch {
		case way.why != "":
			ours, theirs = "named", "named"
		case !tried[i]:
			theirs = "has none"
		case !strings.Contains(string(said), mark(i)):
			t.Errorf("way %d was not tried", i+1)
		}
		fmt.Fprintf(&page, "| %d | %s | %s | %s |\n", i+1, way.name, ours, theirs)
	}
	comparePage(t, "<!-- sandbox-runtime: written by TestWaysSandboxRuntime with -update -->\n", "<!-- end of sandbox-runtime -->\n", page.String())
}

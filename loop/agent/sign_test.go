package agent

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSigningKeys has sessions look for what signs the commits of the daemon's user:
// the agents of ssh and gpg, and the key files. HidesAgents says where they reach an
// agent.
func TestSigningKeys(t *testing.T) {
	top, err := os.MkdirTemp("", "keys") //nolint:usetesting // sockets need short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	if err := os.Chmod(top, 0o755); err != nil {
		t.Fatal(err)
	}
	home, gnupg, ssh := filepath.Join(top, "home"), filepath.Join(top, "gnupg"), filepath.Join(top, "ssh")
	key := filepath.Join(home, ".ssh", "id_ed25519")
	for _, d := range []string{filepath.Dir(key), gnupg, ssh} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	private := filepath.Join(gnupg, "private")
	for _, file := range []string{key, private} {
		if err := os.WriteFile(file, []byte("KEY MATERIAL\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("GNUPGHOME", gnupg)
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(ssh, "agent"))
	sockets := []string{filepath.Join(ssh, "agent"), filepath.Join(gnupg, "S.gpg-agent")}
	for _, path := range sockets {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}()
	}
	for level := 3; level >= 2; level-- {
		t.Run(fmt.Sprintf("level%d", level), func(t *testing.T) {
			h := newFixture(t, level, func(*Options) {})
			script := "env | grep -E '^(SSH_AUTH_SOCK|GNUPGHOME|SSH_AGENT_PID|GPG_)'; cat " + key + " " + private + " 2>/dev/null\n"
			for _, path := range sockets {
				script += fmt.Sprintf("%s connect %s >/dev/null && echo 'REACHED %s'\n", h.program(), path, path)
			}
			x := h.run("r1-1", script+"echo end")
			if !strings.HasSuffix(x.Tail, "end\n") {
				t.Fatalf("the session did not get to its end: %+v", x)
			}
			for _, bad := range []string{"SSH_", "GNUPGHOME", "GPG_", "KEY MATERIAL"} {
				if strings.Contains(x.Tail, bad) {
					t.Errorf("the session has %q: %s", bad, x.Tail)
				}
			}
			if reached := strings.Contains(x.Tail, "REACHED"); reached == h.runner.HidesAgents() {
				t.Errorf("a session reached an agent: %v, HidesAgents says: %v\n%s", reached, h.runner.HidesAgents(), x.Tail)
			}
		})
	}
}

package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAgentVariables: the variables of an agent's row reach its sessions but no
// command of the project, and env_file overrides them.
func TestAgentVariables(t *testing.T) {
	h := newFixture(t, 0)
	file := filepath.Join(h.out, "claude.env")
	if err := os.WriteFile(file, []byte("CLAUDE_CODE_MAX_RETRIES=7\nANTHROPIC_API_KEY=k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := BuiltIn()[adapter.Claude]
	d.Dir, d.EnvFile = h.out, "claude.env"
	for kind, want := range map[ledger.Kind]bool{ledger.KindAgent: true, ledger.KindVerify: false, ledger.KindSetup: false} {
		l := h.launch("r1-1")
		l.Kind = kind
		env, err := h.runner.environment(l, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []string{"CLAUDE_CODE_MAX_RETRIES=7", "DISABLE_TELEMETRY=1", "ANTHROPIC_API_KEY=k"} {
			if slices.Contains(env, v) != want {
				t.Errorf("%s: %s: %v", kind, v, env)
			}
		}
		if slices.Contains(env, "CLAUDE_CODE_MAX_RETRIES=2") {
			t.Errorf("%s: env_file did not win", kind)
		}
	}
}

func TestParseEnvFile(t *testing.T) {
	got, err := parseEnvFile("keys.env", []byte("\uFEFF# keys\r\n\r\nA=1\r\nexport B = \n  C='x y'\nD=\"a=b\"\nE=\nF='\n"))
	var in *ledger.InputError
	if !errors.As(err, &in) || in.Diagnostics[0].Line != 4 { // the name "B " is invalid
		t.Errorf("%v, %v", got, err)
	}
	got, err = parseEnvFile("keys.env", []byte("\uFEFF# keys\r\n\r\nA=1\r\nexport B=2\n  C='x y'\nD=\"a=b\"\nE=\nF='\n"))
	if d := cmp.Diff([]string{"A=1", "B=2", "C=x y", "D=a=b", "E=", "F='"}, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	for _, bad := range []string{"A", "=1", "1A=2", "A B=1", "A=\x00"} {
		if _, err := parseEnvFile("keys.env", []byte(bad)); !errors.As(err, &in) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

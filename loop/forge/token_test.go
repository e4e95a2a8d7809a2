package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestReadToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "github.token")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("  ghp_abc \n", 0o600)
	if got, err := ReadToken(file, false); err != nil || string(got) != "ghp_abc" {
		t.Errorf("%q, %v", string(got), err)
	}
	write("ghp_abc", 0o440)
	if _, err := ReadToken(file, true); err != nil {
		t.Errorf("a credential: %v", err)
	}
	for name, prepare := range map[string]func(){
		"others read it": func() { write("ghp_abc", 0o640) },
		"empty":          func() { write("\n", 0o600) },
		"two lines":      func() { write("ghp_abc\nghp_def\n", 0o600) },
		"binary":         func() { write("ghp_\x00", 0o600) },
		"long":           func() { write(strings.Repeat("ghp_", 2000), 0o600) },
		"missing":        func() { _ = os.Remove(file) },
		"a folder":       func() { _ = os.Mkdir(file, 0o700) },
		"a pipe": func() {
			_ = os.Remove(file)
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"another user's": func() {
			_ = os.Remove(file)
			write("ghp_abc", 0o600)
			if os.Geteuid() == 0 {
				if err := os.Chown(file, 65534, 65534); err != nil {
					t.Fatal(err)
				}
			} else {
				write("", 0o600) // only root can give a file away
			}
		},
	} {
		_ = os.Remove(file)
		prepare()
		_, err := ReadToken(file, false)
		var f *ledger.ForgeError
		if !errors.As(err, &f) || f.Failure != ledger.ForgeLogin || !strings.Contains(f.Text, "github.token") || f.Remedy == "" || strings.Contains(f.Text, "ghp_") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTokenIsHidden(t *testing.T) {
	token := Token("ghp_abc")
	text, err := json.Marshal(struct{ T Token }{token})
	if all := fmt.Sprintf("%s %v %q %#v %s", token, token, token, struct{ T Token }{token}, text); err != nil || strings.Contains(all, "ghp_") || strings.Contains(token.LogValue().String(), "ghp_") {
		t.Errorf("%s, %v", all, err)
	}
}

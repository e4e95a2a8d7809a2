package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLoginShells: a login shell, whose system profile sets PATH anew, finds hat,
// the wrappers of denied programs and the toolchain first, like any other shell.
func TestLoginShells(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level int) {
		recordingPrograms(t, "sometool")
		h := newFixture(t, level)
		box := filepath.Join(h.runner.folder("r1-1"), dirBox)
		tool, err := exec.LookPath("sometool")
		if err != nil {
			t.Fatal(err)
		}
		want := filepath.Join(box, boxBin, "hat") + "\n" + filepath.Join(box, boxWrap, "git") + "\n" + tool + "\n"
		for _, shell := range []string{"bash", "sh", "dash", "zsh", "ksh"} {
			if _, err := exec.LookPath(shell); err != nil {
				t.Logf("SKIPPED %s: %v", shell, err)
				continue
			}
			h.script(`
out=$(` + shell + ` -lc 'command -v hat; command -v git; command -v sometool' 2>&1 || echo failed); echo "$out"
` + shell + ` -lc 'git push --force origin main' 2>/dev/null; [ $? = 77 ] || echo "BAD the floor is open"
[ "$(` + shell + ` -lc "` + shell + ` -lc 'echo \$PATH'" | tr ':' '\n' | grep -c 'box/wrap$')" = 1 ] || echo "BAD PATH grows"
[ "$(env -i HOME="$HOME" "$(command -v ` + shell + `)" -lc 'command -v hat')" ] || echo "BAD without a PATH"`)
			name := "r1-" + shell
			want := strings.ReplaceAll(want, "r1-1", name)
			h.start(h.launchDenied(name))
			if x := h.wait(name); x.Tail != want {
				t.Errorf("%s -lc:\n%s\nwant:\n%s", shell, x.Tail, want)
			}
		}
	})
}

// TestProfileOfSetup: the profile that setup_home gives is kept, in the shell
// that reads another file as well.
func TestProfileOfSetup(t *testing.T) {
	for _, name := range []string{".profile", ".bash_profile"} {
		t.Run(name, func(t *testing.T) {
			given := t.TempDir()
			if err := os.Chmod(given, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(given, name), []byte("export GIVEN=yes"), 0o600); err != nil {
				t.Fatal(err)
			}
			h := newFixture(t, 0, func(o *Options) {
				o.Projects = map[string]Grant{"shop": {Surroundings: Surroundings{SetupHome: given}}}
			})
			l := h.launch("r1-1")
			l.Kind, l.Cache.Trusted = ledger.KindSetup, true
			l.Command = `bash -lc 'echo "$GIVEN"; command -v hat'`
			h.start(l)
			if x := h.wait("r1-1"); x.Tail != "yes\n"+filepath.Join(h.runner.folder("r1-1"), dirBox, boxBin, "hat")+"\n" {
				t.Errorf("exit %+v", x)
			}
		})
	}
}

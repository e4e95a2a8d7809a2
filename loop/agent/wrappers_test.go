package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/loop/ledger"
)

// launchDenied returns a launch with the rules that every hat has, and a
// protected branch.
func (h *fixture) launchDenied(session string) ledger.Launch {
	l := h.launch(session)
	l.Denied = []string{"git push --force", "rm -rf", "DROP TABLE", "DROP DATABASE", "mkfs", "dd of=/dev", "curl | sh", "deploy production", "no-such-program now"}
	l.Protected = []string{"main"}
	return l
}

// recordingPrograms puts programs at the front of the daemon's PATH that record
// their arguments. It returns the file of the record.
func recordingPrograms(t *testing.T, names ...string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("#!/bin/sh\necho \"${0##*/} $*\" >>calls\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return "calls" // a file in the work folder
}

const repository = `
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.example
git init --quiet --bare remote.git && git init --quiet -b topic clone && cd clone &&
git remote add origin ../remote.git && git commit --quiet --allow-empty -m first && git push --quiet origin topic &&
git commit --quiet --amend --allow-empty -m second || echo "BAD git"
`

// TestDenied runs a hat's denied commands in a real session, with real
// programs.
func TestDenied(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level int) {
		calls := recordingPrograms(t, "psql", "deploy")
		h := newFixture(t, level)
		if err := os.Mkdir(filepath.Join(h.out, "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(h.out, "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		h.script(`
refused() { "$@" 2>refusal; code=$?; [ $code = 77 ] && grep -q "is denied to the builder" refusal || { echo "BAD $code: $*"; cat refusal; }; }
fine() { "$@" || echo "BAD refused: $*"; }
` + repository + `
refused git push --force origin topic
refused git push -uf origin topic
refused git -C . push origin +topic
refused git push origin HEAD:main
refused git push
refused env -i PATH="$PATH" git push --force origin topic
refused sh -c "cd .. && git -C clone push --force origin topic"
fine git push --quiet origin topic:other
cd ..
mkdir -p build/deep "$TMPDIR/x" "$HOME/x"; ln -s ` + h.out + ` link
refused rm -rf ../x
refused rm -rf ` + h.out + `/x
refused rm -fr build link/x
refused rm -rf "$PWD"
fine rm -rf build
fine rm -rf "$PWD/clone/.git" "$TMPDIR/x" "$HOME/x" link
[ ! -e build ] && [ ! -e "$TMPDIR/x" ] && [ ! -L link ] || echo "BAD not removed"
refused psql shop -c "drop  table users"
refused deploy production --now
fine psql -c "select 1"
fine deploy staging
refused dd if=/dev/zero of=/dev/sda count=0
fine dd if=/dev/zero of=zeros count=1 2>/dev/null
command -v no-such-program && echo "BAD a wrapper of nothing"
echo x >"$(dirname "$(command -v git)")/rules.json" && echo "BAD the rules can be written"
echo end
`)
		h.start(h.launchDenied("r1-1"))
		x := h.wait("r1-1")
		tail := x.Tail
		if level == 1 && os.Geteuid() != 0 {
			tail = strings.ReplaceAll(tail, "BAD the rules can be written\n", "") // at this level the boundary does not protect them
		}
		if lines := strings.Split(strings.TrimSpace(tail), "\n"); strings.Contains(tail, "BAD") || lines[len(lines)-1] != "end" {
			t.Errorf("exit %+v\n%s", x, h.log("r1-1"))
		}
		if data, err := os.ReadFile(filepath.Join(h.work, calls)); string(data) != "psql -c select 1\ndeploy staging\n" {
			t.Errorf("what was not to be reached: %q, %v", data, err)
		}
		if _, err := os.Stat(filepath.Join(h.out, "x")); err != nil {
			t.Error(err)
		}
		cmd := exec.Command("git", "--git-dir", filepath.Join(h.work, "remote.git"), "-c", "safe.directory=*", "log", "--all", "--format=%S %s")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "refs/heads/other second\nrefs/heads/topic first\n" {
			t.Errorf("what was pushed: %v\n%s", err, out)
		}
	})
}

// TestDeployingDenied: no hat deploys or publishes, unless the task or the project
// names the command.
func TestDeployingDenied(t *testing.T) {
	calls := recordingPrograms(t, "kubectl", "npm")
	h := newFixture(t, 0)
	h.script(`
kubectl apply -f prod.yaml 2>refusal; [ $? = 77 ] || echo "BAD kubectl apply"
grep -q "deploys or publishes" refusal && grep -q -- "- Allow: .kubectl apply." refusal || cat refusal
npm publish; npm publish --tag next 2>/dev/null; npm test; kubectl get pods
echo end`)
	l := h.launch("r1-1")
	l.Allowed = []string{"npm publish --access public", "npm publish --tag next"}
	h.start(l)
	x := h.wait("r1-1")
	if want := []string{"kubectl apply", "npm publish"}; !slices.Equal(x.Denied, want) {
		t.Errorf("denied: %q, want %q", x.Denied, want)
	}
	if !strings.HasSuffix(x.Tail, "Instead: end with hat ask where it has to be done; a person allows it by a line of the task: - Allow: `npm publish`.\nend\n") || strings.Contains(x.Tail, "BAD") {
		t.Errorf("exit %+v", x)
	}
	if data, err := os.ReadFile(filepath.Join(h.work, calls)); string(data) != "npm publish --tag next\nnpm test\nkubectl get pods\n" {
		t.Errorf("calls: %q, %v", data, err)
	}
}

// TestNoWrappers: a hat without rules has no wrappers, and neither does a
// command of the project, which verifies the work.
func TestNoWrappers(t *testing.T) {
	h := newFixture(t, 0)
	h.script(`command -v git; command -v rm; ls "${PATH%%/bin:*}/wrap" | grep -x -e git -e rm -e '.*json'`)
	h.start(h.launch("r1-1"))
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	rm, err := exec.LookPath("rm")
	if err != nil {
		t.Fatal(err)
	}
	if x := h.wait("r1-1"); x.Tail != git+"\n"+rm+"\n"+guard.RulesFile+"\n" {
		t.Errorf("a hat without rules: %+v", x)
	}
	l := h.launchDenied("r1-c1")
	l.Kind, l.Command = ledger.KindVerify, repository+"git push --quiet --force origin topic && echo pushed"
	h.start(l)
	if x := h.wait("r1-c1"); x.Code != 0 || x.Tail != "pushed\n" {
		t.Errorf("a command: %+v", x)
	}
}

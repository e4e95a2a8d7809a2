package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// needs skips a test for programs that are not installed.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed, and this test signs with the real one", p)
		}
	}
}

// shell runs a program of the user's, and fails the test on an error.
func shell(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// gpgKey makes a home of gpg with one key, and has git sign with it. Its agent ends
// with the test.
func gpgKey(t *testing.T, repo, passphrase string) {
	t.Helper()
	needs(t, "gpg", "gpg-agent", "gpgconf")
	home, err := os.MkdirTemp("", "gpg") //nolint:usetesting // the agent's socket needs a short path
	must(t, err)
	t.Setenv("GNUPGHOME", home)
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run() //nolint:noctx // the test's context has ended
		must(t, os.RemoveAll(home))
	})
	shell(t, "gpg", "--batch", "--quiet", "--pinentry-mode=loopback", "--passphrase", passphrase, "--quick-generate-key", "Ada Example <ada@example.org>", "ed25519", "sign", "1d")
	shell(t, "gpgconf", "--reload", "gpg-agent") // which would remember the passphrase
	git(t, repo, "config", "gpg.format", "openpgp")
}

// sshKey makes a key of ssh, and has git sign with it and trust it.
func sshKey(t *testing.T, repo, passphrase string) (file string) {
	t.Helper()
	needs(t, "ssh-keygen")
	t.Setenv("SSH_AUTH_SOCK", "")
	file = filepath.Join(os.Getenv("HOME"), ".ssh", "id_ed25519")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	shell(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", file)
	public, err := os.ReadFile(file + ".pub")
	must(t, err)
	writeFile(t, repo, ".git/allowed", "ada@example.org "+string(public))
	git(t, repo, "config", "gpg.format", "ssh")
	git(t, repo, "config", "gpg.ssh.allowedSignersFile", filepath.Join(repo, ".git/allowed"))
	git(t, repo, "config", "user.signingkey", "~/.ssh/id_ed25519")
	return file
}

func signs(o *Options) { o.Sign = true }

// TestSign has commits signed by real programs, and verified by the user's git.
func TestSign(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, repo string){
		"openpgp, key by committer": func(t *testing.T, repo string) { gpgKey(t, repo, "") },
		"openpgp, key by address": func(t *testing.T, repo string) {
			gpgKey(t, repo, "")
			git(t, repo, "config", "user.signingkey", "ada@example.org")
		},
		"openpgp, a program of their own": func(t *testing.T, repo string) {
			gpgKey(t, repo, "")
			program := filepath.Join(t.TempDir(), "sign.sh")
			must(t, os.WriteFile(program, []byte("#!/bin/sh\nexec gpg \"$@\"\n"), 0o755))
			git(t, repo, "config", "gpg.program", program)
		},
		"ssh, key file": func(t *testing.T, repo string) { sshKey(t, repo, "") },
		"ssh, key in an agent": func(t *testing.T, repo string) {
			needs(t, "ssh-agent", "ssh-add")
			file := sshKey(t, repo, "locked up")
			public, err := os.ReadFile(file + ".pub")
			must(t, err)
			git(t, repo, "config", "user.signingkey", "key::"+strings.TrimSpace(string(public)))
			sshAgent(t, file, "locked up")
		},
		"ssh, key by a command": func(t *testing.T, repo string) {
			needs(t, "ssh-agent", "ssh-add")
			file := sshKey(t, repo, "")
			sshAgent(t, file, "")
			git(t, repo, "config", "--unset", "user.signingkey")
			git(t, repo, "config", "gpg.ssh.defaultKeyCommand", "ssh-add -L")
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := shop(t)
			prepare(t, repo)
			w := workspace(t, repo, signs)
			base := begin(t, w, "r1")
			taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/cart.go", "package cart // 1\n") })
			c := signedTask(base, base.Commit, taken.Tree)
			done, err := w.Commit(t.Context(), c, nil)
			must(t, err)
			git(t, repo, "verify-commit", base.Branch)
			git(t, repo, "fsck", "--strict", "--no-dangling")
			want := "Ada Example <ada@example.org> Ada Example <ada@example.org> 2026-11-20T22:30:00+01:00"
			if got := git(t, repo, "show", "-s", "--format=%an <%ae> %cn <%ce> %cI", base.Branch); got != want {
				t.Errorf("the commit is %s, want %s", got, want)
			}
			again, err := w.Commit(t.Context(), c, nil)
			if err != nil || again.Commit != done.Commit {
				t.Errorf("again: %s, %v, want %s", again.Commit, err, done.Commit)
			}
		})
	}
}

// sshAgent starts an agent that holds a key.
func sshAgent(t *testing.T, file, passphrase string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") //nolint:usetesting // a socket needs a short path
	must(t, err)
	sock := filepath.Join(dir, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", sock) //nolint:noctx // ended below
	out, err := agent.StdoutPipe()
	must(t, err)
	must(t, agent.Start())
	t.Cleanup(func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
		must(t, os.RemoveAll(dir))
	})
	_, err = out.Read(make([]byte, 1)) // it prints its socket once it listens
	must(t, err)
	t.Setenv("SSH_AUTH_SOCK", sock)
	ask := filepath.Join(dir, "ask")
	must(t, os.WriteFile(ask, []byte("#!/bin/sh\necho '"+passphrase+"'\n"), 0o755))
	add := exec.CommandContext(t.Context(), "ssh-add", "-q", file)
	add.Env = append(os.Environ(), "SSH_ASKPASS="+ask, "SSH_ASKPASS_REQUIRE=force")
	if said, err := add.CombinedOutput(); err != nil {
		t.Fatalf("ssh-add: %v\n%s", err, said)
	}
}

// signedTask is commitTask for a run that signs.
func signedTask(base ledger.Base, parent, tree string) ledger.CommitTask {
	c := commitTask(base, parent, tree)
	c.Committer = base.Committer
	return c
}

// TestSignRefused tries what keeps a run that signs from starting: the user reads
// why, and a command that ends it, and nothing waits for them.
func TestSignRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, repo string)
		want    string
	}{
		"no key": {func(t *testing.T, repo string) {
			gpgKey(t, repo, "")
			git(t, repo, "config", "user.signingkey", "grace@example.org")
		}, "No secret key"},
		"locked":      {func(t *testing.T, repo string) { gpgKey(t, repo, "locked up") }, "the key is locked: gpg would ask for its passphrase"},
		"ssh, locked": {func(t *testing.T, repo string) { sshKey(t, repo, "locked up") }, "incorrect passphrase"},
		"ssh, no file": {func(t *testing.T, repo string) {
			file := sshKey(t, repo, "")
			must(t, os.Remove(file))
			must(t, os.Remove(file+".pub"))
		}, "No such file or directory"},
		"ssh, no key set": {func(t *testing.T, repo string) {
			sshKey(t, repo, "")
			git(t, repo, "config", "--unset", "user.signingkey")
		}, "user.signingkey is not set"},
		"ssh, a command that fails": {func(t *testing.T, repo string) {
			sshKey(t, repo, "")
			git(t, repo, "config", "--unset", "user.signingkey")
			git(t, repo, "config", "gpg.ssh.defaultKeyCommand", "echo broken >&2; exit 3")
		}, "broken"},
		"no program":     {func(t *testing.T, repo string) { git(t, repo, "config", "gpg.program", "/nonexistent/gpg") }, "cannot be started"},
		"unknown format": {func(t *testing.T, repo string) { git(t, repo, "config", "gpg.format", "wax") }, `gpg.format is "wax"`},
		"a silent liar":  {func(t *testing.T, repo string) { git(t, repo, "config", "gpg.program", "/bin/true") }, "made no signature"},
		"ssh, a liar too": {func(t *testing.T, repo string) {
			sshKey(t, repo, "")
			git(t, repo, "config", "gpg.ssh.program", "/bin/true")
		}, "made no signature"},
		"nobody": {func(t *testing.T, repo string) {
			git(t, repo, "config", "user.name", "")
			git(t, repo, "config", "user.email", "")
		}, "no name and e-mail"},
	} {
		t.Run(name, func(t *testing.T) {
			repo := shop(t)
			c.prepare(t, repo)
			_, err := workspace(t, repo, signs).Begin(t.Context(), ledger.Begin{Run: "r1"})
			in, ok := errors.AsType[*ledger.InputError](err)
			if !ok || len(in.Diagnostics) != 1 {
				t.Fatalf("begin: %v", err)
			}
			d := in.Diagnostics[0]
			t.Log(d.Text)
			if !strings.Contains(d.Text, c.want) || !strings.HasPrefix(d.Text, "sign = true, and commits cannot be signed: ") {
				t.Errorf("it says %q, want %q in it", d.Text, c.want)
			}
			if !strings.Contains(d.Remedy, "git -C "+repo+" commit-tree -S") {
				t.Errorf("the remedy is %q", d.Remedy)
			}
		})
	}
}

// TestSignHangs signs with a program that waits for a person, like a key that wants
// to be touched, and leaves a child behind.
func TestSignHangs(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "touch-me")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nsleep 1000 & wait\n"), 0o755))
	s := &signer{set: map[string]string{"gpg.program": program}, limit: 200 * time.Millisecond, env: os.Environ(), committer: "Ada <ada@example.org>"}
	begun := time.Now()
	_, err := s.sign(t.Context(), []byte("text"))
	if _, ok := errors.AsType[signError](err); !ok {
		t.Errorf("sign: %v", err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestSignNoTerminal looks at what a signing program is given of the daemon's
// surroundings.
func TestSignNoTerminal(t *testing.T) {
	repo := shop(t)
	out := filepath.Join(t.TempDir(), "env")
	program := filepath.Join(t.TempDir(), "gpg.sh")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nenv >"+out+"\n(: </dev/tty) 2>/dev/null && echo terminal >>"+out+"\nexit 1\n"), 0o755))
	git(t, repo, "config", "gpg.program", program)
	for _, key := range []string{"GPG_TTY", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSH_ASKPASS", "GIT_DIR", "SECRET_TOKEN"} {
		t.Setenv(key, "leaked")
	}
	t.Setenv("GNUPGHOME", "/kept/gnupg")
	t.Setenv("SSH_AUTH_SOCK", "/kept/agent")
	_, err := workspace(t, repo, signs).Begin(t.Context(), ledger.Begin{Run: "r1"})
	if err == nil {
		t.Fatal("a program that failed has signed")
	}
	env := readFile(t, "/", out)
	if strings.Contains(env, "leaked") || strings.Contains(env, "terminal") {
		t.Errorf("the program has:\n%s", env)
	}
	for _, want := range []string{"HOME=" + os.Getenv("HOME"), "GNUPGHOME=/kept/gnupg", "SSH_AUTH_SOCK=/kept/agent", "SSH_ASKPASS_REQUIRE=never"} {
		if !strings.Contains(env, want+"\n") {
			t.Errorf("the program lacks %s:\n%s", want, env)
		}
	}
}

// TestSignFails loses the key while a run is in progress: the commit is a fault that
// a person ends, no unsigned commit is published, and the next try has a signature.
func TestSignFails(t *testing.T) {
	repo := shop(t)
	file := sshKey(t, repo, "")
	w := workspace(t, repo, signs)
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/cart.go", "package cart // 1\n") })
	must(t, os.Rename(file, file+".away"))
	c := signedTask(base, base.Commit, taken.Tree)
	_, err := w.Commit(t.Context(), c, nil)
	if of, ok := errors.AsType[*ledger.RepositoryError](err); !ok || !strings.HasPrefix(of.Text, "the commit cannot be signed: ") || !strings.Contains(of.Remedy, "commit-tree -S") {
		t.Errorf("commit: %v", err)
	}
	if fault.Of(err) != ledger.FaultRepository {
		t.Errorf("commit: fault %q", fault.Of(err))
	}
	if out, err := tryGit(t, repo, "rev-parse", "--verify", "--quiet", base.Branch); err == nil {
		t.Errorf("the branch is at %s", out)
	}
	must(t, os.Rename(file+".away", file))
	_, err = w.Commit(t.Context(), c, nil)
	must(t, err)
	git(t, repo, "verify-commit", base.Branch)
}

// TestSignedOnce commits again after a crash at each step, with signatures that
// differ each time: there is one signed commit.
func TestSignedOnce(t *testing.T) {
	repo := shop(t)
	count := filepath.Join(t.TempDir(), "count")
	program := filepath.Join(t.TempDir(), "gpg.sh")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\ncat >/dev/null\necho >>"+count+"\necho '[GNUPG:] SIG_CREATED ' >&2\necho \"signature $(wc -l <"+count+") $$\"\n"), 0o755))
	git(t, repo, "config", "gpg.program", program)
	made := func() int { return strings.Count(readFile(t, "/", count), "\n") }
	w := workspace(t, repo, signs)
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/cart.go", "package cart // 1\n") })
	c := signedTask(base, base.Commit, taken.Tree)
	tried := made()

	// The first commit gets as far as the signature: the user's branch is held.
	lock := filepath.Join(repo, ".git/refs/heads", base.Branch+".lock")
	must(t, os.MkdirAll(filepath.Dir(lock), 0o755))
	must(t, os.WriteFile(lock, nil, 0o644))
	if _, err := w.Commit(t.Context(), c, nil); err == nil {
		t.Fatal("the branch was moved in spite of its lock")
	}
	must(t, os.Remove(lock))
	signed := git(t, w.gitDir, "for-each-ref", "--format=%(objectname)", "refs/nightporter/shop/r1/signed")
	for range 2 {
		again, err := Open(t.Context(), w.o) // another process
		must(t, err)
		done, err := again.Commit(t.Context(), c, nil)
		must(t, err)
		if done.Commit != signed || git(t, repo, "rev-parse", base.Branch) != signed {
			t.Errorf("the commit is %s, and the signed one was %s", done.Commit, signed)
		}
	}
	if got := made() - tried; got != 1 {
		t.Errorf("%d signatures were made of one commit", got)
	}

	// A merge of an earlier run's branch with HEAD is a commit, too.
	writeFile(t, repo, "README.md", "A larger shop.\n")
	git(t, repo, "commit", "-q", "-am", "mine")
	var merges []string
	for range 2 {
		next, err := w.Begin(t.Context(), ledger.Begin{Run: "r2", Previous: base.Branch})
		must(t, err)
		merges = append(merges, next.Commit)
	}
	if text := git(t, w.gitDir, "cat-file", "commit", merges[0]); merges[0] != merges[1] || !strings.Contains(text, "\ngpgsig signature ") || !strings.Contains(text, "\ncommitter Ada Example ") {
		t.Errorf("the merges are %v:\n%s", merges, text)
	}
}

// TestSignSHA256 signs in a repository of the longer hashes, whose signatures have a
// header of their own.
func TestSignSHA256(t *testing.T) {
	setHome(t)
	repo := t.TempDir()
	git(t, repo, "init", "-q", "--object-format=sha256")
	writeFile(t, repo, "a.go", "package a\n")
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", "First")
	sshKey(t, repo, "")
	w := workspace(t, repo, signs)
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "a.go", "package a // 1\n") })
	_, err := w.Commit(t.Context(), signedTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	git(t, repo, "verify-commit", base.Branch)
}

// TestSignOtherOwner signs as the owner of a repository, whose home has the key.
func TestSignOtherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can sign for another user")
	}
	needs(t, "ssh-keygen")
	repo := shop(t)
	const uid = 65534
	program := filepath.Join(filepath.Dir(repo), "gpg.sh")
	out := filepath.Join(filepath.Dir(repo), "who")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\ncat >/dev/null\nid -u >>"+out+"\nenv | grep SSH_AUTH_SOCK >>"+out+"\necho '[GNUPG:] SIG_CREATED ' >&2\necho signature\n"), 0o755))
	must(t, os.WriteFile(out, nil, 0o666))
	must(t, os.Chmod(out, 0o666))
	t.Setenv("SSH_AUTH_SOCK", "/of/root")
	git(t, repo, "config", "gpg.program", program)
	git(t, repo, "config", "user.name", "Ada Example")
	git(t, repo, "config", "user.email", "ada@example.org")
	for dir := repo; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	must(t, filepath.WalkDir(repo, func(p string, _ os.DirEntry, err error) error { return errors.Join(err, os.Lchown(p, uid, uid)) }))
	w := workspace(t, repo, signs)
	base := begin(t, w, "r1")
	if base.Committer != "Ada Example <ada@example.org>" {
		t.Errorf("the committer is %q", base.Committer)
	}
	if got := readFile(t, "/", out); got != fmt.Sprintf("%d\n", uid) {
		t.Errorf("the program ran as %q", got)
	}
}

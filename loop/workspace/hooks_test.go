package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// hook writes a hook of the user's repository.
func hook(t *testing.T, repo, name, script string) {
	t.Helper()
	writeFile(t, repo, name, "#!/bin/sh\n"+script+"\n")
	must(t, os.Chmod(filepath.Join(repo, name), 0o755))
}

// hooksIn runs the command of hooks in a room, and returns its output and whether it
// was green.
func hooksIn(t *testing.T, room ledger.Room) (said string, green bool) {
	t.Helper()
	said = inRoom(t, room, ledger.HooksCommand+" 2>&1 && echo GREEN || echo RED; git status --porcelain --untracked-files=no; git rev-parse HEAD >head-after")
	return said, strings.Contains(said, "\nGREEN") || strings.HasPrefix(said, "GREEN")
}

// TestHooks runs the hooks of a repository on a session's tree, wherever git finds
// them.
func TestHooks(t *testing.T) {
	const picky = `git diff --cached --name-only; if git diff --cached | grep -q '^+.*BAD'; then echo "no BAD please"; exit 1; fi`
	for name, c := range map[string]struct {
		prepare func(repo string)
		change  string
		red     bool
		want    string
	}{
		"none":           {func(string) {}, "ok", false, ""},
		"green":          {func(repo string) { hook(t, repo, ".git/hooks/pre-commit", picky) }, "ok", false, "cart/cart.go\nweb/new.ts"},
		"red":            {func(repo string) { hook(t, repo, ".git/hooks/pre-commit", picky) }, "BAD", true, "The hook pre-commit refuses the commit:\ncart/cart.go\nweb/new.ts\nno BAD please"},
		"not executable": {func(repo string) { writeFile(t, repo, ".git/hooks/pre-commit", "exit 1\n") }, "ok", false, ""},
		"a sample":       {func(repo string) { hook(t, repo, ".git/hooks/pre-commit.sample", "exit 1") }, "ok", false, ""},
		"with a file beside": {func(repo string) {
			hook(t, repo, ".git/hooks/pre-commit", `. "$(dirname "$0")/lib/all.sh"`)
			writeFile(t, repo, ".git/hooks/lib/all.sh", picky)
		}, "BAD", true, "no BAD please"},
		"a link into the tree": {func(repo string) {
			hook(t, repo, "scripts/check.sh", picky)
			git(t, repo, "add", "-A")
			git(t, repo, "commit", "-q", "-m", "check")
			must(t, os.MkdirAll(filepath.Join(repo, ".git/hooks"), 0o755))
			must(t, os.Symlink("../../scripts/check.sh", filepath.Join(repo, ".git/hooks/pre-commit")))
		}, "BAD", true, "no BAD please"},
		"a link elsewhere": {func(repo string) {
			hook(t, repo+"-tools", "check", picky)
			must(t, os.MkdirAll(filepath.Join(repo, ".git/hooks"), 0o755))
			must(t, os.Symlink(repo+"-tools/check", filepath.Join(repo, ".git/hooks/pre-commit")))
		}, "BAD", true, "no BAD please"},
		"a folder in the tree": {func(repo string) {
			hook(t, repo, ".githooks/pre-commit", picky)
			git(t, repo, "add", "-A")
			git(t, repo, "commit", "-q", "-m", "check")
			git(t, repo, "config", "core.hooksPath", ".githooks")
		}, "BAD", true, "no BAD please"},
		"a folder that setup makes, and did not": {func(repo string) {
			hook(t, repo, ".husky/_/pre-commit", picky)
			writeFile(t, repo, ".husky/_/.gitignore", "*\n")
			git(t, repo, "config", "core.hooksPath", ".husky/_")
		}, "ok", true, "The hook pre-commit of the checkout is not in this room"},
		"a folder of the person's": {func(repo string) {
			hook(t, os.Getenv("HOME"), "hooks/pre-commit", picky)
			git(t, repo, "config", "--global", "core.hooksPath", "~/hooks")
		}, "BAD", true, "no BAD please"},
		"changes files":            {func(repo string) { hook(t, repo, ".git/hooks/pre-commit", "echo formatted >>cart/cart.go") }, "ok", true, "+formatted"},
		"changes and stages files": {func(repo string) { hook(t, repo, ".git/hooks/pre-commit", "echo formatted >>cart/cart.go; git add -u") }, "ok", true, "make them yourself"},
		"refuses the message": {func(repo string) {
			hook(t, repo, ".git/hooks/commit-msg", `grep -q '^SHOP-[0-9]' "$1" || { echo "no ticket"; exit 1; }`)
		}, "ok", true, "The hook commit-msg refuses the commit:\nno ticket"},
		"changes the message": {func(repo string) {
			hook(t, repo, ".git/hooks/prepare-commit-msg", `test "$2" = message && echo more >>"$1"`)
		}, "ok", false, ""},
		"asks": {func(repo string) { hook(t, repo, ".git/hooks/pre-commit", "read -r answer </dev/tty || exit 1") }, "ok", true, "refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			repo := shop(t)
			c.prepare(repo)
			w := workspace(t, repo, func(o *Options) { o.Hooks = true })
			base := begin(t, w, "r1")
			if noted := len(base.Notes) > 0; noted != (name == "none" || name == "not executable" || name == "a sample") {
				t.Errorf("notes: %v", base.Notes)
			}
			r := &roomWorld{t: t, w: w, base: base}
			if said, green := hooksIn(t, r.lay(ledger.RoomUse{Tree: base.Commit}, true)); !green && !c.red {
				t.Errorf("the start is red: %s", said)
			}
			taken := session(t, w, base, "", all, func(dir string) {
				writeFile(t, dir, "cart/cart.go", "package cart // "+c.change+"\n")
				writeFile(t, dir, "web/new.ts", "new\n")
			})
			room := r.lay(ledger.RoomUse{Tree: taken.Tree, Parent: base.Commit}, true)
			before := inRoom(t, room, "git rev-parse HEAD")
			for range 2 { // a red command is repeated
				said, green := hooksIn(t, room)
				if green == c.red || !strings.Contains(said, c.want) {
					t.Errorf("green: %v, it says:\n%s\nwant %q", green, said, c.want)
				}
				if after := inRoom(t, room, "git rev-parse HEAD; git diff --stat"); after != before {
					t.Errorf("the room is at %s, and was at %s", after, before)
				}
			}
		})
	}
}

// TestHooksLater runs hooks in a room whose layer is that of an earlier commit, in a
// repository with a submodule: they see what the task changes and nothing else.
func TestHooksLater(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		repo := shop(t)
		withSubmodule(t, repo)
		hook(t, repo, ".git/hooks/pre-commit", "git diff --cached --name-status HEAD; git stash list; cat vendor/lib/lib.c")
		w := workspace(t, repo, func(o *Options) { o.Hooks = true; o.Mounts = func() bool { return mounts } })
		t.Cleanup(func() { _ = makeAccessible(w.o.State) })
		base := begin(t, w, "r1")
		r := &roomWorld{t: t, w: w, base: base}
		r.lay(ledger.RoomUse{Tree: base.Commit}, true) // the layer of all that follow
		first := session(t, w, base, "", all, func(dir string) {
			writeFile(t, dir, "cart/cart.go", "package cart // 1\n")
			writeFile(t, dir, "a/b/c.go", "package b\n")
		})
		done, err := w.Commit(t.Context(), commitTask(base, base.Commit, first.Tree), nil)
		must(t, err)
		second := session(t, w, base, done.Tree, all, func(dir string) { writeFile(t, dir, "cart/cart.go", "package cart // 2\n") })
		said, green := hooksIn(t, r.lay(ledger.RoomUse{Tree: second.Tree, Parent: done.Commit}, true))
		if said != "M\tcart/cart.go\nint lib;\nGREEN" || !green {
			t.Errorf("the hook sees\n%s", said)
		}
	})
}

// TestHooksMany refuses a folder of hooks that is none.
func TestHooksMany(t *testing.T) {
	repo := shop(t)
	hook(t, repo, ".git/hooks/pre-commit", "exit 0")
	must(t, exec.Command("mkfifo", filepath.Join(repo, ".git/hooks/pipe")).Run()) //nolint:noctx // it ends
	must(t, os.Symlink("/nowhere", filepath.Join(repo, ".git/hooks/dangling")))
	w := workspace(t, repo, func(o *Options) { o.Hooks = true })
	begin(t, w, "r1") // neither stops it
	must(t, os.Truncate(filepath.Join(repo, ".git/hooks/pre-commit"), maxHookBytes+1))
	_, err := w.Begin(t.Context(), ledger.Begin{Run: "r2"})
	if got := findingsOf(t, err); !strings.Contains(got, "has more than 500 files or 16 MB") {
		t.Errorf("begin: %s", got)
	}
}

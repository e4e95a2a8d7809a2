package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// inRoom runs a script in a room as a session would see it, and returns what it
// printed.
func inRoom(t *testing.T, room ledger.Room, script string) string {
	t.Helper()
	args := []string{"sh", "-ec", script}
	for _, m := range room.Mounts {
		mount := fmt.Sprintf("mount --bind '%s' '%s'", m.Upper, m.At)
		if len(m.Lower) > 0 {
			mount = fmt.Sprintf("mount -t overlay overlay -o 'lowerdir=%s,upperdir=%s,workdir=%s,userxattr' '%s'", strings.Join(m.Lower, ":"), m.Upper, m.Work, m.At)
		}
		args = []string{"unshare", "--mount", "sh", "-ec", mount + "; cd '" + m.At + "'; " + script}
		if os.Geteuid() != 0 {
			args = append([]string{"unshare", "--user", "--map-root-user"}, args[1:]...)
		}
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = room.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// bothWays runs a test with mounted rooms and with copied ones.
func bothWays(t *testing.T, test func(t *testing.T, mounts bool)) {
	t.Run("copied", func(t *testing.T) { test(t, false) })
	t.Run("mounted", func(t *testing.T) {
		dir := t.TempDir()
		for _, d := range []string{"lower", "upper", "work", "at"} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"--mount", "mount", "-t", "overlay", "overlay", "-o", "lowerdir=lower,upperdir=upper,workdir=work,userxattr", "at"}
		if os.Geteuid() != 0 {
			args = append([]string{"--user", "--map-root-user"}, args...)
		}
		cmd := exec.CommandContext(t.Context(), "unshare", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: no overlays here: %v %s", err, out)
		}
		test(t, true)
	})
}

// roomWorld is a shop whose setup makes node_modules and changes a tracked file.
type roomWorld struct {
	t    *testing.T
	w    *Workspace
	base ledger.Base
	use  ledger.RoomUse
}

func newRoomWorld(t *testing.T, mounts bool, change ...func(*Options)) *roomWorld {
	repo := shop(t)
	git(t, repo, "tag", "v1.2")
	writeFile(t, repo, "next.txt", "1\n")
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", "Second")
	w := workspace(t, repo, append(change, func(o *Options) { o.Mounts = func() bool { return mounts } })...)
	// The kernel leaves a folder that an ordinary user cannot open, and tests clean
	// up without this package.
	t.Cleanup(func() { _ = makeAccessible(w.o.State) })
	base := begin(t, w, "r1")
	return &roomWorld{t: t, w: w, base: base, use: ledger.RoomUse{Tree: base.Commit, Setup: []string{"sh install.sh"}}}
}

// setup runs the setup command as a session would, unless the room is done. It
// reports whether it ran.
func (r *roomWorld) setup(use ledger.RoomUse) bool {
	r.t.Helper()
	room, err := r.w.SetupRoom(r.t.Context(), use, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	if !room.Done {
		inRoom(r.t, room, `mkdir -p node_modules/ms dist && pwd >node_modules/ms/where && echo generated >dist/out && echo tampered >>README.md && cat go.mod >node_modules/from`)
	}
	return !room.Done
}

func (r *roomWorld) lay(use ledger.RoomUse, anew bool) ledger.Room {
	r.t.Helper()
	room, err := r.w.LayRoom(r.t.Context(), use, anew)
	if err != nil {
		r.t.Fatal(err)
	}
	return room
}

// tree makes a tree that differs from the run's start, in a folder of its own.
func (r *roomWorld) tree(script string) string {
	r.t.Helper()
	dir := filepath.Join(r.t.TempDir(), "edit")
	git(r.t, r.t.TempDir(), "clone", "-q", r.w.gitDir, dir)
	git(r.t, dir, "checkout", "-q", "--detach", r.base.Commit)
	cmd := exec.CommandContext(r.t.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	git(r.t, dir, "add", "-A", "-f")
	tree := git(r.t, dir, "write-tree")
	git(r.t, dir, "push", "-q", "origin", git(r.t, dir, "commit-tree", "-m", "x", tree)+":refs/heads/edit-"+tree[:12])
	return tree
}

// TestRoom lays the start's tree over its setup layer: the files of the commit,
// what setup made, and nothing that a check before it left.
func TestRoom(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		if !r.setup(r.use) {
			t.Fatal("there was a layer before setup ran")
		}
		room := r.lay(r.use, true)
		where := inRoom(t, room, "cat node_modules/ms/where; pwd")
		if lines := strings.Split(where, "\n"); lines[0] != lines[1] {
			t.Errorf("setup ran in %s, and the check runs in %s", lines[0], lines[1])
		}
		if got := inRoom(t, room, "cat README.md dist/out; git status --porcelain; git log --oneline | wc -l; git describe --tags; git remote"); got != "A shop.\ngenerated\n?? dist/\n2\nv1.2-1-g"+git(t, r.w.gitDir, "rev-parse", "--short", r.base.Commit) {
			t.Errorf("the room shows:\n%s", got)
		}
		inRoom(t, room, "rm -r cart node_modules; echo left >left; echo x >README.md")
		if got := inRoom(t, r.lay(r.use, false), "ls cart 2>/dev/null || echo none; cat left README.md"); got != "none\nleft\nx" {
			t.Errorf("the second command of the check sees %q", got)
		}
		if r.setup(r.use) {
			t.Error("setup ran again for the same tree")
		}
		if got := inRoom(t, r.lay(r.use, true), "ls node_modules cart; cat README.md; test ! -e left"); got != "cart:\ncart.go\ncart_test.go\n\nnode_modules:\nfrom\nms\nA shop." {
			t.Errorf("the next check sees:\n%s", got)
		}
	})
}

// TestRoomDifferences lays trees with every kind of difference from the layer.
func TestRoomDifferences(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		r.setup(r.use)
		r.lay(r.use, true)
		for _, c := range []struct{ name, change string }{
			{"changed", "echo two >>README.md; chmod +x plan.md"},
			{"new", "mkdir -p a/b; echo new >a/b/c; echo x >web/new"},
			{"deleted", "rm cart/cart.go README.md"},
			{"folder deleted", "rm -r web"},
			{"folder becomes a file", "rm -r cart; echo file >cart"},
			{"file becomes a folder", "rm README.md; mkdir README.md; echo x >README.md/x"},
			{"folder becomes a link", "rm -r cart; ln -s docs cart"},
			{"link into the layer", "ln -s web/app link; rm -r web/cart"},
			{"what setup made is tracked", "mkdir -p dist; echo mine >dist/out; echo more >dist/more"},
			{"what setup made becomes a file", "echo file >dist"},
			{"attributes", "echo '*.md text eol=crlf' >.gitattributes"},
			{"ignored", "echo cart/ >.gitignore; rm -r docs"},
			{"everything", "git rm -rqf .; git checkout -q HEAD go.mod; echo only >only"},
			{"odd names", `printf x >"$(printf 'new\nline')"; printf y >"$(printf 'latin\351')"; echo a >Case; echo b >case; mkdir -p CART; echo c >CART/cart.go; rm cart/cart_test.go`},
			{"odd files", `mkdir sub; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; ln -s /nowhere dangling; chmod +x cart/cart.go; : >empty
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 9\n' 0 >big.bin; echo '*.bin filter=lfs diff=lfs merge=lfs -text' >.gitattributes`},
			{"names", `mkdir 'a b'; echo x >'a b/c"d'; echo y >ünï; echo z >-x`},
		} {
			t.Run(c.name, func(t *testing.T) {
				tree := r.tree(c.change)
				use := ledger.RoomUse{Tree: tree, Parent: r.base.Commit, Setup: r.use.Setup}
				if r.setup(use) {
					t.Fatal("the tree has the same lockfiles and needs no setup")
				}
				got := inRoom(t, r.lay(use, true), `git status --porcelain --untracked-files=no; git rev-parse HEAD^{tree} HEAD^; rm -rf .git; find . | sort; find . -type f -exec sha256sum {} + | sort; find . -type f -perm -100 | sort`)
				// A clone of the tree, with what setup made where the tree has nothing.
				clone := filepath.Join(t.TempDir(), "clone")
				git(t, t.TempDir(), "clone", "-q", "--branch", "edit-"+tree[:12], r.w.gitDir, clone)
				cmd := exec.CommandContext(t.Context(), "sh", "-ec", fmt.Sprintf(`rm -rf .git; mkdir -p node_modules/ms; echo '%s' >node_modules/ms/where; echo 'module shop' >node_modules/from
if ! test -f dist; then mkdir -p dist; test -e dist/out || echo generated >dist/out; fi
echo '%s'; echo '%s'; find . | sort; find . -type f -exec sha256sum {} + | sort; find . -type f -perm -100 | sort`, filepath.Join(r.w.o.State, "rooms", "shop", "room"), tree, r.base.Commit))
				cmd.Dir = clone
				want, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, want)
				}
				if got != strings.TrimSpace(string(want)) {
					t.Errorf("the room shows\n%s\nand a clone with setup\n%s", got, want)
				}
			})
		}
	})
}

// TestLayers runs setup anew for another lockfile, for that tree alone until it
// is committed.
func TestLayers(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		r.setup(r.use)
		r.lay(r.use, true)
		other := r.tree("echo 'module other' >go.mod")
		more := r.tree("echo 'module other' >go.mod; echo evil >evil.js")
		use := func(tree string) ledger.RoomUse {
			return ledger.RoomUse{Tree: tree, Parent: r.base.Commit, Setup: r.use.Setup}
		}
		if !r.setup(use(other)) {
			t.Error("setup did not run for a tree with another manifest")
		}
		if got := inRoom(t, r.lay(use(other), true), "cat node_modules/from"); got != "module other" {
			t.Errorf("the room of the other manifest has node_modules of %q", got)
		}
		if r.setup(use(other)) {
			t.Error("setup ran twice for one tree")
		}
		if !r.setup(use(more)) {
			t.Error("a layer of a tree that is not committed served another tree")
		}
		r.lay(use(more), true)
		if err := r.w.KeepLayer(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		third := r.tree("echo 'module other' >go.mod; echo third >third")
		if r.setup(use(third)) {
			t.Error("the layer of a committed tree did not serve a tree with the same manifest")
		}
		if r.setup(r.use) {
			t.Error("the start's layer is gone")
		}
		for n := range 2 * maxLayers {
			u := use(r.tree(fmt.Sprintf("echo 'module m%d' >go.mod", n)))
			r.setup(u)
			r.lay(u, true)
		}
		entries, err := os.ReadDir(filepath.Join(r.w.roomsDir(), layersDir))
		if err != nil || len(entries) > maxLayers {
			t.Errorf("%d layers, %v", len(entries), err)
		}
	})
}

// TestLayerInputs tells which files decide what setup makes, wherever they lie.
func TestLayerInputs(t *testing.T) {
	r := newRoomWorld(t, false)
	from := r.tree("mkdir web/ui; echo '{}' >web/ui/package-lock.json; echo x >Makefile; echo x >install.sh")
	for _, c := range []struct {
		setup, change string
		other         bool
	}{
		{"npm ci", "rm web/ui/package-lock.json", true},
		{"npm ci", "echo '{ }' >web/ui/package-lock.json", true},
		{"npm ci", "echo 'packages: [a]' >pnpm-workspace.yaml; mkdir requirements; echo a >requirements/base.txt", true},
		{"make deps", "echo y >Makefile", true},
		{"sh ./install.sh", "echo y >install.sh", true},
		{"npm ci", "echo y >Makefile; echo y >install.sh; echo more >>README.md; echo x >docs/notes.txt", false},
	} {
		tree := r.tree("mkdir web/ui; echo '{}' >web/ui/package-lock.json; echo x >Makefile; echo x >install.sh\n" + c.change)
		before, err := r.w.layerKey(t.Context(), from, []string{c.setup})
		must(t, err)
		after, err := r.w.layerKey(t.Context(), tree, []string{c.setup})
		must(t, err)
		if (before != after) != c.other {
			t.Errorf("%s, after %s: another layer %v", c.setup, c.change, before != after)
		}
	}
	o := r.w.o
	o.State = filepath.Join(t.TempDir(), "moved")
	command(t, r.w.o.State, "cp -a . "+o.State)
	moved, err := Open(t.Context(), o)
	must(t, err)
	here, err := r.w.layerKey(t.Context(), from, nil)
	must(t, err)
	if there, err := moved.layerKey(t.Context(), from, nil); err != nil || here == there {
		t.Errorf("a layer serves rooms at another path: %v", err)
	}
	writeFile(t, filepath.Dir(o.State), "boot", "another\n")
	bootFile = filepath.Join(filepath.Dir(o.State), "boot")
	t.Cleanup(func() { bootFile = "/proc/sys/kernel/random/boot_id" })
	if later, err := r.w.layerKey(t.Context(), from, nil); err != nil || here == later {
		t.Errorf("a layer serves after another boot: %v", err)
	}
	for p, want := range map[string]bool{
		"requirements.txt": true, "requirements-dev.txt": true, "a/test_requirements.txt": true, "requirements/base.txt": true,
		"docs/requirements.md": false, "base.txt": false,
	} {
		if isRequirements(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
}

// TestRoomTimes keeps the times of unchanged files, and gives changed ones newer
// times than all that setup made: make goes by them.
func TestRoomTimes(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		r.setup(r.use)
		const times = "stat -c '%n %y' cart/cart.go docs/api.md node_modules/from"
		before := inRoom(t, r.lay(r.use, true), times)
		use := ledger.RoomUse{Tree: r.tree("echo more >>web/app/page.tsx; echo new >new"), Parent: r.base.Commit, Setup: r.use.Setup}
		room := r.lay(use, true)
		if after := inRoom(t, room, times); after != before {
			t.Errorf("the times were\n%s\nand are\n%s", before, after)
		}
		if got := inRoom(t, room, "find new web -newer dist/out -type f | sort"); got != "new\nweb/app/page.tsx" {
			t.Errorf("newer than what setup made are %q", got)
		}
	})
}

// TestRoomOfAnEarlierCommit lays a room over the layer of a later commit: a red
// tip is verified first, and then the commit that it was built on.
func TestRoomOfAnEarlierCommit(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		tree := r.tree("echo later >later.txt")
		later, err := r.w.commitTree(t.Context(), commit{tree: tree, parents: []string{r.base.Commit}, date: "@1 +0000", message: "Later\n"})
		if err != nil {
			t.Fatal(err)
		}
		if got := inRoom(t, r.lay(ledger.RoomUse{Tree: later}, true), "cat later.txt"); got != "later" {
			t.Fatalf("the room shows %s", got)
		}
		room := r.lay(ledger.RoomUse{Tree: r.base.Commit}, true)
		if got := inRoom(t, room, "git rev-parse HEAD; git status --porcelain"); got != r.base.Commit {
			t.Errorf("the room of the earlier commit shows %s", got)
		}
	})
}

// TestRoomWithoutSetup lays rooms where no setup is configured, after a crash in
// the middle of a layer, and after setup was lost.
func TestRoomWithoutSetup(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		plain := ledger.RoomUse{Tree: r.base.Commit}
		if got := inRoom(t, r.lay(plain, true), "ls; git status --porcelain"); got != "README.md\ncart\ndocs\ngo.mod\nnext.txt\nplan.md\nweb" {
			t.Errorf("the room shows %s", got)
		}
		// Setup was lost: the room is for this one check, and setup runs again.
		r.lay(r.use, true)
		if !r.setup(r.use) {
			t.Error("a layer without setup served a tree that needs it")
		}
		if err := os.WriteFile(filepath.Join(r.w.roomsDir(), makingDir, layerFile), []byte("{broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		if !r.setup(r.use) {
			t.Error("a damaged layer was believed")
		}
		r.lay(r.use, true)
		if r.setup(r.use) {
			t.Error("the layer was not kept")
		}
	})
}

// TestRoomUmask lets the user of sessions into rooms whatever umask the daemon
// has.
func TestRoomUmask(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can run as another user")
	}
	repo, state := shop(t), filepath.Join(t.TempDir(), "state")
	must(t, os.Mkdir(state, 0o711))
	for dir := filepath.Dir(state); dir != os.TempDir(); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	defer syscall.Umask(syscall.Umask(0o077))
	w := workspace(t, repo, func(o *Options) { o.State, o.SessionUID, o.SessionGID = state, 65534, 65534 })
	base := begin(t, w, "r1")
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	room, err := w.LayRoom(t.Context(), ledger.RoomUse{Tree: base.Commit}, true)
	must(t, err)
	for _, dir := range []string{room.Dir, w.Work(only("r1", "")).Dir} {
		if got := command(t, "/", "setpriv --reuid 65534 --regid 65534 --clear-groups sh -ec 'cd "+dir+"; cat cart/cart.go; echo x >new; git -C . status --porcelain' 2>&1 || true"); got != "package cart\n?? new" {
			t.Errorf("in %s a session sees %q", dir, got)
		}
	}
}

// TestRoomHandsOver gives a room to the user of sessions.
func TestRoomHandsOver(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can change owners")
	}
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts, func(o *Options) { o.SessionUID, o.SessionGID = 65534, 65534 })
		r.setup(r.use)
		r.lay(r.use, true)
		tree := r.tree("echo two >>README.md; rm -r web; mkdir new; echo x >new/x")
		room := r.lay(ledger.RoomUse{Tree: tree, Parent: r.base.Commit, Setup: r.use.Setup}, true)
		if got := inRoom(t, room, `find . ! -uid 65534 -o ! -gid 65534; setpriv --reuid 65534 --regid 65534 --clear-groups sh -ec 'echo x >README.md; rm -r cart; rm -r .git; echo y >new/y; rm dist/out'`); got != "" {
			t.Errorf("not handed over: %s", got)
		}
	})
}

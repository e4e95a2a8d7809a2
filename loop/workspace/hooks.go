package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/nightporter/nightporter/internal/copytree"
	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// commitHooks are the hooks that git runs before a commit, in that order.
var commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg"}

// Files of STATE/rooms/PROJECT, for a project with hooks.
const (
	hooksDir    = "hooks"      // the files of the hooks folder, if it lies outside of the checkout
	hooksRecord = "hooks.json" // repoHooks
)

// Limits of a folder of hooks.
const (
	maxHookFiles = 500
	maxHookBytes = 16 << 20
)

// repoHooks are the hooks of the user's repository as they were when the run began.
type repoHooks struct {
	Path  string   `json:"path,omitempty"` // the folder in the checkout that has them; "" = hooksDir has a copy
	Names []string `json:"names"`          // those of commitHooks that git would run
}

// takeHooks finds the hooks that git would run for a commit of the user's. A folder in
// the checkout comes with a tree or with its setup, any other is copied. value is
// core.hooksPath.
func (w *Workspace) takeHooks(t userRepo, value string) (note *ledger.Diagnostic, err error) {
	dir := filepath.Join(t.commonDir, "hooks")
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		dir = filepath.Join(userHome(t), rest)
	} else if value != "" {
		if dir = value; !filepath.IsAbs(dir) {
			dir = filepath.Join(t.top, dir)
		}
	}
	if err := w.makeRoomsDir(); err != nil {
		return nil, err
	}
	var h repoHooks
	for _, name := range commitHooks {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			h.Names = append(h.Names, name)
		}
	}
	fresh := filepath.Join(w.roomsDir(), hooksDir+".new")
	if err := errors.Join(removeBelow(w.roomsDir(), hooksDir+".new"), os.Mkdir(fresh, 0o700)); err != nil {
		return nil, err
	}
	switch rel, err := filepath.Rel(t.top, dir); {
	case len(h.Names) == 0:
		note = &ledger.Diagnostic{Text: "hooks = true, and " + dir + " has no hook that git runs before a commit", Remedy: "install them as for your own commits, or take hooks out"}
	case err == nil && filepath.IsLocal(rel) && !inFolder(filepath.ToSlash(rel), ".git"):
		h.Path = filepath.ToSlash(rel)
	default:
		if err := copyHooks(t, dir, fresh); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if err := removeBelow(w.roomsDir(), hooksDir); err != nil {
		return nil, err
	}
	if err := os.Rename(fresh, filepath.Join(w.roomsDir(), hooksDir)); err != nil {
		return nil, err
	}
	return note, fsutil.Replace(filepath.Join(w.roomsDir(), hooksRecord), data, 0o600)
}

// copyHooks copies a folder of hooks. A link into the checkout stays one, as it is
// seen from .git/hooks of a room; of any other, the file that it leads to is copied,
// unless that could be one that the repository's owner cannot read.
func copyHooks(t userRepo, from, to string) error {
	files, size := 0, int64(0)
	tooMuch := func() error {
		return inputError(ledger.Diagnostic{
			Text:   fmt.Sprintf("the folder of hooks %s has more than %d files or %d MB", from, maxHookFiles, maxHookBytes>>20),
			Remedy: "keep there what the hooks need, or take hooks out",
		})
	}
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil || rel == "." || strings.HasSuffix(rel, ".sample") {
			return err
		}
		dest := filepath.Join(to, rel)
		if d.IsDir() {
			return os.Mkdir(dest, 0o755)
		}
		if files++; files > maxHookFiles {
			return tooMuch()
		}
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := filepath.EvalSymlinks(p)
			if err != nil {
				return nil //nolint:nilerr // it leads nowhere
			}
			if in, err := filepath.Rel(t.top, target); err == nil && filepath.IsLocal(in) && !inFolder(filepath.ToSlash(in), ".git") {
				up := strings.Repeat("../", strings.Count(filepath.ToSlash(rel), "/")+2)
				return os.Symlink(up+filepath.ToSlash(in), dest)
			}
			if t.owner != nil {
				return nil
			}
			p = target
		} else if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		if size += info.Size(); size > maxHookBytes {
			return tooMuch()
		}
		out, err := os.OpenFile(dest, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, io.LimitReader(f, maxHookBytes))
		return errors.Join(err, out.Close())
	})
}

// layHooks puts the hooks into the .git of a room, and the command that runs them on
// what the tree changes (ledger.HooksCommand). from is the layer, to the upper folder
// or the room itself, base the commit that the tree is to be committed on.
func (w *Workspace) layHooks(from, to, base string) error {
	var h repoHooks
	data, err := os.ReadFile(filepath.Join(w.roomsDir(), hooksRecord))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return err
	}
	git := filepath.Join(to, ".git")
	config, err := os.ReadFile(filepath.Join(from, ".git", "config"))
	if err != nil {
		return err
	}
	path := h.Path
	if path == "" {
		path = ".git/hooks"
		if err := copytree.Copy(filepath.Join(w.roomsDir(), hooksDir), filepath.Join(git, "hooks")); err != nil {
			return err
		}
	}
	at, err := json.Marshal(path) // quoted as git's configuration quotes
	if err != nil {
		return err
	}
	text := string(config) + "[core]\n\thooksPath = " + string(at) + "\n[alias]\n\tcommit-hooks = \"!sh .git/commit-hooks\"\n"
	script := strings.NewReplacer("@BASE@", base, "@HOOKS@", strings.Join(h.Names, " ")).Replace(hooksScript)
	return errors.Join(
		os.MkdirAll(git, 0o755),
		os.RemoveAll(filepath.Join(git, "config")), os.WriteFile(filepath.Join(git, "config"), []byte(text), 0o644),
		os.RemoveAll(filepath.Join(git, "commit-hooks")), os.WriteFile(filepath.Join(git, "commit-hooks"), []byte(script), 0o644),
	)
}

// hooksScript runs the hooks of a commit in a room, at the top of the work tree, on
// the difference between the tree that is verified and the commit below it. It takes
// nothing over: neither files that a hook changes nor its message.
const hooksScript = `tip=$(git rev-parse --verify HEAD) && base=@BASE@ || exit 1
export GIT_EDITOR=:
git update-ref refs/heads/nightporter "${base:-$tip}" && git read-tree "$tip" && git update-index -q --refresh
before=$(git diff --binary "$tip" | git hash-object --stdin)
red=0
for hook in @HOOKS@; do
	if ! test -x "$(git rev-parse --git-path hooks/$hook)"; then
		echo "The hook $hook of the checkout is not in this room: setup has to make it, such as npm install does."
		red=1
		continue
	fi
	case $hook in
	pre-commit) set -- ;;
	*)
		set -- -- .git/COMMIT_EDITMSG
		test $hook = commit-msg || set -- "$@" message
		printf '%s\n' 'feat: Task 1 - Title of a task' '' 'What was done.' '' 'Nightporter-Session: r1-1' >.git/COMMIT_EDITMSG
		;;
	esac
	if ! git hook run $hook "$@" >.git/hook-output 2>&1; then
		echo "The hook $hook refuses the commit:"
		red=1
	fi
	cat .git/hook-output
done
if test "$before" != "$(git diff --binary "$tip" | git hash-object --stdin)"; then
	echo "A hook changed files, and its changes are not taken over: make them yourself, with the program that it runs."
	git diff "$tip"
	red=1
fi
git update-ref refs/heads/nightporter "$tip" && git read-tree "$tip" && git update-index -q --refresh
git checkout-index -q -f -a -u
exit $red
`

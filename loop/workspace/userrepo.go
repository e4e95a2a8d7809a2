package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// userRepo describes the user's repository. inspect fills it by reading files,
// and runs nothing that the repository's configuration names.
type userRepo struct {
	top       string // top folder of the checkout
	gitDir    string // .git, or the folder of a linked worktree
	commonDir string // folder of objects and refs
	format    string // hash format
	shallow   bool
	head      string // commit
	headName  string // branch, or "detached"
	owner     *syscall.Credential
}

// inspect examines the user's repository. Everything that makes it unusable is
// returned in one *ledger.InputError with remedies.
func (w *Workspace) inspect(ctx context.Context) (t userRepo, err error) {
	err = w.inTime(ctx, readPatience, func(ctx context.Context) (err error) {
		t, err = w.inspectNow(ctx)
		return err
	})
	return t, err
}

func (w *Workspace) inspectNow(ctx context.Context) (userRepo, error) {
	repo := w.o.Repo
	var t userRepo
	switch info, err := os.Stat(repo); {
	case errors.Is(err, fs.ErrNotExist):
		return t, inputError(ledger.Diagnostic{Text: "repository folder " + repo + " does not exist", Remedy: "check --repo, or repo in nightporter.toml"})
	case fault.Of(err) != "":
		return t, fmt.Errorf("inspect repository: %w", err)
	case err != nil:
		return t, inputError(ledger.Diagnostic{Text: fmt.Sprintf("repository folder %s cannot be read: %v", repo, err), Remedy: "make it readable for the user that nightporter runs as"})
	case !info.IsDir():
		return t, inputError(ledger.Diagnostic{Text: repo + " is a file, and a repository is a folder", Remedy: "check --repo, or repo in nightporter.toml"})
	}
	out, err := w.run(ctx, call{dir: repo, args: []string{"rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--is-shallow-repository", "--show-object-format", "--git-dir", "--git-common-dir"}})
	if exitCode(err) > 0 {
		return t, w.notReadable(err)
	}
	if err != nil {
		return t, fmt.Errorf("inspect repository: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 5 {
		return t, fmt.Errorf("inspect repository: git rev-parse answered %q", out)
	}
	if lines[0] == "true" {
		return t, inputError(bareRepository(repo))
	}
	t.shallow, t.format, t.gitDir, t.commonDir = lines[1] == "true", lines[2], lines[3], lines[4]
	out, err = w.run(ctx, call{dir: repo, args: []string{"rev-parse", "--path-format=absolute", "--show-toplevel"}})
	if exitCode(err) > 0 {
		return t, w.notReadable(err)
	}
	if err != nil {
		return t, fmt.Errorf("inspect repository: %w", err)
	}
	t.top = strings.TrimSuffix(string(out), "\n")
	if real, err := filepath.EvalSymlinks(repo); err == nil && real != t.top {
		return t, inputError(ledger.Diagnostic{Text: repo + " is a folder inside the repository " + t.top, Remedy: "give the repository's top folder: --repo " + t.top})
	}
	if t.owner, err = ownerOf(t.commonDir); err != nil {
		return t, fmt.Errorf("inspect repository: %w", err)
	}
	if err := w.readHead(ctx, &t); err != nil {
		return t, err
	}
	return t, w.checkUsable(ctx, t)
}

// notReadable turns git's refusal to open the user's repository into a finding.
func (w *Workspace) notReadable(err error) error {
	if strings.Contains(err.Error(), "not a git repository") {
		return inputError(ledger.Diagnostic{Text: w.o.Repo + " is not a git repository", Remedy: "check --repo, or make one: git -C " + w.o.Repo + " init"})
	}
	return inputError(ledger.Diagnostic{Text: "git cannot read " + w.o.Repo + ": " + strings.TrimPrefix(err.Error(), "git rev-parse: "), Remedy: "mend it until this works: git -C " + w.o.Repo + " status"})
}

// gitUser runs git on the user's repository and returns its output without the
// last line end.
func (w *Workspace) gitUser(ctx context.Context, t userRepo, args ...string) (string, error) {
	out, err := w.run(ctx, call{gitDir: t.gitDir, args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// readHead finds the commit from which work can start.
func (w *Workspace) readHead(ctx context.Context, t *userRepo) error {
	t.headName = "detached"
	if name, err := w.gitUser(ctx, *t, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		t.headName = name
	} else if exitCode(err) != 1 {
		return fmt.Errorf("read HEAD: %w", err)
	}
	head, err := w.gitUser(ctx, *t, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err == nil {
		t.head = head
		return nil
	}
	if exitCode(err) <= 0 {
		return fmt.Errorf("read HEAD: %w", err)
	}
	any, err := w.gitUser(ctx, *t, "for-each-ref", "--count=1", "--format=%(refname:short)", "refs/heads")
	if err != nil {
		return fmt.Errorf("read branches: %w", err)
	}
	if any == "" {
		return inputError(noCommitsYet(w.o.Repo))
	}
	return inputError(ledger.Diagnostic{Text: "the checkout is on branch " + t.headName + ", which has no commit", Remedy: "go to one that has: git -C " + w.o.Repo + " switch " + any})
}

// checkUsable returns an error for anything that would make a later step fail.
func (w *Workspace) checkUsable(ctx context.Context, t userRepo) error {
	var found []ledger.Diagnostic
	partial, err := w.gitUser(ctx, t, "config", "--local", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	if err != nil && exitCode(err) != 1 {
		return fmt.Errorf("read configuration: %w", err)
	}
	if partial != "" {
		found = append(found, ledger.Diagnostic{
			Text:   w.o.Repo + " is a partial clone: parts of it are only at its remote, and nightporter reads without network",
			Remedy: "use a full clone: git clone URL DIR",
		})
	}
	// A branch "nightporter" leaves no room for "nightporter/shop/r1".
	names := []string{"nightporter", "nightporter/" + w.o.Project}
	ours, err := w.gitUser(ctx, t, "for-each-ref", "--format=%(refname)", "refs/heads/"+names[0], "refs/heads/"+names[1])
	if err != nil {
		return fmt.Errorf("read branches: %w", err)
	}
	there := strings.Split(ours, "\n")
	for _, name := range names {
		if slices.Contains(there, "refs/heads/"+name) {
			found = append(found, ledger.Diagnostic{
				Text:   "a branch called " + name + " is in the way: git cannot have branches below it",
				Remedy: "rename it: git -C " + w.o.Repo + " branch -m " + name + " " + strings.ReplaceAll(name, "/", "-") + "-old",
			})
		}
	}
	if t.owner == nil || readOnly(t.commonDir) {
		for _, sub := range []string{"objects", "refs"} {
			path := filepath.Join(t.commonDir, sub)
			if err := unix.Access(path, unix.W_OK); err != nil {
				f := ledger.Diagnostic{
					Text:   fmt.Sprintf("%s is not writable (%v), so the branch could not be put there", path, err),
					Remedy: "run nightporter as the user that the repository belongs to",
				}
				if errors.Is(err, unix.EROFS) {
					f.Text = w.o.Repo + " is on a file system that is mounted read-only, so the branch could not be put there"
					f.Remedy = "mount it writable; in a systemd unit, add ReadWritePaths=" + w.o.Repo
				}
				found = append(found, f)
				break
			}
		}
	}
	if found != nil {
		return inputError(found...)
	}
	return nil
}

// readOnly reports whether a path's file system is mounted read-only, which binds
// every user.
func readOnly(path string) bool { return errors.Is(unix.Access(path, unix.W_OK), unix.EROFS) }

// unfinished names an operation of git that the user has begun and not
// finished.
func (t userRepo) unfinished() string {
	for _, op := range []struct{ file, name string }{
		{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(t.gitDir, op.file)); err == nil {
			return op.name
		}
	}
	return ""
}

// identity returns the author that the user's own commits in this repository
// have, and core.hooksPath.
func (w *Workspace) identity(ctx context.Context, t userRepo) (author, hooks string, note *ledger.Diagnostic, err error) {
	set, err := w.userConfig(ctx, t, `^((author|user)\.(name|email)|core\.hookspath)$`)
	if err != nil {
		return "", "", nil, err
	}
	hooks = set["core.hookspath"]
	name, email := cmp.Or(plainIdentity(set["author.name"]), plainIdentity(set["user.name"])), cmp.Or(plainIdentity(set["author.email"]), plainIdentity(set["user.email"]))
	if name != "" && email != "" {
		return name + " <" + email + ">", hooks, nil, nil
	}
	return ownName + " <" + ownEmail + ">", hooks, &ledger.Diagnostic{
		Text:   "git knows no name and e-mail for this repository, so commits will say nightporter is their author",
		Remedy: "git config --global user.name \"Your Name\" && git config --global user.email you@example.com",
	}, nil
}

// userConfig returns the settings of the user's repository whose keys match a
// pattern, the last one of each key. It is the only question that needs their whole
// configuration and therefore their home folder; "git config" executes nothing.
// What cannot be read counts as not set.
func (w *Workspace) userConfig(ctx context.Context, t userRepo, pattern string) (map[string]string, error) {
	env := []string{"HOME=" + userHome(t)}
	if t.owner == nil {
		for _, key := range []string{"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"} {
			if v, ok := os.LookupEnv(key); ok {
				env = append(env, key+"="+v)
			}
		}
	}
	cmd := w.command(ctx, call{gitDir: t.gitDir, as: t.owner, args: []string{"config", "-z", "--get-regexp", pattern}})
	cmd.Env = append(identityEnv(), env...)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	set := map[string]string{}
	if err != nil {
		return set, nil //nolint:nilerr // nothing is set, or nothing can be read
	}
	for _, setting := range zlist(out) { // the last one of a key counts
		key, value, _ := strings.Cut(setting, "\n")
		if key == "core.hookspath" && value == "/dev/null" { // safeConfig's, which comes last
			continue
		}
		set[key] = value
	}
	return set, nil
}

// userHome returns the home folder of the owner of the user's repository.
func userHome(t userRepo) string {
	if t.owner == nil {
		home, _ := os.UserHomeDir()
		return home
	}
	if u, err := user.LookupId(strconv.FormatUint(uint64(t.owner.Uid), 10)); err == nil {
		return u.HomeDir
	}
	return "/dev/null"
}

// identityEnv is cleanEnv with access to the user's configuration.
func identityEnv() []string {
	var env []string
	for _, kv := range cleanEnv() {
		if key, _, _ := strings.Cut(kv, "="); key != "HOME" && key != "GIT_CONFIG_GLOBAL" && key != "GIT_CONFIG_NOSYSTEM" {
			env = append(env, kv)
		}
	}
	return env
}

// plainIdentity removes the characters that git removes from a name or e-mail,
// so that the author reads back as it was written.
func plainIdentity(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.Trim(s, " .,:;\"\\'")
}

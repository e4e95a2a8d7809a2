package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Parts of the sample repository that `nightporter demo` uses.
const (
	Name   = "tea-shop"
	Plan   = ".agents/plans/in-progress/first-week.md" // path below the repository
	Verify = "./test.sh"
	Tasks  = 4 // number of tasks in the plan
)

// ErrExists means that WriteRepository found something at its path and did not
// touch it.
var ErrExists = errors.New("it exists already")

// Author of the sample's commits. A newcomer's machine may have no git
// identity.
const (
	ownerName  = "Tea Shop"
	ownerEmail = "owner@tea-shop.example"
)

// commits is the sample's history, oldest first. Their dates are fixed, so that
// their hashes are the same everywhere.
var commits = [...]struct {
	paths   []string
	message string
	date    string
}{
	{[]string{"README.md", "test.sh", "till.sh", "tests"}, "Open the shop: a till that adds prices", "2026-01-09T17:20:00+00:00"},
	{[]string{".agents"}, "Plan the first week", "2026-01-11T20:05:00+00:00"},
}

// WriteRepository makes the sample repository at dir, which must be missing or
// an empty folder. It creates missing parents. Branch main is checked out and
// clean, the owner's identity is in the repository's own git configuration, and
// the commits have the same hashes everywhere. The folder appears atomically:
// an error leaves nothing behind. If dir is in use, errors.Is(err, ErrExists).
func WriteRepository(ctx context.Context, dir string) error {
	if err := writeRepository(ctx, dir); err != nil {
		return fmt.Errorf("write sample repository %s: %w", dir, err)
	}
	return nil
}

func writeRepository(ctx context.Context, dir string) (err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	switch found, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case len(found) > 0:
		return ErrExists
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".new-"+Name+"-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }() // after the rename it no longer exists
	if err := os.Chmod(tmp, 0o755); err != nil {                 // sessions may run as another user
		return err
	}
	files, err := filesOf("sample")
	if err != nil {
		return err
	}
	for _, f := range files {
		p := filepath.Join(tmp, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, f.data, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(p, f.mode); err != nil { // the umask restricts the mode given at creation
			return err
		}
	}
	if err := commitAll(ctx, tmp); err != nil {
		return err
	}
	// The rename needs the empty folder removed. Remove fails if the folder has
	// been filled in between.
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(tmp, dir)
}

// commitAll makes a repository of the files in dir, with the sample's history.
func commitAll(ctx context.Context, dir string) error {
	// git before 2.28 does not know init -b.
	for _, args := range [][]string{
		{"init", "--quiet", "--template="},
		{"symbolic-ref", "HEAD", "refs/heads/main"},
		{"config", "user.name", ownerName},
		{"config", "user.email", ownerEmail},
	} {
		if err := git(ctx, dir, nil, args...); err != nil {
			return err
		}
	}
	for _, c := range commits {
		if err := git(ctx, dir, nil, append([]string{"add", "--"}, c.paths...)...); err != nil {
			return err
		}
		dates := []string{"GIT_AUTHOR_DATE=" + c.date, "GIT_COMMITTER_DATE=" + c.date}
		if err := git(ctx, dir, dates, "commit", "--quiet", "-m", c.message); err != nil {
			return err
		}
	}
	return nil
}

// git runs git in dir without the user's configuration, whose hooks, signing
// and line ends would change the hashes.
func git(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{
		"-c", "user.name=" + ownerName, "-c", "user.email=" + ownerEmail,
		"-c", "core.autocrlf=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "commit.gpgSign=false",
	}, args...)...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

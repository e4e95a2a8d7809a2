package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Obstacles returns, all at once, what keeps every run of a repository from its
// start and can be known without a state folder: git is missing or too old, or the
// repository is bare. An empty repo asks about git alone. It writes nothing; what it
// cannot find out is left to Begin.
func Obstacles(ctx context.Context, repo string) []ledger.Diagnostic {
	var found []ledger.Diagnostic
	_, err := findGit(ctx)
	if input, ok := errors.AsType[*ledger.InputError](err); ok {
		found = append(found, input.Diagnostics...)
	}
	if repo != "" && isBare(repo) {
		found = append(found, bareRepository(repo))
	}
	return found
}

// NoCommits is Obstacles for a checkout without a commit on any branch, which can be
// configured and cannot be worked on. It asks in words that old versions of git
// understand.
func NoCommits(ctx context.Context, repo string) []ledger.Diagnostic {
	program, _ := findGit(ctx)
	if program == "" || isBare(repo) {
		return nil
	}
	w := &Workspace{program: program}
	out, err := w.run(ctx, call{dir: repo, args: []string{"for-each-ref", "--count=1", "refs/heads"}})
	if err != nil || strings.TrimSpace(string(out)) != "" {
		return nil
	}
	_, err = w.run(ctx, call{dir: repo, args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}}) // detached
	if exitCode(err) <= 0 {
		return nil
	}
	return []ledger.Diagnostic{noCommitsYet(repo)}
}

// findGit returns the path of git. A missing git is a *ledger.InputError; so is one
// that is too old, whose path is returned beside the error.
func findGit(ctx context.Context) (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", inputError(ledger.Diagnostic{Text: "git is not on PATH", Remedy: "install git 2.39 or newer, for example: apt install git"})
	}
	out, err := (&Workspace{program: program}).run(ctx, call{args: []string{"version"}})
	if err != nil {
		return "", err
	}
	// merge-tree --write-tree came with 2.38; the oldest version tested is
	// 2.39.
	if m := gitVersion.FindStringSubmatch(string(out)); m != nil {
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		if major < 2 || major == 2 && minor < 39 {
			return program, inputError(ledger.Diagnostic{
				Text:   "git is " + m[1] + "." + m[2] + ", and nightporter needs 2.39 or newer",
				Remedy: "install a newer git, for example: apt install git, or from git-scm.com where that one is old too",
			})
		}
	}
	return program, nil
}

// isBare reports whether a folder is a repository without a checkout, by the files
// that each has: git may be missing, or too old to be asked.
func isBare(repo string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(repo, name)); err != nil {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(repo, ".git"))
	return errors.Is(err, os.ErrNotExist)
}

func bareRepository(repo string) ledger.Diagnostic {
	return ledger.Diagnostic{
		Text:   repo + " is a bare repository: it has no checkout in which the task list could be",
		Remedy: "clone it and give the clone: git clone " + repo + " DIR",
	}
}

func noCommitsYet(repo string) ledger.Diagnostic {
	return ledger.Diagnostic{Text: repo + " has no commits yet, so there is nothing to start from", Remedy: "make the first one: git add -A && git commit -m \"First commit\""}
}

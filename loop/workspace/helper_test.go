package workspace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/internal/copytree"
	"github.com/nightporter/nightporter/loop/ledger"
)

// git runs git in dir as a person would, and fails the test on an error.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryGit(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=@1763600000 +0000", "GIT_COMMITTER_DATE=@1763600000 +0000")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// setHome sets up a home folder with an identity, and hides the real one.
func setHome(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, ".config"))
	writeFile(t, dir, ".gitconfig", "[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
}

// writeFile writes a file, and creates the folders above it.
func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readFile reads a file; "(none)" for a missing one.
func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// firstShop is the repository that those of all tests are copies of.
var firstShop struct {
	once sync.Once
	dir  string // removed in TestMain
}

// shop makes a user's repository with a few files and one commit.
func shop(t *testing.T) string {
	t.Helper()
	setHome(t)
	firstShop.once.Do(func() {
		var err error
		firstShop.dir, err = os.MkdirTemp("", "shop") //nolint:usetesting // all tests use it
		must(t, err)
		must(t, os.Chmod(firstShop.dir, 0o755))
		makeShop(t, firstShop.dir)
	})
	dir := filepath.Join(t.TempDir(), "shop")
	must(t, copytree.Copy(firstShop.dir, dir))
	return dir
}

// shopWith is shop with a second commit that writes files, if there are any.
func shopWith(t *testing.T, set map[string]string) string {
	t.Helper()
	dir := shop(t)
	for p, text := range set {
		writeFile(t, dir, p, text)
	}
	if len(set) > 0 {
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", "more")
	}
	return dir
}

func makeShop(t *testing.T, dir string) {
	t.Helper()
	writeFile(t, dir, "README.md", "A shop.\n")
	writeFile(t, dir, "go.mod", "module shop\n")
	writeFile(t, dir, "cart/cart.go", "package cart\n")
	writeFile(t, dir, "cart/cart_test.go", "package cart\n")
	writeFile(t, dir, "docs/api.md", "API\n")
	writeFile(t, dir, "web/app/page.tsx", "page\n")
	writeFile(t, dir, "web/cart/view.ts", "view\n")
	writeFile(t, dir, "plan.md", "- [ ] **Task 1: A**\n")
	writeFile(t, dir, ".gitignore", "node_modules/\n*.log\n")
	writeFile(t, dir, "web/.gitignore", "/out\ntmp\n!keep.log\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "First")
}

// workspace opens a Workspace on a repository, with its own state folder.
func workspace(t *testing.T, repo string, change ...func(*Options)) *Workspace {
	t.Helper()
	o := Options{State: filepath.Join(t.TempDir(), "state"), Project: "shop", Repo: repo, Owned: []string{"plan.md", "plan.progress.md"}, SessionUID: -1, SessionGID: -1}
	for _, c := range change {
		c(&o)
	}
	w, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// begin starts a run, and fails the test if it cannot.
func begin(t *testing.T, w *Workspace, run string) ledger.Base {
	t.Helper()
	base, err := w.Begin(t.Context(), ledger.Begin{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// all is the scope of a builder that ships with nightporter.
var all = ledger.Scope{Allowed: []string{"**"}, Denied: []string{"docs/**"}, Shipped: true}

// session restores the folder, calls do in the role of a session, and captures
// the result.
func session(t *testing.T, w *Workspace, base ledger.Base, input string, scope ledger.Scope, do func(dir string)) ledger.Capture {
	t.Helper()
	if input == "" {
		input = base.Tree
	}
	if err := w.Restore(t.Context(), only("r1", input)); err != nil {
		t.Fatal(err)
	}
	do(w.Work(only("r1", "")).Dir)
	taken, err := w.Capture(t.Context(), captureRequest(base, input, scope))
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

func captureRequest(base ledger.Base, input string, scope ledger.Scope) ledger.CaptureRequest {
	return ledger.CaptureRequest{Run: "r1", Session: "r1-1", Ref: "refs/nightporter/shop/r1/task-1/a1/s1",
		Input: input, Start: base.Tree, StartRev: base.Commit, Scope: scope}
}

// paths returns the paths of changed files.
func paths(files []ledger.FileChange) []string {
	var list []string
	for _, f := range files {
		list = append(list, f.Path)
	}
	return list
}

// findingsOf returns the findings in an error. It fails the test for another
// kind of error, and for a finding without a remedy.
func findingsOf(t *testing.T, err error) string {
	t.Helper()
	input, ok := errors.AsType[*ledger.InputError](err)
	if !ok {
		t.Fatalf("got error %v, want a *loop.InputError", err)
	}
	for _, f := range input.Diagnostics {
		if f.Remedy == "" {
			t.Errorf("finding %q does not say what to do", f.Text)
		}
	}
	return input.Error()
}

// repoContent returns a repository's files with mode and content, except what
// nightporter may write: objects, and its own branches with their logs.
func repoContent(t *testing.T, repo string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(repo, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(repo, path)
		for _, own := range []string{".git/objects", ".git/refs/heads/nightporter", ".git/logs/refs/heads/nightporter"} {
			if rel == own {
				return fs.SkipDir
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			text += " " + target
		}
		files[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// files lists the files in a folder and its empty folders, without .git.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" {
			return fs.SkipDir
		}
		if !d.IsDir() {
			list = append(list, rel)
		} else if sub, _ := os.ReadDir(path); len(sub) == 0 {
			list = append(list, rel+"/")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// shopFiles are the files of shop.
var shopFiles = []string{".gitignore", "README.md", "cart/cart.go", "cart/cart_test.go", "docs/api.md", "go.mod", "plan.md", "web/.gitignore", "web/app/page.tsx", "web/cart/view.ts"}

// only returns the work folder of a run with one lane.
func only(run, tree string) ledger.WorkUse { return ledger.WorkUse{Run: run, Lanes: 1, Tree: tree} }

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
)

// remakeTasks is the number of tasks of the night that BenchmarkRevert takes one out
// of.
const remakeTasks = 30

// BenchmarkRevert makes the branch of a night of 30 tasks without the first one:
// all others are made again, by merge, in a repository of 2,000 files. Every task
// changes a file that all share.
//
// Figure: 1 s, without the verification of the new branch.
func BenchmarkRevert(b *testing.B) {
	repo := filepath.Join(b.TempDir(), "repo")
	write := func(name, text string) {
		b.Helper()
		file := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	git := func(args ...string) string {
		b.Helper()
		cmd := exec.CommandContext(b.Context(), "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
		cmd.Dir = repo
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
		return strings.TrimSpace(string(out))
	}
	lines := make([]string, 20*remakeTasks)
	for n := range lines {
		lines[n] = fmt.Sprintf("line %d", n)
	}
	for n := range 2000 {
		write(fmt.Sprintf("src/%d/file%d.go", n/50, n), fmt.Sprintf("package p%d\n", n))
	}
	write("src/shared.go", strings.Join(lines, "\n")+"\n")
	commitAll(b, repo)
	first := git("rev-parse", "HEAD")
	var trees []string
	for n := range remakeTasks {
		lines[20*n+10] = fmt.Sprintf("changed by %d", n)
		write("src/shared.go", strings.Join(lines, "\n")+"\n")
		write(fmt.Sprintf("src/%d/new%d.go", n, n), "package p\n")
		git("add", "-A")
		git("commit", "-qm", "work")
		trees = append(trees, git("rev-parse", "HEAD^{tree}"))
	}
	w, err := workspace.Open(b.Context(), workspace.Options{State: b.TempDir(), Project: "shop", Repo: repo, SessionUID: -1, SessionGID: -1})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := w.Begin(b.Context(), ledger.Begin{Run: "r1"}); err != nil { // fetches the trees
		b.Fatal(err)
	}
	git("reset", "-q", "--hard", first)
	base, err := w.Begin(b.Context(), ledger.Begin{Run: "r2"})
	if err != nil {
		b.Fatal(err)
	}
	request := ledger.RemakeBranch{Run: "r2", From: base.Branch, Base: base.Commit, Author: base.Author, Time: "2026-11-21T08:00:00+01:00", Tip: base.Commit}
	for n, tree := range trees {
		made, err := w.Commit(b.Context(), ledger.CommitTask{
			Run: "r2", Branch: base.Branch, Parent: request.Tip, Tree: tree, Subject: "feat: work", Footers: fmt.Sprintf("Nightporter-Session: r2-%d\n", n), Author: base.Author, Time: "2026-11-20T23:00:00+01:00",
		}, nil)
		if err != nil {
			b.Fatal(err)
		}
		request.Tip = made.Commit
		request.Steps = append(request.Steps, ledger.RemakeStep{Task: fmt.Sprintf("Task %d", n+1), Commit: made.Commit, Drop: n == 0})
	}
	n := 0
	for b.Loop() {
		n++
		request.Branch = fmt.Sprintf("%s.%d", base.Branch, n)
		made, err := w.Remake(b.Context(), request)
		if err != nil || len(made.Commits) != remakeTasks-1 {
			b.Fatalf("%+v, %v", made, err)
		}
	}
}

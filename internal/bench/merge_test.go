package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
)

// A repository of 5,000 files, and the number of them that a change has.
const (
	mergeFolders = 50
	mergeFiles   = 100 // in each
	mergeChanged = 1000
)

// BenchmarkMerge merges a change of 1,000 files onto a tip that moved by a change of
// 1,000 files, in a repository of 5,000: other files, and other lines of the same ones,
// each of which git has to merge by its content. The baseline is git merge-tree of the
// same commits in the same run.
//
// Figure: ≤ 100 ms.
func BenchmarkMerge(b *testing.B) {
	name := func(n int) string {
		return filepath.Join(fmt.Sprintf("folder%d", n%mergeFolders), fmt.Sprintf("file%d.txt", n/mergeFolders))
	}
	text := func(n, line int) string {
		lines := strings.Split(strings.Repeat(fmt.Sprintf("line of file %d\n", n), 50), "\n")
		if line >= 0 {
			lines[line] = "changed"
		}
		return strings.Join(lines, "\n")
	}
	files := map[string]string{}
	for n := range mergeFolders * mergeFiles {
		files[name(n)] = text(n, -1)
	}
	for _, c := range []struct {
		name string
		from int // the first file of the change that is merged
	}{{"other", mergeChanged}, {"same", 0}} {
		b.Run(c.name, func(b *testing.B) {
			f := newMergeFixture(b, files)
			change := func(from, line int) (tree string) {
				changed := map[string]string{}
				for n := range mergeChanged {
					changed[name(from+n)] = text(from+n, line)
				}
				return f.tree(changed)
			}
			tip, err := f.w.Commit(b.Context(), ledger.CommitTask{
				Run: "r1", Branch: f.base.Branch, Parent: f.base.Commit, Tree: change(0, 3), Subject: "feat: First", Author: "Mira <mira@example.com>", Time: "2026-11-20T01:00:00Z",
			}, nil)
			if err != nil {
				b.Fatal(err)
			}
			tree := change(c.from, 40)
			side := f.git("-c", "user.name=Mira", "-c", "user.email=mira@example.com", "commit-tree", "-p", f.base.Commit, "-m", "Change", tree)
			var took, bare []time.Duration
			for b.Loop() {
				began := time.Now()
				f.git("merge-tree", "--write-tree", tip.Commit, side)
				bare = append(bare, time.Since(began))
				began = time.Now()
				m, err := f.w.Merge(b.Context(), ledger.MergeTree{Run: "r1", Base: f.base.Commit, Tree: tree, Onto: tip.Commit})
				if took = append(took, time.Since(began)); err != nil || len(m.Conflicts) > 0 {
					b.Fatalf("conflicts %v, %v", m.Conflicts, err)
				}
			}
			middle, high := median(took)
			alone, _ := median(bare)
			b.ReportMetric(ms(middle), "ms")
			b.ReportMetric(ms(alone), "git-ms")
			b.ReportMetric(float64(middle)/float64(alone), "x-git")
			b.ReportMetric(ms(high), "ms-95")
			b.ReportMetric(0, "ns/op") // the mean says less
		})
	}
}

type mergeFixture struct {
	b     *testing.B
	w     *workspace.Workspace
	state string
	base  ledger.Base
	trees int
}

// git runs git in the daemon's own repository, and returns what it printed.
func (f *mergeFixture) git(args ...string) string {
	f.b.Helper()
	out, err := exec.CommandContext(f.b.Context(), "git", append([]string{"-C", filepath.Join(f.state, "repos", "shop.git")}, args...)...).Output()
	if err != nil {
		f.b.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func newMergeFixture(b *testing.B, files map[string]string) *mergeFixture {
	b.Helper()
	f, repo := &mergeFixture{b: b, state: b.TempDir()}, filepath.Join(b.TempDir(), "repo")
	for name, text := range files {
		f.write(filepath.Join(repo, name), text)
	}
	commitAll(b, repo)
	var err error
	if f.w, err = workspace.Open(b.Context(), workspace.Options{State: f.state, Project: "shop", Repo: repo, SessionUID: -1, SessionGID: -1}); err != nil {
		b.Fatal(err)
	}
	if f.base, err = f.w.Begin(b.Context(), ledger.Begin{Run: "r1"}); err != nil {
		b.Fatal(err)
	}
	return f
}

func (f *mergeFixture) write(file, text string) { (&roomFixture{b: f.b}).write(file, text) }

// tree makes the tree of a session that changed files.
func (f *mergeFixture) tree(changed map[string]string) string {
	f.b.Helper()
	use := ledger.WorkUse{Run: "r1", Lanes: 1, Tree: f.base.Tree}
	if err := f.w.Restore(f.b.Context(), use); err != nil {
		f.b.Fatal(err)
	}
	for name, text := range changed {
		f.write(filepath.Join(f.w.Work(use).Dir, name), text)
	}
	f.trees++
	taken, err := f.w.Capture(f.b.Context(), ledger.CaptureRequest{
		Run: "r1", Session: fmt.Sprintf("r1-%d", f.trees), Ref: fmt.Sprintf("refs/nightporter/shop/r1/task-%d/a1/s1", f.trees),
		Input: f.base.Tree, Start: f.base.Tree, StartRev: f.base.Commit, Scope: ledger.Scope{Allowed: []string{"**"}},
	})
	if err != nil || len(taken.Files) != len(changed) {
		f.b.Fatalf("%d files were taken, %v", len(taken.Files), err)
	}
	return taken.Tree
}

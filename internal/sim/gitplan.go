package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// drawSettings chooses the lanes, the queue and the pattern of the night.
func (n *gitNight) drawSettings() {
	s := scenario.New(gitProject, n.began).Settings()
	s.Pattern.Start = "builder"
	s.Pattern.Routes = []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}
	if n.rnd.IntN(3) == 0 {
		s.Pattern.Routes = []ledger.Route{
			{From: "builder", On: "build.complete", To: "reviewer"},
			{From: "reviewer", On: ledger.EventReview, When: ledger.Above, To: "fixer"},
			{From: "reviewer", On: ledger.EventReview, When: ledger.Below, To: ledger.Converged},
			{From: "fixer", On: ledger.EventFix, To: "reviewer"},
		}
	}
	for name, h := range s.Hats {
		h.MaxTokens, h.Role, h.Prompt = 40000, "Role of the "+name, "You are the "+name+"."
		s.Hats[name] = h
	}
	s.Repo, s.Source = n.repo(), ledger.SourceRef{Kind: "plan", Path: "plan.md"}
	s.Parallel = 2 + int(n.seed%7)
	s.Verify = []ledger.Command{{Run: "check"}}
	if n.rnd.IntN(4) == 0 {
		s.Verify = []ledger.Command{{Run: "check", Parallel: true}, {Run: "lint", Parallel: true}}
	}
	if n.rnd.IntN(4) == 0 {
		s.Queue, s.Batch = ledger.QueueBatch, 2+n.rnd.IntN(3)
	}
	n.settings = s
}

// Files that all tasks may write, and those of a task with a scope.
const sharedFiles = 3

func sharedFile(n int) string { return fmt.Sprintf("notes/%c.txt", 'a'+n) }
func ownFile(task int) string { return fmt.Sprintf("area-%d/list.txt", task) }

// drawPlan makes tasks of three kinds: those that are declared independent and write
// what all others write, those with a scope of their own, and some that have to be
// alone.
func (n *gitNight) drawPlan() {
	tasks := n.settings.Parallel + 2 + n.rnd.IntN(4)
	n.plan = ledger.Snapshot{Name: "lines", Path: "plan.md"}
	for at := 1; at <= tasks; at++ {
		t := scenario.Task(at, fmt.Sprintf("Write part %d", at))
		switch k := n.rnd.IntN(10); {
		case k < 6:
			t.Labels = []string{"P"}
		case k < 9:
			t.Scope = fmt.Sprintf("`area-%d/`", at)
		}
		if at > 2 && n.rnd.IntN(6) == 0 {
			t.DependsOn = []string{fmt.Sprintf("Task %d", 1+n.rnd.IntN(at-1))}
		}
		n.plan.Tasks = append(n.plan.Tasks, t)
	}
	n.counts["tasks"] = tasks
}

// drawRepo makes the user's repository: files of some lines each, with the same lines
// without an id between them in all.
func (n *gitNight) drawRepo() error {
	write := func(file string) error {
		var lines []string
		for at := range 8 + n.rnd.IntN(8) {
			lines = append(lines, fmt.Sprintf("[base.%s.%d] as it was", strings.NewReplacer("/", "-", ".", "-").Replace(file), at))
			if n.rnd.IntN(4) == 0 {
				lines = append(lines, "}")
			}
		}
		return writeLines(filepath.Join(n.repo(), file), lines)
	}
	for at := range sharedFiles {
		if err := write(sharedFile(at)); err != nil {
			return err
		}
	}
	for at, t := range n.plan.Tasks {
		if t.Scope == "" {
			continue
		}
		if err := write(ownFile(at + 1)); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Mira"}, {"config", "user.email", "mira@example.com"}, {"config", "gc.auto", "0"},
		{"add", "-A"}, {"commit", "-q", "-m", "First"},
	} {
		if _, err := gitIn(n.repo(), nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// person commits to the run's branch once, in one night of four, while tasks wait in the
// queue.
func (n *gitNight) person() {
	if n.seed%4 != 0 {
		return
	}
	n.all.sleep(time.Duration(30+n.rnd.IntN(60))*time.Minute + time.Millisecond)
	branch := "refs/heads/nightporter/" + gitProject + "/r1"
	if n.daemon == nil || n.over() {
		return
	}
	if s, _ := n.daemon.engine.State(gitProject); s.Project.Run.Over() || s.Project.Run.State != ledger.RunRunning {
		return
	}
	if out, err := gitIn(n.repo(), nil, "rev-parse", "-q", "--verify", branch); err != nil || out == "" {
		return
	}
	index := filepath.Join(n.dir, "index")
	tip := n.mustGit(n.repo(), "rev-parse", branch)
	file, _, _ := strings.Cut(n.mustGit(n.repo(), "ls-tree", "-r", "--name-only", tip, "notes/"), "\n")
	text := n.mustGit(n.repo(), "show", tip+":"+file)
	lines := slices.Insert(strings.Split(text, "\n"), len(strings.Split(text, "\n"))/2, "[person.1.1] by hand")
	path := filepath.Join(n.dir, "by-hand")
	if err := writeLines(path, lines); err != nil {
		n.fail("git", "%v", err)
	}
	blob := n.mustGit(n.repo(), "hash-object", "-w", path)
	withIndex := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", n.repo()}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+index)
		out, err := cmd.Output()
		if err != nil {
			n.fail("git", "git %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	withIndex("read-tree", tip)
	withIndex("update-index", "--cacheinfo", "100644,"+blob+","+file)
	tree := withIndex("write-tree")
	commit := n.mustGit(n.repo(), "commit-tree", "-p", tip, "-m", "By hand", tree)
	n.mustGit(n.repo(), "update-ref", branch, commit, tip)
	n.book.byHand[commit] = map[string]bool{"person.1.1": true}
	n.counts["commits of a person"]++
}

// ours merges as the product must not: it takes the branch's side of what conflicts, and
// all of the other change besides.
func (n *gitNight) ours(m ledger.MergeTree) string {
	dir := filepath.Join(n.state(), "repos", gitProject+".git")
	onto, base := m.Onto, m.Base
	if m.OntoTree != "" {
		onto = n.mustGit(dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", "-p", base, "-m", "x", m.OntoTree)
	}
	work := filepath.Join(n.dir, "ours")
	defer os.RemoveAll(work)
	n.mustGit(n.dir, "clone", "-q", "--no-checkout", dir, work)
	n.mustGit(work, "fetch", "-q", dir, "+refs/*:refs/all/*")
	side := n.mustGit(work, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", "-p", base, "-m", "x", n.mustGit(dir, "rev-parse", m.Tree+"^{tree}"))
	n.mustGit(work, "checkout", "-q", onto)
	n.mustGit(work, "-c", "user.name=x", "-c", "user.email=x@example.com", "merge", "-q", "-s", "ort", "-X", "ours", "-m", "x", side)
	tree := n.mustGit(work, "rev-parse", "HEAD^{tree}")
	n.mustGit(dir, "fetch", "-q", work, "HEAD")
	return tree
}

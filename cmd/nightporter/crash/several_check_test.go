package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/programtest"
)

// severalResult is what kills must not change.
type severalResult struct {
	Trees    []string // of our branch, newest first
	Messages []string // without the ids of a session and of an entry
	Plan     string
	Tasks    []string // in the progress log
	Branches string
}

var notSame = regexp.MustCompile(`(?m)^(Nightporter-Session|Nightporter-Head): .*$`)

func (n severalRun) result() severalResult {
	n.T.Helper()
	messages := notSame.ReplaceAllString(n.Out("git", "-C", "repo", "log", "--format=%an %cn%n%B%x00", "nightporter/shop/r1"), "$1: …")
	return severalResult{
		Trees:    strings.Fields(n.Out("git", "-C", "repo", "log", "--format=%T", "nightporter/shop/r1")),
		Messages: strings.Split(messages, "\x00\n"),
		Plan:     n.read(n.Path("repo", "plan.md")),
		Tasks:    regexp.MustCompile(`(?m)^## .*$`).FindAllString(n.read(n.Path("repo", "plan.progress.md")), -1),
		Branches: n.Out("git", "-C", "repo", "for-each-ref", "--format=%(refname)"),
	}
}

// check compares a run that has ended with one without kills.
func (n severalRun) check(want severalResult) {
	n.T.Helper()
	if diff := cmp.Diff(want, n.result()); diff != "" {
		n.T.Errorf("not the same as without a kill (-want +got):\n%s", diff)
	}
	for file, text := range n.of.tree {
		if is, _, err := n.Output("git", "-C", "repo", "show", "nightporter/shop/r1:"+file); err != nil || is != text {
			n.T.Errorf("%s is %q, want %q; %v", file, is, text, err)
		}
	}
	if n.has("not-alone") {
		n.T.Errorf("two sessions at one task or in one folder: %s", n.read(n.note("not-alone")))
	}
	started := map[string]bool{}
	log := n.read(n.note("log"))
	for line := range strings.Lines(log) {
		id, _, _ := strings.Cut(line, " ")
		if started[id] {
			n.T.Errorf("session %s was started twice:\n%s", id, log)
		}
		started[id] = true
	}
	if !n.of.batch {
		n.checkVerified()
	}
	if out := n.Out("nightporter", "verify"); !strings.Contains(out, "ledger whole, checked against "+count(n.of.commits)) {
		n.T.Errorf("verify: %s", out)
	}
	if out := n.Out("nightporter", "status", "--json"); !strings.Contains(out, fmt.Sprintf(`"reason":"all tasks done","exit":0,"done":%[1]d,"total":%[1]d`, n.of.commits)) {
		n.T.Errorf("status: %s", out)
	}
	if err := programtest.WaitFor("all sessions to be gone", func() (bool, error) { return len(n.left()) == 0, nil }); err != nil {
		n.T.Errorf("%v: %v", err, n.left())
	}
}

func count(commits int) string {
	if commits == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", commits)
}

// checkVerified checks that a check passed on the files of each commit.
func (n severalRun) checkVerified() {
	n.T.Helper()
	passed := n.read(n.note("passed"))
	for _, commit := range strings.Fields(n.Out("git", "-C", "repo", "log", "--format=%H", "main..nightporter/shop/r1")) {
		dir := n.Path("seen", commit)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			n.T.Fatal(err)
		}
		n.Out("git", "-C", "repo", "--work-tree="+dir, "--git-dir="+n.Path("repo", ".git"), "restore", "--worktree", "--source="+commit, ":/")
		if is := strings.TrimSpace(n.Out("sh", "-c", "cd "+dir+" && sh ./digest.sh")); !strings.Contains(passed, is) {
			n.T.Errorf("no check passed on the tree of %s, %s:\n%s", commit, is, passed)
		}
	}
}

// left returns the processes that the run has left behind.
func (n severalRun) left() (left []string) {
	for _, pid := range n.Supervisors() {
		left = append(left, fmt.Sprint("supervisor ", pid))
	}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), n.Dir) {
			left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return left
}

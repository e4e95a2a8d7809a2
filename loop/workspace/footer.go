package workspace

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
)

// HeadFooter is the key of the footer by which a task's commit names the head of
// its project's stream: "Nightporter-Head: project/shop@41:9f86…".
const HeadFooter = "Nightporter-Head"

// HeadCommit is a commit that names a head of the ledger.
type HeadCommit struct {
	Commit string
	Head   string // project/shop@41:9f86…
	// Own reports whether its committer is nightporter. Anybody can give that
	// name; but where a head does not fit, a commit of somebody else may never
	// have been of this ledger.
	Own bool
}

// OwnHeads returns the commits in our repository that name a head, from all our
// branches of the project, newest first. Commits older than since are left out.
// The error for a repository that does not exist is fs.ErrNotExist.
func (w *Workspace) OwnHeads(ctx context.Context, since time.Time) ([]HeadCommit, error) {
	if _, err := os.Stat(w.gitDir); err != nil {
		return nil, fmt.Errorf("heads in nightporter's own repository: %w", err)
	}
	found, err := w.headCommits(ctx, w.gitDir, since)
	if err != nil {
		return nil, fmt.Errorf("heads in nightporter's own repository: %w", err)
	}
	return found, nil
}

// UserHeads is OwnHeads for the user's repository: our branches there, and what
// was merged into the branch that is checked out.
func (w *Workspace) UserHeads(ctx context.Context, since time.Time) ([]HeadCommit, error) {
	t, err := w.openUser(ctx)
	if err != nil {
		return nil, err
	}
	var more []string
	switch head, err := w.gitUser(ctx, t, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); {
	case err == nil:
		more = append(more, head)
	case exitCode(err) != 1: // 1: a branch without commits
		return nil, fmt.Errorf("heads in %s: %w", w.o.Repo, err)
	}
	found, err := w.headCommits(ctx, t.gitDir, since, more...)
	if err != nil {
		return nil, fmt.Errorf("heads in %s: %w", w.o.Repo, err)
	}
	return found, nil
}

// headCommits reads the messages of the commits that our branches and the given
// commits lead to. Reading ends at commits older than since, so the cost does
// not grow with the user's history.
func (w *Workspace) headCommits(ctx context.Context, gitDir string, since time.Time, commits ...string) ([]HeadCommit, error) {
	args := []string{
		"rev-list", "--no-commit-header", "--format=%H%n%cn <%ce>%n%B%x00", "--encoding=UTF-8", "--grep=^" + HeadFooter + ": ",
		"--since=" + since.UTC().Format("2006-01-02T15:04:05Z"), "--branches=nightporter/" + w.o.Project + "/*",
	}
	out, err := w.run(ctx, call{gitDir: gitDir, args: append(append(args, commits...), "--")})
	if err != nil {
		return nil, err
	}
	var found []HeadCommit
	for part := range strings.SplitSeq(string(out), "\x00") {
		commit, rest, _ := strings.Cut(strings.TrimLeft(part, "\n"), "\n")
		committer, text, ok := strings.Cut(rest, "\n")
		if head := headOf(text); ok && head != "" {
			found = append(found, HeadCommit{Commit: commit, Head: head, Own: committer == ownName+" <"+ownEmail+">"})
		}
	}
	return found, nil
}

// headForm is the value of HeadFooter as the engine writes it.
var headForm = regexp.MustCompile(`^\S+@[1-9][0-9]*:[0-9a-f]{64}$`)

// headOf returns the head that a commit's message names, or "". It reads the
// last paragraph alone, and only if all its lines are footers and one of them
// is a head in the form that we write: the rest is the words of people and
// agents.
func headOf(message string) string {
	paragraphs := strings.Split(strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n")), "\n\n")
	if len(paragraphs) < 2 {
		return ""
	}
	head := ""
	for line := range strings.SplitSeq(paragraphs[len(paragraphs)-1], "\n") {
		if value, ok := strings.CutPrefix(line, HeadFooter+": "); ok {
			if head != "" || !headForm.MatchString(value) {
				return ""
			}
			head = value
			continue
		}
		// git cherry-pick -x adds a line in brackets.
		if !footerLine.MatchString(line) && !strings.HasPrefix(line, "(cherry picked from commit ") {
			return ""
		}
	}
	return head
}

// OwnCommits returns those of the given commits that our repository holds. The
// error for a repository that does not exist is fs.ErrNotExist.
func (w *Workspace) OwnCommits(ctx context.Context, commits []string) (map[string]bool, error) {
	if _, err := os.Stat(w.gitDir); err != nil {
		return nil, fmt.Errorf("commits in nightporter's own repository: %w", err)
	}
	return w.held(ctx, w.gitDir, commits)
}

// UserCommits returns those of the given commits that a branch or another ref of
// the user's repository leads to.
func (w *Workspace) UserCommits(ctx context.Context, commits []string) (map[string]bool, error) {
	t, err := w.openUser(ctx)
	if err != nil {
		return nil, err
	}
	held, err := w.held(ctx, t.gitDir, commits)
	if err != nil || len(held) == 0 {
		return held, err
	}
	var in strings.Builder
	for commit := range held {
		in.WriteString(commit + "\n")
	}
	// Every commit that the given ones lead to, but no ref.
	out, err := w.run(ctx, call{gitDir: t.gitDir, in: strings.NewReader(in.String()), args: []string{"rev-list", "--not", "--all", "--not", "--stdin"}})
	if err != nil {
		return nil, fmt.Errorf("commits in %s: %w", w.o.Repo, err)
	}
	for commit := range strings.FieldsSeq(string(out)) {
		delete(held, commit)
	}
	return held, nil
}

// held returns those of the given commits whose objects a repository holds.
func (w *Workspace) held(ctx context.Context, gitDir string, commits []string) (map[string]bool, error) {
	held := map[string]bool{}
	var in strings.Builder
	for _, commit := range commits {
		if fullHash.MatchString(commit) {
			in.WriteString(commit + "\n")
		}
	}
	if in.Len() == 0 {
		return held, nil
	}
	out, err := w.run(ctx, call{gitDir: gitDir, in: strings.NewReader(in.String()), args: []string{"cat-file", "--batch-check=%(objecttype) %(objectname)"}})
	if err != nil {
		return nil, fmt.Errorf("look for commits in %s: %w", gitDir, err)
	}
	for line := range strings.Lines(string(out)) {
		if commit, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "commit "); ok {
			held[commit] = true
		}
	}
	return held, nil
}

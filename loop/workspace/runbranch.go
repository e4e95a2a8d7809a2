package workspace

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// RunBranches returns the branches of a project's runs in a user's repository,
// such as nightporter/shop/r1, by the number of the run. It needs no state
// folder.
func RunBranches(ctx context.Context, repo, project string) ([]string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	w := &Workspace{o: Options{Project: project, Repo: repo}, program: program}
	t, err := w.openUser(ctx)
	if err != nil {
		return nil, err
	}
	branches, err := w.runBranches(ctx, t)
	return slices.DeleteFunc(branches, func(b string) bool { return runNumber(b) == 0 }), err
}

// runBranches returns all branches that have a name for runs of the project.
func (w *Workspace) runBranches(ctx context.Context, t userRepo) ([]string, error) {
	out, err := w.gitUser(ctx, t, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"+w.branchOf(""))
	if err != nil {
		return nil, fmt.Errorf("read branches: %w", err)
	}
	var branches []string
	for branch := range strings.SplitSeq(out, "\n") {
		if branch != "" {
			branches = append(branches, branch)
		}
	}
	slices.SortFunc(branches, func(a, b string) int { return runNumber(a) - runNumber(b) })
	return branches, nil
}

// refuseForeignRuns refuses a run whose branch, or that of a later run, is there
// already: this ledger did not make it, and another one may go on with it.
func (w *Workspace) refuseForeignRuns(ctx context.Context, t userRepo, branch string) error {
	branches, err := w.runBranches(ctx, t)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	branches = slices.DeleteFunc(branches, func(b string) bool { return b != branch && runNumber(b) <= runNumber(branch) })
	if len(branches) == 0 {
		return nil
	}
	text := "branch " + branches[0] + " exists already, from another state folder"
	if len(branches) > 1 {
		text = "branches " + branches[0] + " to " + branches[len(branches)-1] + " exist already, from another state folder"
	}
	return inputError(ledger.Diagnostic{
		Text:   text,
		Remedy: "if no other nightporter works there, rename: " + RenameBranches(w.o.Repo, branches),
	})
}

// runNumber returns 12 for r12 and nightporter/shop/r12, and 0 for another name.
func runNumber(branch string) int {
	name, ok := strings.CutPrefix(branch[strings.LastIndexByte(branch, '/')+1:], "r")
	n, err := strconv.Atoi(name)
	if !ok || err != nil || n < 0 || name != strconv.Itoa(n) {
		return 0
	}
	return n
}

// RenameBranches returns a command for a shell that renames branches of an
// earlier state folder, so that their names are free. repo is quoted.
func RenameBranches(repo string, branches []string) string {
	if len(branches) == 1 {
		return "git -C " + repo + " branch -m " + branches[0] + " " + renamed(branches[0])
	}
	folder := branches[0][:strings.LastIndexByte(branches[0], '/')+1]
	runs := make([]string, len(branches))
	for n, branch := range branches {
		runs[n] = strings.TrimPrefix(branch, folder)
	}
	return "for r in " + strings.Join(runs, " ") + "; do git -C " + repo + " branch -m " + folder + "$r " + renamed(folder+"$r") + "; done"
}

// renamed returns a name without a folder for a branch.
func renamed(branch string) string { return strings.ReplaceAll(branch, "/", "-") + "-old" }

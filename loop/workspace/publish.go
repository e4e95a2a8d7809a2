package workspace

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// publish copies a commit into the user's repository and moves our branch there
// from old to it.
//
// A push would run receive-pack with the repository's configuration:
// pre-receive, update and post-receive hooks, receive.*, automatic gc. Instead
// the objects are piped into unpack-objects or index-pack, and update-ref moves
// the ref with a check of its old value, both as the repository's owner.
// core.hooksPath is overridden, so that no reference-transaction hook runs.
func (w *Workspace) publish(ctx context.Context, branch, old, tip string) error {
	return w.inTime(ctx, publishPatience, func(ctx context.Context) error { return w.publishNow(ctx, branch, old, tip) })
}

func (w *Workspace) publishNow(ctx context.Context, branch, old, tip string) error {
	t, err := w.openUser(ctx)
	if err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	all, others, err := w.commonCommits(ctx, t, ref)
	if err != nil {
		return err
	}
	for range 3 {
		have, err := w.userTip(ctx, t, ref)
		if err != nil {
			return err
		}
		switch {
		case have == tip:
			// The branch has the commit already. But a gc --prune=now that ran
			// between objects and ref may have deleted objects that were
			// unreferenced then.
			if whole, err := w.hasObjects(ctx, t, tip, others); err != nil || whole {
				return err
			}
			all = others // the branch's own objects are in doubt
		case have != "" && have != old:
			return w.branchMoved(ctx, t, branch, old, have)
		case have != "":
			if err := w.refuseCheckedOut(ctx, t, branch); err != nil {
				return err
			}
		}
		if err := w.sendObjects(ctx, t, tip, all); err != nil {
			return err
		}
		if have != tip {
			if err := w.updateUserRef(ctx, t, ref, have, tip); err != nil {
				// The ref may have moved meanwhile; the next iteration reads it
				// again.
				if now, lookErr := w.userTip(ctx, t, ref); lookErr == nil && now != have {
					continue
				}
				return err
			}
		}
		if whole, err := w.hasObjects(ctx, t, tip, others); err != nil || whole {
			return err
		}
	}
	return fmt.Errorf("%s does not stay whole in %s: is a gc running there again and again?", branch, w.o.Repo)
}

// openUser opens the user's repository. It leaves out the checks that only
// matter at the start of a run.
func (w *Workspace) openUser(ctx context.Context) (userRepo, error) {
	var out []byte
	err := w.inTime(ctx, readPatience, func(ctx context.Context) (err error) {
		out, err = w.run(ctx, call{dir: w.o.Repo, env: ceiling(w.o.Repo), args: []string{"rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--is-shallow-repository"}})
		return err
	})
	if err != nil {
		return userRepo{}, fmt.Errorf("open %s: %w", w.o.Repo, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return userRepo{}, fmt.Errorf("open %s: git rev-parse answered %q", w.o.Repo, out)
	}
	t := userRepo{top: w.o.Repo, gitDir: lines[0], commonDir: lines[1], shallow: lines[2] == "true"}
	t.owner, err = ownerOf(t.commonDir)
	return t, err
}

// ceiling keeps git from taking a repository around dir for that of dir, which may
// have lost its .git.
func ceiling(dir string) []string {
	return []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(filepath.Clean(dir))}
}

// userTip returns the commit of a ref in the user's repository, "" for no ref.
func (w *Workspace) userTip(ctx context.Context, t userRepo, ref string) (string, error) {
	tip, err := w.gitUser(ctx, t, "rev-parse", "--verify", "--quiet", ref)
	if exitCode(err) == 1 {
		return "", nil
	}
	return tip, err
}

// branchMoved reports a branch that somebody else moved, and fetches its
// commits so that work can be merged onto them.
func (w *Workspace) branchMoved(ctx context.Context, t userRepo, branch, want, have string) error {
	run := branch[strings.LastIndexByte(branch, '/')+1:]
	if err := w.fetch(ctx, t, "refs/heads/"+branch, w.hiddenRef(run, "theirs"), have); err != nil {
		return err
	}
	_, err := w.gitOurs(ctx, "merge-base", "--is-ancestor", want, have)
	if err != nil && exitCode(err) != 1 {
		return err
	}
	tree, treeErr := w.tree(ctx, have)
	if treeErr != nil {
		return treeErr
	}
	return &ledger.BranchMoved{Branch: branch, Want: want, Have: have, Tree: tree, Ahead: err == nil}
}

// refuseCheckedOut refuses to move a branch that is checked out: that checkout
// would then look as if its owner had undone our commit.
func (w *Workspace) refuseCheckedOut(ctx context.Context, t userRepo, branch string) error {
	where, err := w.gitUser(ctx, t, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+branch)
	if err != nil || where == "" {
		return err
	}
	remedy := "git -C " + where + " switch --detach"
	if _, err := os.Stat(where); errors.Is(err, fs.ErrNotExist) {
		remedy = "git -C " + w.o.Repo + " worktree prune"
	}
	return &ledger.RepositoryError{Text: "branch " + branch + " is checked out in " + where, Remedy: remedy}
}

// sendObjects copies a commit and its history to the user's repository, except
// what the commits in has contain.
func (w *Workspace) sendObjects(ctx context.Context, t userRepo, tip string, has []string) error {
	pipe, pack := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		// A thin pack refers to objects that the other side has.
		_, err := w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(revisionArgs(tip, has)), out: pack,
			args: []string{"pack-objects", "--quiet", "--revs", "--stdout", "--thin", "--delta-base-offset"}})
		pack.CloseWithError(err)
		ended <- err
	}()
	stream := bufio.NewReader(pipe)
	err := func() error {
		head, err := stream.Peek(12)
		if err != nil {
			return err
		}
		// The threshold of git itself: few objects stay loose, many stay a
		// pack.
		args := []string{"index-pack", "--stdin", "--fix-thin"}
		if binary.BigEndian.Uint32(head[8:]) < 100 {
			args = []string{"unpack-objects", "-q"}
		}
		_, err = w.run(ctx, call{gitDir: t.commonDir, as: t.owner, in: stream, args: args})
		return err
	}()
	pipe.CloseWithError(io.ErrClosedPipe) // no reader is left, so pack-objects must not block
	if packErr := <-ended; packErr != nil && (err == nil || errors.Is(err, packErr)) {
		err = packErr
	}
	if err != nil {
		return fmt.Errorf("copy objects into %s: %w", t.commonDir, err)
	}
	return nil
}

// commonCommits returns the commits that refs of the user's repository protect
// from gc and that our repository has too. others leaves out the given ref.
func (w *Workspace) commonCommits(ctx context.Context, t userRepo, ref string) (all, others []string, err error) {
	out, err := w.gitUser(ctx, t, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return nil, nil, err
	}
	head, err := w.gitUser(ctx, t, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil && exitCode(err) != 1 {
		return nil, nil, err
	}
	refs := map[string][]string{}
	var hashes strings.Builder
	for _, line := range append(strings.Split(out, "\n"), head+" HEAD") {
		if hash, name, ok := strings.Cut(line, " "); ok && hash != "" {
			if refs[hash] == nil {
				hashes.WriteString(hash + "\n")
			}
			refs[hash] = append(refs[hash], name)
		}
	}
	// A pack can only omit objects that our repository has.
	checked, err := w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(hashes.String()),
		args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"}})
	if err != nil {
		return nil, nil, err
	}
	for _, line := range strings.Split(string(checked), "\n") {
		hash, kind, _ := strings.Cut(line, " ")
		if kind != "commit" {
			continue
		}
		all = append(all, hash)
		if slices.ContainsFunc(refs[hash], func(name string) bool { return name != ref }) {
			others = append(others, hash)
		}
	}
	return all, others, nil
}

// revisionArgs returns the standard input of a command with --revs or --stdin:
// tip, without the history of the commits in has. tip itself is always
// included.
func revisionArgs(tip string, has []string) string {
	var list strings.Builder
	list.WriteString(tip + "\n")
	for _, h := range has {
		if h != tip {
			list.WriteString("^" + h + "\n")
		}
	}
	return list.String()
}

// updateUserRef moves a ref of the user's repository, if its value is from.
func (w *Workspace) updateUserRef(ctx context.Context, t userRepo, ref, from, to string) error {
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	_, err := w.run(ctx, call{gitDir: t.commonDir, as: t.owner, args: []string{"update-ref", "-m", "nightporter", ref, to, from}})
	if err != nil {
		return fmt.Errorf("move %s in %s: %w", ref, w.o.Repo, err)
	}
	return nil
}

// hasObjects reports whether the user's repository has every object of tip that
// the commits in has do not contain.
func (w *Workspace) hasObjects(ctx context.Context, t userRepo, tip string, has []string) (bool, error) {
	_, err := w.run(ctx, call{gitDir: t.gitDir, in: strings.NewReader(revisionArgs(tip, has)),
		args: []string{"rev-list", "--objects", "--quiet", "--stdin"}})
	if exitCode(err) < 0 {
		return false, err
	}
	return err == nil, nil
}

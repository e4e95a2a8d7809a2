package workspace

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// deliver copies a commit into the user's repository and moves our branch
// there from old to it.
//
// A push would run their receive-pack with its configuration (pre-receive,
// update and post-receive hooks, receive.*, automatic gc). Instead the objects
// go through a pipe into unpack-objects or index-pack and the ref through
// update-ref with its old value, as the repository's owner and with
// core.hooksPath overridden, so that reference-transaction hooks stay still.
func (w *Workspace) deliver(ctx context.Context, branch, old, tip string) error {
	t, err := w.openTheirs(ctx)
	if err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	all, others, err := w.known(ctx, t, ref)
	if err != nil {
		return err
	}
	for range 3 {
		have, err := w.theirTip(ctx, t, ref)
		if err != nil {
			return err
		}
		switch {
		case have == tip:
			// Done before; but a gc --prune=now between objects and ref can have
			// taken objects that nothing pointed to yet.
			if w.complete(ctx, t, tip, others) {
				return nil
			}
			all = others // what the branch itself seems to have is in doubt
		case have != "" && have != old:
			return w.moved(ctx, t, branch, old, have)
		case have != "":
			if err := w.notCheckedOut(ctx, t, branch, tip); err != nil {
				return err
			}
		}
		if err := w.send(ctx, t, tip, all); err != nil {
			return err
		}
		if have != tip {
			if err := w.moveTheirs(ctx, t, ref, have, tip); err != nil {
				// Somebody may have been quicker; the next round looks.
				if now, lookErr := w.theirTip(ctx, t, ref); lookErr == nil && now != have {
					continue
				}
				return err
			}
		}
		if w.complete(ctx, t, tip, others) {
			return nil
		}
	}
	return fmt.Errorf("%s does not stay whole in %s: is a gc running there again and again?", branch, w.o.Repo)
}

// openTheirs finds the user's repository without any of the checks that only
// matter for a run's start.
func (w *Workspace) openTheirs(ctx context.Context) (theirs, error) {
	out, err := w.run(ctx, call{dir: w.o.Repo, args: []string{"rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--is-shallow-repository"}})
	if err != nil {
		return theirs{}, fmt.Errorf("open %s: %w", w.o.Repo, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return theirs{}, fmt.Errorf("open %s: git rev-parse answered %q", w.o.Repo, out)
	}
	t := theirs{top: w.o.Repo, gitDir: lines[0], commonDir: lines[1], shallow: lines[2] == "true"}
	t.owner, err = ownerOf(t.commonDir)
	return t, err
}

// theirTip returns what a ref of the user's repository holds, "" for nothing.
func (w *Workspace) theirTip(ctx context.Context, t theirs, ref string) (string, error) {
	tip, err := w.inTheirs(ctx, t, "rev-parse", "--verify", "--quiet", ref)
	if exitCode(err) == 1 {
		return "", nil
	}
	return tip, err
}

// moved reports a branch that somebody else moved, and brings its commits
// into ours so that work can be merged onto them.
func (w *Workspace) moved(ctx context.Context, t theirs, branch, want, have string) error {
	run := branch[strings.LastIndexByte(branch, '/')+1:]
	if err := w.fetch(ctx, t, "refs/heads/"+branch, w.hidden(run, "theirs"), have); err != nil {
		return err
	}
	_, err := w.ours(ctx, "merge-base", "--is-ancestor", want, have)
	if err != nil && exitCode(err) != 1 {
		return err
	}
	return &ledger.BranchMoved{Branch: branch, Want: want, Have: have, Ahead: err == nil}
}

// notCheckedOut refuses to move a branch under somebody's feet: their
// checkout would look as if they had undone our work.
func (w *Workspace) notCheckedOut(ctx context.Context, t theirs, branch, tip string) error {
	where, err := w.inTheirs(ctx, t, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+branch)
	if err != nil || where == "" {
		return err
	}
	return stop(ledger.Finding{
		Text: fmt.Sprintf("branch %s is checked out in %s, so it cannot be moved to %.12s", branch, where, tip),
		Fix:  "leave it for now: git -C " + where + " switch --detach   (or merge it from your own branch)",
	})
}

// send copies a commit and its history there, without what hangs on the
// commits in has.
func (w *Workspace) send(ctx context.Context, t theirs, tip string, has []string) error {
	pipe, pack := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		// Thin: the pack may refer to what the other side has.
		_, err := w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(wanted(tip, has)), out: pack,
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
		// As git itself does: few objects lie about loose, many stay a pack.
		args := []string{"index-pack", "--stdin", "--fix-thin"}
		if binary.BigEndian.Uint32(head[8:]) < 100 {
			args = []string{"unpack-objects", "-q"}
		}
		_, err = w.run(ctx, call{gitDir: t.commonDir, as: t.owner, in: stream, args: args})
		return err
	}()
	pipe.CloseWithError(io.ErrClosedPipe) // nobody reads on: pack-objects must not wait
	if packErr := <-ended; packErr != nil && (err == nil || errors.Is(err, packErr)) {
		err = packErr
	}
	if err != nil {
		return fmt.Errorf("copy objects into %s: %w", t.commonDir, err)
	}
	return nil
}

// known returns the commits that the user's repository has by a ref, so that
// a gc will not take them, as far as ours has them too; others is without those
// that it has by ref.
func (w *Workspace) known(ctx context.Context, t theirs, ref string) (all, others []string, err error) {
	out, err := w.inTheirs(ctx, t, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return nil, nil, err
	}
	head, err := w.inTheirs(ctx, t, "rev-parse", "--verify", "--quiet", "HEAD")
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
	// Only what our repository has can be left out of a pack.
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

// wanted is the standard input of a command with --revs or --stdin: tip, and
// not what hangs on the commits in has. tip itself is wanted in any case.
func wanted(tip string, has []string) string {
	var list strings.Builder
	list.WriteString(tip + "\n")
	for _, h := range has {
		if h != tip {
			list.WriteString("^" + h + "\n")
		}
	}
	return list.String()
}

// moveTheirs moves a ref of the user's repository, from one value only.
func (w *Workspace) moveTheirs(ctx context.Context, t theirs, ref, from, to string) error {
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	_, err := w.run(ctx, call{gitDir: t.commonDir, as: t.owner, args: []string{"update-ref", "-m", "nightporter", ref, to, from}})
	if err != nil {
		return fmt.Errorf("move %s in %s: %w", ref, w.o.Repo, err)
	}
	return nil
}

// complete reports whether the user's repository has everything of tip that
// does not hang on the commits in has.
func (w *Workspace) complete(ctx context.Context, t theirs, tip string, has []string) bool {
	_, err := w.run(ctx, call{gitDir: t.gitDir, in: strings.NewReader(wanted(tip, has)),
		args: []string{"rev-list", "--objects", "--quiet", "--stdin"}})
	return err == nil
}

package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// KeptFooter names the commit whose change a commit was made from, where it was
// made again on another tree.
const KeptFooter = "Nightporter-Kept"

// Remake makes a branch with some of the commits of another one, or lays commits
// on a branch that take changes back (docs/spec 9.7). All of it happens in our
// repository; the user's gets the branch, and nothing else there is touched.
//
// The commits up to the first one that is left out stay the same commits. Each
// later one is made again: its change, against its first parent, is merged onto the
// new tree before it. What conflicts is left out like the rest, so that one call
// finds all commits that need another; then no branch is made.
//
// A *ledger.RepositoryError is returned for a repository or branch that cannot be
// used for now. The same request may be repeated and gives the same commits.
func (w *Workspace) Remake(ctx context.Context, b ledger.RemakeBranch) (ledger.Remade, error) {
	defer w.lock()()
	made, err := w.remake(ctx, b)
	if err != nil {
		return ledger.Remade{}, fmt.Errorf("make %s: %w", b.Branch, w.unusable(ctx, b.Branch, err))
	}
	return made, nil
}

func (w *Workspace) remake(ctx context.Context, b ledger.RemakeBranch) (ledger.Remade, error) {
	if err := w.checkBranch(ctx, b.Branch); err != nil {
		return ledger.Remade{}, err
	}
	t, err := w.openUser(ctx)
	if err != nil {
		return ledger.Remade{}, err
	}
	have, err := w.userTip(ctx, t, "refs/heads/"+b.From)
	if err != nil {
		return ledger.Remade{}, err
	}
	forward := b.Branch == b.From
	if forward && have != "" && have != b.Tip {
		ours, err := w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+b.From)
		if err == nil && have == ours {
			return w.remadeBefore(ctx, b, have)
		}
	}
	refused, foreign, err := w.lookAtSource(ctx, t, b, have)
	if err != nil || refused != nil {
		return ledger.Remade{Refused: refused}, err
	}
	if foreign != nil {
		if forward {
			b.Base = foreign.Tip
		} else {
			b.Steps = append(slices.Clip(b.Steps), ledger.RemakeStep{Commit: foreign.Tip, Since: foreign.Since})
		}
	}
	made, err := w.replay(ctx, b)
	if err != nil || len(made.Needs) > 0 {
		return made, err
	}
	made.Foreign = foreign
	old := ""
	if forward {
		old = have
	} else if there, err := w.userTip(ctx, t, "refs/heads/"+b.Branch); err != nil {
		return ledger.Remade{}, err
	} else if there != "" && there != made.Tip {
		return ledger.Remade{Refused: &ledger.Diagnostic{
			Text:   "branch " + b.Branch + " is there already",
			Remedy: "if nobody needs it, rename it: " + RenameBranches(w.o.Repo, []string{b.Branch}),
		}}, nil
	}
	if err := w.setRef(ctx, "refs/heads/"+b.Branch, made.Tip); err != nil {
		return ledger.Remade{}, err
	}
	return made, w.publish(ctx, b.Branch, old, made.Tip)
}

// remadeBefore returns the result of a request that moved a branch forward before,
// to tip, and is repeated.
func (w *Workspace) remadeBefore(ctx context.Context, b ledger.RemakeBranch, tip string) (ledger.Remade, error) {
	known := b.Tip
	for n := 1; n <= len(b.Steps); n++ {
		base, err := w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", fmt.Sprintf("%s~%d", tip, n))
		if err != nil {
			break
		}
		b.Base = base
		made, err := w.replay(ctx, b)
		if err != nil {
			return ledger.Remade{}, err
		}
		if made.Tip != tip {
			continue
		}
		if base != known {
			made.Foreign = &ledger.ForeignCommits{Since: known, Tip: base}
		}
		return made, nil
	}
	return ledger.Remade{}, fmt.Errorf("%s is at %.12s, and this request did not make that commit", b.From, tip)
}

// lookAtSource compares the branch that is remade with what the ledger knows of it.
// It returns why the branch cannot be remade, or the commits that somebody added.
// have is the branch's commit in the user's repository, "" for none.
func (w *Workspace) lookAtSource(ctx context.Context, t userRepo, b ledger.RemakeBranch, have string) (*ledger.Diagnostic, *ledger.ForeignCommits, error) {
	if have == "" || b.Branch != b.From {
		in, err := w.mergedByHand(ctx, t, b)
		if err != nil {
			return nil, nil, err
		}
		if in {
			return &ledger.Diagnostic{Text: b.From + " is merged into the branch that is checked out", Remedy: "take single commits back there: git revert COMMIT"}, nil, nil
		}
	}
	switch {
	case have == b.Tip:
		return nil, nil, nil
	case have == "":
		return &ledger.Diagnostic{
			Text:   "branch " + b.From + " is gone",
			Remedy: fmt.Sprintf("bring it back: git -C %s fetch %s %s:%s", w.o.Repo, w.gitDir, b.From, b.From),
		}, nil, nil
	}
	err := w.branchMoved(ctx, t, b.From, b.Tip, have)
	moved, is := errors.AsType[*ledger.BranchMoved](err)
	switch {
	case !is:
		return nil, nil, err
	case !moved.Ahead:
		return &ledger.Diagnostic{
			Text:   fmt.Sprintf("somebody moved branch %s to %.12s, without the commits of this run", b.From, have),
			Remedy: fmt.Sprintf("git -C %s branch -f %s %.12s", w.o.Repo, b.From, b.Tip),
		}, nil, nil
	}
	return nil, &ledger.ForeignCommits{Since: b.Tip, Tip: have}, nil
}

// mergedByHand reports whether the branch that is checked out in the user's
// repository is another one than b.From and has its commits.
func (w *Workspace) mergedByHand(ctx context.Context, t userRepo, b ledger.RemakeBranch) (bool, error) {
	if name, err := w.gitUser(ctx, t, "symbolic-ref", "--quiet", "--short", "HEAD"); err != nil && exitCode(err) != 1 {
		return false, err
	} else if name == b.From || b.Tip == b.Base {
		return false, nil
	}
	for _, commit := range []string{"HEAD", b.Tip} {
		if _, err := w.gitUser(ctx, t, "rev-parse", "--verify", "--quiet", commit+"^{commit}"); exitCode(err) > 0 {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	_, err := w.gitUser(ctx, t, "merge-base", "--is-ancestor", b.Tip, "HEAD")
	if code := exitCode(err); code == 0 || code == 1 {
		return code == 0, nil
	}
	return false, err
}

// commitObject is a commit as it stands in the repository.
type commitObject struct {
	hash, tree string
	parents    []string
	author     string // "Name <email>"
	authored   string // "1763600000 +0100"
	committed  string
	message    string
	parentTree string // of the first parent

	// Of its step.
	task       string
	drop, undo bool
	subject    string
}

// replay applies the steps one after the other onto b.Base.
func (w *Workspace) replay(ctx context.Context, b ledger.RemakeBranch) (ledger.Remade, error) {
	steps, err := w.stepCommits(ctx, b.Steps)
	if err != nil {
		return ledger.Remade{}, err
	}
	var made ledger.Remade
	made.Tip = b.Base
	if made.Tree, err = w.tree(ctx, b.Base); err != nil {
		return ledger.Remade{}, err
	}
	var left []commitObject
	for _, c := range steps {
		if c.drop {
			left = append(left, c)
			continue
		}
		if !c.undo && c.parents[0] == made.Tip {
			made.Tip, made.Tree = c.hash, c.tree
			made.Commits = append(made.Commits, ledger.RemadeCommit{Task: c.task, Of: c.hash, Commit: c.hash})
			continue
		}
		tree, conflicts, err := w.applied(ctx, c, made.Tree)
		if err != nil {
			return ledger.Remade{}, err
		}
		if len(conflicts) > 0 {
			on, err := w.neededOf(ctx, left, conflicts)
			if err != nil {
				return ledger.Remade{}, err
			}
			made.Needs = append(made.Needs, ledger.RemakeNeed{Task: c.task, On: on, Files: conflicts})
			left = append(left, c)
			continue
		}
		again := ledger.RemadeCommit{Task: c.task, Of: c.hash, Undo: c.undo}
		if tree != made.Tree || c.task == "" { // what somebody else committed stays, also where it changes nothing
			if again.Commit, err = w.madeAgain(ctx, b, c, made.Tip, made.Tree, tree); err != nil {
				return ledger.Remade{}, err
			}
			made.Tip, made.Tree = again.Commit, tree
		}
		made.Commits = append(made.Commits, again)
	}
	if len(made.Needs) > 0 {
		return ledger.Remade{Needs: made.Needs}, nil
	}
	return made, nil
}

// applied returns the tree that has the change of a commit, or is without it, or
// the paths in conflict.
//
// git merges commits whose history tells the merge base. A commit with the right
// parent stands in for the tree, because the real history has another base. It is
// never part of a branch, so nobody waits until it is on the disk.
func (w *Workspace) applied(ctx context.Context, c commitObject, tree string) (merged string, conflicts []string, err error) {
	from, to, base := c.parentTree, c.hash, c.parents[0]
	if c.undo {
		from, base = c.tree, c.hash
		if to, err = w.standIn(ctx, c.parentTree, base); err != nil {
			return "", nil, err
		}
	}
	if from == tree {
		if c.undo {
			return c.parentTree, nil, nil
		}
		return c.tree, nil, nil
	}
	top, err := w.standIn(ctx, tree, base)
	if err != nil {
		return "", nil, err
	}
	return w.mergeTrees(ctx, top, to)
}

// standIn makes a commit that serves only as the input of a merge.
func (w *Workspace) standIn(ctx context.Context, tree, parent string) (string, error) {
	return w.commitTree(ctx, commit{tree: tree, parents: []string{parent}, date: "@0 +0000", message: "merged\n", transient: true})
}

// madeAgain makes the commit of a step on the commit parent.
func (w *Workspace) madeAgain(ctx context.Context, b ledger.RemakeBranch, c commitObject, parent, before, tree string) (string, error) {
	if c.undo {
		at, err := time.Parse(time.RFC3339, b.Time)
		if err != nil {
			return "", fmt.Errorf("time: %w", err)
		}
		text := message(ledger.CommitTask{Subject: c.subject, Body: fmt.Sprintf("This takes back commit %s.", c.hash)})
		return w.commitForUser(ctx, b.Run, commit{tree: tree, parents: []string{parent}, author: b.Author, committer: b.Committer, date: fmt.Sprintf("@%d %s", at.Unix(), at.Format("-0700")), message: text})
	}
	text := c.message
	if c.task != "" && before != c.parentTree {
		text = keptMessage(text, c.hash)
	}
	return w.commitForUser(ctx, b.Run, commit{
		tree: tree, parents: append([]string{parent}, c.parents[1:]...), author: c.author, committer: b.Committer, date: "@" + c.committed, authored: "@" + c.authored, message: text,
	})
}

// keptMessage returns the message of a task's commit that is made again on another
// tree. What it said of the tree that was verified is left out: no check has seen
// the new one.
func keptMessage(text, of string) string {
	words, footers := cutFooters(text)
	var kept []string
	for line := range strings.SplitSeq(footers, "\n") {
		key, _, _ := strings.Cut(line, ": ")
		if key == "Nightporter-Proof" || key == "Nightporter-Batch" || key == KeptFooter {
			continue
		}
		if key == "Co-authored-by" && of != "" {
			kept, of = append(kept, KeptFooter+": "+of), ""
		}
		kept = append(kept, line)
	}
	if of != "" {
		kept = append(kept, KeptFooter+": "+of)
	}
	return words + strings.TrimSpace(strings.Join(kept, "\n")) + "\n"
}

// cutFooters splits a message in front of its last paragraph, if that is one of
// footers.
func cutFooters(text string) (words, footers string) {
	text = strings.TrimRight(text, "\n")
	if at := strings.LastIndex(text, "\n\n"); at >= 0 && footerLine.MatchString(text[at+2:]) {
		return text[:at+2], text[at+2:]
	}
	return text + "\n\n", ""
}

// neededOf returns the tasks whose commits were left out and changed one of the
// files.
func (w *Workspace) neededOf(ctx context.Context, left []commitObject, files []string) (on []string, err error) {
	for _, c := range left {
		changed, err := w.changed(ctx, c.parents[0], c.hash)
		if err != nil {
			return nil, err
		}
		if c.task != "" && slices.ContainsFunc(changed, func(f ledger.FileChange) bool { return slices.Contains(files, f.Path) }) {
			on = append(on, c.task)
		}
	}
	return on, nil
}

// stepCommits reads the commits of the steps, those of somebody else one by one.
func (w *Workspace) stepCommits(ctx context.Context, steps []ledger.RemakeStep) ([]commitObject, error) {
	var list []commitObject
	for _, s := range steps {
		if s.Since == "" {
			list = append(list, commitObject{hash: s.Commit, task: s.Task, drop: s.Drop, undo: s.Undo, subject: s.Subject})
			continue
		}
		out, err := w.gitOurs(ctx, "rev-list", "--first-parent", "--reverse", s.Since+".."+s.Commit)
		if err != nil {
			return nil, err
		}
		for hash := range strings.FieldsSeq(out) {
			list = append(list, commitObject{hash: hash, drop: s.Drop})
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, c := range list {
		fmt.Fprintf(&in, "%s\n%s^1^{tree}\n", c.hash, c.hash)
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(in.String()), args: []string{"cat-file", "--batch"}})
	if err != nil {
		return nil, err
	}
	stream := bufio.NewReader(bytes.NewReader(out))
	for n := range list {
		c := &list[n]
		_, kind, text, err := nextObject(stream)
		if err != nil || kind != "commit" {
			return nil, fmt.Errorf("commit %.12s is not in nightporter's repository (%s): %w", c.hash, kind, err)
		}
		if err := c.parse(text); err != nil {
			return nil, err
		}
		if c.parentTree, kind, _, err = nextObject(stream); err != nil || kind != "tree" {
			return nil, fmt.Errorf("commit %.12s has no parent (%s): %w", c.hash, kind, err)
		}
	}
	return list, nil
}

// nextObject reads one answer of `git cat-file --batch`.
func nextObject(r *bufio.Reader) (hash, kind string, text []byte, err error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return "", "", nil, err
	}
	f := strings.Fields(head)
	if len(f) != 3 {
		return "", strings.TrimSpace(head), nil, nil // "HASH missing"
	}
	size, err := strconv.Atoi(f[2])
	if err != nil {
		return "", "", nil, err
	}
	text = make([]byte, size+1) // and a line end
	_, err = io.ReadFull(r, text)
	return f[0], f[1], text[:size], err
}

// parse reads the text of a commit.
func (c *commitObject) parse(text []byte) error {
	head, message, _ := strings.Cut(string(text), "\n\n")
	c.message = message
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			c.author, c.authored = person(value)
		case "committer":
			_, c.committed = person(value)
		}
	}
	if c.tree == "" || len(c.parents) == 0 || c.committed == "" {
		return fmt.Errorf("commit %.12s cannot be read", c.hash)
	}
	return nil
}

// person splits a line of a commit, "Name <email> 1763600000 +0100". A name or an
// address that git takes for none is replaced.
func person(line string) (who, at string) {
	end := strings.LastIndexByte(line, '>')
	if end < 0 {
		return "", ""
	}
	who, at = line[:end+1], strings.TrimSpace(line[end+1:])
	if !authorForm.MatchString(who) {
		name, _, _ := strings.Cut(who, "<")
		if name = strings.TrimSpace(name); name == "" {
			name = "unknown"
		}
		who = name + " <unknown>"
	}
	return who, at
}

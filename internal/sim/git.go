package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// repo is the user's repository and the daemon's.
type repo struct {
	head     string            // commit of the user's checkout
	branches map[string]string // tips of nightporter's branches
	work     map[string]files  // content of work folders, by path
	base     string            // commit that the current run began from
}

// workspace is a project's repository, work folder and rooms as one daemon reaches
// them.
type workspace struct {
	*site
	life *life
}

var (
	_ engine.Repository  = workspace{}
	_ engine.WorkFolders = workspace{}
	_ engine.Rooms       = workspace{}
	_ engine.Files       = workspace{}
	_ engine.Scoper      = workspace{}
)

// git stands for the time that an operation takes, and for what goes wrong in it.
// One that takes minutes ends with ctx, as a killed git does, or hangs in the kernel
// and does not.
func (g workspace) git(ctx context.Context, op string, most time.Duration) error {
	defer g.begin()()
	d := g.between(0, most)
	if g.hit(gitSlow) {
		d = g.between(time.Minute, 12*time.Minute)
		if g.one(3) {
			ctx = background
		}
		g.tell("git", "%s takes %s", op, d.Round(time.Second))
		g.hurry(d)
	}
	if err := g.life.Wait(ctx, d, nil); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	err := g.down
	if err == nil && g.hit(gitError) {
		err = pick[error](g.world, syscall.EAGAIN, syscall.EBUSY, syscall.EIO, syscall.ENOSPC)
	}
	if err != nil {
		err = fmt.Errorf("git: %w", err)
		g.tell("git", "%s fails: %v", op, err)
	}
	return err
}

// refuses is the refusal of an operation whose mistakes a person has to mend, or nil.
func (g workspace) refuses(op string) error {
	if !g.hit(gitInput) {
		return nil
	}
	g.tell("git", "%s refuses: the repository needs its owner", op)
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "the repository needs its owner", Remedy: "Look at it."}}}
}

// hurry lets a person lose patience, maybe, within d.
func (w *world) hurry(d time.Duration) {
	if !w.one(2) {
		return
	}
	w.spawn(func() {
		w.all.sleep(w.between(0, d))
		w.count(personHasty)
		pick(w, w.people...).say(w.named(pick(w, "/stop now", "/pause now", "/pause now", "/now", "/now look at the tests first")))
	})
}

// Begin is engine.Repository's.
func (g workspace) Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error) {
	if err := g.git(ctx, "begin", 2*time.Second); err != nil {
		return ledger.Base{}, err
	}
	if err := g.refuses("begin"); err != nil {
		return ledger.Base{}, err
	}
	from := g.repo.head
	base := ledger.Base{Head: g.repo.head, HeadName: "main", Branch: "nightporter/" + g.name + "/" + b.Run, Author: "Mira <mira@example.com>"}
	if tip := g.repo.branches[b.Previous]; tip != "" && !b.Fresh && !g.objects.contains(from, tip) {
		from, base.From = tip, b.Previous
	}
	g.repo.branches[base.Branch], g.repo.base = from, from
	base.Commit, base.Tree = from, g.objects.treeOf(from)
	g.tell("git", "%s begins at %s", b.Run, from)
	return base, nil
}

// Restore is engine.WorkFolders'.
func (g workspace) Restore(ctx context.Context, use ledger.WorkUse) error {
	if err := g.git(ctx, "restore", 2*time.Second); err != nil {
		return err
	}
	g.repo.work[g.Work(use).Dir] = maps.Clone(g.objects.at(use.Tree))
	return nil
}

// Work is engine.WorkFolders'.
func (workspace) Work(use ledger.WorkUse) ledger.Room {
	return ledger.Room{Dir: fmt.Sprintf("/state/runs/%s/lane-%d/work", use.Run, use.Lane)}
}

// Capture is engine.WorkFolders'.
func (g workspace) Capture(ctx context.Context, r ledger.CaptureRequest) (ledger.Capture, error) {
	if err := g.git(ctx, "capture", 3*time.Second); err != nil {
		return ledger.Capture{}, err
	}
	if err := g.refuses("capture"); err != nil {
		return ledger.Capture{}, err
	}
	input, out := g.objects.at(r.Input), files{}
	c := ledger.Capture{}
	dir := g.Work(ledger.WorkUse{Run: r.Run, Lane: r.Lane}).Dir
	work := g.repo.work[dir]
	for _, path := range slices.Sorted(maps.Keys(work)) {
		text := work[path]
		switch {
		case input[path] == text || strings.HasPrefix(path, "src/") || strings.HasPrefix(path, "test/"):
			out[path] = text
		case strings.HasPrefix(path, "dev/"):
			c.Refused = append(c.Refused, ledger.Diagnostic{File: path, Text: "a device"})
		case strings.HasPrefix(path, "secret/"):
			c.Secrets = append(c.Secrets, ledger.SecretFound{Path: path, Line: 1, Rule: "private-key", Print: "print of " + path})
		default:
			c.Outside = append(c.Outside, path)
		}
	}
	for path := range input {
		if _, is := work[path]; !is && !strings.HasPrefix(path, "src/") {
			out[path] = input[path]
		}
	}
	if len(c.Secrets) > 0 && !r.Hold {
		out = input
	}
	c.Tree = g.objects.add(out)
	c.Files = g.objects.changes(r.Input, c.Tree)
	g.repo.work[dir] = maps.Clone(out)
	if r.Proof.Asked() {
		c.Proof = g.facts(r.Start, c.Tree)
	}
	return c, nil
}

// facts finds what a tree changed of what proves, against a start.
func (g workspace) facts(start, tree string) *ledger.ProofFacts {
	from, to := g.objects.at(start), g.objects.at(tree)
	onStart := maps.Clone(from)
	f := &ledger.ProofFacts{}
	for _, c := range g.objects.changes(start, tree) {
		if strings.HasPrefix(c.Path, "test/") {
			onStart[c.Path] = to[c.Path]
			f.Tests = append(f.Tests, c.Path)
		}
	}
	if len(f.Tests) > 0 {
		f.OnStart = g.objects.add(onStart)
	}
	return f
}

// SetupRoom is engine.Rooms'.
func (g workspace) SetupRoom(ctx context.Context, use ledger.RoomUse, _ int) (ledger.Room, error) {
	return g.room(ctx, use)
}

// LayRoom is engine.Rooms'.
func (g workspace) LayRoom(ctx context.Context, use ledger.RoomUse, _ bool) (ledger.Room, error) {
	return g.room(ctx, use)
}

// roomOf is the folder of a room. It names the tree, so that a command's result is
// that of the files it really ran on, and then the lane whose own room it is.
const roomOf = "/state/rooms/"

// inRoom returns the tree of the room that is a folder, and the lane whose own room it is
// in the form "@N", "" for the room of all.
func inRoom(work string) (tree, own string, is bool) {
	place, is := strings.CutPrefix(work, roomOf)
	if at := strings.IndexByte(place, '@'); at >= 0 {
		return place[:at], place[at:], is
	}
	return place, "", is
}

func (g workspace) room(ctx context.Context, use ledger.RoomUse) (ledger.Room, error) {
	if err := g.git(ctx, "lay a room", 2*time.Second); err != nil {
		return ledger.Room{}, err
	}
	dir := roomOf + g.objects.treeOf(use.Tree)
	if use.Own > 0 {
		dir += fmt.Sprintf("@%d", use.Own)
	}
	return ledger.Room{Dir: dir}, nil
}

// KeepLayer is engine.Rooms'.
func (g workspace) KeepLayer(context.Context, string) error { return nil }

// Commit is engine.Repository's.
func (g workspace) Commit(ctx context.Context, c ledger.CommitTask, _ map[string][]byte) (ledger.Committed, error) {
	if err := g.git(ctx, "commit", time.Second); err != nil {
		return ledger.Committed{}, err
	}
	if err := g.refuses("commit"); err != nil {
		return ledger.Committed{}, err
	}
	if g.unusable != nil {
		g.tell("git", "commit waits: %v", g.unusable)
		return ledger.Committed{}, g.unusable
	}
	made := ledger.Committed{Commit: id("c", c.Parent, c.Tree, c.Subject, c.Body, c.Footers, c.Author, c.Time), Tree: c.Tree, Files: g.objects.changes(c.Parent, c.Tree)}
	tip := g.repo.branches[c.Branch]
	if g.objects.contains(tip, made.Commit) {
		return made, nil // an earlier process made it
	}
	if tip != c.Parent {
		ahead := g.objects.contains(tip, c.Parent)
		return made, &ledger.BranchMoved{Ahead: ahead, Branch: c.Branch, Want: c.Parent, Have: tip, Tree: g.objects.treeOf(tip)}
	}
	g.audit.commits(c)
	g.objects.commits[made.Commit] = commit{tree: c.Tree, parent: c.Parent}
	g.repo.branches[c.Branch] = made.Commit
	g.tell("git", "commit %s on %s: %s", made.Commit, c.Branch, c.Subject)
	g.life.sleep(g.between(0, 100*time.Millisecond))
	return made, nil
}

// Lift is engine.Repository's. No run of a simulated night asks for it.
func (g workspace) Lift(context.Context, ledger.LiftCommit) (ledger.Lifted, error) {
	return ledger.Lifted{Why: "the simulated remote has no base"}, nil
}

// Merge is engine.Repository's.
func (g workspace) Merge(ctx context.Context, m ledger.MergeTree) (ledger.Merged, error) {
	if err := g.git(ctx, "merge", time.Second); err != nil {
		return ledger.Merged{}, err
	}
	onto := m.Onto
	if m.OntoTree != "" {
		onto = m.OntoTree
	}
	tree, conflicts := g.objects.merge(cmp.Or(m.BaseTree, m.Base), m.Tree, onto)
	merged := ledger.Merged{Tree: tree, Conflicts: conflicts}
	if m.Proof.Asked() && tree != "" {
		merged.Proof = g.facts(cmp.Or(m.Since, onto), tree)
	}
	return merged, nil
}

// Undoes finds every path in scope.
func (workspace) Undoes(context.Context, ledger.WorkUse, string, ledger.Scope, string) (bool, error) {
	return false, nil
}

// ResolveScope is engine.Scoper's.
func (workspace) ResolveScope(context.Context, string, ledger.Scope) ([]string, []ledger.Diagnostic, error) {
	return []string{"src/**"}, nil, nil
}

// Read is engine.Files'.
func (g workspace) Read(_ context.Context, tree, path string) ([]byte, error) {
	text, ok := g.objects.at(tree)[path]
	if !ok {
		return nil, nil
	}
	return []byte(text), nil
}

// EachFile is engine.Files'. It finds none: simulated files have no words of a project.
func (workspace) EachFile(context.Context, string, int, func(string) bool, func(string, []byte)) error {
	return nil
}

// Changes is engine.Files'.
func (g workspace) Changes(_ context.Context, from, to string, _ int) ([]ledger.Change, error) {
	var out []ledger.Change
	for _, c := range g.objects.changes(from, to) {
		out = append(out, ledger.Change{FileChange: c, Status: ledger.ChangeModified, Patch: "+" + g.objects.at(to)[c.Path]})
	}
	return out, nil
}

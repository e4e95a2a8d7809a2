package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// lineBook holds who wrote and who removed each line, as the sessions themselves know
// it, and compares that with the commits: no line is lost, none comes back, and none
// that was not verified is committed.
type lineBook struct {
	n         *gitNight
	sessions  map[string]int             // agents' sessions by task
	red       map[string]bool            // tasks whose last check failed
	attempts  map[string]*lineAttempt    // the one in hand, by task
	met       map[string]*lineAttempt    // the last attempt of a task, which met the change of others
	committed []lineCommit               // in the order of the ledger
	passed    map[string]map[string]bool // commands that passed, by the hash of the files they had
	verified  map[string]bool            // trees on which a check passed, by the ledger
	chains    map[string][]string        // the trees of chains that begin with a tree, by that
	byHand    map[string]map[string]bool // what a person wrote, by commit
	trees     map[string]gitFiles
}

// lineAttempt is what the accepted sessions of one attempt changed.
type lineAttempt struct {
	task             string
	base             string // commit
	written, deleted map[string]bool
	begun            bool     // it had a session
	now              gitFiles // as its last accepted session left them; nil = none yet
	open             *lineSession
	conflict         *ledger.Conflict
}

// lineSession is one session of an attempt.
type lineSession struct {
	began, ended gitFiles
	accepted     bool
}

type lineCommit struct {
	ledger.TaskCommitted
	task    string
	attempt *lineAttempt
}

func newLineBook(n *gitNight) *lineBook {
	return &lineBook{
		n: n, sessions: map[string]int{}, red: map[string]bool{}, attempts: map[string]*lineAttempt{}, met: map[string]*lineAttempt{},
		passed: map[string]map[string]bool{}, verified: map[string]bool{}, chains: map[string][]string{},
		byHand: map[string]map[string]bool{}, trees: map[string]gitFiles{},
	}
}

// sessionOf counts the sessions of a task.
func (b *lineBook) sessionOf(task string) int {
	b.sessions[task]++
	return b.sessions[task]
}

func (b *lineBook) redBefore(task string) bool { return b.red[task] }

// entry sees each entry of the ledger.
func (b *lineBook) entry(e ledger.Entry) {
	n := b.n
	switch body := e.Body.(type) {
	case ledger.Commitment:
		if !body.Resume {
			b.attempts[e.Task] = &lineAttempt{task: e.Task, base: body.Base, written: map[string]bool{}, deleted: map[string]bool{}}
		}
	case ledger.AttemptEnded:
		if b.met[e.Task] != nil && body.Conflict == nil {
			n.counts["both sides told again"]++
		}
		if a := b.attempts[e.Task]; a != nil && body.Conflict != nil {
			b.settle(a)
			a.conflict = body.Conflict
			b.met[e.Task] = a
			if len(body.Conflict.Paths) > 0 {
				n.counts["conflicts"]++
			} else {
				n.counts["red merges"]++
			}
		}
	case ledger.TreeMerged:
		if body.Tree != "" {
			n.counts["merges"]++
		}
	case ledger.BatchChained:
		n.counts["batches"]++
		for at, l := range body.Links {
			for _, longer := range body.Links[at:] {
				b.chains[l.Tree] = append(b.chains[l.Tree], longer.Tree)
			}
		}
	case ledger.Verified:
		b.verified[body.Tree] = b.verified[body.Tree] || body.OK && len(body.Results) > 0
		if e.Task != "" {
			b.red[e.Task] = !body.OK
		}
	case ledger.TaskCommitted:
		a := b.attempts[e.Task]
		if a == nil {
			n.fail("ledger", "%s is committed without an attempt", e.Task)
		}
		b.settle(a)
		delete(b.met, e.Task)
		b.committed = append(b.committed, lineCommit{body, e.Task, a})
	case ledger.TaskSet:
		if body.To == ledger.Done {
			n.counts["tasks done"]++
		}
		if body.Fresh {
			delete(b.met, e.Task)
		}
	case ledger.InputPoisoned:
		n.fail("no poisoned input", "%s: %s", body.Kind, body.Error)
	}
}

// begins sees what a session finds in its folder, and what it is told.
func (b *lineBook) begins(s *editor, files gitFiles) {
	a := b.attempts[s.launch.Task]
	if a == nil {
		b.n.fail("ledger", "%s starts without an attempt", s.launch.Session)
	}
	b.settle(a)
	if !a.begun && files.hash() != b.tree(a.base).hash() {
		b.n.fail("an attempt begins with its base", "%s of %s begins with other files than %s has", s.launch.Session, a.task, a.base)
	}
	a.begun, a.open = true, &lineSession{began: files}
	if s.launch.Hat != "reviewer" {
		b.bothSides(s, a)
	}
}

// ends sees what an accepted session left.
func (b *lineBook) ends(s *editor, files gitFiles) {
	if a := b.attempts[s.launch.Task]; a != nil && a.open != nil {
		a.open.ended, a.open.accepted = files, true
	}
}

// settle adds to an attempt what its last session changed, unless nothing came of it.
func (b *lineBook) settle(a *lineAttempt) {
	s := a.open
	a.open = nil
	if s == nil || !s.accepted {
		return
	}
	was, is := s.began.ids(), s.ended.ids()
	for id := range is {
		if !was[id] {
			a.written[id] = true
			delete(a.deleted, id)
		}
	}
	for id := range was {
		if is[id] {
			continue
		}
		if a.written[id] {
			delete(a.written, id)
		} else {
			a.deleted[id] = true
		}
	}
	a.now = s.ended
}

// bothSides holds that a session whose task met the changes of others has every line of
// both sides before it, until the task is done: what the last attempt that met them wrote
// and removed, and what others did since it began.
func (b *lineBook) bothSides(s *editor, a *lineAttempt) {
	last := b.met[s.launch.Task]
	if last == nil {
		return
	}
	n := b.n
	n.counts["prompts with both sides"]++
	since, tip := b.tree(last.conflict.Base), b.tree(last.conflict.Theirs)
	var lacks []string
	meet := map[string]bool{} // lines of the files in conflict, which the prompt itself has to have
	for _, files := range []gitFiles{since, tip, last.now} {
		for _, path := range last.conflict.Paths {
			for id := range (gitFiles{path: files[path]}).ids() {
				meet[id] = true
			}
		}
	}
	look := func(side, file string, before, after map[string]bool) {
		all := s.launch.Prompt + "\n" + string(s.launch.Context[file])
		has := func(id, line string) bool {
			return strings.Contains(s.launch.Prompt, line) || !meet[id] && strings.Contains(all, line)
		}
		for id := range after {
			if !before[id] && !has(id, "+["+id+"]") {
				lacks = append(lacks, side+" +"+id)
			}
		}
		for id := range before {
			if !after[id] && !has(id, "-["+id+"]") {
				lacks = append(lacks, side+" -"+id)
			}
		}
	}
	mine := since.ids()
	for id := range last.written {
		mine[id] = true
	}
	for id := range last.deleted {
		delete(mine, id)
	}
	look("mine", "mine.patch", since.ids(), mine)
	look("theirs", "theirs.patch", since.ids(), tip.ids())
	slices.Sort(lacks)
	if len(lacks) > 0 {
		n.fail("both sides in the prompt", "%s of %s lacks %v\n%s", s.launch.Session, s.launch.Task, lacks, s.launch.Prompt)
	}
}

// checked sees what a command said of the files that it really had.
func (b *lineBook) checked(l ledger.Launch, files gitFiles, ok bool) {
	h := files.hash()
	if b.passed[h] == nil {
		b.passed[h] = map[string]bool{}
	}
	b.passed[h][l.Command] = b.passed[h][l.Command] || ok
}

// tree returns the files of a tree or commit of the daemon's repository.
func (b *lineBook) tree(rev string) gitFiles {
	if f := b.trees[rev]; f != nil {
		return f
	}
	dir := filepath.Join(b.n.state(), "repos", gitProject+".git")
	files := gitFiles{}
	var names, blobs []string
	for _, l := range strings.Split(b.n.mustGit(dir, "ls-tree", "-r", rev), "\n") {
		meta, path, _ := strings.Cut(l, "\t")
		if f := strings.Fields(meta); len(f) == 3 && strings.HasSuffix(path, ".txt") {
			names, blobs = append(names, path), append(blobs, f[2])
		}
	}
	out, err := gitIn(dir, []byte(strings.Join(blobs, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		b.n.fail("git", "%v", err)
	}
	for _, path := range names {
		head, rest, _ := strings.Cut(out, "\n")
		var hash, kind string
		size := 0
		if _, err := fmt.Sscan(head, &hash, &kind, &size); err != nil || size > len(rest) {
			b.n.fail("git", "cat-file answered %q", head)
		}
		files[path], out = linesOf(rest[:size]), rest[min(size+1, len(rest)):]
	}
	b.trees[rev] = files
	return files
}

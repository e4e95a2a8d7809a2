package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// drawPushes decides whether runs push their branches in this night: from a stream of
// its own, as drawSites.
func (w *world) drawPushes() {
	if of := w.opt.pushes; of > 0 {
		if own := rand.New(rand.NewPCG(w.seed, 0x7075)); own.Uint64N(of) == 0 {
			w.pushes = own
		}
	}
}

// remote is what a project's branches are pushed to: a plain one, without requests. It
// outlives the daemon.
type remote struct {
	branches map[string]string // tips
	answered map[string]int    // by commit: the start of the daemon that learned of its push last
}

// remoteOf is a project's remote as one daemon reaches it.
type remoteOf struct {
	*site
	life *life
}

var (
	_ engine.Publisher = remoteOf{}
	_ engine.Remote    = remoteOf{}
)

// Open is engine.Publisher's.
func (r remoteOf) Open(context.Context) (engine.Remote, engine.Forge, error) { return r, nil, nil }

// call stands for the network: it takes time, and fails before the server hears of it,
// or after.
func (r remoteOf) call(ctx context.Context) (heard bool, err error) {
	defer r.begin()()
	if err := r.life.Wait(ctx, r.between(0, 5*time.Second), nil); err != nil {
		return false, err
	}
	if !r.hit(remoteFails) {
		return true, nil
	}
	heard = r.one(2)
	r.tell("remote", "does not answer; it heard: %v", heard)
	return heard, &ledger.ForgeError{Failure: ledger.ForgeAway, Text: "connection reset by peer"}
}

// Push is engine.Remote's.
func (r remoteOf) Push(ctx context.Context, p ledger.Push) (ledger.Pushed, error) {
	heard, err := r.call(ctx)
	if !heard {
		return ledger.Pushed{}, err
	}
	if has := r.remote.branches[p.Branch]; has != "" && !r.objects.contains(p.Commit, has) {
		return ledger.Pushed{Commit: has, Theirs: has}, err
	}
	r.audit.pushed(p)
	r.remote.branches[p.Branch] = p.Commit
	if err != nil {
		return ledger.Pushed{}, err
	}
	if r.remote.answered[p.Commit] == r.boots {
		r.fail("one push a tip", "%s of %s is pushed twice by one daemon", p.Commit, p.Branch)
	}
	r.remote.answered[p.Commit] = r.boots
	return ledger.Pushed{Commit: p.Commit}, nil
}

// TryPush is engine.Remote's.
func (r remoteOf) TryPush(ctx context.Context, _ ledger.Push) error {
	_, err := r.call(ctx)
	return err
}

// Fetch is engine.Remote's.
func (r remoteOf) Fetch(ctx context.Context, _ string, names ...string) (map[string]string, error) {
	return r.Branches(ctx, names...)
}

// Branches is engine.Remote's.
func (r remoteOf) Branches(ctx context.Context, names ...string) (map[string]string, error) {
	if _, err := r.call(ctx); err != nil {
		return nil, err
	}
	has := map[string]string{}
	for _, name := range names {
		if tip := r.remote.branches[name]; tip != "" {
			has[name] = tip
		}
	}
	return has, nil
}

// pushed sees each tip that the remote gets. It is one of the run's branch, and no test
// fails on it that did not fail when its run began.
func (a *audit) pushed(p ledger.Push) {
	w := a.w
	w.tell("remote", "%s is %s now", p.Branch, p.Commit)
	if _, known := w.objects.commits[p.Commit]; !known || !w.objects.contains(w.repo.branches[p.Branch], p.Commit) {
		w.fail("only commits of the branch are pushed", "%s is pushed as %s, which has %s", p.Commit, p.Branch, w.repo.branches[p.Branch])
	}
	if len(w.settings.Verify) == 0 {
		return
	}
	base := w.objects.failing(w.repo.base)
	for _, name := range w.objects.failing(p.Commit) {
		if !slices.Contains(base, name) {
			w.fail("no red tip is pushed", "%s is pushed as %s, and %s fails in it", p.Commit, p.Branch, name)
		}
	}
}

// pushesHold holds that the green tip of the last run is on the remote in the end.
func (a *audit) pushesHold() {
	w := a.w
	if w.pushes == nil || a.last.Exit != 0 || a.last.Tip == "" || a.last.Tip == w.repo.base {
		return
	}
	if has := w.remote.branches[a.last.Branch]; !w.objects.contains(has, a.last.Tip) {
		w.fail("the tip is pushed", "the last run ended with 0 at %s, and the remote's %s is %q", a.last.Tip, a.last.Branch, has)
	}
}

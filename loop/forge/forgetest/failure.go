package forgetest

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// testDown checks a server with a fault.
func testDown(w *world) {
	w.skip(w.Fail != nil, "fail")
	d := w.draft("night/1")
	w.Fail(Down)
	_, err := w.Forge.Request(w.ctx, d)
	if f := w.fails(err, ledger.ForgeAway); !f.Passes() || w.Count() != 0 {
		w.Errorf("%+v, %d requests", f, w.Count())
	}
	if r, err := w.Forge.Request(w.ctx, d); err != nil || r.Number == 0 {
		w.Errorf("after it: %+v, %v", r, err)
	}
}

// testLimited checks that a limit says until when.
func testLimited(w *world) {
	w.skip(w.Fail != nil, "fail")
	d := w.draft("night/1")
	w.Fail(RateLimited)
	began := time.Now()
	_, err := w.Forge.Request(w.ctx, d)
	f := w.fails(err, ledger.ForgeLimited)
	if wait := f.RetryAt.Sub(began); !f.Passes() || wait < 16*time.Second || wait > 17*time.Second+callTimeout {
		w.Errorf("%+v: a wait of %s, want 17s", f, wait)
	}
}

// testRevoked checks a token that is no longer valid.
func testRevoked(w *world) {
	w.skip(w.Revoke != nil, "revoke a token")
	r := w.request("night/1")
	w.Revoke()
	_, err := w.Forge.Look(w.ctx, r.Number, "")
	if f := w.fails(err, ledger.ForgeLogin); f.Passes() || f.Remedy == "" {
		w.Errorf("%+v: it does not pass by itself, and somebody has to do something", f)
	}
	_, err = w.Forge.Info(w.ctx)
	w.fails(err, ledger.ForgeLogin)
	_, err = w.Forge.Reply(w.ctx, ledger.RequestReply{Number: r.Number, Key: "k", Body: "x"})
	w.fails(err, ledger.ForgeLogin)
}

// testArchived checks a repository that is read-only.
func testArchived(w *world) {
	w.skip(w.Archive != nil, "archive a repository")
	r := w.request("night/1")
	w.Commit("night/2", "")
	w.Archive()
	if info, err := w.Forge.Info(w.ctx); err != nil || !info.Archived {
		w.Errorf("%+v, %v", info, err)
	}
	_, err := w.Forge.Request(w.ctx, ledger.RequestDraft{Head: "night/2", Base: w.Base, Title: "t", Body: "b"})
	if f := w.fails(err, ledger.ForgeArchived); f.Passes() {
		w.Errorf("%+v: an archive stays one", f)
	}
	_, err = w.Forge.Reply(w.ctx, ledger.RequestReply{Number: r.Number, Key: "k", Body: "x"})
	w.fails(err, ledger.ForgeArchived)
	if v := w.look(r.Number); v.Request.Number != r.Number {
		w.Errorf("it cannot be read: %+v", v)
	}
}

// testRenamed checks that a repository is found under its former name.
func testRenamed(w *world) {
	w.skip(w.Rename != nil, "rename a repository")
	r := w.request("night/1")
	w.Commit("night/2", "")
	name := w.Rename()
	// A call that writes comes first: it must not become one that reads.
	second, err := w.Forge.Request(w.ctx, ledger.RequestDraft{Head: "night/2", Base: w.Base, Title: "t", Body: "b"})
	if err != nil || second.Number == r.Number || w.Count() != 2 {
		w.Errorf("%+v, %v; %d requests", second, err, w.Count())
	}
	if c, err := w.Forge.Reply(w.ctx, ledger.RequestReply{Number: r.Number, Key: "k", Body: "x"}); err != nil || c.ID == "" {
		w.Errorf("%+v, %v", c, err)
	}
	if info, err := w.Forge.Info(w.ctx); err != nil || info.Repository != name {
		w.Errorf("%+v, %v; want %s", info, err, name)
	}
}

// testCancelled checks that a call ends with its context.
func testCancelled(w *world) {
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	_, err := w.Forge.Info(ctx)
	w.fails(err, ledger.ForgeAway)
	_, err = w.Forge.Look(ctx, 1, "")
	w.fails(err, ledger.ForgeAway)
}

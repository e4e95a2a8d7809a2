package forgetest

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// testInfo checks what a forge says of a repository.
func testInfo(w *world) {
	info, err := w.Forge.Info(w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	if info.Kind != w.Kind || info.Repository == "" || info.DefaultBranch != w.Base || info.Login != w.Login || !info.MayPush || info.Archived || len(info.Methods) == 0 {
		w.Errorf("%+v", info)
	}
}

// testCreate checks a new request.
func testCreate(w *world) {
	d := w.draft("night/1")
	r, err := w.Forge.Request(w.ctx, d)
	if err != nil {
		w.Fatal(err)
	}
	if r.Number == 0 || r.URL == "" || r.State != ledger.RequestOpen || r.Head != d.Head || r.Base != d.Base || r.HeadCommit != w.Tip(d.Head) || r.BaseCommit != w.Tip(d.Base) || r.Draft || len(r.Missed) > 0 {
		w.Errorf("%+v", r)
	}
}

// testFind checks that an open request is found by its branch and by its number,
// and that a closed one is left alone.
func testFind(w *world) {
	d := w.draft("night/1")
	first := w.request("night/1")
	other := w.request("night/10") // begins like the other one
	for range 2 {
		if r, err := w.Forge.Request(w.ctx, d); err != nil || r.Number != first.Number {
			w.Errorf("by its branch: %+v, %v; want %d", r, err, first.Number)
		}
	}
	if w.Count() != 2 || other.Number == first.Number {
		w.Errorf("%d requests, want 2", w.Count())
	}
	w.Close(first.Number)
	named := d
	named.Number, named.Title = first.Number, "another title"
	if r, err := w.Forge.Request(w.ctx, named); err != nil || r.Number != first.Number || r.State != ledger.RequestClosed {
		w.Errorf("the closed one by its number: %+v, %v", r, err)
	}
	if r, err := w.Forge.Request(w.ctx, d); err != nil || r.Number == first.Number || r.State != ledger.RequestOpen {
		w.Errorf("after it was closed: %+v, %v; want a new one", r, err)
	}
	if w.Count() != 3 {
		w.Errorf("%d requests, want 3", w.Count())
	}
}

// testEdit checks that a request is edited in place.
func testEdit(w *world) {
	d := w.draft("night/1")
	first := w.request("night/1")
	d.Title, d.Body, d.Draft, d.Labels, d.Reviewers = "Night 14: two tasks", "More was done.", true, []string{"night", "by-porter"}, []string{w.Writer}
	r, err := w.Forge.Request(w.ctx, d)
	if err != nil || r.Number != first.Number || !r.Draft || len(r.Missed) > 0 {
		w.Fatalf("%+v, %v", r, err)
	}
	d.Draft, d.Reviewers = false, []string{w.Writer, w.Login, "nobody-of-that-name"}
	if r, err = w.Forge.Request(w.ctx, d); err != nil || r.Number != first.Number || r.Draft {
		w.Errorf("ready for review: %+v, %v", r, err)
	}
	if w.Kind != ledger.ForgePlain && len(r.Missed) > 1 {
		w.Errorf("missed %q, want the unknown one alone", r.Missed)
	}
	d.Base = "release"
	w.Commit("release", "")
	w.Commit(d.Head, "")
	if r, err = w.Forge.Request(w.ctx, d); err != nil || r.Number != first.Number || r.Base != "release" || r.BaseCommit != w.Tip("release") {
		w.Errorf("another base: %+v, %v", r, err)
	}
	if w.Count() != 1 {
		w.Errorf("%d requests, want 1", w.Count())
	}
}

// testBase checks that a request which stands on another one gets its base when that
// was merged, and keeps one that a person gave it, its title and its draft state.
func testBase(w *world) {
	w.request("night/1")
	d := w.draft("night/2")
	d.Base = "night/1"
	first, err := w.Forge.Request(w.ctx, d)
	if err != nil || first.Base != "night/1" || first.BaseCommit != w.Tip("night/1") {
		w.Fatalf("%+v, %v; want it to stand on night/1", first, err)
	}
	d.Number, d.Keep, d.Title, d.Draft = first.Number, true, "another title", true
	d.Base = w.Base
	if r, err := w.Forge.Request(w.ctx, d); err != nil || r.Base != "night/1" || r.Draft {
		w.Errorf("kept: %+v, %v; want the base and the state that it has", r, err)
	}
	for range 2 {
		d.Was = "night/1"
		if r, err := w.Forge.Request(w.ctx, d); err != nil || r.Base != w.Base || r.BaseCommit != w.Tip(w.Base) || r.Draft {
			w.Errorf("after a merge: %+v, %v; want it to ask for %s", r, err, w.Base)
		}
	}
	if v, err := w.Forge.Look(w.ctx, first.Number, ""); err != nil || v.Request.Base != w.Base {
		w.Errorf("a look shows %+v, %v", v.Request, err)
	}
	w.Commit("release", "")
	d.Base = "release"
	if r, err := w.Forge.Request(w.ctx, d); err != nil || r.Base != w.Base {
		w.Errorf("it has another base than the merged one by now: %+v, %v", r, err)
	}
	if w.Count() != 2 {
		w.Errorf("%d requests, want 2", w.Count())
	}
}

// testCreateLost checks that a request whose answer was lost is found.
func testCreateLost(w *world) {
	w.skip(w.Fail != nil, "lose an answer")
	d := w.draft("night/1")
	w.Fail(AnswerLost)
	_, err := w.Forge.Request(w.ctx, d)
	w.fails(err, ledger.ForgeAway)
	r, err := w.Forge.Request(w.ctx, d)
	if err != nil || r.Number == 0 || w.Count() != 1 {
		w.Errorf("%+v, %v; %d requests, want 1", r, err, w.Count())
	}
}

// testBranchesMissing checks what cannot be created.
func testBranchesMissing(w *world) {
	d := w.draft("night/1")
	gone := d
	gone.Head = "night/2"
	_, err := w.Forge.Request(w.ctx, gone)
	w.fails(err, ledger.ForgeMissing)
	gone = d
	gone.Base = "release"
	_, err = w.Forge.Request(w.ctx, gone)
	w.fails(err, ledger.ForgeMissing)
	gone.Number = 99
	_, err = w.Forge.Request(w.ctx, gone)
	w.fails(err, ledger.ForgeMissing)
	_, err = w.Forge.Look(w.ctx, 99, "")
	w.fails(err, ledger.ForgeMissing)
	if w.Count() != 0 {
		w.Errorf("%d requests, want none", w.Count())
	}
}

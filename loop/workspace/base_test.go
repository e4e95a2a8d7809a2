package workspace

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestBeginOnBase: a run starts from the branch that base names, as the remote or the
// repository has it. The checkout, its branches and its remote-tracking branches stay.
func TestBeginOnBase(t *testing.T) {
	repo := shop(t)
	first := git(t, repo, "rev-parse", "HEAD")
	git(t, repo, "branch", "-q", "develop")
	far := filepath.Join(t.TempDir(), "far.git")
	git(t, "/", "clone", "-q", "--bare", repo, far)
	other := filepath.Join(t.TempDir(), "other")
	git(t, "/", "clone", "-q", "--branch", "develop", far, other)
	writeFile(t, other, "cart/new.go", "package cart\n")
	git(t, other, "add", "-A")
	git(t, other, "-c", "user.name=Ada", "-c", "user.email=ada@shop.example", "commit", "-qm", "new")
	git(t, other, "push", "-q", "origin", "develop")
	tip := git(t, other, "rev-parse", "HEAD")
	writeFile(t, repo, "README.md", "Mine.\n")
	git(t, repo, "commit", "-qam", "mine")
	writeFile(t, repo, "README.md", "Not committed.\n")
	refs := git(t, repo, "for-each-ref")
	w := workspace(t, repo)

	has, err := w.FetchBranches(t.Context(), Remote{URL: far}, "r1", "develop", "nothing")
	if err != nil || len(has) != 1 || has["develop"] != tip {
		t.Fatalf("fetched %v, %v; want develop at %s", has, err, tip)
	}
	for name, c := range map[string]struct {
		begin   ledger.Begin
		head    string
		fetched bool
	}{
		"remote": {ledger.Begin{Run: "r1", Base: "develop", BaseCommit: tip}, tip, true},
		"local":  {ledger.Begin{Run: "r2", Base: "develop"}, first, false},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := w.Begin(t.Context(), c.begin)
			if err != nil {
				t.Fatal(err)
			}
			if base.Commit != c.head || base.Head != c.head || base.HeadName != "develop" || !base.Set || base.Fetched != c.fetched {
				t.Errorf("base %+v, want to start at %s", base, c.head)
			}
			if len(base.Notes) != 1 || !strings.Contains(base.Notes[0].Text, "HEAD (main") {
				t.Errorf("notes %v", base.Notes)
			}
			if len(base.Dirty) != 1 || base.Dirty[0] != "README.md" {
				t.Errorf("changed in the checkout: %v", base.Dirty)
			}
		})
	}
	if now := git(t, repo, "for-each-ref"); now != refs {
		t.Errorf("refs of the repository are\n%s\nwere\n%s", now, refs)
	}
	_, err = w.Begin(t.Context(), ledger.Begin{Run: "r3", Base: "nothing"})
	if got := findingsOf(t, err); !strings.Contains(got, `base = "nothing": neither the remote nor`) {
		t.Errorf("findings %q", got)
	}
}

// TestBeginOnBaseGoesOn: the last run's branch is continued until base has it.
func TestBeginOnBaseGoesOn(t *testing.T) {
	w, done := committed(t)
	git(t, w.o.Repo, "branch", "-q", "develop")
	next := ledger.Begin{Run: "r2", Base: "develop", Previous: "nightporter/shop/r1"}
	if base, err := w.Begin(t.Context(), next); err != nil || base.Commit != done || base.From != next.Previous {
		t.Errorf("base %+v, %v; want to start at %s", base, err, done)
	}
	git(t, w.o.Repo, "branch", "-q", "-f", "develop", done)
	if base, err := w.Begin(t.Context(), next); err != nil || base.Commit != done || base.From != "" {
		t.Errorf("merged: base %+v, %v; want to start at develop", base, err)
	}
}

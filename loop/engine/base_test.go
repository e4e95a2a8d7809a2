package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// beginner notes what a run is to begin on.
type beginner struct {
	engine.Repository
	asked *ledger.Begin
}

func (b beginner) Begin(ctx context.Context, begin ledger.Begin) (ledger.Base, error) {
	*b.asked = begin
	return b.Repository.Begin(ctx, begin)
}

// TestStartBase: a run with a base starts from what the remote has of it, else from
// the branch of that name here, and says so. What only a person can end keeps it
// from starting.
func TestStartBase(t *testing.T) {
	away := &ledger.ForgeError{Failure: ledger.ForgeAway, Text: "no answer"}
	login := &ledger.ForgeError{Failure: ledger.ForgeLogin, Text: "wrong token", Remedy: "Renew it."}
	for name, c := range map[string]struct {
		change func(x *far, s *ledger.Settings)
		commit string
		starts bool
		says   string
	}{
		"fetched":           {func(x *far, _ *ledger.Settings) { x.branches["develop"] = "c9" }, "c9", true, ""},
		"not there":         {func(*far, *ledger.Settings) {}, "", true, "the remote has no such branch"},
		"away":              {func(x *far, _ *ledger.Settings) { x.set("branches", away) }, "", true, "cannot be reached now (no answer)"},
		"login":             {func(x *far, _ *ledger.Settings) { x.set("branches", login) }, "", false, "cannot be fetched: wrong token"},
		"no remote":         {func(x *far, _ *ledger.Settings) { x.none = true }, "", true, ""},
		"a remote by name":  {func(x *far, s *ledger.Settings) { x.none, s.Remote = true, "upstream" }, "", false, "no remote"},
		"no base: HEAD":     {func(x *far, s *ledger.Settings) { x.branches["develop"], s.Base = "c9", "" }, "", true, ""},
		"no base, no calls": {func(x *far, s *ledger.Settings) { x.set("branches", login); s.Base = "" }, "", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, s := newFar(), settings()
				s.Base = "develop"
				c.change(x, &s)
				asked := ledger.Begin{}
				f := newFixture(t, succeeded)
				f.wrap = func(p engine.Ports) engine.Ports {
					p.Publisher, p.Repository = x, beginner{p.Repository, &asked}
					return p
				}
				f.restart()
				f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				r := f.state().Project.Run
				if started := !r.Started.IsZero(); started != c.starts {
					t.Fatalf("started %v: %+v", started, r.Ended)
				}
				said := ""
				err := f.ledger.Records(t.Context(), ledger.ProjectStream("p"), 0, func(r ledger.Record) error {
					e, err := r.Entry()
					switch b := e.Body.(type) {
					case ledger.PreflightDone:
						for _, d := range b.Warnings {
							said += d.Text
						}
					case ledger.PreflightFailed:
						said += b.Problems[0].Text
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if c.says == "" && strings.Contains(said, "base") || !strings.Contains(said, c.says) {
					t.Errorf("it says %q, want %q", said, c.says)
				}
				if want := (ledger.Begin{Run: "r1", Base: s.Base, BaseCommit: c.commit}); c.starts && asked != want {
					t.Errorf("it begins on %+v, want %+v", asked, want)
				}
			})
		})
	}
}
